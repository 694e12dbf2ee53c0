/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row of floats becomes one. */
#pragma once

#include <glib.h>

typedef gfloat (*CpuReduceFunc) (const gfloat *restrict x, gint64 n);

typedef struct {
  const gchar *name; /* of the operator; NULL ends the table */
  CpuReduceFunc func;
  gboolean mean, root; /* what follows: division by n, or the square root */
} CpuReduction;

typedef struct {
  const CpuReduction *reductions;
  CpuReduceFunc sum;
  /* Keeps where sign times a value of plane @k is more than what was best; @last: or equal. */
  void (*keep_best) (gfloat *restrict best, gint64 *restrict at, const gfloat *restrict x, gint64 n,
                     gint64 k, gfloat sign, gboolean last);
} CpuReduce;
