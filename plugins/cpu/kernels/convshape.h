/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The shapes of convolutions, read off nodes. */
#pragma once

#include "../cpuplan.h"
#include "../vector/conv.h"

/* Of a convolution with weights of shape @w; one or two spatial dimensions, or depthwise three, if
 * its window moves along rows and columns, or along the other, only. Strides of the source are left
 * to cpu_conv_source (). */
gboolean cpu_conv_init (CpuConv *conv, const AxonNode *node, const AxonShape *w);

/* Of a transposed one with weights at input @weight; @window: of the convolution that goes the
 * other way, output to input. Its phases are convolutions. */
gboolean cpu_conv_init_transposed (CpuConv *conv, AxonWindow *window, const AxonNode *node,
                                   guint weight);

/* TRUE if @node convolves few channels that lie as planes: a picture, as it comes in. */
gboolean cpu_conv_has_planes (CpuPlan *plan, const AxonNode *node);

/* Input 0 as cpu_conv_has_planes () found it, with @conv's strides of it. */
CpuTensor *cpu_conv_planes (CpuPlan *plan, const AxonNode *node, CpuConv *conv);

/* Input @index channels last, with @conv's strides of it; others are converted. */
CpuTensor *cpu_conv_source (CpuPlan *plan, const AxonNode *node, guint index, CpuConv *conv);
CpuTensor *cpu_conv_destination (CpuPlan *plan, const AxonNode *node);

/* TRUE if each group of @channels is in blocks of @block by itself, or some are in each. */
gboolean cpu_conv_fits_blocks (gint64 channels, gint64 groups, gint block);

/* The same of what @conv reads and what it makes, by vectors of @lanes. */
gboolean cpu_conv_fills_blocks (const CpuConv *conv, gint block, gint lanes);

/* Channels of a block of the source, and so of the result, where a vector of @lanes is within one;
 * 0: both lie channels last. */
gint cpu_conv_get_block (CpuPlan *plan, const AxonNode *node, const CpuConv *conv, gint lanes);

/* Channels of a block of the result alone, of one group; 0: it lies channels last. */
gint cpu_conv_get_result_block (const CpuPlan *plan, const CpuConv *conv, gint lanes);

/* Sets @conv's strides of the result, which lies as this says (free). */
CpuMd *cpu_conv_result_blocks (const AxonNode *node, CpuConv *conv, gint block);

/* Input 0 in blocks of @block channels, with @conv's strides of it and of the result, which lies as
 * @md says (free). */
CpuTensor *cpu_conv_blocks (CpuPlan *plan, const AxonNode *node, CpuConv *conv, gint block,
                            CpuMd **md);

/* How many phases a transposed convolution has in each dimension. */
void cpu_conv_count_phases (const AxonWindow *window, gint *rows, gint *columns);

/* The outputs first_y, first_y + stride ... by first_x ... of @conv are a convolution of their own,
 * with every n-th tap, backwards. */
typedef struct {
  CpuConv conv;
  gsize origin; /* element of the output where it begins */
  gint *taps;   /* which tap of the model stands at [row * kernel_w + column], -1: none (owned) */
} CpuConvPhase;

CpuConvPhase cpu_conv_get_phase (const CpuConv *conv, const AxonWindow *window, gint first_y,
                                 gint first_x);
