/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of every channel by itself: an item makes TILE pixels in a row; lines with a
 * number in marks are repeated for each. Numbers as in conv.cl; weights as the model has them,
 * [channel][1][taps]. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @W@ *w, __global const @B@ *bias, __global const float *scale,
                     __global @TY@ *restrict y, int has_bias, int x_zero, int y_zero@MORE@)
{
  __global const int *q = P + p;
  int i = get_global_id(0), channel = get_global_id(1), z = get_global_id(2), channels = q[21];
  int tiles = (q[20] + @TILE@ - 1) / @TILE@, size = q[3] * q[4] * q[5];
  int pixels = q[18] * q[19] * q[20];
  if (i >= n)
    return;
  int ox = i % tiles * @TILE@, oy = i / tiles % q[19], oz = i / tiles / q[19];
  int left = ox * q[11] - q[17], y0 = oy * q[10] - q[16], z0 = oz * q[9] - q[15];
  bool inside = left >= 0 && left + (@TILE@ - 1) * q[11] + (q[8] - 1) * q[14] < q[5];
  @A@ s@t@ = has_bias ? LD_@BN@(bias, channel) : 0;
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
        int from = row + left;
        for (int k = 0; k < q[8]; k++, tap++, from += q[14]) {
          @A@ v = LD_@WN@(w, tap);
          s@t@ = MAC(v, LOAD(from + @t@ * q[11]), s@t@);
        }
        continue;
      }
      for (int k = 0; k < q[8]; k++, tap++) {
        int from = left + k * q[14];
        @A@ v = LD_@WN@(w, tap);
        int x@t@ = from + @t@ * q[11];
        s@t@ = x@t@ >= 0 && x@t@ < q[5] ? MAC(v, LOAD(row + x@t@), s@t@) : s@t@;
      }
    }
  }
  int to = (z * channels + channel) * pixels + (oz * q[19] + oy) * q[20] + ox;
  @A@ sums[@TILE@];
  sums[@t@] = s@t@;
  for (int t = 0; t < @TILE@ && ox + t < q[20]; t++)
    PUT(to + t, channel, sums[t]);
}
#undef LOAD
#undef MAC
#undef PUT
