/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A group normalises a line of elements: y = (x - mean) * inverse * scale + bias. Numbers: length,
 * epsilon, whether the mean is subtracted, and where scale and bias lie: line % a * b + element / c. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @T@ *scale, __global const @T@ *bias, __global @T@ *y,
                     __global @M@ *means, __global @M@ *inverses, int has)
{
  int line = get_group_id(0), l = get_local_id(0);
  int length = P[p], centred = P[p + 2], a = P[p + 3], b = P[p + 4], c = P[p + 5];
  float epsilon = as_float(P[p + 1]);
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
  @C@ inverse = 1 / sqrt(sum + epsilon);
  for (int j = l; j < length; j += 64) {
    int at = line % a * b + j / c;
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
