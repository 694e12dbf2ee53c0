/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of every channel by itself: an item makes TILE pixels in a row; lines with a
 * number in marks are repeated for each. Weights are as the model has them,
 * [channel][1][taps]. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @W@ *w, __global const @B@ *bias, __global const float *scale,
                     __global @TY@ *restrict y, int has_bias, int x_zero, int y_zero@MORE@)
{
  PARAMS(GpuConvParams);
  __global const GpuWindow *win = &q->window;
  int i = get_global_id(0), channel = get_global_id(1), z = get_global_id(2), channels = q->groups;
  int tiles = (win->out[2] + @TILE@ - 1) / @TILE@, size = win->in[0] * win->in[1] * win->in[2];
  int pixels = win->out[0] * win->out[1] * win->out[2];
  if (i >= n)
    return;
  int ox = i % tiles * @TILE@, oy = i / tiles % win->out[1], oz = i / tiles / win->out[1];
  int left = ox * win->stride[2] - win->pad[2], y0 = oy * win->stride[1] - win->pad[1];
  int z0 = oz * win->stride[0] - win->pad[0];
  int reach = (@TILE@ - 1) * win->stride[2] + (win->taps[2] - 1) * win->dilation[2];
  bool inside = left >= 0 && left + reach < win->in[2];
  @A@ s@t@ = has_bias ? LD_@BN@(bias, channel) : 0;
  int tap = channel * win->taps[0] * win->taps[1] * win->taps[2];
  x += (size_t)(z * channels + channel) * size;
  for (int a = 0; a < win->taps[0]; a++) {
    int iz = z0 + a * win->dilation[0];
    for (int b = 0; b < win->taps[1]; b++) {
      int iy = y0 + b * win->dilation[1], row = (iz * win->in[1] + iy) * win->in[2];
      if (iz < 0 || iz >= win->in[0] || iy < 0 || iy >= win->in[1]) {
        tap += win->taps[2];
        continue;
      }
      if (inside) {
        int from = row + left;
        for (int k = 0; k < win->taps[2]; k++, tap++, from += win->dilation[2]) {
          @A@ v = LD_@WN@(w, tap);
          s@t@ = MAC(v, LOAD(from + @t@ * win->stride[2]), s@t@);
        }
        continue;
      }
      for (int k = 0; k < win->taps[2]; k++, tap++) {
        int from = left + k * win->dilation[2];
        @A@ v = LD_@WN@(w, tap);
        int x@t@ = from + @t@ * win->stride[2];
        s@t@ = x@t@ >= 0 && x@t@ < win->in[2] ? MAC(v, LOAD(row + x@t@), s@t@) : s@t@;
      }
    }
  }
  int to = (z * channels + channel) * pixels + (oz * win->out[1] + oy) * win->out[2] + ox;
  @A@ sums[@TILE@];
  sums[@t@] = s@t@;
  for (int t = 0; t < @TILE@ && ox + t < win->out[2]; t++)
    PUT(to + t, channel, sums[t]);
}
#undef LOAD
#undef MAC
#undef PUT
