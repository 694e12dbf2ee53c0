/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax: less the largest, so that nothing is too large for e^x; an infinite one makes NaN of
 * all, as the definition does. */
#include "level.h"
#include "vectormath.h"
#include "vectorpart.h"
#include "vectorturn.h"

#define UNROLL 4    /* vectors of a plane at a time */
#define SHORT 8     /* rows of fewer are turned into planes */
#define TOGETHER 64 /* so many of them */
#define FEW 4       /* vectors of rows that stay in registers */

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

CPU_INLINE VF32
largest_of_row (const gfloat *x, gint64 n)
{
  VF32 top = least (), other = top;
  gint64 i = 0;
  for (; i + 2 * CPU_LANES <= n; i += 2 * CPU_LANES) {
    top = vector_larger (top, vector_load (x + i));
    other = vector_larger (other, vector_load (x + i + CPU_LANES));
  }
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    top = vector_larger (top, vector_load (x + i));
  if (i < n)
    top = vector_larger (top, vector_load_part_over (least (), x + i, n - i));
  return vector_largest_of_all (vector_larger (top, other));
}

/* Of e^(x - top), which are left in @y if it is given. What fills the last vector adds nothing. */
CPU_INLINE VF32
sum_powers (gfloat *y, const gfloat *x, gint64 n, VF32 top)
{
  VF32 sum = splat_float (0), v;
  gint64 i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES) {
    v = vector_exp (vector_load (x + i) - top);
    sum += v;
    if (y != NULL)
      vector_store (y + i, v);
  }
  if (i < n) {
    v = vector_exp (vector_load_part_over (least (), x + i, n - i) - top);
    sum += v;
    if (y != NULL)
      vector_store_part (y + i, v, n - i);
  }
  return vector_sum_of_all (sum);
}

/* The last @n of a row. If @more follow that are written later, a whole vector is stored. */
CPU_INLINE void
store_end (gfloat *y, VF32 v, gint64 n, gboolean more)
{
  if (more)
    vector_store (y, v);
  else
    vector_store_part (y, v, n);
}

/* A row that fits into @vectors vectors; returns its largest. */
CPU_INLINE VF32
load_few (VF32 *v, const gfloat *x, gint64 n, gint vectors)
{
  const gint64 whole = (vectors - 1) * CPU_LANES;
  VF32 top;
  for (gint u = 0; u < vectors - 1; u++)
    v[u] = vector_load (x + u * CPU_LANES);
  top = v[vectors - 1] = vector_load_part_over (least (), x + whole, n - whole);
  for (gint u = 0; u < vectors - 1; u++)
    top = vector_larger (top, v[u]);
  return vector_largest_of_all (top);
}

/* Of vectors that stay in registers. */
CPU_INLINE void
softmax_few (gfloat *y, const gfloat *x, gint64 n, gboolean more, gint vectors)
{
  const gint64 whole = (vectors - 1) * CPU_LANES;
  VF32 v[FEW], top = load_few (v, x, n, vectors), sum, rate;
  sum = splat_float (0);
  for (gint u = 0; u < vectors; u++)
    sum += v[u] = vector_exp (v[u] - top);
  rate = splat_float (1) / vector_sum_of_all (sum);
  for (gint u = 0; u < vectors - 1; u++)
    vector_store (y + u * CPU_LANES, v[u] * rate);
  store_end (y + whole, v[vectors - 1] * rate, n - whole, more);
}

CPU_INLINE void
softmax_row (gfloat *y, const gfloat *x, gint64 n, gboolean more)
{
  VF32 rate;
  gint64 i = 0;
  switch ((n + CPU_LANES - 1) / CPU_LANES) {
    CASES_OF_FEW (softmax_few, y, x, n, more)
  default:
    break;
  }
  rate = splat_float (1) / sum_powers (y, x, n, largest_of_row (x, n));
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    vector_store (y + i, vector_load (y + i) * rate);
  if (i < n)
    vector_store_part (y + i, vector_load_part (y + i, n - i) * rate, n - i);
}

CPU_INLINE void
log_softmax_row (gfloat *y, const gfloat *x, gint64 n)
{
  VF32 top = largest_of_row (x, n), rest = vector_log (sum_powers (NULL, x, n, top));
  gint64 i = 0;
  for (; i + CPU_LANES <= n; i += CPU_LANES)
    vector_store (y + i, vector_load (x + i) - top - rest);
  if (i < n)
    vector_store_part (y + i, vector_load_part (x + i, n - i) - top - rest, n - i);
}

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
    for (gint64 k = 0; k < count; k++)                                                             \
      for (gint u = 0; u < vectors; u++) {                                                         \
        VF32 v = vector_exp (LOAD (x + k * stride + i + u * CPU_LANES) - top[u]);                  \
        sum[u] += v;                                                                               \
        if (!log)                                                                                  \
          STORE (y + k * stride + i + u * CPU_LANES, v);                                           \
      }                                                                                            \
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
  for (; i + UNROLL * CPU_LANES <= n; i += UNROLL * CPU_LANES)
    BLOCK (UNROLL, vector_load, vector_store, log)
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
  VF32 top = load_few (kept, x, n, vectors), sum = splat_float (0);
  for (gint u = 0; u < vectors; u++)
    sum += vector_exp (kept[u] -= top);
  return vector_sum_of_all (sum)[0];
}

/* Rows that fit into @vectors vectors: the logarithms of many at a time. */
CPU_INLINE void
log_softmax_few (gfloat *restrict y, const gfloat *restrict x, gint64 rows, gint64 n, gint vectors)
{
  const gint64 whole = (vectors - 1) * CPU_LANES;
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
      for (gint u = 0; u < vectors - 1; u++)
        vector_store (y + u * CPU_LANES, row[u] - sums[r]);
      store_end (y + whole, row[vectors - 1] - sums[r], n - whole,
                 (rows - done - r - 1) * n >= CPU_LANES);
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
      log_softmax_row (y + r * n, x + r * n, n);
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
