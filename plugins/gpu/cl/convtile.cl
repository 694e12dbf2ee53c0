/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution as an implicit product in local memory: a group of 64 items makes 64 channels of
 * 8 * TILE pixels, 8 of each an item, from 8 inputs at a time. Lines with a number in marks are
 * repeated for each pixel of an item. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global const @W@ *w,
            __global const @B@ *bias, __global const float *scale, __global @TY@ *restrict y, int has_bias,
            int x_zero, int y_zero@MORE@)
{
  __local @W@ weights[8][64];
  __local @X@ values[8][8 * @TILE@];
  PARAMS(GpuConvParams);
  __global const GpuWindow *win = &q->window;
  int l = get_local_id(0), first = get_group_id(0) * 8 * @TILE@, z = get_global_id(2);
  int inputs = q->inputs, outputs = q->outputs, blocks = q->blocks, groups = q->groups;
  int strips = (blocks + 7) / 8, group = get_global_id(1) / strips;
  int block = get_global_id(1) % strips * 8, size = win->in[0] * win->in[1] * win->in[2];
  int taps = win->taps[0] * win->taps[1] * win->taps[2];
  int pixels = win->out[0] * win->out[1] * win->out[2];
  /* What the item brings: 8 weights, and TILE inputs of one pixel. */
  int at = min(first + l % (8 * @TILE@), pixels - 1), row = l / (8 * @TILE@);
  int ix = at % win->out[2] * win->stride[2] - win->pad[2];
  int iy = at / win->out[2] % win->out[1] * win->stride[1] - win->pad[1];
  int iz = at / win->out[2] / win->out[1] * win->stride[0] - win->pad[0];
  bool has_block = block + l / 8 < blocks;
  w += (size_t)(group * blocks + min(block + l / 8, blocks - 1)) * inputs * taps * 8;
  x += (size_t)(z * groups + group) * inputs * size;
  @A@8 s@t@ = 0;
  for (int tap = 0; tap < taps; tap++) {
    int kx = ix + tap % win->taps[2] * win->dilation[2];
    int ky = iy + tap / win->taps[2] % win->taps[1] * win->dilation[1];
    int kz = iz + tap / win->taps[2] / win->taps[1] * win->dilation[0];
    int offset = (kz * win->in[1] + ky) * win->in[2] + kx;
    bool inside = kx >= 0 && kx < win->in[2] && ky >= 0 && ky < win->in[1] && kz >= 0 &&
                  kz < win->in[0];
    for (int c = 0; c < inputs; c += 8) {
      int mine = c + l % 8;
      vstore8(has_block && mine < inputs ? vload8(mine * taps + tap, w) : (@W@8)0, l / 8,
              weights[l % 8]);
      for (int t = 0, k = row; t < @TILE@; t++, k += 8 / @TILE@)
        values[k][l % (8 * @TILE@)] =
            inside && c + k < inputs ? LOAD((c + k) * size + offset) : @PADDING@;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < 8; k++) {
        @W@8 v = vload8(l / 8, weights[k]);
        s@t@ = MAC(v, values[k][l % 8 + 8 * @t@], s@t@);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  @A@ sums[@TILE@][8];
  vstore8(s@t@, 0, sums[@t@]);
  int to = (z * groups + group) * outputs * pixels + first + l % 8;
  for (int o = 0; o < 8 && (block + l / 8) * 8 + o < outputs; o++) {
    int channel = (block + l / 8) * 8 + o;
    @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
    for (int t = 0; t < @TILE@ && first + l % 8 + 8 * t < pixels; t++)
      PUT(to + channel * pixels + 8 * t, group * outputs + channel, sums[t][o] + more);
  }
}
#undef LOAD
#undef MAC
#undef PUT
