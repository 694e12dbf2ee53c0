/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Halves to floats, exactly, and back, half to even. */
#pragma once

#include <glib.h>

typedef struct {
  void (*to_float) (gfloat *restrict y, const guint16 *restrict x, gint64 n);
  void (*from_float) (guint16 *restrict y, const gfloat *restrict x, gint64 n);
} CpuHalf;
