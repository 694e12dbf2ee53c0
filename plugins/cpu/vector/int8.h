/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exact products of bytes: convolution and matrix product (a convolution of one pixel), and
 * depthwise convolution.
 *
 * Sources lie channels last, u8 or s8; weights are packed by int8pack.c. Sums are those of 32-bit
 * integers, whatever the bytes: two 16-bit products at once (vpmaddwd and the like), or four of u8
 * x s8 where the processor adds them without saturation (VNNI). Zero points of the source are in
 * the bias, and padding is filled with them. One thread runs one CpuConvPart; parts of a
 * convolution may run at once. */
#pragma once

#include "conv.h"

typedef enum { CPU_INT8_U8, CPU_INT8_I8, CPU_INT8_I32, CPU_INT8_F32 } CpuInt8Type;

/* What follows a sum that becomes a float. */
typedef enum {
  CPU_INT8_LINEAR,
  CPU_INT8_CLIP,  /* alpha to beta */
  CPU_INT8_LEAKY, /* below 0: times alpha */
  CPU_INT8_SIGMOID,
  CPU_INT8_SWISH, /* x * sigmoid (alpha * x) */
} CpuInt8Activation;

typedef struct {
  CpuInt8Type type;
  /* U8, I8: y = clamp (round half even (sum * scale), lo, hi) + zero; lo and hi are less zero. */
  gfloat lo, hi;
  gint32 zero;
  /* F32: y = activation (sum * scale + shift) */
  CpuInt8Activation activation;
  gfloat alpha, beta;
} CpuInt8Finish;

typedef struct {
  CpuConv shape;      /* n_taps are runs of consecutive elements */
  gboolean is_signed; /* the source is s8 */
  gboolean pairs;     /* weights are s16: s8 cannot hold them, or nothing multiplies in fours */
  CpuInt8Finish finish;
  /* set by cpu_int8_setup () */
  gint offset;   /* of the source as it is multiplied: 128 or -128 where in fours its sign is
                    the other one */
  gint n_groups; /* length of a run in 32-bit words */
  gint step, pairs_of_rows; /* depthwise: see int8depthwise.c */
} CpuInt8Conv;

/* Rows of a strip of channels that @n output rows of a depthwise convolution read. */
static inline gint
cpu_int8_strip_rows (const CpuInt8Conv *c, gint n)
{
  return (n - 1) * c->shape.stride_h / c->step +
         (c->pairs_of_rows - 1) * 2 * c->shape.dilation_h / c->step + 1;
}

/* Of one run. Arrays have `padded` elements for each group. */
typedef struct {
  const guint8 *x;
  gpointer y;
  const guint8 *weights;
  const gint32 *bias; /* less the zero point times the sum of the weights */
  const gfloat *scale, *shift;
  gint32 x_zero;
} CpuInt8Run;

typedef void (*CpuInt8Func) (const CpuInt8Conv *conv, const CpuInt8Run *run,
                             const CpuConvPart *part, guint8 *scratch);

typedef struct {
  gint lanes;           /* 32-bit lanes of a vector */
  gint pixels;          /* of a tile */
  gboolean dot4;        /* bytes x s8 in fours, exact */
  gboolean dot4_signed; /* s8 x s8, not u8 x s8 */
  CpuInt8Func dense, depthwise;
} CpuInt8Kernels;
