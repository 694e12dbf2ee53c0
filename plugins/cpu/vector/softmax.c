/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax: less the largest, so that nothing is too large for e^x; an infinite one makes NaN of
 * all, as the definition does. */
#include "level.h"
#include "vectormath.h"
#include "vectorpart.h"
#include "vectorturn.h"

#define FEW CPU_FEW_VECTORS
#define SHORT 8     /* rows of fewer elements are turned into planes */
#define TOGETHER 64 /* so many of them */

/* @func with as many vectors as a row has, a constant. */
#define CASE_OF_FEW(vectors, func, ...)                                                            \
  case vectors:                                                                                    \
    func (__VA_ARGS__, vectors);                                                                   \
    return;
#define CASES_OF_FEW(...)                                                                          \
  CASE_OF_FEW (1, __VA_ARGS__)                                                                     \
  CASE_OF_FEW (2, __VA_ARGS__)                                                                     \
  CASE_OF_FEW (3, __VA_ARGS__)                                                                     \
  CASE_OF_FEW (FEW, __VA_ARGS__)

CPU_INLINE VF32
least (void)
{
  return splat_float (-__builtin_inff ());
}

/* Elements of a row before its last vectors, 1 to FEW of them. */
CPU_INLINE gint64
count_before (gint64 n)
{
  return (n - 1) / (FEW * CPU_LANES) * (FEW * CPU_LANES);
}

/* Of @n elements, whole vectors and an even number of them. */
CPU_INLINE VF32
largest_of (const gfloat *x, gint64 n)
{
  VF32 top = least (), other = top;
  for (gint64 i = 0; i < n; i += 2 * CPU_LANES) {
    top = vector_larger (top, vector_load (x + i));
    other = vector_larger (other, vector_load (x + i + CPU_LANES));
  }
  return vector_larger (top, other);
}

/* The last vectors of a row, and the largest of all of it. What fills the last one adds nothing to
 * a sum of powers. */
CPU_INLINE VF32
load_row (VF32 *v, const gfloat *x, gint64 n, gint vectors)
{
  const gint64 before = count_before (n), end = before + (vectors - 1) * CPU_LANES;
  VF32 top = largest_of (x, before);
  for (gint u = 0; u < vectors - 1; u++)
    v[u] = vector_load (x + before + u * CPU_LANES);
  v[vectors - 1] = n - end == CPU_LANES ? vector_load (x + end)
                                        : vector_load_part_over (least (), x + end, n - end);
  for (gint u = 0; u < vectors; u++)
    top = vector_larger (top, v[u]);
  return vector_largest_of_all (top);
}

/* e^(x - top) of @vectors vectors; returns what they add up to. */
CPU_INLINE VF32
raise_some (VF32 *v, VF32 top, gint vectors)
{
  VF32 sum;
  for (gint u = 0; u < vectors; u++)
    v[u] -= top;
  vector_exp_below_one (v, vectors);
  sum = v[0];
  for (gint u = 1; u < vectors; u++)
    sum += v[u];
  return sum;
}

/* The same of what is before the last vectors; @kept: in @y. */
CPU_INLINE VF32
raise_before (gfloat *y, const gfloat *x, gint64 n, VF32 top, gboolean kept)
{
  VF32 sum = splat_float (0), v[FEW];
  for (gint64 i = 0; i < count_before (n); i += FEW * CPU_LANES) {
    for (gint u = 0; u < FEW; u++)
      v[u] = vector_load (x + i + u * CPU_LANES);
    sum += raise_some (v, top, FEW);
    if (kept)
      for (gint u = 0; u < FEW; u++)
        vector_store (y + i + u * CPU_LANES, v[u]);
  }
  return sum;
}

/* The last vectors of a row. If @more elements follow that are written later, a whole one is
 * stored. */
CPU_INLINE void
store_row_end (gfloat *y, const VF32 *v, gint64 n, gboolean more, gint vectors)
{
  const gint64 before = count_before (n), end = before + (vectors - 1) * CPU_LANES;
  for (gint u = 0; u < vectors - 1; u++)
    vector_store (y + before + u * CPU_LANES, v[u]);
  if (more || n - end == CPU_LANES)
    vector_store (y + end, v[vectors - 1]);
  else
    vector_store_part (y + end, v[vectors - 1], n - end);
}

/* The last @vectors stay in registers. */
CPU_INLINE void
softmax_row_of (gfloat *y, const gfloat *x, gint64 n, gboolean more, gint vectors)
{
  VF32 v[FEW], top = load_row (v, x, n, vectors), sum, rate;
  sum = raise_before (y, x, n, top, TRUE) + raise_some (v, top, vectors);
  rate = splat_float (1) / vector_sum_of_all (sum);
  for (gint64 i = 0; i < count_before (n); i += CPU_LANES)
    vector_store (y + i, vector_load (y + i) * rate);
  for (gint u = 0; u < vectors; u++)
    v[u] *= rate;
  store_row_end (y, v, n, more, vectors);
}

CPU_INLINE void
log_softmax_row_of (gfloat *y, const gfloat *x, gint64 n, gboolean more, gint vectors)
{
  VF32 v[FEW], powers[FEW], top = load_row (v, x, n, vectors), sum, rest;
  for (gint u = 0; u < vectors; u++)
    powers[u] = v[u];
  sum = raise_before (y, x, n, top, FALSE) + raise_some (powers, top, vectors);
  rest = vector_log (vector_sum_of_all (sum));
  for (gint64 i = 0; i < count_before (n); i += CPU_LANES)
    vector_store (y + i, vector_load (x + i) - top - rest);
  for (gint u = 0; u < vectors; u++)
    v[u] = v[u] - top - rest;
  store_row_end (y, v, n, more, vectors);
}

/* By how many vectors stay in registers. */
#define ROW(name)                                                                                  \
  CPU_INLINE void name (gfloat *y, const gfloat *x, gint64 n, gboolean more)                       \
  {                                                                                                \
    switch ((n - count_before (n) + CPU_LANES - 1) / CPU_LANES) {                                  \
      CASES_OF_FEW (name##_of, y, x, n, more)                                                      \
    default:                                                                                       \
      break;                                                                                       \
    }                                                                                              \
  }
ROW (softmax_row)
ROW (log_softmax_row)

/* Of a logarithm: what is taken away; else what it is multiplied with. */
CPU_INLINE VF32
finish_sum (VF32 sum, gboolean log)
{
  if (log)
    return vector_log (sum);
  return splat_float (1) / sum;
}

/* Elements from @i on that fill @vectors vectors, or part of one. */
#define BLOCK(vectors, LOAD, STORE, log)                                                           \
  {                                                                                                \
    VF32 top[vectors], sum[vectors];                                                               \
    for (gint u = 0; u < vectors; u++) {                                                           \
      top[u] = least ();                                                                           \
      sum[u] = splat_float (0);                                                                    \
    }                                                                                              \
    for (gint64 k = 0; k < count; k++)                                                             \
      for (gint u = 0; u < vectors; u++)                                                           \
        top[u] = vector_larger (top[u], LOAD (x + k * stride + i + u * CPU_LANES));                \
    for (gint64 k = 0; k < count; k++) {                                                           \
      VF32 v[vectors];                                                                             \
      for (gint u = 0; u < vectors; u++)                                                           \
        v[u] = LOAD (x + k * stride + i + u * CPU_LANES) - top[u];                                 \
      vector_exp_below_one (v, vectors);                                                           \
      for (gint u = 0; u < vectors; u++) {                                                         \
        sum[u] += v[u];                                                                            \
        if (!log)                                                                                  \
          STORE (y + k * stride + i + u * CPU_LANES, v[u]);                                        \
      }                                                                                            \
    }                                                                                              \
    for (gint u = 0; u < vectors; u++)                                                             \
      sum[u] = finish_sum (sum[u], log);                                                           \
    for (gint64 k = 0; k < count; k++)                                                             \
      for (gint u = 0; u < vectors; u++) {                                                         \
        gint64 at = k * stride + i + u * CPU_LANES;                                                \
        if (log)                                                                                   \
          STORE (y + at, LOAD (x + at) - top[u] - sum[u]);                                         \
        else                                                                                       \
          STORE (y + at, LOAD (y + at) * sum[u]);                                                  \
      }                                                                                            \
  }
#define LOAD_PART(p) vector_load_part (p, n - i)
#define STORE_PART(p, v) vector_store_part (p, v, n - i)

CPU_INLINE void
planes_by (gfloat *restrict y, const gfloat *restrict x, gint64 n, gint64 count, gint64 stride,
           gboolean log)
{
  gint64 i = 0;
  for (; i + FEW * CPU_LANES <= n; i += FEW * CPU_LANES)
    BLOCK (FEW, vector_load, vector_store, log)
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    BLOCK (1, vector_load, vector_store, log)
  if (i < n)
    BLOCK (1, LOAD_PART, STORE_PART, log)
}

/* Rows of few elements: as planes, of which each has one element of each row. */
CPU_INLINE void
short_rows (gfloat *restrict y, const gfloat *restrict x, gint64 rows, gint64 n, gboolean log)
{
  gfloat turned[SHORT * TOGETHER], done[SHORT * TOGETHER];
  for (gint64 first = 0; first < rows; first += TOGETHER) {
    gint64 some = MIN (rows - first, TOGETHER);
    for (gint64 k = 0; k < n; k++)
      for (gint64 r = 0; r < some; r++)
        turned[k * TOGETHER + r] = x[(first + r) * n + k];
    planes_by (done, turned, some, n, TOGETHER, log);
    for (gint64 k = 0; k < n; k++)
      for (gint64 r = 0; r < some; r++)
        y[(first + r) * n + k] = done[k * TOGETHER + r];
  }
}

/* The sigmoid of what one is above the other. Both are taken less the larger, so that an infinite
 * one makes NaN of both. */
CPU_INLINE VF32
softmax_pairs (VF32 v)
{
  VF32 other = __builtin_shufflevector (v, v, CPU_SWAP (1)), top = vector_larger (v, other);
  return vector_sigmoid ((v - top) - (other - top));
}

CPU_INLINE void
softmax_rows_of_two (gfloat *restrict y, const gfloat *restrict x, gint64 n)
{
  gint64 i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    vector_store (y + i, softmax_pairs (vector_load (x + i)));
  if (i < n)
    vector_store_part (y + i, softmax_pairs (vector_load_part (x + i, n - i)), n - i);
}

/* @x less its largest, which is left in @kept; returns the sum of the powers. */
CPU_INLINE gfloat
sum_few (VF32 *kept, const gfloat *x, gint64 n, gint vectors)
{
  VF32 powers[FEW], top = load_row (kept, x, n, vectors);
  for (gint u = 0; u < vectors; u++)
    powers[u] = kept[u];
  for (gint u = 0; u < vectors; u++)
    kept[u] -= top;
  return vector_sum_of_all (raise_some (powers, top, vectors))[0];
}

/* Rows that fit into @vectors vectors: the logarithms of many at a time. */
CPU_INLINE void
log_softmax_few (gfloat *restrict y, const gfloat *restrict x, gint64 rows, gint64 n, gint vectors)
{
  VF32 kept[TOGETHER];
  gfloat sums[TOGETHER + CPU_LANES] = { 0 };
  for (gint64 done = 0, some; done < rows; done += some, x += some * n) {
    some = MIN (rows - done, TOGETHER / vectors);
    for (gint64 r = 0; r < some; r++)
      sums[r] = sum_few (kept + r * vectors, x + r * n, n, vectors);
    for (gint64 r = 0; r < some; r += CPU_LANES)
      vector_store (sums + r, vector_log (vector_load (sums + r)));
    for (gint64 r = 0; r < some; r++, y += n) {
      const VF32 *row = kept + r * vectors;
      VF32 v[FEW];
      for (gint u = 0; u < vectors; u++)
        v[u] = row[u] - sums[r];
      store_row_end (y, v, n, (rows - done - r - 1) * n >= CPU_LANES, vectors);
    }
  }
}

CPU_INLINE void
many_log_softmax_rows (gfloat *restrict y, const gfloat *restrict x, gint64 rows, gint64 n)
{
  switch ((n + CPU_LANES - 1) / CPU_LANES) {
    CASES_OF_FEW (log_softmax_few, y, x, rows, n)
  default:
    for (gint64 r = 0; r < rows; r++)
      log_softmax_row (y + r * n, x + r * n, n, (rows - r - 1) * n >= CPU_LANES);
  }
}

CPU_INLINE void
many_softmax_rows (gfloat *restrict y, const gfloat *restrict x, gint64 rows, gint64 n)
{
  for (gint64 r = 0; r < rows; r++)
    softmax_row (y + r * n, x + r * n, n, (rows - r - 1) * n >= CPU_LANES);
}

#define SOFTMAX(name, log)                                                                         \
  static void name##_planes (gfloat *restrict y, const gfloat *restrict x, gint64 n, gint64 count, \
                             gint64 stride)                                                        \
  {                                                                                                \
    planes_by (y, x, n, count, stride, log);                                                       \
  }                                                                                                \
  static void name##_rows (gfloat *restrict y, const gfloat *restrict x, gint64 rows, gint64 n)    \
  {                                                                                                \
    if (n == 2 && !log)                                                                            \
      softmax_rows_of_two (y, x, 2 * rows);                                                        \
    else if (n < SHORT)                                                                            \
      short_rows (y, x, rows, n, log);                                                             \
    else                                                                                           \
      many_##name##_rows (y, x, rows, n);                                                          \
  }
SOFTMAX (softmax, FALSE)
SOFTMAX (log_softmax, TRUE)

const CpuSoftmax CPU_NAME (cpu_softmax) = {
  .rows = { [CPU_SOFTMAX] = softmax_rows, [CPU_LOG_SOFTMAX] = log_softmax_rows },
  .planes = { [CPU_SOFTMAX] = softmax_planes, [CPU_LOG_SOFTMAX] = log_softmax_planes },
};
