/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interpolation. */
#include "level.h"

#include <string.h>

static void
blend_columns (gfloat *restrict out, const gfloat *restrict row, const gint32 *restrict x0,
               const gint32 *restrict x1, const gfloat *restrict f, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    out[i] = row[x0[i]] + (row[x1[i]] - row[x0[i]]) * f[i];
}

CPU_INLINE void
mix (gfloat *restrict out, const gfloat *restrict x, const gint32 *at, const gfloat *weight,
     gint taps, gint64 step, gint64 n)
{
  const gfloat *restrict a = x + at[0] * step, *restrict b = x + at[MIN (taps - 1, 1)] * step;
  if (taps == 1) {
    memcpy (out, a, (gsize)n * sizeof *out);
    return;
  }
  if (taps == 4) {
    const gfloat *restrict c = x + at[2] * step, *restrict d = x + at[3] * step;
    for (gint64 i = 0; i < n; i++)
      out[i] = a[i] * weight[0] + b[i] * weight[1] + c[i] * weight[2] + d[i] * weight[3];
    return;
  }
  for (gint64 i = 0; i < n; i++)
    out[i] = a[i] * weight[0] + b[i] * weight[1];
  for (gint t = 2; t < taps; t++) {
    const gfloat *restrict more = x + at[t] * step;
    for (gint64 i = 0; i < n; i++)
      out[i] += more[i] * weight[t];
  }
}

static void
mix_rows (gfloat *restrict out, const gfloat *restrict x, const gint32 *at, const gfloat *weight,
          gint taps, gint64 step, gint64 n)
{
  mix (out, x, at, weight, taps, step, n);
}

CPU_INLINE void
mix_all_pixels (gfloat *restrict out, const gfloat *restrict row, const gint32 *at,
                const gfloat *weight, gint taps, gint64 channels, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    mix (out + i * channels, row, at + i * taps, weight + i * taps, taps, channels, channels);
}

static void
mix_pixels (gfloat *restrict out, const gfloat *restrict row, const gint32 *at,
            const gfloat *weight, gint taps, gint64 channels, gint64 n)
{
  if (taps == 1)
    mix_all_pixels (out, row, at, weight, 1, channels, n);
  else if (taps == 2)
    mix_all_pixels (out, row, at, weight, 2, channels, n);
  else
    mix_all_pixels (out, row, at, weight, taps, channels, n);
}

static void
mix_columns (gfloat *restrict out, const gfloat *restrict row, const gint32 *at,
             const gfloat *weight, gint taps, gint64 n)
{
  if (taps == 1) {
    for (gint64 i = 0; i < n; i++)
      out[i] = row[at[i]];
    return;
  }
  for (gint64 i = 0; i < n; i++)
    out[i] = row[at[i]] * weight[i] + row[at[n + i]] * weight[n + i];
  for (gint t = 2; t < taps; t++)
    for (gint64 i = 0; i < n; i++)
      out[i] += row[at[t * n + i]] * weight[t * n + i];
}

const CpuResize CPU_NAME (cpu_resize) = { blend_columns, mix_rows, mix_pixels, mix_columns };
