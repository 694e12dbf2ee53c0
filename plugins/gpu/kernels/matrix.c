/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trilu. */
#include "kernels.h"

static gboolean
build_trilu (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *k = gpu_plan_input (plan, node, 1);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *name = gpu_kernel_for (plan, "trilu", "trilu", x->dtype, NULL);
  const GpuTriluParams params = { .rows = gpu_int (x->shape.dims[x->shape.rank - 2]),
                                  .columns = gpu_int (x->shape.dims[x->shape.rank - 1]),
                                  .upper = axon_node_get_int (node, "upper") != 0 };
  GpuStep *step =
      gpu_each_element (plan, name, GPU_PARAMS_OF (plan, params), (GpuTensor *[]){ x, k }, 2, y);
  gpu_step_number (step, k != NULL);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Trilu", .impl = "move", .build = build_trilu },
};

GPU_DEFINE_FAMILY (matrix, rows)
