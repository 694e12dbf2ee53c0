/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cast between halves and floats. */
#include "kernels.h"

static void
run_cast (const CpuStep *step, const CpuInstance *instance)
{
  gsize n = (gsize)axon_shape_get_numel (&step->out[0]->shape);
  gconstpointer x = cpu_tensor_data (instance, step->in[0]);
  gpointer y = cpu_tensor_data (instance, step->out[0]);
#ifndef __FLT16_MAX__ /* the compiler has no half-precision type */
  for (gsize i = 0; i < n; i++)
    axon_dtype_store (step->out[0]->dtype, y, i, axon_dtype_load (step->in[0]->dtype, x, i));
#else
  if (step->in[0]->dtype == AXON_DTYPE_F16)
    for (gsize i = 0; i < n; i++)
      ((gfloat *)y)[i] = (gfloat)((const _Float16 *)x)[i];
  else
    for (gsize i = 0; i < n; i++)
      ((_Float16 *)y)[i] = (_Float16)((const gfloat *)x)[i];
#endif
}

static gboolean
build_cast (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonDType from = node->inputs[0]->type.dtype, to = node->outputs[0]->type.dtype;
  CpuTensor *x, *y;
  if (!((from == AXON_DTYPE_F16 && to == AXON_DTYPE_F32) ||
        (from == AXON_DTYPE_F32 && to == AXON_DTYPE_F16)))
    return FALSE;
  x = cpu_plan_input_as (plan, node, 0, NULL);
  y = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_cast, NULL, NULL, "own", &x, 1, &y, 1);
  return TRUE;
}

const CpuKernel cpu_cast_kernels[] = {
  { .name = "Cast", .impl = "own", .build = build_cast },
  { .name = "CastLike", .impl = "own", .build = build_cast },
  { 0 },
};
