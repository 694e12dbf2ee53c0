/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ConvTranspose: an item makes 8 channels of one pixel from all that reach it. Numbers as in conv.cl,
 * of the convolution whose gradient it is: x here has its size of y, and y here its size of x. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @W@ *w, __global const @B@ *bias, __global const float *scale,
                     __global @TY@ *restrict y, int has_bias, int x_zero, int y_zero@MORE@)
{
  __global const int *q = P + p;
  int i = get_global_id(0), z = get_global_id(2);
  int inputs = q[0], outputs = q[1], blocks = q[2], groups = q[21];
  int group = get_global_id(1) / blocks, block = get_global_id(1) % blocks;
  int size = q[18] * q[19] * q[20], pixels = q[3] * q[4] * q[5];
  int depth = inputs * q[6] * q[7] * q[8], taps = q[6] * q[7] * q[8];
  if (i >= n)
    return;
  int ox = i % q[5] + q[17], oy = i / q[5] % q[4] + q[16], oz = i / q[5] / q[4] + q[15];
  @A@8 sum = 0;
  w += (size_t)(group * blocks + block) * depth * 8;
  x += (size_t)(z * groups + group) * inputs * size;
  for (int t = 0; t < taps; t++) {
    int k = ox - t % q[8] * q[14], j = oy - t / q[8] % q[7] * q[13], d = oz - t / q[8] / q[7] * q[12];
    if (k < 0 || j < 0 || d < 0 || k % q[11] || j % q[10] || d % q[9])
      continue;
    k /= q[11];
    j /= q[10];
    d /= q[9];
    if (k >= q[20] || j >= q[19] || d >= q[18])
      continue;
    for (int c = 0; c < inputs; c++)
      sum = MAC(vload8(c * taps + t, w), LOAD(c * size + (d * q[19] + j) * q[20] + k), sum);
  }
  @A@ sums[8];
  vstore8(sum, 0, sums);
  int to = (z * groups + group) * outputs * pixels + i;
  for (int o = 0; o < 8 && block * 8 + o < outputs; o++) {
    int channel = block * 8 + o;
    @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
    PUT(to + channel * pixels, group * outputs + channel, sums[o] + more);
  }
}
#undef LOAD
#undef MAC
#undef PUT
