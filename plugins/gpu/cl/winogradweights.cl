/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* F(2x2, 3x3): weights [output][input][3][3] become 16 matrices [input][output], so
 * that products read them row by row. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *w, __global @T@ *u,
                     int inputs)
{
  int i = get_global_id(0);
  if (i >= n)
    return;
  int to = i % inputs * (n / inputs) + i / inputs;
  float g[3][3], h[4][3];
  for (int k = 0; k < 9; k++)
    g[k / 3][k % 3] = LD_@N@(w, i * 9 + k);
  for (int k = 0; k < 3; k++) {
    h[0][k] = g[0][k];
    h[1][k] = (g[0][k] + g[1][k] + g[2][k]) / 2;
    h[2][k] = (g[0][k] - g[1][k] + g[2][k]) / 2;
    h[3][k] = g[2][k];
  }
  for (int r = 0; r < 4; r++) {
    float v[4] = { h[r][0], (h[r][0] + h[r][1] + h[r][2]) / 2, (h[r][0] - h[r][1] + h[r][2]) / 2,
                   h[r][2] };
    for (int k = 0; k < 4; k++)
      ST_@N@(u, (r * 4 + k) * n + to, v[k]);
  }
}
