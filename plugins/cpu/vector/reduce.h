/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many floats become one. */
#pragma once

#include <glib.h>

/* How they are joined; the last two add what was made positive. */
typedef enum {
  CPU_REDUCE_SUM,
  CPU_REDUCE_MAX,
  CPU_REDUCE_MIN,
  CPU_REDUCE_ABS,
  CPU_REDUCE_SQUARE,
  CPU_N_REDUCTIONS
} CpuReduction;

/* What is no number wins over all that is. */
typedef struct {
  gfloat start;      /* of nothing */
  CpuReduction join; /* how results are joined */
  /* Joins to each of @rows of @acc a row of @n; rows begin @stride apart. */
  void (*rows) (gfloat *restrict acc, const gfloat *restrict x, gint64 rows, gint64 n,
                gint64 stride);
  /* Joins @count planes, @stride apart, of @n elements each to @acc, element by element. */
  void (*planes) (gfloat *restrict acc, const gfloat *restrict x, gint64 n, gint64 count,
                  gint64 stride);
} CpuReducer;

typedef struct {
  CpuReducer by[CPU_N_REDUCTIONS];
  /* Keeps where sign times a value of plane @k is more than what was best; @last: or equal. */
  void (*keep_best) (gfloat *restrict best, gint32 *restrict at, const gfloat *restrict x, gint64 n,
                     gint32 k, gfloat sign, gboolean last);
  /* Where in each row of @n sign times a value is most. */
  void (*best_of_rows) (gint64 *restrict at, const gfloat *restrict x, gint64 rows, gint64 n,
                        gfloat sign, gboolean last);
  /* The first of @n of which sign times it is more than @bound, or one of both is no number; or @n.
   */
  gint64 (*find_above) (const gfloat *x, gint64 n, gfloat sign, gfloat bound);
} CpuReduce;
