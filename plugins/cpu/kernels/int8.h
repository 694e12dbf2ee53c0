/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exact products of bytes as steps of the plan (../vector/int8.h): packs weights, cuts the work
 * into parts, runs them on the stream's threads. Builders of operators describe what they have. */
#pragma once

#include "../cpuplan.h"
#include "../vector/int8.h"

/* Weights as the model holds them: element (output channel of all groups, input channel of its
 * group, tap) is at out * o + in * i + tap * t. */
typedef struct {
  const guint8 *data;
  gboolean is_signed;
  gsize out, in, tap;
  const gint *taps; /* which tap of the model stands at [row * kernel_w + column]; NULL: the same */
  const gint32 *zero;
  guint n_zero; /* 0: none, 1: for all, else one for each output channel */
} CpuInt8Weights;

/* All of one product. Arrays have one element for each output channel of all groups. */
typedef struct {
  CpuInt8Conv conv;
  CpuInt8Weights weights;
  const gint32 *bias;  /* NULL: none */
  const gfloat *scale; /* NULL: sums are the result */
  guint n_scale;       /* 1: for all */
  const gfloat *shift; /* NULL: 0 */
  gint32 x_zero;
} CpuInt8Spec;

typedef struct _CpuInt8Step CpuInt8Step;

/* What a step reads of its inputs at run time, as places in its list; 0: a constant of the spec. */
typedef struct {
  guint zero;  /* of the source: u8 or s8 */
  guint scale; /* f32, by which every scale is multiplied */
} CpuInt8Runtime;

/* A channels-last source: strides of row and pixel in elements. Converts others. */
CpuTensor *cpu_int8_source (CpuPlan *plan, const AxonNode *node, guint index, CpuInt8Conv *conv);

/* The geometry of a convolution node with weights of shape @w. FALSE: none that the kernels have.
 */
gboolean cpu_int8_geometry (CpuInt8Conv *conv, const AxonNode *node, const AxonShape *w);

/* A result of bytes: the range of its type or of attribute axon.clip, and the zero point. */
void cpu_int8_set_range (CpuInt8Finish *finish, const AxonNode *node, gint32 zero);

/* Adds one step for all of @specs, which write one output: a transposed convolution has one for
 * each phase. */
void cpu_int8_add_step (CpuPlan *plan, const CpuInt8Spec *specs, guint n, CpuInt8Runtime runtime,
                        CpuTensor *const *in, guint n_in, CpuTensor *out);
