/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CumSum, CumProd. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuCumulateParams);
  int inner = q->line.inner, length = q->line.length, exclusive = q->exclusive, reverse = q->reverse;
  if (i >= n)
    return;
  int base = i / inner * length * inner + i % inner;
  @C@ a = @INIT@;
  for (int j = 0; j < length; j++) {
    int o = base + (reverse ? length - 1 - j : j) * inner;
    @C@ v = LD_@N@(x, o);
    if (exclusive)
      ST_@N@(y, o, a);
    a = @ACC@;
    if (!exclusive)
      ST_@N@(y, o, a);
  }
}
