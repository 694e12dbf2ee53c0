/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Views of the same elements, and what is known when building. */
#include "kernels.h"

/* What follows from shapes: constants of the plan. */
static gboolean
build_known (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  AxonTypeInfo in[8] = { 0 }, out[1] = { 0 };
  gboolean ok;
  for (guint i = 0; i < MIN (node->n_inputs, G_N_ELEMENTS (in)); i++)
    if (node->inputs[i] != NULL)
      in[i] = node->inputs[i]->type;
  ok = axon_node_infer (node, in, out, NULL);
  if (ok && out[0].value == NULL)
    out[0].value = gpu_plan_fold (node);
  if (ok && out[0].value != NULL)
    gpu_plan_constant (plan, node, 0, out[0].value);
  ok = out[0].value != NULL;
  g_clear_pointer (&out[0].value, axon_tensor_unref);
  if (!ok)
    *why = g_strdup ("its operands are " GPU_NOT_CONSTANT);
  return ok;
}

/* The same bytes in another shape. */
gboolean
gpu_build_view (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  for (guint i = 1; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL) {
      *why = g_strdup_printf ("output %u is asked for", i);
      return FALSE;
    }
  gpu_plan_alias (plan, node, 0, gpu_plan_input (plan, node, 0));
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Reshape", .impl = "view", .build = gpu_build_view },
  { .name = "Flatten", .impl = "view", .build = gpu_build_view },
  { .name = "Squeeze", .impl = "view", .build = gpu_build_view },
  { .name = "Unsqueeze", .impl = "view", .build = gpu_build_view },
  { .name = "Identity", .impl = "view", .build = gpu_build_view },
  { .name = "Shape", .impl = "constant", .build = build_known },
  { .name = "Size", .impl = "constant", .build = build_known },
  { .name = "Constant", .impl = "constant", .build = build_known },
  { .name = "ConstantOfShape", .impl = "constant", .build = build_known },
  { .name = "Range", .impl = "constant", .build = build_known },
};

GPU_DEFINE_FAMILY (reshape, rows)
