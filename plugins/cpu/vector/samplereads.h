/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is read at the places that sample.c has found, and added with its weights. */
#pragma once

#include "cpuvector.h"
#include "level.h"
#include "vectorfour.h"

#include <string.h>

enum { CPU_SAMPLE_BLOCK = 64 /* places */ };

/* What has no weight may be infinite. */
CPU_INLINE gfloat
weighed (gfloat value, gfloat weight)
{
  return weight != 0 ? value * weight : 0;
}

static void
columns (gfloat *restrict out, const gfloat *restrict x, const gint32 *restrict at,
         const gfloat *restrict weight, gint taps, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    out[i] = weighed (x[at[i]], weight[i]);
  for (gint t = 1; t < taps; t++)
    for (gint64 i = 0; i < n; i++)
      out[i] += weighed (x[at[t * n + i]], weight[t * n + i]);
}

CPU_INLINE void
read_pairs (gfloat *restrict to, const gfloat *restrict x, const gint32 *restrict at, gint n)
{
  for (gint i = 0; i < n; i++)
    memcpy (to + 2 * i, x + at[i], 2 * sizeof *to);
}

/* Returns FALSE where something is no number or infinite, and may have no weight. */
static gboolean
add_pairs (gfloat *restrict out, const gfloat *restrict x, const gint32 *restrict at,
           const gfloat *restrict weight, gint rows, gint64 pitch, gint n)
{
  gfloat line[2 * CPU_SAMPLE_BLOCK], sums[2 * CPU_SAMPLE_BLOCK];
  gint bad = 0;
  read_pairs (sums, x, at, n);
  for (gint i = 0; i < 2 * n; i++)
    sums[i] *= weight[i];
  for (gint p = 1; p < rows; p++) {
    read_pairs (line, x, at + p * pitch, n);
    for (gint i = 0; i < 2 * n; i++)
      sums[i] += line[i] * weight[2 * p * pitch + i];
  }
  for (gint i = 0; i < n; i++)
    out[i] = sums[2 * i] + sums[2 * i + 1];
  for (gint i = 0; i < n; i++)
    bad |= out[i] - out[i] != 0;
  return bad == 0;
}

static void
pairs (gfloat *restrict out, const gfloat *restrict x, const gint32 *restrict at,
       const gfloat *restrict weight, gint taps, gint64 n)
{
  for (gint64 first = 0; first < n; first += CPU_SAMPLE_BLOCK) {
    gint m = (gint)MIN (CPU_SAMPLE_BLOCK, n - first);
    if (add_pairs (out + first, x, at + first, weight + 2 * first, taps / 2, n, m))
      continue;
    for (gint64 i = first; i < first + m; i++) {
      out[i] = 0;
      for (gint t = 0; t < taps; t++)
        out[i] += weighed (x[at[t / 2 * n + i] + t % 2], weight[2 * (t / 2 * n + i) + t % 2]);
    }
  }
}

typedef gfloat FourFloats __attribute__ ((vector_size (16), aligned (4)));
typedef gint32 FourMasks __attribute__ ((vector_size (16), aligned (4)));

/* Of one place; what follows its @channels is another pixel's. */
CPU_INLINE FourFloats
mix_pixel (const gfloat *restrict x, gint64 channels, const gint32 *restrict at,
           const gfloat *restrict weight, gint rows, gint64 pitch)
{
  FourFloats left = { 0 }, right = { 0 };
  for (gint p = 0; p < rows; p++) {
    const gfloat *from = x + at[p * pitch] * channels, *w = weight + 2 * p * pitch;
    left += *(const FourFloats *)from * w[0];
    right += *(const FourFloats *)(from + channels) * w[1];
  }
  return left + right;
}

/* Returns where something is no number or infinite. */
CPU_INLINE FourMasks
mix_four (gfloat *restrict out, gint64 plane, const gfloat *restrict x, gint64 channels,
          const gint32 *restrict at, const gfloat *restrict weight, gint rows, gint64 pitch)
{
  FourMasks bad = { 0 };
  CpuFour v[4];
#pragma GCC unroll 4
  for (gint i = 0; i < 4; i++)
    v[i] = (CpuFour)mix_pixel (x, channels, at + i, weight + 2 * i, rows, pitch);
  vector_turn_four (v);
#pragma GCC unroll 4
  for (gint c = 0; c < 4; c++)
    if (c < channels) {
      const FourFloats y = (FourFloats)v[c];
      *(FourFloats *)(out + c * plane) = y;
      bad |= y - y != 0;
    }
  return bad;
}

CPU_INLINE gboolean
mix_all (gfloat *restrict out, gint64 plane, const gfloat *restrict x, gint64 channels,
         const gint32 *restrict at, const gfloat *restrict weight, gint rows, gint64 n)
{
  FourMasks bad = { n < 4 };
  for (gint64 i = 0; i + 4 <= n; i += 4)
    bad |= mix_four (out + i, plane, x, channels, at + i, weight + 2 * i, rows, n);
  if (n > 4 && n % 4)
    bad |= mix_four (out + n - 4, plane, x, channels, at + n - 4, weight + 2 * (n - 4), rows, n);
  return (bad[0] | bad[1] | bad[2] | bad[3]) == 0;
}

static gboolean
mix_pixels (gfloat *restrict out, gint64 plane, const gfloat *restrict x, gint64 channels,
            const gint32 *restrict at, const gfloat *restrict weight, gint taps, gint64 n)
{
  return taps == 4 ? mix_all (out, plane, x, channels, at, weight, 2, n)
                   : mix_all (out, plane, x, channels, at, weight, taps / 2, n);
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
