/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places in double precision, as the reference computes them: a rounded coordinate decides which
 * pixel is read. Not so between pixels, where it only weighs two of them: a product that is rounded
 * once, with what is added, says how far a place is from its pixel as exactly as a float can. */
#include "sample.h"
#include "level.h"
#include "samplereads.h"

#include <math.h>

enum { AXES = CPU_SAMPLE_AXES, MOST = 4, BLOCK = CPU_SAMPLE_BLOCK };

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

/* What is no number is the last pixel. */
CPU_INLINE gdouble
within (gdouble c, gdouble n)
{
  c = c < n - 1 ? c : n - 1;
  return c > 0 ? c : 0;
}

/* Pixels between which @g lies, from -1 at the first to 1 at the last. */
CPU_INLINE gdouble
coordinate (const CpuSampler *s, gint d, gdouble g)
{
  gdouble n = (gdouble)s->size[d];
  return s->align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
}

/* A coordinate where padding moves it. */
CPU_INLINE gdouble
pad_coordinate (const CpuSampler *s, gint d, gdouble c)
{
  gdouble n = (gdouble)s->size[d];
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
  gdouble c = pad_coordinate (s, d, coordinate (s, d, g)), base = floor (c);
  if (mode == CPU_SAMPLE_NEAREST) {
    taps->at[0] = pad_index (s, d, rint (c));
    taps->weight[0] = 1;
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

#if (defined(__FMA__) || defined(__ARM_FEATURE_FMA)) && !defined(CPU_EMULATED)
typedef gfloat Place;
#define MULTIPLY_ADD __builtin_fmaf
#define FLOOR __builtin_floorf
#else
typedef gdouble Place;
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#define FLOOR floor
#endif

/* Along one axis, of some places: both pixels between which each lies, and their weights, 0
 * outside. */
typedef struct {
  gint32 at[2][BLOCK];
  Place weight[2][BLOCK];
} LinearTaps;

/* Of some places: the pixel before each, and how far it is from there. */
typedef struct {
  Place base[BLOCK], past[BLOCK];
} Places;

/* @grid: of every place, @rank apart. With a constant @border two loops of vectors. */
CPU_INLINE void
split_places (const CpuSampler *s, gint d, const gfloat *grid, gint n, gboolean border,
              Places *restrict to)
{
  const Place last = (Place)(s->size[d] - 1), middle = last / 2;
  const Place scale = (s->align ? last : last + 1) / 2;
  for (gint i = 0; i < n; i++) {
    Place g = (Place)grid[i * s->rank], c = MULTIPLY_ADD (g, scale, middle), in = c;
    if (border) {
      in = c < last ? c : last; /* what is no number is the last pixel */
      in = in > 0 ? in : 0;
    }
    to->base[i] = FLOOR (in);
    to->past[i] = in == c ? MULTIPLY_ADD (g, scale, middle - to->base[i]) : 0;
  }
}

static void
find_places (const CpuSampler *s, gint d, const gfloat *grid, gint n, Places *to)
{
  if (s->padding == CPU_SAMPLE_ZEROS)
    split_places (s, d, grid, n, FALSE, to);
  else if (s->padding == CPU_SAMPLE_BORDER)
    split_places (s, d, grid, n, TRUE, to);
  else
    for (gint i = 0; i < n; i++) {
      gdouble c = pad_coordinate (s, d, coordinate (s, d, (gdouble)grid[i * s->rank]));
      to->base[i] = (Place)floor (c);
      to->past[i] = (Place)(c - floor (c));
    }
}

static void
linear_taps (const CpuSampler *s, gint d, const gfloat *grid, gint n, LinearTaps *taps)
{
  const Place last = (Place)(s->size[d] - 1);
  Places places;
  find_places (s, d, grid, n, &places);
  for (gint i = 0; i < n; i++) {
    Place base = places.base[i], f = places.past[i];
    gboolean below = base >= 0 && base <= last, above = base >= -1 && base < last;
    taps->at[0][i] = (gint32)(below ? base : 0);
    taps->at[1][i] = (gint32)(above ? base + 1 : 0);
    taps->weight[0][i] = below ? 1 - f : 0;
    taps->weight[1][i] = above ? f : 0;
  }
}

/* Two neighbours that both are there, of which one may have no weight. */
static void
linear_pairs (const CpuSampler *s, gint d, const gfloat *grid, gint n, LinearTaps *taps)
{
  const Place last = (Place)(s->size[d] - 2);
  Places places;
  find_places (s, d, grid, n, &places);
  for (gint i = 0; i < n; i++) {
    Place base = places.base[i], f = places.past[i], at = base > 0 ? base : 0;
    at = at < last ? at : last;
    taps->at[0][i] = (gint32)at;
    taps->weight[0][i] = at == base ? 1 - f : at == base + 1 ? f : 0;
    taps->weight[1][i] = at == base ? f : at == base - 1 ? 1 - f : 0;
  }
}

/* Tap @t of @n places: bit 0 is the second pixel of x, and so on. */
CPU_INLINE void
store_linear (const CpuSampler *s, const LinearTaps *taps, gint t, gint n, gint64 place,
              gint32 none, gint32 *restrict at, gfloat *restrict weight)
{
  gint x = t & 1, y = t >> 1 & 1, z = t >> 2;
  const gint32 *at_z = taps[0].at[z], *at_y = taps[1].at[y], *at_x = taps[2].at[x];
  const Place *of_z = taps[0].weight[z], *of_y = taps[1].weight[y], *of_x = taps[2].weight[x];
  gint32 h = (gint32)s->size[1], w = (gint32)s->size[2];
  for (gint i = 0; i < n; i++) {
    Place product = of_z[i] * of_y[i] * of_x[i];
    at[i * place] = product == 0 ? none : (at_z[i] * h + at_y[i]) * w + at_x[i];
    weight[i * place] = (gfloat)product;
  }
}

/* Pair @p of @n places, and both weights of each. */
CPU_INLINE void
store_pair (const CpuSampler *s, const LinearTaps *taps, gint p, gint n, gint32 *restrict at,
            gfloat *restrict weight)
{
  const LinearTaps *x = &taps[2];
  const gint32 *at_z = taps[0].at[p >> 1], *at_y = taps[1].at[p & 1];
  const Place *of_z = taps[0].weight[p >> 1], *of_y = taps[1].weight[p & 1];
  gint32 h = (gint32)s->size[1], w = (gint32)s->size[2];
  for (gint i = 0; i < n; i++) {
    Place row = of_z[i] * of_y[i];
    at[i] = (at_z[i] * h + at_y[i]) * w + x->at[0][i];
    weight[2 * i] = (gfloat)(row * x->weight[0][i]);
    weight[2 * i + 1] = (gfloat)(row * x->weight[1][i]);
  }
}

/* Axes that are not there have one pixel. */
static void
begin_linear (const CpuSampler *s, LinearTaps *taps)
{
  for (gint d = 0; d < AXES - s->rank; d++)
    for (gint i = 0; i < BLOCK; i++) {
      taps[d].at[0][i] = 0;
      taps[d].weight[0][i] = 1;
    }
}

static void
locate_linear (const CpuSampler *s, const gfloat *grid, gint64 n, gint64 place, gint64 tap,
               gint32 none, gint32 *at, gfloat *weight)
{
  LinearTaps taps[AXES];
  begin_linear (s, taps);
  for (gint64 first = 0; first < n; first += BLOCK) {
    gint m = (gint)MIN (BLOCK, n - first);
    for (gint d = AXES - s->rank; d < AXES; d++) /* a grid names x first */
      linear_taps (s, d, grid + first * s->rank + AXES - 1 - d, m, &taps[d]);
    for (gint t = 0; t < s->taps; t++)
      store_linear (s, taps, t, m, place, none, at + first * place + t * tap,
                    weight + first * place + t * tap);
  }
}

static void
locate_pairs (const CpuSampler *s, const gfloat *grid, gint64 n, gint32 *at, gfloat *weight)
{
  LinearTaps taps[AXES];
  begin_linear (s, taps);
  for (gint64 first = 0; first < n; first += BLOCK) {
    gint m = (gint)MIN (BLOCK, n - first);
    for (gint d = AXES - s->rank; d < AXES - 1; d++)
      linear_taps (s, d, grid + first * s->rank + AXES - 1 - d, m, &taps[d]);
    linear_pairs (s, AXES - 1, grid + first * s->rank, m, &taps[AXES - 1]);
    for (gint p = 0; p < s->taps / 2; p++)
      store_pair (s, taps, p, m, at + p * n + first, weight + 2 * (p * n + first));
  }
}

static void
locate (const CpuSampler *s, const gfloat *grid, gint64 n, gint64 place, gint64 tap, gint32 none,
        gint32 *at, gfloat *weight)
{
  if (s->mode == CPU_SAMPLE_NEAREST)
    locate_all (s, CPU_SAMPLE_NEAREST, 1, grid, n, place, tap, none, at, weight);
  else if (s->mode == CPU_SAMPLE_LINEAR)
    locate_linear (s, grid, n, place, tap, none, at, weight);
  else
    locate_all (s, CPU_SAMPLE_CUBIC, 4, grid, n, place, tap, none, at, weight);
}

const CpuSample CPU_NAME (cpu_sample) = { locate, locate_pairs, columns,
                                          pairs,  mix_pixels,   add_pixels };
