/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GridSample over pictures. */
inline float @NAME@_reflect(float c, float low, float high)
{
  float range = high - low;
  if (!isfinite(c) || range <= 0)
    return low;
  float away = fmod(fabs(c - low), 2 * range);
  return low + (away <= range ? away : 2 * range - away);
}

inline int @NAME@_index(float i, int n, int padding, int aligned)
{
  if (i >= 0 && i < n)
    return (int)i;
  if (padding == 0)
    return -1;
  if (padding == 1 || !isfinite(i))
    return i >= n ? n - 1 : 0;
  i = aligned ? @NAME@_reflect(i, 0, n - 1) : @NAME@_reflect(i, -0.5f, n - 0.5f);
  return (int)clamp(i, 0.0f, n - 1.0f);
}

inline float @NAME@_cubic(float t)
{
  const float a = -0.75f;
  t = fabs(t);
  return t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1
         : t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
                 : 0;
}

inline void @NAME@_taps(float g, int n, int padding, int aligned, int *at, float *weight)
{
  float c = aligned ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
  if (padding == 1 && @TAPS@ < 4)
    c = clamp(c, 0.0f, n - 1.0f);
  if (padding == 2 && @TAPS@ < 4)
    c = aligned ? @NAME@_reflect(c, 0, n - 1)
                : clamp(@NAME@_reflect(c, -0.5f, n - 0.5f), 0.0f, n - 1.0f);
  float base = @TAPS@ == 1 ? rint(c) : floor(c) - (@TAPS@ == 4);
  for (int i = 0; i < @TAPS@; i++) {
    at[i] = @NAME@_index(base + i, n, padding, aligned);
    weight[i] = @TAPS@ == 1 ? 1 : @TAPS@ == 2 ? 1 - fabs(c - base - i) : @NAME@_cubic(c - base - i);
  }
}

__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @G@ *grid, __global @T@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuGridSampleParams);
  int channels = q->channels, rows = q->rows, columns = q->columns;
  int pixels = q->out_rows * q->out_columns;
  if (i >= n)
    return;
  int from = (i / pixels / channels * pixels + i % pixels) * 2, ax[@TAPS@], ay[@TAPS@];
  float wx[@TAPS@], wy[@TAPS@], sum = 0;
  @NAME@_taps(LD_@GN@(grid, from), columns, q->padding, q->aligned, ax, wx);
  @NAME@_taps(LD_@GN@(grid, from + 1), rows, q->padding, q->aligned, ay, wy);
  x += (size_t)(i / pixels) * rows * columns;
  for (int b = 0; b < @TAPS@; b++)
    for (int a = 0; a < @TAPS@; a++)
      if (ax[a] >= 0 && ay[b] >= 0)
        sum += wx[a] * wy[b] * LD_@N@(x, ay[b] * columns + ax[a]);
  ST_@N@(y, i, sum);
}
