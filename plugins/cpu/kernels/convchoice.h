/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../cpuplan.h"

/* Products of a thread, below which tiles of AMX do not pay. */
#define CPU_CONV_SMALL 16e6

/* TRUE if the convolutions of @model shall work channels last. */
gboolean cpu_conv_prefers_channels_last (const AxonModel *model);

/* TRUE if @node, a convolution, has each channel by itself, and but once. */
gboolean cpu_conv_is_depthwise (const AxonNode *node);

/* TRUE if @node, a convolution of floats or its product with a constant matrix, shall be computed
 * in half precision. */
gboolean cpu_conv_takes_halves (const CpuPlan *plan, const AxonNode *node);

/* TRUE if @node, a convolution of floats, shall be computed in bf16 by oneDNN, if that multiplies
 * tiles then. */
gboolean cpu_conv_takes_bf16 (const CpuPlan *plan, const AxonNode *node);

/* TRUE if @node, a convolution of floats, shall run on our kernels. */
gboolean cpu_conv_is_own (const CpuPlan *plan, const AxonNode *node);

/* TRUE if what is fused into @node, a convolution on oneDNN's kernels, is left to our own loops. */
gboolean cpu_conv_is_finished_apart (const AxonNode *node);
