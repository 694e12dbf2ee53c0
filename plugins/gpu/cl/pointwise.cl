/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution with a kernel of one pixel, without padding and strides: a product. An item makes 8
 * channels of TILE pixels; lines with a number in marks are repeated for each. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @W@ *w, __global const @B@ *bias, __global const float *scale,
                     __global @TY@ *restrict y, int has_bias, int x_zero, int y_zero@MORE@)
{
  int i = get_global_id(0), z = get_global_id(2);
  PARAMS(GpuPointwiseParams);
  int inputs = q->inputs, outputs = q->outputs, blocks = q->blocks, groups = q->groups;
  int pixels = q->pixels;
  int group = get_global_id(1) / blocks, block = get_global_id(1) % blocks;
  if (i >= n)
    return;
  int from = i * @TILE@;
  int at@t@ = min(from + @t@, pixels - 1);
  @A@8 s@t@ = 0;
  w += (size_t)(group * blocks + block) * inputs * 8;
  x += (size_t)(z * groups + group) * inputs * pixels;
  for (int c = 0; c < inputs; c++, x += pixels, w += 8) {
    @W@8 v = *(__global const @W@8 *)w;
    s@t@ = MAC(v, LOAD(at@t@), s@t@);
  }
  @A@ sums[@TILE@][8];
  vstore8(s@t@, 0, sums[@t@]);
  int to = (z * groups + group) * outputs * pixels + from;
  for (int o = 0; o < 8 && block * 8 + o < outputs; o++) {
    int channel = block * 8 + o;
    @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
    for (int t = 0; t < @TILE@ && from + t < pixels; t++)
      PUT(to + channel * pixels + t, group * outputs + channel, sums[t][o] + more);
  }
}
#undef LOAD
#undef MAC
#undef PUT
