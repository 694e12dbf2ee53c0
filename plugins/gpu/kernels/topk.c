/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TopK. */
#include "kernels.h"

static gboolean
build_top_k (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0);
  GpuTensor *y = gpu_plan_output (plan, node, 0), *index = gpu_plan_output (plan, node, 1);
  gint axis = gpu_node_axis (node, x->shape.rank);
  GpuLines lines = gpu_lines (&x->shape, axis);
  gboolean most =
      axon_node_find_attr (node, "largest") == NULL || axon_node_get_int (node, "largest") != 0;
  static const gchar *const better[2][2] = {
    { "((v) < (w))", "((v) > (w))" },
    { "((v) < (w) || (isnan(w) && !isnan(v)))", "((v) > (w) || (isnan(v) && !isnan(w)))" },
  };
  g_autofree gchar *name =
      gpu_kernel_for (plan, most ? "topk" : "leastk", "topk", x->dtype, "BETTER",
                      better[axon_dtype_is_float (x->dtype)][most], NULL);
  GpuStep *step;
  if (y == NULL)
    y = gpu_plan_scratch (plan, x->dtype, &index->shape);
  if (index == NULL)
    index = gpu_plan_scratch (plan, AXON_DTYPE_I64, &y->shape);
  const GpuTopKParams params = { .line = gpu_line_params (&lines),
                                 .k = gpu_int (y->shape.dims[axis]) };
  step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), lines.outer * lines.inner, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  gpu_step_write (plan, step, index);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "TopK", .impl = "topk", .build = build_top_k },
};

GPU_DEFINE_FAMILY (topk, rows)
