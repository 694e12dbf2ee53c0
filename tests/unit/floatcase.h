/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random convolutions of floats, their results by definition, and what is common to how kernels are
 * run. Numbers are small integers, so that every sum is exact, whatever its order. */
#pragma once

#include "../../plugins/cpu/kernels/floatconv-private.h"

typedef struct {
  CpuConv conv;
  gint all_in, all_out; /* channels of all groups */
  gfloat *x, *w, *bias, *slopes, *residual, *y;
  gsize n_x, n_y;
  gboolean has_slopes, slopes_last, has_residual;
  CpuPost before, after;
  gfloat tolerance;
} FloatCase;

typedef enum {
  FLOAT_DENSE,
  FLOAT_DEPTHWISE,
  FLOAT_LONG_ROWS,
  FLOAT_MANY_CHANNELS,
  FLOAT_WINOGRAD
} FloatKind;

FloatCase *float_case_new (GRand *rand, FloatKind kind);
void float_case_free (FloatCase *c);

/* What a kernel is given, but for what is packed. */
CpuFloatConvRun float_case_run (const FloatCase *c);
/* A number for each channel, as kernels read them: see cpu_float_array_pack (). */
gfloat *float_case_pack (const CpuConv *set, const gfloat *from, gint period);

/* Fails if @c's results are not its sums, or differ from @before between pixels. */
void float_case_check (const FloatCase *c, const gfloat *before);
