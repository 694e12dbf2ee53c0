/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One convolution of floats, packed. */
#pragma once

#include "../cpuplan.h"
#include "../vector/floatconv.h"
#include "../vector/half.h"

/* Weights as the model holds them: element (output channel of all groups, input channel of its
 * group, tap) is at out * o + in * i + tap * t. */
typedef struct {
  const gfloat *data;
  gsize out, in, tap;
  gsize period, again;    /* output channel o is that of o % period, again * (o / period) elements
                             further; period 0: o */
  gsize per_group, group; /* each per_group output channels: group elements further; 0: none */
  const gint *taps; /* which tap of the model stands at [row * kernel_w + column], -1: none; NULL:
                       the same */
} CpuFloatWeights;

typedef struct {
  CpuConv conv, wide;
  gint pixels;                    /* of conv, of which one of wide is made; 0: there is no such */
  gfloat *weights, *wide_weights; /* weights: of kernels of halves, halves */
  gfloat *factors;                /* nullable */
  gsize origin;                   /* element of the output where the result begins */
} CpuFloatLayer;

/* How many pixels of a set up @conv are one of @wide: see CpuFloatWide; 0: it has full vectors, or
 * its pixels are not side by side. */
gint cpu_float_conv_widen (CpuConv *wide, const CpuConv *conv, const CpuFloatConvKernels *kernels);

/* Fills what CpuConv leaves to it. @conv is flat (cpu_conv_flatten ()), unless its rows shall stay.
 */
void cpu_float_conv_setup (CpuConv *conv, const CpuFloatConvKernels *kernels, guint threads);

/* Makes one group of as many as fill a vector, where @conv, not set up yet, has groups of so few
 * channels. */
void cpu_float_conv_spread (CpuConv *conv, const CpuFloatConvKernels *kernels);

/* Fills what CpuFloatColumns leaves to it beside @columns->conv, of which parts are bands. */
void cpu_float_columns_setup (CpuFloatColumns *columns, const CpuFloatConvKernels *kernels,
                              guint threads);

/* Bytes of the packed weights of a set up @conv, and the packing itself. */
gsize cpu_float_weights_size (const CpuConv *conv);
void cpu_float_weights_pack (const CpuConv *conv, const CpuFloatWeights *from,
                             const CpuFloatConvKernels *kernels, gfloat *to);
/* One panel of them, at its place in @to. */
void cpu_float_panel_pack (const CpuConv *conv, const CpuFloatWeights *from,
                           const CpuFloatConvKernels *kernels, gint group, gint panel, gfloat *to);

/* @packed, by cpu_float_weights_pack () for kernels @k of halves, which is spoilt: as halves, and
 * what products with them are multiplied by, for each output channel of all groups. */
void cpu_half_weights_pack (const CpuConv *conv, gfloat *packed, const CpuFloatConvKernels *k,
                            const CpuHalf *half, guint16 *to, gfloat *factors);

/* @from, an element for each output channel of all groups, or for each of a @period that is
 * repeated (0: none is), as the kernels read it. */
void cpu_float_array_pack (const CpuConv *conv, const gfloat *from, gint period, gfloat *to);

/* Of a MatMul or Gemm of floats: its first matrix is as it lies, there are no factors, and a row of
 * constant bias (input 2) or none. */
gboolean cpu_float_product_is_plain (const AxonNode *node);

/* @conv as so many rows of @inner times [inner, columns], row-major all. */
void cpu_float_product_set (CpuConv *conv, gint rows, gint inner, gint columns);

/* MatMul or Gemm of floats with one constant matrix for all rows, and a row of bias (input 2) or
 * none, as a convolution of one row of pixels by 1x1. FALSE: it is another one. */
gboolean cpu_float_product_init (CpuConv *conv, CpuFloatWeights *weights, const AxonNode *node);

/* Builds a matrix product whose @conv says its rows, with the bias (input 2) and all that was fused
 * into @node. FALSE: something else was. */
gboolean cpu_float_product_build (CpuPlan *plan, const AxonNode *node, const CpuConv *conv,
                                  const CpuFloatWeights *weights);

/* Adds @y = rows of @x, as @conv says, times @weights, plus @bias for each column. */
void cpu_float_product_add (CpuPlan *plan, CpuTensor *x, const CpuConv *conv,
                            const CpuFloatWeights *weights, const gfloat *bias, CpuTensor *y);
