/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A group normalises a line of elements: y = (x - mean) * inverse * scale + bias. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @T@ *scale, __global const @T@ *bias, __global @T@ *y,
                     __global @M@ *means, __global @M@ *inverses, int has)
{
  int line = get_group_id(0), l = get_local_id(0);
  PARAMS(GpuNormalizeParams);
  int length = q->length, centred = q->centred;
  __local @C@ part[64];
  __local @C@ total;
  @C@ mean = 0, sum = 0;
  __global const @T@ *from = x + (size_t)line * length;
  for (int pass = centred ? 0 : 1; pass < 2; pass++) {
    sum = 0;
    for (int j = l; j < length; j += 64) {
      @C@ v = LD_@N@(from, j) - mean;
      sum += pass == 0 ? v : v * v;
    }
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
      for (int j = 1; j < 64; j++)
        sum += part[j];
      total = sum / length;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = total;
    mean = pass == 0 ? sum : mean;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  @C@ inverse = 1 / sqrt(sum + q->epsilon);
  for (int j = l; j < length; j += 64) {
    int at = line % q->lines * q->line_step + j / q->elements;
    @C@ v = (LD_@N@(from, j) - mean) * inverse;
    v = has & 1 ? v * LD_@N@(scale, at) : v;
    v = has & 2 ? v + LD_@N@(bias, at) : v;
    ST_@N@(y, (size_t)line * length + j, v);
  }
  if (l == 0 && (has & 4))
    means[line] = mean;
  if (l == 0 && (has & 8))
    inverses[line] = inverse;
}
