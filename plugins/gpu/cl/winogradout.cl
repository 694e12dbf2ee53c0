/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The 16 products [channel][tile] become 2x2 pixels of y. */
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *m,
                     __global const @T@ *bias, __global @TY@ *y, int has_bias@MORE@)
{
  PARAMS(GpuWinogradOutParams);
  int i = get_global_id(0);
  if (i >= n)
    return;
  int tiles = q->n_tiles, channel = i / tiles, tile = i % tiles;
  int column = tile % q->tile_columns * 2, row = tile / q->tile_columns % q->tile_rows * 2;
  int image = tile / q->tile_columns / q->tile_rows;
  float t[2][4], more = has_bias ? LD_@N@(bias, channel) : 0.0f;
  for (int k = 0; k < 4; k++) {
    float a = LD_@N@(m, k * n + i), b = LD_@N@(m, (4 + k) * n + i);
    float c = LD_@N@(m, (8 + k) * n + i), d = LD_@N@(m, (12 + k) * n + i);
    t[0][k] = a + b + c;
    t[1][k] = b - c - d;
  }
  int to = ((image * q->channels + channel) * q->rows + row) * q->columns + column;
  for (int r = 0; r < 2 && row + r < q->rows; r++) {
    PUT(to + r * q->columns, channel, t[r][0] + t[r][1] + t[r][2] + more);
    if (column + 1 < q->columns)
      PUT(to + r * q->columns + 1, channel, t[r][1] - t[r][2] - t[r][3] + more);
  }
}
#undef PUT
