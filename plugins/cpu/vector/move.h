/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements that change places. */
#pragma once

#include <glib.h>

#define CPU_MOST_LANES 16 /* of 32 bits, of a vector of any level */

/* y[i * streams + s] = x[s * step + i], for @n elements of each stream */
typedef void (*CpuInterleaveFunc) (gpointer y, gconstpointer x, gint64 streams, gint64 step,
                                   gint64 n);

/* @n runs of @bytes each, @y_step and @x_step bytes apart */
typedef void (*CpuCopyRunsFunc) (guint8 *y, gsize y_step, const guint8 *x, gsize x_step,
                                 gsize bytes, gint64 n);

/* y[i * pitch + s] = x[s * step + i], for @n elements of each of @streams streams */
typedef void (*CpuTurnFunc) (gpointer y, gint64 pitch, gconstpointer x, gint64 step, gint64 streams,
                             gint64 n);

/* y[i] = x[i * step], for @n elements */
typedef void (*CpuTakeFunc) (gpointer y, gconstpointer x, gint64 step, gint64 n);

typedef struct {
  CpuCopyRunsFunc copy_runs;
  CpuInterleaveFunc interleave[5]; /* by bytes of an element: 1, 2 or 4 */
  CpuTurnFunc turn[5];             /* of 1 or 4 bytes */
  CpuTakeFunc take[5];
} CpuMove;
