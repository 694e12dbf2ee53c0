/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize of one axis: y is the weighted sum of taps. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  PARAMS(GpuResizeParams);
  int i = get_global_id(0);
  int inner = q->inner, from = q->in, to = q->out, taps = q->taps;
  __global const int *index = (__global const int *)(q + 1);
  __global const float *weight = (__global const float *)(index + to * taps);
  if (i >= n)
    return;
  int at = i / inner % to, base = i / inner / to * from * inner + i % inner;
  @C@ sum = 0;
  if (index[at * taps] < 0)
    sum = (@C@)q->outside;
  else if (taps == 1)
    sum = LD_@N@(x, base + index[at] * inner);
  else
    for (int t = 0; t < taps; t++)
      sum += (@C@)(weight[at * taps + t] *
                   LD_@N@(x, base + index[at * taps + t] * inner));
  ST_@N@(y, i, sum);
}
