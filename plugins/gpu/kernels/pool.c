/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling. */
#include "kernels.h"

static const struct {
  const gchar *name, *body, *result;
} pools[] = {
  { "MaxPool", "if (best < 0 || v > a) { a = v; best = place; }", "a" },
  { "AveragePool", "a += v;", "a / max(count, (@A@)1)" },
  { "LpPool", "a += pow(fabs(v), (@A@)q->p);", "pow(a, (@A@)1 / q->p)" },
};

static gboolean
build_pool (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  AxonDType dtype = node->inputs[0]->type.dtype;
  const gchar *type = gpu_type_computed (dtype);
  gboolean most = g_str_equal (node->op->name, "MaxPool");
  gboolean has_p = g_str_equal (node->op->name, "LpPool");
  gboolean counts = axon_node_find_attr (node, "count_include_pad") != NULL &&
                    axon_node_get_int (node, "count_include_pad") != 0;
  gboolean by_column = axon_node_find_attr (node, "storage_order") != NULL &&
                       axon_node_get_int (node, "storage_order") != 0;
  GpuPoolParams params;
  g_autofree gchar *name = NULL;
  GpuTensor *x, *y, *index;
  AxonWindow w;
  GpuStep *step;
  guint row = 0;
  if (!axon_window_of_node (&w, node, NULL) || (!most && !axon_dtype_is_float (dtype))) {
    *why = g_strdup ("no kernel for this type");
    return FALSE;
  }
  if (!gpu_window_fits (&w, why))
    return FALSE;
  while (!g_str_equal (pools[row].name, node->op->name))
    row++;
  x = gpu_plan_input (plan, node, 0);
  y = gpu_plan_output (plan, node, 0);
  index = gpu_plan_output (plan, node, 1);
  name = gpu_kernel_for (plan, pools[row].name, "pool", dtype, "BODY", pools[row].body, "FIN",
                         pools[row].result, "A", type, NULL);
  params = (GpuPoolParams){ .window = gpu_window (&w),
                            .counts_padding = counts,
                            .p = has_p ? gpu_int (axon_node_get_int (node, "p")) : 0 };
  gpu_ints (w.pad_end, 3, params.pad_end);
  step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), axon_shape_get_numel (&y->shape),
                        1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  gpu_step_read (plan, step, index);
  gpu_step_number (step, index == NULL ? 0 : by_column ? 2 : 1);
  return TRUE;
}

static gboolean
build_global_pool (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  static const gchar *const names[][2] = { { "GlobalAveragePool", "ReduceMean" },
                                           { "GlobalMaxPool", "ReduceMax" },
                                           { "GlobalLpPool", "ReduceL2" } };
  const gchar *reduction = NULL;
  gint rank = node->inputs[0]->type.shape.rank;
  gboolean reduced[AXON_MAX_RANK] = { FALSE };
  for (gint d = 2; d < rank; d++)
    reduced[d] = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i][0], node->op->name))
      reduction = names[i][1];
  if (!g_str_equal (node->op->name, "GlobalLpPool") || axon_node_get_int (node, "p") == 2) {
    gpu_reduce (plan, reduction, gpu_plan_input (plan, node, 0), gpu_plan_output (plan, node, 0),
                reduced);
    return TRUE;
  }
  *why = g_strdup ("only p = 2");
  return FALSE;
}

static const GpuKernel rows[] = {
  { .name = "GlobalAveragePool", .impl = "reduce", .build = build_global_pool },
  { .name = "GlobalMaxPool", .impl = "reduce", .build = build_global_pool },
  { .name = "GlobalLpPool", .impl = "reduce", .build = build_global_pool },
  { .name = "MaxPool", .impl = "pool", .build = build_pool },
  { .name = "AveragePool", .impl = "pool", .build = build_pool },
  { .name = "LpPool", .impl = "pool", .build = build_pool },
};

GPU_DEFINE_FAMILY (pool, rows)
