/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y,
                     __global long *index, int has_index)
{
  PARAMS(GpuPoolParams);
  __global const GpuWindow *win = &q->window;
  int i = get_global_id(0);
  int size = win->in[0] * win->in[1] * win->in[2], pixels = win->out[0] * win->out[1] * win->out[2];
  if (i >= n)
    return;
  int o[3] = { i / win->out[2] / win->out[1] % win->out[0], i / win->out[2] % win->out[1], i % win->out[2] };
  int base = i / pixels * size, best = -1, at[3], first[3], end[3];
  @A@ a = 0, count = 1;
  for (int d = 0; d < 3; d++) { /* what lies within the source, however large the window is */
    int step = win->dilation[d], taps = win->taps[d], padded;
    at[d] = o[d] * win->stride[d] - win->pad[d];
    first[d] = at[d] < 0 ? min((step - 1 - at[d]) / step, taps) : 0;
    end[d] = max(min((win->in[d] - at[d] + step - 1) / step, taps), first[d]);
    padded = max(min((win->in[d] + q->pad_end[d] - at[d] + step - 1) / step, taps), 0);
    count *= q->counts_padding ? padded : end[d] - first[d];
  }
  for (int c = first[0]; c < end[0]; c++)
    for (int b = first[1]; b < end[1]; b++)
      for (int k = first[2]; k < end[2]; k++) {
        int iz = at[0] + c * win->dilation[0], iy = at[1] + b * win->dilation[1], ix = at[2] + k * win->dilation[2];
        int place = (iz * win->in[1] + iy) * win->in[2] + ix;
        @A@ v = LD_@N@(x, base + place);
        @BODY@
      }
  ST_@N@(y, i, @FIN@);
  if (has_index) {
    int by_column = (best % win->in[2]) * win->in[1] * win->in[0] + best / win->in[2] % win->in[1] * win->in[0] +
             best / win->in[2] / win->in[1];
    index[i] = (long)base + (has_index == 1 ? best : by_column);
  }
}
