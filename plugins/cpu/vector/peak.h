/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a level can do at most: loops that only multiply and add, or only move. */
#pragma once

#include <glib.h>

typedef struct {
  gdouble float_operations, byte_operations; /* of one turn */
  gfloat (*floats) (gint64 turns);
  gint32 (*bytes) (gint64 turns);
  void (*move) (gfloat *restrict y, const gfloat *restrict x, gint64 n);
} CpuPeak;
