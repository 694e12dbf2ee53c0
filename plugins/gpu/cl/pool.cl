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
  int ox = i % win->out[2], oy = i / win->out[2] % win->out[1];
  int oz = i / win->out[2] / win->out[1] % win->out[0], base = i / pixels * size;
  int count = 0, best = -1;
  @A@ a = 0;
  for (int c = 0; c < win->taps[0]; c++)
    for (int b = 0; b < win->taps[1]; b++)
      for (int k = 0; k < win->taps[2]; k++) {
        int iz = oz * win->stride[0] - win->pad[0] + c * win->dilation[0];
        int iy = oy * win->stride[1] - win->pad[1] + b * win->dilation[1];
        int ix = ox * win->stride[2] - win->pad[2] + k * win->dilation[2];
        bool inside = iz >= 0 && iz < win->in[0] && iy >= 0 && iy < win->in[1] && ix >= 0 &&
                      ix < win->in[2];
        if (!inside) {
          count += q->counts_padding && iz < win->in[0] + q->pad_end[0] &&
                   iy < win->in[1] + q->pad_end[1] && ix < win->in[2] + q->pad_end[2];
          continue;
        }
        int o = (iz * win->in[1] + iy) * win->in[2] + ix;
        @A@ v = LD_@N@(x, base + o);
        count++;
        @BODY@
      }
  ST_@N@(y, i, @FIN@);
  if (has_index) {
    int at = (best % win->in[2]) * win->in[1] * win->in[0] + best / win->in[2] % win->in[1] * win->in[0] +
             best / win->in[2] / win->in[1];
    at = has_index == 1 ? best : at;
    index[i] = (long)base + at;
  }
}
