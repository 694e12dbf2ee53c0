/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OneHot. */
#include "kernels.h"

static gboolean
build_one_hot (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *index = gpu_plan_input (plan, node, 0), *values = gpu_plan_input (plan, node, 2);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  GpuLines lines = gpu_lines (&y->shape, gpu_node_axis (node, y->shape.rank));
  g_autofree gchar *base = g_strdup_printf ("onehot_%s", gpu_size_type (y->dtype));
  g_autofree gchar *name =
      gpu_kernel_for (plan, base, "onehot", index->dtype, "I", gpu_type_stored (index->dtype), "V",
                      gpu_size_type (y->dtype), NULL);
  const GpuOneHotParams params = { .depth = gpu_int (lines.length),
                                   .inner = gpu_int (lines.inner) };
  gpu_each_element (plan, name, GPU_PARAMS_OF (plan, params), (GpuTensor *[]){ index, values }, 2,
                    y);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "OneHot", .impl = "gather", .build = build_one_hot },
};

GPU_DEFINE_FAMILY (generate, rows)
