/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling: numbers 3 to 20 as in conv.cl, 21 whether padding counts, 22 p of LpPool, 23 to 25 the
 * padding behind. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y,
                     __global long *index, int has_index)
{
  __global const int *q = P + p;
  int i = get_global_id(0);
  int size = q[3] * q[4] * q[5], pixels = q[18] * q[19] * q[20];
  if (i >= n)
    return;
  int ox = i % q[20], oy = i / q[20] % q[19], oz = i / q[20] / q[19] % q[18], base = i / pixels * size;
  int count = 0, best = -1;
  @A@ a = 0;
  for (int c = 0; c < q[6]; c++)
    for (int b = 0; b < q[7]; b++)
      for (int k = 0; k < q[8]; k++) {
        int iz = oz * q[9] - q[15] + c * q[12], iy = oy * q[10] - q[16] + b * q[13];
        int ix = ox * q[11] - q[17] + k * q[14];
        bool inside = iz >= 0 && iz < q[3] && iy >= 0 && iy < q[4] && ix >= 0 && ix < q[5];
        if (!inside) {
          count += q[21] && iz < q[3] + q[23] && iy < q[4] + q[24] && ix < q[5] + q[25];
          continue;
        }
        int o = (iz * q[4] + iy) * q[5] + ix;
        @A@ v = LD_@N@(x, base + o);
        count++;
        @BODY@
      }
  ST_@N@(y, i, @FIN@);
  if (has_index) {
    int at = has_index == 1 ? best : (best % q[5]) * q[4] * q[3] + best / q[5] % q[4] * q[3] + best / q[5] / q[4];
    index[i] = (long)base + at;
  }
}
