/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linear interpolation between two rows, and between columns of one. */
#pragma once

#include <glib.h>

typedef struct {
  /* out = a + (b - a) * f */
  void (*blend_rows) (gfloat *restrict out, const gfloat *restrict a, const gfloat *restrict b,
                      gint64 n, gfloat f);
  /* The same of elements x0 and x1 of @row, with a factor for each. */
  void (*blend_columns) (gfloat *restrict out, const gfloat *restrict row,
                         const gint32 *restrict x0, const gint32 *restrict x1,
                         const gfloat *restrict f, gint64 n);
} CpuResize;
