/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize and Upsample, axis by axis. */
#include "kernels.h"

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
static gboolean
build_resize (GpuPlan *plan, const AxonNode *node, gchar **why)
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
    if (whole && g_array_index (axes, AxonResizeAxis, i).n > 1) {
      *why = g_strdup ("whole numbers are interpolated");
      return FALSE;
    }
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

static const GpuKernel rows[] = {
  { .name = "Resize", .impl = "resize", .build = build_resize },
  { .name = "Upsample", .impl = "resize", .build = build_resize },
};

GPU_DEFINE_FAMILY (resize, rows)
