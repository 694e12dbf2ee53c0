/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ArgMax, ArgMin. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global long *y)
{
  int i = get_global_id(0);
  PARAMS(GpuArgReduceParams);
  int inner = q->line.inner, length = q->line.length, last = q->last;
  if (i >= n)
    return;
  int base = i / inner * length * inner + i % inner, best = 0;
  @C@ value = LD_@N@(x, base);
  for (int j = 1; j < length; j++) {
    @C@ v = LD_@N@(x, base + j * inner);
    if (v @BETTER@ value || (last && v == value)) {
      value = v;
      best = j;
    }
  }
  y[i] = best;
}
