/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution as an implicit product: an item makes 8 channels of TILE pixels in a row; lines with a
 * number in marks are repeated for each. PADDED: what lies outside of x counts, as PADDING. Numbers:
 * 0 inputs and 1 outputs per group, 2 blocks of 8 outputs; of the three dimensions: 3 size of x, 6
 * of the kernel, 9 stride, 12 dilation, 15 pad, 18 size of y; 21 groups. */
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
  int tiles = (q[20] + @TILE@ - 1) / @TILE@, size = q[3] * q[4] * q[5];
  int pixels = q[18] * q[19] * q[20];
  if (i >= n)
    return;
  int ox = i % tiles * @TILE@, oy = i / tiles % q[19], oz = i / tiles / q[19];
  int left = ox * q[11] - q[17], y0 = oy * q[10] - q[16], z0 = oz * q[9] - q[15];
  bool inside = left >= 0 && left + (@TILE@ - 1) * q[11] + (q[8] - 1) * q[14] < q[5];
  int depth = inputs * q[6] * q[7] * q[8];
  @A@8 s@t@ = 0;
  w += (size_t)(group * blocks + block) * depth * 8;
  x += (size_t)(z * groups + group) * inputs * size;
  for (int c = 0; c < inputs; c++, x += size)
    for (int a = 0; a < q[6]; a++) {
      int iz = z0 + a * q[12];
      for (int b = 0; b < q[7]; b++) {
        int iy = y0 + b * q[13], row = (iz * q[4] + iy) * q[5];
        if (iz < 0 || iz >= q[3] || iy < 0 || iy >= q[4]) {
          for (int k = 0; k < q[8]; k++, w += 8) {
            if (!@PADDED@)
              continue;
            @W@8 v = vload8(0, w);
            s@t@ = MAC(v, @PADDING@, s@t@);
          }
          continue;
        }
        if (inside) {
          int from = row + left;
          for (int k = 0; k < q[8]; k++, w += 8, from += q[14]) {
            @W@8 v = vload8(0, w);
            s@t@ = MAC(v, LOAD(from + @t@ * q[11]), s@t@);
          }
          continue;
        }
        for (int k = 0; k < q[8]; k++, w += 8) {
          int from = left + k * q[14];
          @W@8 v = vload8(0, w);
          int x@t@ = from + @t@ * q[11];
          s@t@ = MAC(v, (x@t@ >= 0 && x@t@ < q[5] ? LOAD(row + x@t@) : @PADDING@), s@t@);
        }
      }
    }
  @A@ sums[@TILE@][8];
  vstore8(s@t@, 0, sums[@t@]);
  int to = (z * groups + group) * outputs * pixels + (oz * q[19] + oy) * q[20] + ox;
  for (int o = 0; o < 8 && block * 8 + o < outputs; o++) {
    int channel = block * 8 + o;
    @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
    for (int t = 0; t < @TILE@ && ox + t < q[20]; t++)
      PUT(to + channel * pixels + t, group * outputs + channel, sums[t][o] + more);
  }
}
#undef LOAD
#undef MAC
#undef PUT
