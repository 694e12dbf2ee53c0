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
#include "move.h"
#include "post.h"

typedef enum { CPU_INT8_U8, CPU_INT8_I8, CPU_INT8_I32, CPU_INT8_F32 } CpuInt8Type;

/* What may follow a sum that becomes a float. */
#define CPU_INT8_ACTIVATIONS(F) F (RELU) F (CLIP) F (LEAKY) F (SIGMOID) F (SILU) F (SWISH)

typedef struct {
  CpuInt8Type type;
  /* U8, I8: y = clamp (round half even (sum * scale), lo, hi) + zero; lo and hi are less zero. */
  gfloat lo, hi;
  gint32 zero;
  CpuPost post; /* F32: y = post (sum * scale + shift) */
} CpuInt8Finish;

static inline gboolean
cpu_int8_makes_bytes (const CpuInt8Finish *finish)
{
  return finish->type == CPU_INT8_U8 || finish->type == CPU_INT8_I8;
}

typedef struct {
  CpuConv shape;      /* n_taps are runs of consecutive elements */
  gboolean is_signed; /* the source is s8 */
  gboolean pairs;     /* weights are s16: s8 cannot hold them, or nothing multiplies in fours */
  CpuInt8Finish finish;
  /* set by cpu_int8_setup () */
  gint offset;    /* of the source as it is multiplied: 128 or -128 where in fours its sign is the
                     other one */
  gint n_groups;  /* length of a run in 32-bit words */
  gint row_words; /* depthwise: words of a column of the filter, two rows each, or four */
  gint joined;    /* depthwise: pixels side by side whose channels are those of one; else 1 */
} CpuInt8Conv;

/* Of one run. Arrays have `padded` elements for each group. */
typedef struct {
  const guint8 *x;
  gpointer y;
  const guint8 *weights;
  const gint32 *bias; /* less the zero point times the sum of the weights */
  const gfloat *scale, *shift;
  gint32 x_zero;
} CpuInt8Run;

/* Depthwise in fours whose results are bytes: bias, sums and scales lie as the sums do, in the
 * order of bytes that are interleaved twice within each 128 bits. Where channel @o is. */
static inline gint
cpu_int8_place (gint o, gint lanes)
{
  gint strip = o / (4 * lanes) * 4 * lanes, at = o - strip;
  return strip + at / 4 % 4 * lanes + at / 16 * 4 + at % 4;
}

typedef void (*CpuInt8Func) (const CpuInt8Conv *conv, const CpuInt8Run *run,
                             const CpuConvPart *part, guint8 *scratch);

typedef struct {
  gint lanes;            /* 32-bit lanes of a vector */
  gint pixels;           /* of a tile */
  gint depthwise_pixels; /* of a block, in pairs */
  gint fours_pixels;     /* likewise, in fours */
  gboolean dot4;         /* bytes x s8 in fours, exact */
  gboolean dot4_signed;  /* s8 x s8, not u8 x s8 */
  const CpuMove *move;   /* by which weights are packed */
  CpuInt8Func dense, depthwise;
} CpuInt8Kernels;
