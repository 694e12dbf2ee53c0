/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ArgMax, ArgMin. */
#include "kernels.h"

static gboolean
build_arg (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  GpuLines lines = gpu_lines (&x->shape, gpu_node_axis (node, x->shape.rank));
  gboolean most = g_str_equal (node->op->name, "ArgMax");
  gboolean last = axon_node_find_attr (node, "select_last_index") != NULL &&
                  axon_node_get_int (node, "select_last_index") != 0;
  g_autofree gchar *name = gpu_kernel_for (plan, node->op->name, "argreduce", x->dtype, "BETTER",
                                           most ? ">" : "<", NULL);
  const GpuArgReduceParams params = { .line = gpu_line_params (&lines), .last = last };
  GpuStep *step =
      gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), lines.outer * lines.inner, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "ArgMax", .impl = "reduce", .build = build_arg },
  { .name = "ArgMin", .impl = "reduce", .build = build_arg },
};

GPU_DEFINE_FAMILY (arg, rows)
