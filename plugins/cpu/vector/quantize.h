/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes of either sign and what they stand for, rounded as the definitions say: in single
 * precision, each operation once, halves to even. Results of bytes are within @lo and @hi, limits
 * within the type's; their bits are the same for either sign. */
#pragma once

#include <glib.h>

typedef enum { CPU_QUANT_U8, CPU_QUANT_I8, CPU_QUANT_I32, CPU_N_QUANT } CpuQuantType;

/* Zero points are whole. With @step 1 there is a scale and a zero point for each element. */
typedef struct {
  const gfloat *scale, *zero;
  gint64 step;
} CpuQuantScale;

typedef struct {
  gfloat a_scale, b_scale, scale; /* of the operands and of the result */
  gfloat a_zero, b_zero, zero, lo, hi;
} CpuQuantPair;

/* A row of @n with steps 0 or 1 through a and b. */
typedef void (*CpuQuantPairFunc) (guint8 *y, gconstpointer a, gconstpointer b, gint64 n, gint64 sa,
                                  gint64 sb, const CpuQuantPair *pair);

/* y = round (x * factor + offset), within @lo and @hi. */
typedef struct {
  gfloat factor, offset, lo, hi;
} CpuRescale;

typedef void (*CpuRescaleFunc) (guint8 *restrict y, gconstpointer x, gint64 n,
                                const CpuRescale *rescale);

/* Where the bytes of a sum lie: so many in each dimension, so many elements apart. */
typedef struct {
  gint64 count[3], step[3];
} CpuByteWindow;

/* Of a mean: sums are of bytes as they are. */
typedef struct {
  gdouble divisor;
  gint32 offset; /* what the zero points add to a sum */
  gfloat scale, zero, lo, hi;
} CpuQuantMean;

typedef struct {
  /* y = round (x / scale) + zero; what is no number becomes 0 */
  void (*quantize) (guint8 *y, const gfloat *x, gint64 n, CpuQuantScale scale, gfloat lo,
                    gfloat hi);
  /* y = (x - zero) * scale */
  void (*dequantize[CPU_N_QUANT]) (gfloat *y, gconstpointer x, gint64 n, CpuQuantScale scale);
  /* Widens @low to @high; passes over what is no number. */
  void (*range) (const gfloat *x, gint64 n, gfloat *low, gfloat *high);
  CpuQuantPairFunc add[CPU_QUANT_I32], mul[CPU_QUANT_I32];
  CpuRescaleFunc rescale[CPU_QUANT_I32];
  /* Of @n windows whose elements lie side by side. */
  void (*sum[CPU_QUANT_I32]) (gint32 *sum, gconstpointer x, gint64 n, const CpuByteWindow *window);
  void (*mean) (guint8 *restrict y, const gint32 *restrict sum, gint64 n, const CpuQuantMean *mean);
} CpuQuantize;
