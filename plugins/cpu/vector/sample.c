/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places in double precision, as the reference computes them: a rounded coordinate decides which
 * pixel is read. */
#include "sample.h"
#include "level.h"

#include <math.h>

enum { AXES = CPU_SAMPLE_AXES, MOST = 4 };

/* Along one axis; at < 0: reads 0. */
typedef struct {
  gint64 at[MOST];
  gdouble weight[MOST];
} AxisTaps;

/* Reflects @c into [low, high]. */
CPU_INLINE gdouble
reflect (gdouble c, gdouble low, gdouble high)
{
  gdouble range = high - low, away;
  if (!isfinite (c) || range <= 0)
    return low;
  away = fmod (fabs (c - low), 2 * range);
  return low + (away <= range ? away : 2 * range - away);
}

/* The pixel at @index where padding moves it, -1 where it reads 0. */
CPU_INLINE gint64
pad_index (const CpuSampler *s, gint d, gdouble index)
{
  gdouble n = (gdouble)s->size[d];
  if (index >= 0 && index < n)
    return (gint64)index;
  if (s->padding == CPU_SAMPLE_ZEROS)
    return -1;
  if (!isfinite (index))
    return 0;
  if (s->padding == CPU_SAMPLE_BORDER)
    return index < 0 ? 0 : s->size[d] - 1;
  index = s->align ? reflect (index, 0, n - 1) : reflect (index, -0.5, n - 0.5);
  return (gint64)CLAMP (index, 0, n - 1);
}

CPU_INLINE gdouble
within (gdouble c, gdouble n)
{
  return fmax (0, fmin (c, n - 1));
}

/* Pixels between which @g lies, from -1 at the first to 1 at the last. */
CPU_INLINE gdouble
coordinate (const CpuSampler *s, gint d, gdouble g)
{
  gdouble n = (gdouble)s->size[d], c = s->align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
  if (s->mode == CPU_SAMPLE_CUBIC || s->padding == CPU_SAMPLE_ZEROS)
    return c;
  if (s->padding == CPU_SAMPLE_BORDER)
    return within (c, n);
  return s->align ? reflect (c, 0, n - 1) : within (reflect (c, -0.5, n - 0.5), n);
}

CPU_INLINE gdouble
cubic (gdouble t)
{
  const gdouble a = -0.75;
  t = fabs (t);
  return t <= 1  ? ((a + 2) * t - (a + 3)) * t * t + 1
         : t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
                 : 0;
}

CPU_INLINE void
axis_taps (const CpuSampler *s, CpuSampleMode mode, gint d, gdouble g, AxisTaps *taps)
{
  gdouble c = coordinate (s, d, g), base = floor (c);
  if (mode == CPU_SAMPLE_NEAREST) {
    taps->at[0] = pad_index (s, d, rint (c));
    taps->weight[0] = 1;
  }
  for (gint i = 0; mode == CPU_SAMPLE_LINEAR && i < 2; i++) {
    taps->at[i] = pad_index (s, d, base + i);
    taps->weight[i] = i ? c - base : 1 - (c - base);
  }
  for (gint i = 0; mode == CPU_SAMPLE_CUBIC && i < 4; i++) {
    taps->at[i] = pad_index (s, d, base + i - 1);
    taps->weight[i] = cubic (c - (base + i - 1));
  }
}

/* Products of what the axes say. @along: taps of an axis that is there. */
CPU_INLINE void
store_taps (const CpuSampler *s, const AxisTaps *taps, gint along, gint64 step, gint32 none,
            gint32 *at, gfloat *weight)
{
  gint n[AXES];
  for (gint d = 0; d < AXES; d++)
    n[d] = d < AXES - s->rank ? 1 : along;
  for (gint k = 0; k < n[0]; k++)
    for (gint i = 0; i < n[1]; i++)
      for (gint j = 0; j < n[2]; j++, at += step, weight += step) {
        gint64 z = taps[0].at[k], y = taps[1].at[i], x = taps[2].at[j];
        gdouble w = taps[0].weight[k] * taps[1].weight[i] * taps[2].weight[j];
        gboolean outside = z < 0 || y < 0 || x < 0 || w == 0;
        *at = outside ? none : (gint32)((z * s->size[1] + y) * s->size[2] + x);
        *weight = outside ? 0 : (gfloat)w;
      }
}

CPU_INLINE void
locate_all (const CpuSampler *s, CpuSampleMode mode, gint along, const gfloat *grid, gint64 n,
            gint64 place, gint64 tap, gint32 none, gint32 *at, gfloat *weight)
{
  AxisTaps taps[AXES] = { { .weight = { 1 } }, { .weight = { 1 } }, { .weight = { 1 } } };
  for (gint64 i = 0; i < n; i++, grid += s->rank) {
    for (gint d = AXES - s->rank; d < AXES; d++) /* a grid names x first */
      axis_taps (s, mode, d, (gdouble)grid[AXES - 1 - d], &taps[d]);
    store_taps (s, taps, along, tap, none, at + i * place, weight + i * place);
  }
}

static void
locate (const CpuSampler *s, const gfloat *grid, gint64 n, gint64 place, gint64 tap, gint32 none,
        gint32 *at, gfloat *weight)
{
  if (s->mode == CPU_SAMPLE_NEAREST)
    locate_all (s, CPU_SAMPLE_NEAREST, 1, grid, n, place, tap, none, at, weight);
  else if (s->mode == CPU_SAMPLE_LINEAR)
    locate_all (s, CPU_SAMPLE_LINEAR, 2, grid, n, place, tap, none, at, weight);
  else
    locate_all (s, CPU_SAMPLE_CUBIC, 4, grid, n, place, tap, none, at, weight);
}

/* What has no weight may be infinite. */
static void
columns (gfloat *restrict out, const gfloat *restrict x, const gint32 *restrict at,
         const gfloat *restrict weight, gint taps, gint64 n)
{
  for (gint64 i = 0; i < n; i++) {
    gfloat w = weight[i], v = x[at[i]];
    out[i] = w != 0 ? v * w : 0;
  }
  for (gint t = 1; t < taps; t++)
    for (gint64 i = 0; i < n; i++) {
      gfloat w = weight[t * n + i], v = x[at[t * n + i]];
      out[i] += w != 0 ? v * w : 0;
    }
}

static void
add_pixel (gfloat *restrict out, const gfloat *restrict x, gfloat weight, gint64 channels)
{
  for (gint64 c = 0; c < channels; c++)
    out[c] += x[c] * weight;
}

static void
add_pixels (gfloat *restrict out, const gfloat *restrict x, const gint32 *restrict at,
            const gfloat *restrict weight, gint taps, gint64 channels)
{
  gint t = 0;
  while (t < taps) {
    if (t + 4 <= taps && MIN (MIN (at[t], at[t + 1]), MIN (at[t + 2], at[t + 3])) >= 0) {
      const gfloat *restrict p = x + at[t] * channels, *restrict q = x + at[t + 1] * channels;
      const gfloat *restrict r = x + at[t + 2] * channels, *restrict s = x + at[t + 3] * channels;
      for (gint64 c = 0; c < channels; c++)
        out[c] +=
            p[c] * weight[t] + q[c] * weight[t + 1] + r[c] * weight[t + 2] + s[c] * weight[t + 3];
      t += 4;
      continue;
    }
    if (at[t] >= 0)
      add_pixel (out, x + at[t] * channels, weight[t], channels);
    t++;
  }
}

const CpuSample CPU_NAME (cpu_sample) = { locate, columns, add_pixels };
