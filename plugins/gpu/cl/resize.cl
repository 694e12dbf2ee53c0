/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize of one axis: y is the weighted sum of taps. Numbers: inner, size of x, size of y, taps,
 * extrapolation value, then indices and weights of every element along the axis. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  __global const int *q = P + p;
  int i = get_global_id(0);
  int inner = q[0], from = q[1], to = q[2], taps = q[3];
  if (i >= n)
    return;
  int at = i / inner % to, base = i / inner / to * from * inner + i % inner;
  @C@ sum = 0;
  if (q[5 + at * taps] < 0)
    sum = (@C@)as_float(q[4]);
  else if (taps == 1)
    sum = LD_@N@(x, base + q[5 + at] * inner);
  else
    for (int t = 0; t < taps; t++)
      sum += (@C@)(as_float(q[5 + to * taps + at * taps + t]) *
                   LD_@N@(x, base + q[5 + at * taps + t] * inner));
  ST_@N@(y, i, sum);
}
