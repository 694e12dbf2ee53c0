/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CumSum, CumProd: numbers are inner, length, exclusive, reverse. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_global_id(0);
  int inner = P[p], length = P[p + 1], exclusive = P[p + 2], reverse = P[p + 3];
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
