/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What convolutions of all kinds share. */
#pragma once

#include "kernels.h"

typedef enum {
  GPU_CONV_REAL,  /* sums of floats */
  GPU_CONV_WHOLE, /* sums of int: x less its zero point, times w */
  GPU_CONV_DOT,   /* the same, four channels at once: x and w are uint with four bytes each */
} GpuConvKind;

typedef struct {
  GpuConvKind kind;
  GpuTensor *x, *w, *bias; /* bias: nullable */
  GpuTensor *
      scale; /* of quantised results: least and most less zero, then a factor for each; else NULL */
  gint32 x_zero, y_zero;
} GpuConvOperands;

/* @ws: shape of the weights as kernels see them, inputs per group second. FALSE: @why not. */
gboolean gpu_add_convolution (GpuPlan *plan, const AxonNode *node, const AxonShape *ws,
                              const GpuConvOperands *o, gchar **why);
