/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Four channels of a pixel as one number; what lacks is 0. FLIP makes unsigned bytes
 * signed ones, 128 less. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global uint *y)
{
  PARAMS(GpuPackBytesParams);
  int i = get_global_id(0), channels = q->channels, quads = q->quads, pixels = q->pixels;
  if (i >= n)
    return;
  int pixel = i % pixels, quad = i / pixels % quads, z = i / pixels / quads;
  uint v = 0;
  x += (size_t)z * channels * pixels + pixel;
  for (int b = 0; b < 4 && quad * 4 + b < channels; b++)
    v |= (uint)(uchar)x[(quad * 4 + b) * pixels] << (8 * b);
  y[i] = v ^ @FLIP@;
}
