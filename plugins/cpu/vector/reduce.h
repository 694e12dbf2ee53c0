/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row of floats becomes one. */
#pragma once

#include <glib.h>

typedef gfloat (*CpuReduceFunc) (const gfloat *restrict x, gint64 n);

enum {
  CPU_REDUCE_SUM,
  CPU_REDUCE_MAX,
  CPU_REDUCE_MIN,
  CPU_REDUCE_ABS,
  CPU_REDUCE_SQUARE,
  CPU_N_REDUCTIONS
};

typedef struct {
  CpuReduceFunc row[CPU_N_REDUCTIONS];
  /* Keeps where sign times a value of plane @k is more than what was best; @last: or equal. */
  void (*keep_best) (gfloat *restrict best, gint64 *restrict at, const gfloat *restrict x, gint64 n,
                     gint64 k, gfloat sign, gboolean last);
} CpuReduce;
