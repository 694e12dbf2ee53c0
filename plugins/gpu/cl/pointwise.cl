/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution with a kernel of one pixel and no padding, stride 1: a product. An item makes 8 channels of 4
 * pixels. Numbers: inputs and outputs per group, blocks of 8 outputs, pixels, groups. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @W@ *w, __global const @B@ *bias, __global const float *scale,
                     __global @TY@ *y, int has_bias, int x_zero, int y_zero@MORE@)
{
  int i = get_global_id(0), z = get_global_id(2);
  int inputs = P[p], outputs = P[p + 1], blocks = P[p + 2], pixels = P[p + 3], groups = P[p + 4];
  int group = get_global_id(1) / blocks, block = get_global_id(1) % blocks;
  if (i >= n)
    return;
  int at = min(i * 4, max(pixels - 4, 0)); /* the last tile overlaps the one before */
  int i1 = min(at + 1, pixels - 1), i2 = min(at + 2, pixels - 1), i3 = min(at + 3, pixels - 1);
  @A@8 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  w += (size_t)(group * blocks + block) * inputs * 8;
  x += (size_t)(z * groups + group) * inputs * pixels;
  for (int c = 0; c < inputs; c++, x += pixels, w += 8) {
    @A@8 v = vload8(0, w);
    s0 = MAC(v, LOAD(at), s0);
    s1 = MAC(v, LOAD(i1), s1);
    s2 = MAC(v, LOAD(i2), s2);
    s3 = MAC(v, LOAD(i3), s3);
  }
  @A@ sums[4][8];
  vstore8(s0, 0, sums[0]);
  vstore8(s1, 0, sums[1]);
  vstore8(s2, 0, sums[2]);
  vstore8(s3, 0, sums[3]);
  int to = (z * groups + group) * outputs * pixels;
  for (int o = 0; o < 8 && block * 8 + o < outputs; o++) {
    int channel = block * 8 + o;
    @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
    for (int t = 0; t < 4 && at + t < pixels; t++)
      PUT(to + channel * pixels + at + t, group * outputs + channel, sums[t][o] + more);
  }
}
#undef LOAD
#undef MAC
#undef PUT
