/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LRN: numbers are channels, inner, size, alpha, beta, bias. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_global_id(0);
  int channels = P[p], inner = P[p + 1], size = P[p + 2];
  float alpha = as_float(P[p + 3]), beta = as_float(P[p + 4]), bias = as_float(P[p + 5]);
  if (i >= n)
    return;
  int c = i / inner % channels;
  int first = max(c - (size - 1) / 2, 0), last = min(c + size / 2, channels - 1);
  @C@ sum = 0;
  for (int k = first; k <= last; k++) {
    @C@ v = LD_@N@(x, i + (k - c) * inner);
    sum += v * v;
  }
  @C@ base = bias + alpha / size * sum;
  ST_@N@(y, i, LD_@N@(x, i) / pow(base, (@C@)beta));
}
