/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling and resizing. */
#include "kernels.h"

static const struct {
  const gchar *name, *body, *result;
} pools[] = {
  { "MaxPool", "if (best < 0 || v > a) { a = v; best = o; }", "a" },
  { "AveragePool", "a += v;", "a / count" },
  { "LpPool", "a += pow(fabs(v), (@A@)q->p);", "pow(a, (@A@)1 / q->p)" },
};

gboolean
gpu_build_pool (GpuPlan *plan, const AxonNode *node, gchar **why)
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

static gint32
resize_params (GpuPlan *plan, const AxonResizeAxis *axis, gint64 inner, gdouble outside)
{
  const GpuResizeParams params = { .inner = gpu_int (inner),
                                   .in = gpu_int (axis->n_in),
                                   .out = gpu_int (axis->n_out),
                                   .taps = axis->n,
                                   .outside = (gfloat)outside };
  guint n = (guint)axis->n_out * (guint)axis->n;
  gint32 p = GPU_PARAMS_OF (plan, params);
  gpu_plan_params (plan, axis->index, n);
  gpu_plan_params (plan, (const gint32 *)(gconstpointer)axis->weight, n);
  return p;
}

/* Axis by axis; between them the type of the tensor. */
gboolean
gpu_build_resize (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) axes = axon_resize_axes (node, &error);
  gboolean whole = !axon_dtype_is_float (node->inputs[0]->type.dtype);
  gdouble outside = axon_node_find_attr (node, "extrapolation_value") != NULL
                        ? axon_node_get_float (node, "extrapolation_value")
                        : 0;
  g_autofree gchar *name = NULL;
  GpuTensor *x;
  for (guint i = 0; axes != NULL && i < axes->len; i++)
    if (whole && g_array_index (axes, AxonResizeAxis, i).n > 1)
      error = g_error_new (AXON_ERROR, AXON_ERROR_UNSUPPORTED, "whole numbers are interpolated");
  if (error != NULL || axes == NULL) {
    *why = g_strdup (error ? error->message : "scales or sizes are " GPU_NOT_CONSTANT);
    return FALSE;
  }
  if (axes->len == 0)
    return gpu_build_view (plan, node, why);
  x = gpu_plan_input (plan, node, 0);
  name = gpu_kernel_for (plan, "resize", "resize", x->dtype, NULL);
  for (guint i = 0; i < axes->len; i++) {
    const AxonResizeAxis *axis = &g_array_index (axes, AxonResizeAxis, i);
    AxonShape shape = x->shape;
    GpuTensor *y;
    GpuStep *step;
    shape.dims[axis->axis] = axis->n_out;
    y = i + 1 == axes->len ? gpu_plan_output (plan, node, 0)
                           : gpu_plan_scratch (plan, x->dtype, &shape);
    step = gpu_plan_step (plan, name,
                          resize_params (plan, axis, gpu_lines (&shape, axis->axis).inner, outside),
                          axon_shape_get_numel (&shape), 1, 1);
    gpu_step_read (plan, step, x);
    gpu_step_write (plan, step, y);
    x = y;
  }
  return TRUE;
}
