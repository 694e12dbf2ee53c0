/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GridSample. */
#include "kernels.h"

static gint
find_text (const gchar *text, const gchar *const *list, gint n)
{
  for (gint i = 0; i < n; i++)
    if (g_str_equal (text, list[i]))
      return i;
  return -1;
}

static gboolean
build_grid_sample (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  static const gchar *const paddings[] = { "zeros", "border", "reflection" };
  static const gchar *const modes[] = { "nearest", "linear", "cubic", "", "bilinear", "bicubic" };
  static const gchar *const taps[] = { "1", "2", "4", NULL, "2", "4" };
  gint mode = find_text (axon_node_get_string (node, "mode"), modes, G_N_ELEMENTS (modes));
  gint padding = find_text (axon_node_get_string (node, "padding_mode"), paddings, 3);
  g_autofree gchar *base = NULL;
  g_autofree gchar *name = NULL;
  GpuTensor *x, *grid, *y;
  GpuGridSampleParams params;
  if (node->inputs[0]->type.shape.rank != 4 || mode < 0 || padding < 0 ||
      !axon_dtype_is_float (node->inputs[0]->type.dtype)) {
    *why = g_strdup ("only pictures of floating-point numbers");
    return FALSE;
  }
  x = gpu_plan_input (plan, node, 0);
  grid = gpu_plan_input (plan, node, 1);
  y = gpu_plan_output (plan, node, 0);
  base = g_strdup_printf ("gridsample_%s_%s", taps[mode], gpu_type_name (grid->dtype));
  name = gpu_kernel_for (plan, base, "gridsample", x->dtype, "TAPS", taps[mode], "G",
                         gpu_type_stored (grid->dtype), "GN", gpu_type_name (grid->dtype), NULL);
  params = (GpuGridSampleParams){ .channels = gpu_int (x->shape.dims[1]),
                                  .rows = gpu_int (x->shape.dims[2]),
                                  .columns = gpu_int (x->shape.dims[3]),
                                  .out_rows = gpu_int (y->shape.dims[2]),
                                  .out_columns = gpu_int (y->shape.dims[3]),
                                  .padding = padding,
                                  .aligned = axon_node_get_int (node, "align_corners") != 0 };
  gpu_each_element (plan, name, GPU_PARAMS_OF (plan, params), (GpuTensor *[]){ x, grid }, 2, y);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "GridSample", .impl = "gather", .build = build_grid_sample },
};

GPU_DEFINE_FAMILY (gridsample, rows)
