/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of floats become one, and planes of them one plane. Sums of rows are added in the same order
 * by every level. */
#include "level.h"
#include "vectorextreme.h"
#include "vectorpart.h"
#include "vectorturn.h"

#include <math.h>

#define ROW_LANES 16
#define RUN 64      /* planes that are added before they are added to others: less is rounded off */
#define UNROLL 4    /* vectors of a plane at a time */
#define TOGETHER 64 /* rows in which the best is sought at once, if they are no longer */
#define SOME 8      /* vectors that are searched at once */
#define SHORT 256   /* elements of several short planes at a time */

#define AS_IS(v) (v)
#define SQUARE(v) ((v) * (v))
#define ADD(a, b) ((a) + (b))

/* Of one row: by lanes, of which halves are added. */
#define SUM_ROWS(name, MAP, map)                                                                   \
  CPU_INLINE gfloat name##_row (const gfloat *restrict x, gint64 n)                                \
  {                                                                                                \
    VF32 part[ROW_LANES / CPU_LANES];                                                              \
    gfloat lanes[ROW_LANES] = { 0 };                                                               \
    gint64 i = 0;                                                                                  \
    for (gint u = 0; u < ROW_LANES / CPU_LANES; u++)                                               \
      part[u] = splat_float (0);                                                                   \
    for (; i + ROW_LANES <= n; i += ROW_LANES)                                                     \
      for (gint u = 0; u < ROW_LANES / CPU_LANES; u++) {                                           \
        VF32 v = vector_load (x + i + u * CPU_LANES);                                              \
        part[u] += MAP (v);                                                                        \
      }                                                                                            \
    for (gint u = 0; u < ROW_LANES / CPU_LANES; u++)                                               \
      vector_store (lanes + u * CPU_LANES, part[u]);                                               \
    for (gint k = 0; k < n - i; k++)                                                               \
      lanes[k] += map (x[i + k]);                                                                  \
    for (gint half = ROW_LANES / 2; half > 0; half /= 2)                                           \
      for (gint k = 0; k < half; k++)                                                              \
        lanes[k] += lanes[k + half];                                                               \
    return lanes[0];                                                                               \
  }                                                                                                \
  static void name##_rows (gfloat *restrict acc, const gfloat *restrict x, gint64 rows, gint64 n,  \
                           gint64 stride)                                                          \
  {                                                                                                \
    for (gint64 r = 0; r < rows; r++)                                                              \
      acc[r] += name##_row (x + r * stride, n);                                                    \
  }
SUM_ROWS (sum, AS_IS, AS_IS)
SUM_ROWS (abs, vector_abs, fabsf)
SUM_ROWS (square, SQUARE, SQUARE)

#define LARGER(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))

/* Whatever the order is: two vectors at a time, the end as one of which the rest is @start. */
#define EXTREME_ROWS(name, JOIN, join, start, of_all)                                              \
  static void name##_rows (gfloat *restrict acc, const gfloat *restrict x, gint64 rows, gint64 n,  \
                           gint64 stride)                                                          \
  {                                                                                                \
    const VF32 none = splat_float (start);                                                         \
    for (gint64 r = 0; r < rows; r++, x += stride) {                                               \
      VF32 best = none, other = none;                                                              \
      gfloat y;                                                                                    \
      gint64 i = 0;                                                                                \
      for (; i + 2 * CPU_LANES <= n; i += 2 * CPU_LANES) {                                         \
        best = JOIN (best, vector_load (x + i));                                                   \
        other = JOIN (other, vector_load (x + i + CPU_LANES));                                     \
      }                                                                                            \
      if (i + CPU_LANES <= n) {                                                                    \
        best = JOIN (best, vector_load (x + i));                                                   \
        i += CPU_LANES;                                                                            \
      }                                                                                            \
      if (i < n)                                                                                   \
        other = JOIN (other, vector_load_part_over (none, x + i, n - i));                          \
      y = of_all (JOIN (best, other))[0];                                                          \
      acc[r] = join (acc[r], y);                                                                   \
    }                                                                                              \
  }
EXTREME_ROWS (max, vector_larger, LARGER, -INFINITY, vector_largest_of_all)
EXTREME_ROWS (min, vector_smaller, SMALLER, INFINITY, vector_smallest_of_all)

/* Elements from @i on that fill @vectors vectors, or @part of one; MAP is what is joined of each.
 */
#define BLOCK(vectors, LOAD, STORE, MAP, JOIN, start)                                              \
  {                                                                                                \
    VF32 all[vectors];                                                                             \
    for (gint u = 0; u < vectors; u++)                                                             \
      all[u] = LOAD (acc + i + u * CPU_LANES);                                                     \
    for (gint64 first = 0; first < count; first += RUN) {                                          \
      gint64 end = MIN (first + RUN, count);                                                       \
      VF32 some[vectors];                                                                          \
      for (gint u = 0; u < vectors; u++)                                                           \
        some[u] = splat_float (start);                                                             \
      for (gint64 k = first; k < end; k++)                                                         \
        for (gint u = 0; u < vectors; u++) {                                                       \
          VF32 v = LOAD (x + k * stride + i + u * CPU_LANES);                                      \
          some[u] = JOIN (some[u], MAP (v));                                                       \
        }                                                                                          \
      for (gint u = 0; u < vectors; u++)                                                           \
        all[u] = JOIN (all[u], some[u]);                                                           \
    }                                                                                              \
    for (gint u = 0; u < vectors; u++)                                                             \
      STORE (acc + i + u * CPU_LANES, all[u]);                                                     \
  }
#define LOAD_PART(p) vector_load_part (p, n - i)
#define STORE_PART(p, v) vector_store_part (p, v, n - i)

/* Planes of few elements without gaps: many of them are one wide plane. */
#define PLANES(name, joined, MAP, JOIN, start)                                                     \
  static void name##_planes (gfloat *restrict acc, const gfloat *restrict x, gint64 n,             \
                             gint64 count, gint64 stride)                                          \
  {                                                                                                \
    gint64 i = 0, many = n < UNROLL * CPU_LANES && n == stride ? SHORT / n : 0;                    \
    if (many > 0 && count > 2 * many) {                                                            \
      gfloat wide[SHORT];                                                                          \
      for (gint64 k = 0; k < many * n; k++)                                                        \
        wide[k] = start;                                                                           \
      name##_planes (wide, x, many *n, count / many, many * n);                                    \
      joined##_planes (acc, wide, n, many, n);                                                     \
      x += count / many * many * n;                                                                \
      count %= many;                                                                               \
    }                                                                                              \
    for (; i + UNROLL * CPU_LANES <= n; i += UNROLL * CPU_LANES)                                   \
      BLOCK (UNROLL, vector_load, vector_store, MAP, JOIN, start)                                  \
    for (; i + CPU_LANES <= n; i += CPU_LANES)                                                     \
      BLOCK (1, vector_load, vector_store, MAP, JOIN, start)                                       \
    if (i < n)                                                                                     \
      BLOCK (1, LOAD_PART, STORE_PART, MAP, JOIN, start)                                           \
  }
PLANES (sum, sum, AS_IS, ADD, 0)
PLANES (max, max, AS_IS, vector_larger, -INFINITY)
PLANES (min, min, AS_IS, vector_smaller, INFINITY)
PLANES (abs, sum, vector_abs, ADD, 0)
PLANES (square, sum, SQUARE, ADD, 0)

static void
keep_best (gfloat *restrict best, gint32 *restrict at, const gfloat *restrict x, gint64 n, gint32 k,
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

/* The first element is best where it is no number, for nothing is more then. */
CPU_INLINE gint64
find_best (const gfloat *x, gint64 n, gfloat sign, gboolean last)
{
  VF32 top = splat_float (x[0] * sign), v;
  gfloat lanes[CPU_LANES], best = x[0] * sign;
  gint64 i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES) {
    v = vector_load (x + i) * sign;
    top = vector_if_less (top, v, v, top);
  }
  if (i < n) {
    v = vector_load_part_over (splat_float (x[0]), x + i, n - i) * sign;
    top = vector_if_less (top, v, v, top);
  }
  vector_store (lanes, top);
  for (gint k = 0; k < CPU_LANES; k++)
    best = lanes[k] > best ? lanes[k] : best;
  if (last)
    for (i = n - 1; i > 0 && x[i] * sign != best; i--)
      ;
  else
    for (i = 0; i < n && x[i] * sign != best; i++)
      ;
  return i < n ? i : 0;
}

/* Short rows: turned to planes, of which each has one element of each row. */
static void
best_of_short_rows (gint64 *restrict at, const gfloat *restrict x, gint64 rows, gint64 n,
                    gfloat sign, gboolean last)
{
  gfloat best[TOGETHER], planes[TOGETHER * TOGETHER];
  gint32 places[TOGETHER] = { 0 };
  CPU_NAME (cpu_move).turn[sizeof *x](planes, TOGETHER, x, n, rows, n);
  for (gint64 r = 0; r < rows; r++)
    best[r] = planes[r] * sign;
  for (gint64 k = 1; k < n; k++)
    keep_best (best, places, planes + k * TOGETHER, rows, (gint32)k, sign, last);
  for (gint64 r = 0; r < rows; r++)
    at[r] = places[r];
}

static void
best_of_rows (gint64 *restrict at, const gfloat *restrict x, gint64 rows, gint64 n, gfloat sign,
              gboolean last)
{
  for (gint64 r = 0; n <= TOGETHER && r < rows; r += TOGETHER)
    best_of_short_rows (at + r, x + r * n, MIN (TOGETHER, rows - r), n, sign, last);
  for (gint64 r = 0; n > TOGETHER && r < rows; r++)
    at[r] = find_best (x + r * n, n, sign, last);
}

#define OR(a, b) ((a) | (b))

CPU_INLINE gboolean
is_any (VI32 v)
{
  CPU_JOIN_WIDE (v, OR);
  CPU_JOIN_LANES (v, OR, 2);
  CPU_JOIN_LANES (v, OR, 1);
  return v[0] != 0;
}

CPU_INLINE VI32
is_above (const gfloat *x, gfloat sign, VF32 bound)
{
  return ~(vector_load (x) * sign <= bound);
}

static gint64
find_above (const gfloat *x, gint64 n, gfloat sign, gfloat bound)
{
  const VF32 bounds = splat_float (bound);
  gint64 i = 0;
  for (; i + SOME * CPU_LANES <= n; i += SOME * CPU_LANES) {
    VI32 above = { 0 };
    for (gint u = 0; u < SOME; u++)
      above |= is_above (x + i + u * CPU_LANES, sign, bounds);
    if (is_any (above))
      break;
  }
  for (; i + CPU_LANES <= n && !is_any (is_above (x + i, sign, bounds)); i += CPU_LANES)
    ;
  for (; i < n && x[i] * sign <= bound; i++)
    ;
  return i;
}

const CpuReduce CPU_NAME (cpu_reduce) = {
  .by = { [CPU_REDUCE_SUM] = { 0, CPU_REDUCE_SUM, sum_rows, sum_planes },
          [CPU_REDUCE_MAX] = { -INFINITY, CPU_REDUCE_MAX, max_rows, max_planes },
          [CPU_REDUCE_MIN] = { INFINITY, CPU_REDUCE_MIN, min_rows, min_planes },
          [CPU_REDUCE_ABS] = { 0, CPU_REDUCE_SUM, abs_rows, abs_planes },
          [CPU_REDUCE_SQUARE] = { 0, CPU_REDUCE_SUM, square_rows, square_planes } },
  .keep_best = keep_best,
  .best_of_rows = best_of_rows,
  .find_above = find_above,
};
