/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every 4x4 tile of x, two pixels apart, becomes 16 numbers: 16 matrices [channel][tile]. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *v)
{
  PARAMS(GpuWinogradInParams);
  int i = get_global_id(0);
  if (i >= n)
    return;
  int tiles = q->n_tiles, channel = i / tiles, tile = i % tiles;
  int column = tile % q->tile_columns, row = tile / q->tile_columns % q->tile_rows;
  int image = tile / q->tile_columns / q->tile_rows;
  int x0 = column * 2 - q->pad_left, y0 = row * 2 - q->pad_top;
  float d[4][4];
  x += (size_t)(image * q->channels + channel) * q->rows * q->columns;
  for (int r = 0; r < 4; r++)
    for (int k = 0; k < 4; k++) {
      int y = y0 + r, c = x0 + k;
      d[r][k] = y >= 0 && y < q->rows && c >= 0 && c < q->columns ? LD_@N@(x, y * q->columns + c) : 0;
    }
  for (int k = 0; k < 4; k++) {
    float a = d[0][k] - d[2][k], b = d[1][k] + d[2][k], c = d[2][k] - d[1][k], e = d[1][k] - d[3][k];
    d[0][k] = a;
    d[1][k] = b;
    d[2][k] = c;
    d[3][k] = e;
  }
  for (int r = 0; r < 4; r++) {
    float t[4] = { d[r][0] - d[r][2], d[r][1] + d[r][2], d[r][2] - d[r][1], d[r][1] - d[r][3] };
    for (int k = 0; k < 4; k++)
      ST_@N@(v, (r * 4 + k) * n + i, t[k]);
  }
}
