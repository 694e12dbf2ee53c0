/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LRN. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuLrnParams);
  int channels = q->channels, inner = q->inner, size = q->size;
  if (i >= n)
    return;
  int c = i / inner % channels;
  int first = max(c - (size - 1) / 2, 0), last = min(c + size / 2, channels - 1);
  @C@ sum = 0;
  for (int k = first; k <= last; k++) {
    @C@ v = LD_@N@(x, i + (k - c) * inner);
    sum += v * v;
  }
  @C@ base = q->bias + q->alpha / size * sum;
  ST_@N@(y, i, LD_@N@(x, i) / pow(base, (@C@)q->beta));
}
