/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loops that the compiler vectorises, mostly; compiled so that it does not fuse a product with a
 * sum. */
#include "bytes.h"
#include "level.h"

#include <math.h>

CPU_INLINE guint8
to_byte (gfloat q, gfloat zero, gfloat lo, gfloat hi)
{
  gfloat v = rintf (q) + zero;
  v = v > lo ? v : lo;
  v = v < hi ? v : hi;
  return (guint8)(gint32)v;
}

CPU_INLINE guint8
number_to_byte (gfloat q, gfloat zero, gfloat lo, gfloat hi)
{
  gfloat v = rintf (q) + zero;
  v = v == v ? v : 0;
  v = v > lo ? v : lo;
  v = v < hi ? v : hi;
  return (guint8)(gint32)v;
}

static void
quantize (guint8 *restrict y, const gfloat *restrict x, gint64 n, CpuQuantScale scale, gfloat lo,
          gfloat hi)
{
  const gfloat *restrict s = scale.scale, *restrict z = scale.zero;
  if (scale.step) {
    for (gint64 i = 0; i < n; i++)
      y[i] = number_to_byte (x[i] / s[i], z[i], lo, hi);
  } else {
    gfloat one = *s, zero = *z;
    for (gint64 i = 0; i < n; i++)
      y[i] = number_to_byte (x[i] / one, zero, lo, hi);
  }
}

/* @real: the type in which the product is exact before it is rounded to a float */
#define DEQUANTIZE(name, type, real)                                                               \
  static void name (gfloat *restrict y, gconstpointer x_, gint64 n, CpuQuantScale scale)           \
  {                                                                                                \
    const type *restrict x = x_;                                                                   \
    const gfloat *restrict s = scale.scale, *restrict z = scale.zero;                              \
    if (scale.step) {                                                                              \
      for (gint64 i = 0; i < n; i++)                                                               \
        y[i] = (gfloat)(((real)x[i] - (real)z[i]) * (real)s[i]);                                   \
    } else {                                                                                       \
      real one = *s, zero = *z;                                                                    \
      for (gint64 i = 0; i < n; i++)                                                               \
        y[i] = (gfloat)(((real)x[i] - zero) * one);                                                \
    }                                                                                              \
  }
DEQUANTIZE (dequantize_u8, guint8, gfloat)
DEQUANTIZE (dequantize_i8, gint8, gfloat)
DEQUANTIZE (dequantize_i32, gint32, gdouble)
#undef DEQUANTIZE

/* As many minima side by side as fill a few vectors. */
#define PLACES 32

static void
range (const gfloat *restrict x, gint64 n, gfloat *low, gfloat *high)
{
  gfloat least[PLACES], most[PLACES];
  gint64 i = 0;
  for (gint k = 0; k < PLACES; k++) {
    least[k] = *low;
    most[k] = *high;
  }
  for (; i + PLACES <= n; i += PLACES)
    for (gint k = 0; k < PLACES; k++) {
      least[k] = x[i + k] < least[k] ? x[i + k] : least[k];
      most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
    }
  for (gint k = 0; i < n; i++, k++) {
    least[k] = x[i] < least[k] ? x[i] : least[k];
    most[k] = x[i] > most[k] ? x[i] : most[k];
  }
  for (gint k = 0; k < PLACES; k++) {
    *low = MIN (*low, least[k]);
    *high = MAX (*high, most[k]);
  }
}

#define PAIR_LOOP(at_a, at_b, expr)                                                                \
  for (gint64 i = 0; i < n; i++) {                                                                 \
    gfloat a = ((gfloat)pa[at_a] - az) * as, b = ((gfloat)pb[at_b] - bz) * bs;                     \
    y[i] = to_byte ((expr) / scale, zero, lo, hi);                                                 \
  }
#define PAIR(name, type, expr)                                                                     \
  static void name (guint8 *restrict y, gconstpointer a_, gconstpointer b_, gint64 n, gint64 sa,   \
                    gint64 sb, const CpuQuantPair *p)                                              \
  {                                                                                                \
    const type *restrict pa = a_, *restrict pb = b_;                                               \
    const gfloat as = p->a_scale, az = p->a_zero, bs = p->b_scale, bz = p->b_zero;                 \
    const gfloat scale = p->scale, zero = p->zero, lo = p->lo, hi = p->hi;                         \
    if (sa && sb)                                                                                  \
      PAIR_LOOP (i, i, expr)                                                                       \
    else if (sa)                                                                                   \
      PAIR_LOOP (i, 0, expr)                                                                       \
    else                                                                                           \
      PAIR_LOOP (0, i *sb, expr)                                                                   \
  }
PAIR (add_u8, guint8, a + b)
PAIR (add_i8, gint8, a + b)
PAIR (mul_u8, guint8, a *b)
PAIR (mul_i8, gint8, a *b)
#undef PAIR

#define RESCALE(name, type)                                                                        \
  static void name (guint8 *restrict y, gconstpointer x_, gint64 n, const CpuRescale *r)           \
  {                                                                                                \
    const type *restrict x = x_;                                                                   \
    const gfloat factor = r->factor, offset = r->offset, lo = r->lo, hi = r->hi;                   \
    for (gint64 i = 0; i < n; i++)                                                                 \
      y[i] = to_byte ((gfloat)x[i] * factor + offset, 0, lo, hi);                                  \
  }
RESCALE (rescale_u8, guint8)
RESCALE (rescale_i8, gint8)
#undef RESCALE

#define SUMS 4 /* vectors of sums that stay in registers */

CPU_INLINE void
sum_vectors (gint32 *sum, const guint8 *x, const CpuByteWindow *w, gboolean is_signed, gint vectors)
{
  VI32 part[SUMS] = { 0 };
  for (gint64 z = 0; z < w->count[0]; z++)
    for (gint64 r = 0; r < w->count[1]; r++) {
      const guint8 *from = x + z * w->step[0] + r * w->step[1];
      for (gint64 c = 0; c < w->count[2]; c++, from += w->step[2])
#pragma GCC unroll 4
        for (gint v = 0; v < vectors; v++)
          part[v] += widen_bytes (from + v * CPU_LANES, is_signed);
    }
#pragma GCC unroll 4
  for (gint v = 0; v < vectors; v++)
    *(VI32 *)(sum + v * CPU_LANES) = part[v];
}

/* Of fewer than a vector has. */
CPU_INLINE void
sum_some (gint32 *sum, const guint8 *x, gint64 n, const CpuByteWindow *w, gboolean is_signed)
{
  for (gint64 i = 0; i < n; i++)
    sum[i] = 0;
  for (gint64 z = 0; z < w->count[0]; z++)
    for (gint64 r = 0; r < w->count[1]; r++)
      for (gint64 c = 0; c < w->count[2]; c++) {
        const guint8 *from = x + z * w->step[0] + r * w->step[1] + c * w->step[2];
        for (gint64 i = 0; i < n; i++)
          sum[i] += is_signed ? (gint8)from[i] : from[i];
      }
}

CPU_INLINE void
sum_windows (gint32 *sum, const guint8 *x, gint64 n, const CpuByteWindow *w, gboolean is_signed)
{
  gint64 i = 0, left;
  for (; i + SUMS * CPU_LANES <= n; i += SUMS * CPU_LANES)
    sum_vectors (sum + i, x + i, w, is_signed, SUMS);
  left = (n - i) / CPU_LANES;
  if (left == 3)
    sum_vectors (sum + i, x + i, w, is_signed, 3);
  else if (left == 2)
    sum_vectors (sum + i, x + i, w, is_signed, 2);
  else if (left == 1)
    sum_vectors (sum + i, x + i, w, is_signed, 1);
  i += left * CPU_LANES;
  sum_some (sum + i, x + i, n - i, w, is_signed);
}

static void
sum_u8 (gint32 *sum, gconstpointer x, gint64 n, const CpuByteWindow *w)
{
  sum_windows (sum, x, n, w, FALSE);
}

static void
sum_i8 (gint32 *sum, gconstpointer x, gint64 n, const CpuByteWindow *w)
{
  sum_windows (sum, x, n, w, TRUE);
}

#define MEAN(name, real)                                                                           \
  static void name (guint8 *restrict y, const gint32 *restrict sum, gint64 n,                      \
                    const CpuQuantMean *m)                                                         \
  {                                                                                                \
    const real divisor = (real)m->divisor;                                                         \
    const gfloat scale = m->scale, zero = m->zero, lo = m->lo, hi = m->hi;                         \
    const gint32 offset = m->offset;                                                               \
    for (gint64 i = 0; i < n; i++)                                                                 \
      y[i] = to_byte ((gfloat)((real)(sum[i] + offset) / divisor) * scale, zero, lo, hi);          \
  }
MEAN (mean_of_many, gdouble)
MEAN (mean_of_few, gfloat)
#undef MEAN

/* Bytes whose sum is a float, and so is their number: their quotient in doubles, which has more
 * than twice as many digits, rounds to the same float as that in floats. */
#define FEW 32768

static void
mean (guint8 *restrict y, const gint32 *restrict sum, gint64 n, const CpuQuantMean *m)
{
  if (m->divisor <= FEW && ABS (m->offset) <= 255 * FEW)
    mean_of_few (y, sum, n, m);
  else
    mean_of_many (y, sum, n, m);
}

const CpuQuantize CPU_NAME (cpu_quantize) = {
  .quantize = quantize,
  .dequantize = { dequantize_u8, dequantize_i8, dequantize_i32 },
  .range = range,
  .add = { add_u8, add_i8 },
  .mul = { mul_u8, mul_i8 },
  .rescale = { rescale_u8, rescale_i8 },
  .sum = { sum_u8, sum_i8 },
  .mean = mean,
};
