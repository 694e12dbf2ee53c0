/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution as an implicit product: an item makes 8 channels of TILE pixels in a row; lines with a
 * number in marks are repeated for each. PADDED: what lies outside of x counts, as PADDING. */
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
  int i = get_global_id(0), z = get_global_id(2);
  int inputs = q->inputs, outputs = q->outputs, blocks = q->blocks, groups = q->groups;
  int group = get_global_id(1) / blocks, block = get_global_id(1) % blocks;
  int tiles = (win->out[2] + @TILE@ - 1) / @TILE@, size = win->in[0] * win->in[1] * win->in[2];
  int pixels = win->out[0] * win->out[1] * win->out[2];
  if (i >= n)
    return;
  int ox = i % tiles * @TILE@, oy = i / tiles % win->out[1], oz = i / tiles / win->out[1];
  int left = ox * win->stride[2] - win->pad[2], y0 = oy * win->stride[1] - win->pad[1];
  int z0 = oz * win->stride[0] - win->pad[0];
  int reach = (@TILE@ - 1) * win->stride[2] + (win->taps[2] - 1) * win->dilation[2];
  bool inside = left >= 0 && left + reach < win->in[2];
  int depth = inputs * win->taps[0] * win->taps[1] * win->taps[2];
  @A@8 s@t@ = 0;
  w += (size_t)(group * blocks + block) * depth * 8;
  x += (size_t)(z * groups + group) * inputs * size;
  for (int c = 0; c < inputs; c++, x += size)
    for (int a = 0; a < win->taps[0]; a++) {
      int iz = z0 + a * win->dilation[0];
      for (int b = 0; b < win->taps[1]; b++) {
        int iy = y0 + b * win->dilation[1], row = (iz * win->in[1] + iy) * win->in[2];
        if (iz < 0 || iz >= win->in[0] || iy < 0 || iy >= win->in[1]) {
          for (int k = 0; k < win->taps[2]; k++, w += 8) {
            if (!@PADDED@)
              continue;
            @W@8 v = *(__global const @W@8 *)w;
            s@t@ = MAC(v, @PADDING@, s@t@);
          }
          continue;
        }
        if (inside) {
          int from = row + left;
          for (int k = 0; k < win->taps[2]; k++, w += 8, from += win->dilation[2]) {
            @W@8 v = *(__global const @W@8 *)w;
            s@t@ = MAC(v, LOAD(from + @t@ * win->stride[2]), s@t@);
          }
          continue;
        }
        for (int k = 0; k < win->taps[2]; k++, w += 8) {
          int from = left + k * win->dilation[2];
          @W@8 v = *(__global const @W@8 *)w;
          int x@t@ = from + @t@ * win->stride[2];
          s@t@ = MAC(v, (x@t@ >= 0 && x@t@ < win->in[2] ? LOAD(row + x@t@) : @PADDING@), s@t@);
        }
      }
    }
  @A@ sums[@TILE@][8];
  vstore8(s@t@, 0, sums[@t@]);
  int to = (z * groups + group) * outputs * pixels + (oz * win->out[1] + oy) * win->out[2] + ox;
  for (int o = 0; o < 8 && block * 8 + o < outputs; o++) {
    int channel = block * 8 + o;
    @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
    for (int t = 0; t < @TILE@ && ox + t < win->out[2]; t++)
      PUT(to + channel * pixels + t, group * outputs + channel, sums[t][o] + more);
  }
}
#undef LOAD
#undef MAC
#undef PUT
