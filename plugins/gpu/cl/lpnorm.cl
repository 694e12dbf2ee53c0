/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LpNormalization. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuLpNormParams);
  int inner = q->line.inner, length = q->line.length, square = q->p == 2;
  if (i >= n)
    return;
  int base = i / inner * length * inner + i % inner;
  @C@ sum = 0;
  for (int j = 0; j < length; j++) {
    @C@ v = LD_@N@(x, base + j * inner);
    sum += square ? v * v : fabs(v);
  }
  sum = square ? sqrt(sum) : sum;
  for (int j = 0; j < length; j++)
    ST_@N@(y, base + j * inner, sum == 0 ? 0 : LD_@N@(x, base + j * inner) / sum);
}
