/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of every channel by itself: an item makes 4 pixels in a row. Numbers as in conv.cl;
 * weights as the model has them, [channel][1][taps]. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @W@ *w, __global const @B@ *bias, __global const float *scale,
                     __global @TY@ *y, int has_bias, int x_zero, int y_zero@MORE@)
{
  __global const int *q = P + p;
  int i = get_global_id(0), channel = get_global_id(1), z = get_global_id(2), channels = q[21];
  int tiles = (q[20] + 3) / 4, size = q[3] * q[4] * q[5], pixels = q[18] * q[19] * q[20];
  if (i >= n)
    return;
  int ox = i % tiles * 4, oy = i / tiles % q[19], oz = i / tiles / q[19];
  int x0 = ox * q[11] - q[17], y0 = oy * q[10] - q[16], z0 = oz * q[9] - q[15];
  bool inside = x0 >= 0 && x0 + 3 * q[11] + (q[8] - 1) * q[14] < q[5];
  @A@ s0 = has_bias ? LD_@BN@(bias, channel) : 0, s1 = s0, s2 = s0, s3 = s0;
  int tap = channel * q[6] * q[7] * q[8];
  x += (size_t)(z * channels + channel) * size;
  for (int a = 0; a < q[6]; a++) {
    int iz = z0 + a * q[12];
    for (int b = 0; b < q[7]; b++) {
      int iy = y0 + b * q[13], row = (iz * q[4] + iy) * q[5];
      if (iz < 0 || iz >= q[3] || iy < 0 || iy >= q[4]) {
        tap += q[8];
        continue;
      }
      if (inside) {
        int i0 = row + x0;
        for (int k = 0; k < q[8]; k++, tap++, i0 += q[14]) {
          @A@ v = LD_@WN@(w, tap);
          s0 = MAC(v, LOAD(i0), s0);
          s1 = MAC(v, LOAD(i0 + q[11]), s1);
          s2 = MAC(v, LOAD(i0 + 2 * q[11]), s2);
          s3 = MAC(v, LOAD(i0 + 3 * q[11]), s3);
        }
        continue;
      }
      for (int k = 0; k < q[8]; k++, tap++) {
        int i0 = x0 + k * q[14], i1 = i0 + q[11], i2 = i1 + q[11], i3 = i2 + q[11];
        @A@ v = LD_@WN@(w, tap);
        s0 = i0 >= 0 && i0 < q[5] ? MAC(v, LOAD(row + i0), s0) : s0;
        s1 = i1 >= 0 && i1 < q[5] ? MAC(v, LOAD(row + i1), s1) : s1;
        s2 = i2 >= 0 && i2 < q[5] ? MAC(v, LOAD(row + i2), s2) : s2;
        s3 = i3 >= 0 && i3 < q[5] ? MAC(v, LOAD(row + i3), s3) : s3;
      }
    }
  }
  @A@ sums[4] = { s0, s1, s2, s3 };
  int to = (z * channels + channel) * pixels + (oz * q[19] + oy) * q[20];
  for (int t = 0; t < 4 && ox + t < q[20]; t++)
    PUT(to + ox + t, channel, sums[t]);
}
#undef LOAD
#undef MAC
#undef PUT
