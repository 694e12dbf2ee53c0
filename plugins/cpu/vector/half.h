/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Halves to floats and back, rounded to the nearest, ties to even. */
#pragma once

#include <glib.h>

typedef struct {
  void (*to_floats) (gfloat *restrict y, const guint16 *restrict x, gint64 n);
  void (*from_floats) (guint16 *restrict y, const gfloat *restrict x, gint64 n);
} CpuHalf;
