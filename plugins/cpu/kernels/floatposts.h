/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all kernels for convolutions of floats read off a node: constants, what is fused into it,
 * where the result goes. */
#pragma once

#include "../cpuplan.h"
#include "../vector/floatconv.h"

typedef struct {
  CpuPost before, after; /* of adding the residual */
  gboolean has_sum, has_slopes;
  gboolean slopes_last; /* they come after the residual, not before */
} CpuFloatPosts;

/* FALSE: something else than activation, residual, activation. */
gboolean cpu_float_posts_init (CpuFloatPosts *posts, const AxonNode *node);

/* A run of @step, whose inputs are the source and, if there is one, the residual; without weights,
 * bias and slopes. */
CpuFloatConvRun cpu_float_run_begin (const CpuFloatPosts *posts, const CpuStep *step,
                                     const CpuInstance *instance);

/* What the parts of a run of step->data share; a thread's scratch is in output 1. */
typedef struct {
  gconstpointer plan;
  CpuFloatConvRun run;
  guint8 *scratch;
} CpuFloatParts;

CpuFloatParts cpu_float_parts_begin (const CpuFloatPosts *posts, const CpuStep *step,
                                     const CpuInstance *instance);

/* TRUE if weights and bias are constants, and all are floats. */
gboolean cpu_float_conv_has_constants (const AxonNode *node);

/* Data of a constant input; NULL if there is none. */
const gfloat *cpu_float_constant (const AxonNode *node, guint input);

/* Output 0 in layout @md, where the residual is if nobody needs that later. @residual: in the same
 * layout, or NULL. */
CpuTensor *cpu_float_destination (CpuPlan *plan, const AxonNode *node, const CpuFloatPosts *posts,
                                  const CpuMd *md, CpuTensor **residual);
