/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions: sixteen accumulators side by side, then one, so that sums are added in the same order
 * by every level. */
#include "level.h"

#include <math.h>

#define LANES 16

#define REDUCE(name, start, step, finish)                                                          \
  static gfloat name (const gfloat *restrict x, gint64 n)                                          \
  {                                                                                                \
    gfloat part[LANES], y = start;                                                                 \
    gint64 i = 0;                                                                                  \
    for (gint k = 0; k < LANES; k++)                                                               \
      part[k] = start;                                                                             \
    for (; i + LANES <= n; i += LANES)                                                             \
      for (gint k = 0; k < LANES; k++) {                                                           \
        gfloat a = part[k], v = x[i + k];                                                          \
        part[k] = step;                                                                            \
      }                                                                                            \
    for (; i < n; i++) {                                                                           \
      gfloat a = y, v = x[i];                                                                      \
      y = step;                                                                                    \
    }                                                                                              \
    for (gint k = 0; k < LANES; k++)                                                               \
      y = finish;                                                                                  \
    return y;                                                                                      \
  }
REDUCE (sum_row, 0, a + v, y + part[k])
REDUCE (square_row, 0, a + v * v, y + part[k])
REDUCE (abs_row, 0, a + fabsf (v), y + part[k])
REDUCE (max_row, -INFINITY, v > a || v != v ? v : a,
        part[k] > y || part[k] != part[k] ? part[k] : y)
REDUCE (min_row, INFINITY, v < a || v != v ? v : a, part[k] < y || part[k] != part[k] ? part[k] : y)
#undef REDUCE

static void
keep_best (gfloat *restrict best, gint64 *restrict at, const gfloat *restrict x, gint64 n, gint64 k,
           gfloat sign, gboolean last)
{
  if (last)
    for (gint64 i = 0; i < n; i++) {
      gboolean more = x[i] * sign >= best[i];
      best[i] = more ? x[i] * sign : best[i];
      at[i] = more ? k : at[i];
    }
  else
    for (gint64 i = 0; i < n; i++) {
      gboolean more = x[i] * sign > best[i];
      best[i] = more ? x[i] * sign : best[i];
      at[i] = more ? k : at[i];
    }
}

const CpuReduce CPU_NAME (cpu_reduce) = {
  .row = { [CPU_REDUCE_SUM] = sum_row,
           [CPU_REDUCE_MAX] = max_row,
           [CPU_REDUCE_MIN] = min_row,
           [CPU_REDUCE_ABS] = abs_row,
           [CPU_REDUCE_SQUARE] = square_row },
  .keep_best = keep_best,
};
