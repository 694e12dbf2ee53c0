/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax and LogSoftmax: a group does a line. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_group_id(0), l = get_local_id(0);
  PARAMS(GpuLineParams);
  int inner = q->inner, length = q->length;
  int base = i / inner * length * inner + i % inner;
  __local @C@ part[64];
  @C@ most = -INFINITY, sum = 0;
  for (int j = l; j < length; j += 64) {
    @C@ v = LD_@N@(x, base + j * inner);
    most = v > most ? v : most;
  }
  part[l] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = 0; j < 64; j++)
    most = part[j] > most ? part[j] : most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = l; j < length; j += 64)
    sum += exp(LD_@N@(x, base + j * inner) - most);
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0;
  for (int j = 0; j < 64; j++)
    sum += part[j];
  for (int j = l; j < length; j += 64) {
    @C@ v = LD_@N@(x, base + j * inner) - most;
    ST_@N@(y, base + j * inner, @RESULT@);
  }
}
