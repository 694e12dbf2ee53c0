/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TopK: an item finds one line's, each behind the one before; NaN is the largest. */
#define BEST(v, w) @BETTER@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y,
                     __global long *index)
{
  int i = get_global_id(0);
  PARAMS(GpuTopKParams);
  int inner = q->line.inner, length = q->line.length, k = q->k;
  if (i >= n)
    return;
  int base = i / inner * length * inner + i % inner, to = i / inner * k * inner + i % inner;
  int last = -1;
  for (int r = 0; r < k; r++) {
    int best = -1;
    @C@ value = 0, before = last < 0 ? 0 : LD_@N@(x, base + last * inner);
    for (int j = 0; j < length; j++) {
      @C@ v = LD_@N@(x, base + j * inner);
      bool behind = last < 0 || BEST(before, v) || (!BEST(v, before) && j > last);
      if (j != last && behind && (best < 0 || BEST(v, value))) {
        best = j;
        value = v;
      }
    }
    best = best < 0 ? last : best;
    ST_@N@(y, to + r * inner, LD_@N@(x, base + best * inner));
    index[to + r * inner] = best;
    last = best;
  }
}
#undef BEST
