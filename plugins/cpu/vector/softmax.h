/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax and its logarithm, of many sets of numbers at once. */
#pragma once

#include <glib.h>

typedef enum { CPU_SOFTMAX, CPU_LOG_SOFTMAX, CPU_N_SOFTMAXES } CpuSoftmaxKind;

typedef struct {
  /* Each of @rows rows of @n that follow each other is a set. */
  void (*rows[CPU_N_SOFTMAXES]) (gfloat *restrict y, const gfloat *restrict x, gint64 rows,
                                 gint64 n);
  /* Each place of @count planes of @n elements, @stride apart, is a set. */
  void (*planes[CPU_N_SOFTMAXES]) (gfloat *restrict y, const gfloat *restrict x, gint64 n,
                                   gint64 count, gint64 stride);
} CpuSoftmax;
