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
  gsize per_group, group; /* each per_group output channels: group elements further; 0: none */
  const gint *taps; /* which tap of the model stands at [row * kernel_w + column], -1: none; NULL:
                       the same */
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
  gsize y_origin; /* element of the output where the result begins */
} CpuInt8Spec;

/* Input @index channels last, with @conv's strides of it; others are converted. */
CpuTensor *cpu_int8_source (CpuPlan *plan, const AxonNode *node, guint index, CpuInt8Conv *conv);

/* What a step reads of its inputs at run time, as places in its list; 0: a constant of the spec. */
typedef struct {
  guint zero;    /* of the source: u8 or s8 */
  guint scale;   /* f32, by which every scale is multiplied */
  guint weights; /* packed for every frame of the run, @weight_frame bytes apart */
  gsize weight_frame;
} CpuInt8Runtime;

/* Adds one step for all of @specs, which write one output: a transposed convolution has one for
 * each phase. */
void cpu_int8_add_step (CpuPlan *plan, const CpuInt8Spec *specs, guint n, CpuInt8Runtime runtime,
                        CpuTensor *const *in, guint n_in, CpuTensor *out);

/* Which inputs of an operator are what; -1: it has none. A row of the kernel table carries it. */
typedef struct {
  gint8 w, x_zero, w_zero, x_scale, w_scale, y_scale, y_zero, bias;
} CpuInt8Form;

extern const CpuInt8Form cpu_int8_qlinear, cpu_int8_integer, cpu_int8_to_float;

/* What a node says of a product, read by its form. */
typedef struct {
  CpuInt8Spec spec;
  CpuInt8Runtime runtime;
  CpuTensor *in[4]; /* the first is the builder's: the source */
  guint n_in;
  gint32 *zeros; /* owned, as the next; the spec points to them */
  gfloat *scales;
} CpuInt8Node;

/* Keeps self->spec.conv, which the builder filled. @channels: of the output, all groups. FALSE:
 * something that has to be a constant is none, or a count does not fit. */
gboolean cpu_int8_node_init (CpuInt8Node *self, CpuPlan *plan, const AxonNode *node,
                             const CpuInt8Form *form, gint64 channels);
void cpu_int8_node_clear (CpuInt8Node *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CpuInt8Node, cpu_int8_node_clear)
