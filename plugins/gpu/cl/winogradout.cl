/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The 16 products [channel][part] become 2x2 pixels of y. Numbers: channels, rows and columns of y, parts
 * per column and row of the picture, parts. */
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *m,
                     __global const @T@ *bias, __global @TY@ *y, int has_bias@MORE@)
{
  __global const int *q = P + p;
  int i = get_global_id(0);
  if (i >= n)
    return;
  int parts = q[5], channel = i / parts, part = i % parts;
  int column = part % q[4] * 2, row = part / q[4] % q[3] * 2, image = part / q[4] / q[3];
  float t[2][4], more = has_bias ? LD_@N@(bias, channel) : 0.0f;
  for (int k = 0; k < 4; k++) {
    float a = LD_@N@(m, k * n + i), b = LD_@N@(m, (4 + k) * n + i);
    float c = LD_@N@(m, (8 + k) * n + i), d = LD_@N@(m, (12 + k) * n + i);
    t[0][k] = a + b + c;
    t[1][k] = b - c - d;
  }
  int to = ((image * q[0] + channel) * q[1] + row) * q[2] + column;
  for (int r = 0; r < 2 && row + r < q[1]; r++) {
    PUT(to + r * q[2], channel, t[r][0] + t[r][1] + t[r][2] + more);
    if (column + 1 < q[2])
      PUT(to + r * q[2] + 1, channel, t[r][1] - t[r][2] - t[r][3] + more);
  }
}
#undef PUT
