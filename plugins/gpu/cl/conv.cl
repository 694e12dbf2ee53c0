/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution as an implicit product: an item makes 8 channels of 4 pixels in a row. Numbers: 0 inputs
 * and 1 outputs per group, 2 blocks of 8 outputs; of the three dimensions: 3 size of x, 6 of the
 * kernel, 9 stride, 12 dilation, 15 pad, 18 size of y; 21 groups. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @W@ *w, __global const @B@ *bias, __global const float *scale,
                     __global @TY@ *y, int has_bias, int x_zero, int y_zero@MORE@)
{
  __global const int *q = P + p;
  int i = get_global_id(0), z = get_global_id(2);
  int inputs = q[0], outputs = q[1], blocks = q[2], groups = q[21];
  int group = get_global_id(1) / blocks, block = get_global_id(1) % blocks;
  int tiles = (q[20] + 3) / 4, size = q[3] * q[4] * q[5], pixels = q[18] * q[19] * q[20];
  if (i >= n)
    return;
  int ox = i % tiles * 4, oy = i / tiles % q[19], oz = i / tiles / q[19];
  int depth = inputs * q[6] * q[7] * q[8];
  int x0 = ox * q[11] - q[17], y0 = oy * q[10] - q[16], z0 = oz * q[9] - q[15];
  bool inside = x0 >= 0 && x0 + 3 * q[11] + (q[8] - 1) * q[14] < q[5];
  @A@8 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  w += (size_t)(group * blocks + block) * depth * 8;
  x += (size_t)(z * groups + group) * inputs * size;
  for (int c = 0; c < inputs; c++, x += size)
    for (int a = 0; a < q[6]; a++) {
      int iz = z0 + a * q[12];
      for (int b = 0; b < q[7]; b++) {
        int iy = y0 + b * q[13], row = (iz * q[4] + iy) * q[5];
        if (iz < 0 || iz >= q[3] || iy < 0 || iy >= q[4]) {
          w += 8 * q[8];
          continue;
        }
        if (inside) {
          int i0 = row + x0;
          for (int k = 0; k < q[8]; k++, w += 8, i0 += q[14]) {
            @A@8 v = vload8(0, w);
            s0 = MAC(v, LOAD(i0), s0);
            s1 = MAC(v, LOAD(i0 + q[11]), s1);
            s2 = MAC(v, LOAD(i0 + 2 * q[11]), s2);
            s3 = MAC(v, LOAD(i0 + 3 * q[11]), s3);
          }
          continue;
        }
        for (int k = 0; k < q[8]; k++, w += 8) {
          int i0 = x0 + k * q[14], i1 = i0 + q[11], i2 = i1 + q[11], i3 = i2 + q[11];
          @A@8 v = vload8(0, w);
          s0 = MAC(v, (i0 >= 0 && i0 < q[5] ? LOAD(row + i0) : 0), s0);
          s1 = MAC(v, (i1 >= 0 && i1 < q[5] ? LOAD(row + i1) : 0), s1);
          s2 = MAC(v, (i2 >= 0 && i2 < q[5] ? LOAD(row + i2) : 0), s2);
          s3 = MAC(v, (i3 >= 0 && i3 < q[5] ? LOAD(row + i3) : 0), s3);
        }
      }
    }
  @A@ sums[4][8];
  vstore8(s0, 0, sums[0]);
  vstore8(s1, 0, sums[1]);
  vstore8(s2, 0, sums[2]);
  vstore8(s3, 0, sums[3]);
  int to = (z * groups + group) * outputs * pixels + (oz * q[19] + oy) * q[20];
  for (int o = 0; o < 8 && block * 8 + o < outputs; o++) {
    int channel = block * 8 + o;
    @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
    for (int t = 0; t < 4 && ox + t < q[20]; t++)
      PUT(to + channel * pixels + ox + t, group * outputs + channel, sums[t][o] + more);
  }
}
#undef LOAD
#undef MAC
#undef PUT
