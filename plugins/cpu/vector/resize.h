/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interpolation between rows, and between columns of one. */
#pragma once

#include <glib.h>

typedef struct {
  /* out = row[x0] + (row[x1] - row[x0]) * f, for each element its own */
  void (*blend_columns) (gfloat *restrict out, const gfloat *restrict row,
                         const gint32 *restrict x0, const gint32 *restrict x1,
                         const gfloat *restrict f, gint64 n);
  /* out is the sum of @taps rows of @n elements, each times its weight; row @at[t] begins at
   * x + at[t] * step. One tap copies. */
  void (*mix_rows) (gfloat *restrict out, const gfloat *restrict x, const gint32 *at,
                    const gfloat *weight, gint taps, gint64 step, gint64 n);
  /* @n pixels of @channels elements: pixel i is the sum of pixels at[i * taps + t] of @row. */
  void (*mix_pixels) (gfloat *restrict out, const gfloat *restrict row, const gint32 *at,
                      const gfloat *weight, gint taps, gint64 channels, gint64 n);
  /* The same of single elements; tap t of i is at[t * n + i]. */
  void (*mix_columns) (gfloat *restrict out, const gfloat *restrict row, const gint32 *at,
                       const gfloat *weight, gint taps, gint64 n);
} CpuResize;
