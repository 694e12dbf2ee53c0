/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution as an implicit product in local memory: 64 items make 64 channels of 8 * TILE pixels,
 * 8 of each an item, from 8 inputs at a time. A group has SLICES times so many items: each slice
 * takes every SLICES-th 8 inputs, and their sums are added at the end. What comes next is read while
 * this is multiplied. ONE: of one tap, without padding. Lines with a number in marks are repeated for
 * each pixel of an item. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel __attribute__((reqd_work_group_size(64 * @SLICES@, 1, 1)))
void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global const @W@ *w,
            __global const @B@ *bias, __global const float *scale, __global @TY@ *restrict y, int has_bias,
            int x_zero, int y_zero@MORE@)
{
  __local @W@8 weights[@SLICES@][8][9]; /* one more: banks */
  __local @X@ values[@SLICES@][8][8 * @TILE@];
  PARAMS(GpuConvParams);
  __global const GpuWindow *win = &q->window;
  int l = get_local_id(0) % 64, slice = get_local_id(0) / 64, first = get_group_id(0) * 8 * @TILE@;
  int inputs = q->inputs, outputs = q->outputs, blocks = q->blocks, groups = q->groups;
  int strips = (blocks + 7) / 8, group = get_global_id(1) / strips, z = get_global_id(2);
  int block = get_global_id(1) % strips * 8, size = win->in[0] * win->in[1] * win->in[2];
  int kw = win->taps[2], kh = win->taps[1], taps = win->taps[0] * kh * kw;
  int dx = win->dilation[2], dy = win->dilation[1], dz = win->dilation[0];
  int width = win->in[2], height = win->in[1], planes = win->in[0];
  int pixels = win->out[0] * win->out[1] * win->out[2];
  /* What the item brings: 8 weights, and TILE inputs of one pixel. */
  int at = min(first + l % (8 * @TILE@), pixels - 1), row = l / (8 * @TILE@);
  int ix = at % win->out[2] * win->stride[2] - win->pad[2];
  int iy = at / win->out[2] % win->out[1] * win->stride[1] - win->pad[1];
  int iz = at / win->out[2] / win->out[1] * win->stride[0] - win->pad[0];
  int wide = (inputs + 7) / 8 * 8, turns = (wide / 8 * taps + @SLICES@ - 1) / @SLICES@;
  int tap = 0, known = -1, next = slice * 8, offset = (iz * height + iy) * width + ix;
  bool inside = true;
  bool has_block = block + l / 8 < blocks;
  __global const @W@8 *packed = (__global const @W@8 *)w + (size_t)(group * blocks + min(block + l / 8, blocks - 1)) * inputs * taps;
  @W@8 weight = 0;
  @X@ x@t@ = 0;
  @A@8 s@t@ = 0;
  x += (size_t)(z * groups + group) * inputs * size;
  for (int turn = 0; turn <= turns; turn++) {
    if (turn < turns) {
#if !@ONE@
      for (; next >= wide; next -= wide)
        tap++;
      if (tap != known) {
        int kx = ix + tap % kw * dx, ky = iy + tap / kw % kh * dy, kz = iz + tap / kw / kh * dz;
        offset = (kz * height + ky) * width + kx;
        inside = kx >= 0 && kx < width && ky >= 0 && ky < height && kz >= 0 && kz < planes && tap < taps;
        known = tap;
      }
#endif
      int k = next + l % 8, c = next + row;
      weight = has_block && tap < taps && k < inputs ? packed[k * taps + tap] : (@W@8)0;
      next += 8 * @SLICES@;
      x@t@ = inside && c + @t@ * (8 / @TILE@) < inputs ? LOAD((c + @t@ * (8 / @TILE@)) * size + offset) : @PADDING@;
    }
    if (turn > 0) {
      for (int k = 0; k < 8; k++) {
        @W@8 v = weights[slice][k][l / 8];
        s@t@ = MAC(v, values[slice][k][l % 8 + 8 * @t@], s@t@);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (turn < turns) {
      weights[slice][l % 8][l / 8] = weight;
      values[slice][row + @t@ * (8 / @TILE@)][l % (8 * @TILE@)] = x@t@;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  @A@8 sums[@TILE@];
  sums[@t@] = s@t@;
  ADD_SLICES(@SLICES@, @TILE@, (__local @A@8 *)weights, sums)
  int to = (z * groups + group) * outputs * pixels + first + l % 8;
  for (int t = slice; t < @TILE@ && first + l % 8 + 8 * t < pixels; t += @SLICES@) {
    @A@ sum[8];
    vstore8(sums[t], 0, sum);
    for (int o = 0; o < 8 && (block + l / 8) * 8 + o < outputs; o++) {
      int channel = (block + l / 8) * 8 + o;
      @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
      PUT(to + channel * pixels + 8 * t, group * outputs + channel, sum[o] + more);
    }
  }
}
#undef LOAD
#undef MAC
#undef PUT
