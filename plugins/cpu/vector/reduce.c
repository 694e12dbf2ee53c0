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

static const CpuReduction reductions[] = {
  { "ReduceMean", sum_row, TRUE, FALSE },          { "ReduceSum", sum_row, FALSE, FALSE },
  { "ReduceMax", max_row, FALSE, FALSE },          { "ReduceMin", min_row, FALSE, FALSE },
  { "ReduceL1", abs_row, FALSE, FALSE },           { "ReduceL2", square_row, FALSE, TRUE },
  { "ReduceSumSquare", square_row, FALSE, FALSE }, { NULL, NULL, FALSE, FALSE },
};

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

const CpuReduce CPU_NAME (cpu_reduce) = { reductions, sum_row, keep_best };
