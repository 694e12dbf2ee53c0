/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution of floats, channels last: dense, grouped, depthwise. A matrix product is a
 * convolution of one pixel.
 *
 * Weights are packed by floatconvpack.c. One thread runs one CpuConvPart; parts of a convolution
 * may run at once. */
#pragma once

#include "conv.h"
#include "move.h"
#include "post.h"

/* What a depthwise convolution of few channels is besides: some pixels side by side as one pixel of
 * that many times the channels, so that vectors are full. */
typedef struct {
  const CpuConv *conv; /* NULL: there are channels enough */
  gint pixels;
  const gfloat *weights, *bias, *slopes;
} CpuFloatWide;

/* Of one run. Arrays have `padded` elements for each group. */
typedef struct {
  const gfloat *x;
  gfloat *y;
  const gfloat *residual;       /* added to the result, as y lies; NULL: none */
  const gfloat *weights, *bias; /* weights: of kernels of halves, halves */
  const gfloat *factors; /* halves: what the products of an output channel are multiplied with */
  const gfloat *slopes;  /* below 0, by channel; NULL: none */
  gboolean slopes_last;  /* they come after the residual, not before */
  CpuPost before, after; /* of adding the residual */
  CpuFloatWide wide;
} CpuFloatConvRun;

/* Every n-th column of the result (of a transposed convolution; else all), by what it is the sum
 * of: what some pixels of the source have for some columns of the filter. */
typedef struct {
  gint taps;
  gint first, step; /* columns of the source: the first tap of the first pixel, and of the next */
  gint dilation;    /* from one tap to the next */
  gint column, stride; /* of the filter: that of the first tap, and from one to the next */
} CpuColumnPhase;

/* A convolution of few output channels: those of all columns of its filter are the channels of
 * @products, by filters that are one column wide, and are added where the columns meet. */
typedef struct {
  CpuConv conv;
  CpuConv products; /* as wide as the source; its parts are those of all */
  const CpuColumnPhase *phases;
  gint n_phases;
  gboolean is_copied; /* each pixel of the result is one product, as they lie */
  gint rows;          /* of the result, side by side in the channels of the products, and */
  gsize row_step;     /* elements from one of them to the next */
  gsize heads[2];     /* where products, and a row of sums, begin in a thread's scratch */
} CpuFloatColumns;

#define CPU_FLOAT_PLANES 4          /* channels, at most */
#define CPU_FLOAT_PLANES_TOGETHER 8 /* vectors of pixels, at most */

/* A convolution of few channels to few. Rows of the source are copied into a thread's scratch:
 * [row][channel][first of every stride-th column][column]. */
typedef struct {
  CpuConv conv;
  gsize y_plane;       /* channels of the destination are planes, so far apart; 0: side by side */
  gint n_taps;         /* that meet one row: [channel][column] */
  const gint *offsets; /* of them from what the first pixel's first tap meets */
  gint width;          /* elements of a copied row of one channel */
  gsize row;           /* of all of them */
  gsize pitch;         /* elements from one channel's sums to the next one's */
  gsize heads[2];      /* where sums, and a row of them joined, begin in the scratch */
} CpuFloatPlanes;

typedef void (*CpuFloatPlanesFunc) (const CpuFloatPlanes *planes, const CpuFloatConvRun *run,
                                    const CpuConvPart *part, guint8 *scratch);

/* @run: weights of the products; a vector of @conv's bias, then zeros, the products' own (where
 * they are copied, the bias as they lie). */
typedef void (*CpuFloatColumnsFunc) (const CpuFloatColumns *columns, const CpuFloatConvRun *run,
                                     const CpuConvPart *part, guint8 *scratch);
typedef void (*CpuFloatConvFunc) (const CpuConv *conv, const CpuFloatConvRun *run,
                                  const CpuConvPart *part, guint8 *scratch);

#define CPU_FLOAT_DOTS 4

typedef struct {
  gint lanes;   /* of a vector */
  gint vectors; /* of output channels, of a tile */
  gint pixels;  /* of a tile */
  gint strip;   /* vectors of channels of a depthwise tile */
  gboolean is_half;
  const CpuMove *move; /* by which weights are packed */
  CpuFloatConvFunc dense, grouped, depthwise;
  gboolean (*has_lines) (const CpuConv *conv); /* a depthwise one is computed row by row */
  CpuFloatConvFunc dots; /* to at most CPU_FLOAT_DOTS channels from whole vectors of them */
  CpuFloatColumnsFunc columns;
  CpuFloatPlanesFunc planes;
} CpuFloatConvKernels;
