/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One step of LSTM in one direction: an item makes one unit of one batch entry. g holds the products of
 * the inputs, gates in ONNX's order i, o, f, c; r is transposed, [hidden][4 * hidden]; the h
 * before begins at from, -1: nowhere, the new one at to. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const float *g,
                     __global const float *r, __global const float *bias,
                     __global const float *h0, __global const float *c0, __global float *y,
                     __global float *c, int has_bias, int has_h, int has_c, int gates, int from, int to,
                     int state, int bias_at)
{
  int i = get_global_id(0);
  PARAMS(GpuLstmParams);
  int hidden = q->hidden;
  if (i >= n)
    return;
  int k = i % hidden, b = i / hidden;
  float v[4];
  for (int j = 0; j < 4; j++) {
    v[j] = g[gates + b * 4 * hidden + j * hidden + k];
    if (has_bias)
      v[j] += bias[bias_at + j * hidden + k] + bias[bias_at + (4 + j) * hidden + k];
  }
  if (from >= 0 || has_h)
    for (int m = 0; m < hidden; m++) {
      float h = from >= 0 ? y[from + b * hidden + m] : h0[state + b * hidden + m];
      for (int j = 0; j < 4; j++)
        v[j] += h * r[m * 4 * hidden + j * hidden + k];
    }
  float cell = from >= 0 ? c[i] : has_c ? c0[state + i] : 0;
  cell = cell / (1 + exp(-v[2])) + tanh(v[3]) / (1 + exp(-v[0]));
  c[i] = cell;
  y[to + i] = tanh(cell) / (1 + exp(-v[1]));
}
