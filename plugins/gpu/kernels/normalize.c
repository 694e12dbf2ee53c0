/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layer, RMS, instance and group normalisation are one kernel: lines that are normalised, and where
 * scale and bias of an element lie. LpNormalization and LRN have their own. */
#include "kernels.h"

enum { HAS_SCALE = 1, HAS_BIAS = 2, HAS_MEAN = 4, HAS_INVERSE = 8 };

typedef struct {
  gint64 lines, length;
  gint64 a, b, c; /* scale of an element: line % a * b + element / c */
  gboolean centred;
} Rows;

static gboolean
add_rows (GpuPlan *plan, const AxonNode *node, const Rows *rows, gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *scale = gpu_plan_input (plan, node, 1);
  GpuTensor *bias = gpu_plan_input (plan, node, 2), *y = gpu_plan_output (plan, node, 0);
  GpuTensor *mean = gpu_plan_output (plan, node, 1), *inverse = gpu_plan_output (plan, node, 2);
  AxonDType stats = mean ? mean->dtype : inverse ? inverse->dtype : AXON_DTYPE_F32;
  g_autofree gchar *base = g_strdup_printf ("normalize_%s", gpu_type_name (stats));
  g_autofree gchar *name = NULL;
  GpuNormalizeParams params;
  GpuStep *step;
  if (rows->lines * GPU_GROUP > G_MAXINT32 ||
      (stats != AXON_DTYPE_F32 && stats != AXON_DTYPE_F64) || !axon_dtype_is_float (x->dtype)) {
    *why = g_strdup ("no kernel for these types");
    return FALSE;
  }
  name = gpu_kernel_for (plan, base, "normalize", x->dtype, "M", gpu_type_stored (stats), NULL);
  params = (GpuNormalizeParams){ .length = gpu_int (rows->length),
                                 .centred = rows->centred,
                                 .epsilon = (gfloat)axon_node_get_float (node, "epsilon"),
                                 .lines = gpu_int (rows->a),
                                 .line_step = gpu_int (rows->b),
                                 .elements = gpu_int (rows->c) };
  step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), rows->lines * GPU_GROUP, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_read (plan, step, scale);
  gpu_step_read (plan, step, bias);
  gpu_step_write (plan, step, y);
  gpu_step_read (plan, step, mean);
  gpu_step_read (plan, step, inverse);
  gpu_step_number (step, (scale ? HAS_SCALE : 0) | (bias ? HAS_BIAS : 0) | (mean ? HAS_MEAN : 0) |
                             (inverse ? HAS_INVERSE : 0));
  return TRUE;
}

static gboolean
is_alike (const AxonNode *node, guint index, gint axis)
{
  const AxonTypeInfo *x = &node->inputs[0]->type;
  AxonValue *value = axon_node_get_input (node, index);
  return value == NULL || (value->type.dtype == x->dtype &&
                           axon_shape_is_tail (&value->type.shape, &x->shape, axis));
}

static gboolean
build_layer_norm (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint axis = gpu_node_axis (node, x->rank);
  Rows rows = { 1, 1, 1, 0, 1, g_str_equal (node->op->name, "LayerNormalization") };
  for (gint d = 0; d < x->rank; d++)
    *(d < axis ? &rows.lines : &rows.length) *= x->dims[d];
  if (!is_alike (node, 1, axis) || !is_alike (node, 2, axis)) {
    *why = g_strdup ("scale or bias broadcast, or are of another type");
    return FALSE;
  }
  return add_rows (plan, node, &rows, why);
}

static gboolean
build_instance_norm (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  GpuLines lines = gpu_lines (x, 1);
  Rows rows = { x->dims[0] * x->dims[1], lines.inner, x->dims[1], 1, lines.inner, TRUE };
  return add_rows (plan, node, &rows, why);
}

static gboolean
build_group_norm (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  GpuLines lines = gpu_lines (x, 1);
  gint64 groups = axon_node_get_int (node, "num_groups"), each = x->dims[1] / groups;
  gboolean by_group = axon_shape_get_numel (&node->inputs[1]->type.shape) == groups;
  Rows rows = { x->dims[0] * groups,
                each * lines.inner,
                groups,
                by_group ? 1 : each,
                by_group ? each * lines.inner : lines.inner,
                TRUE };
  return add_rows (plan, node, &rows, why);
}

static gboolean
build_lrn (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *name = gpu_kernel_for (plan, "lrn", "lrn", x->dtype, NULL);
  const GpuLrnParams params = { .channels = gpu_int (x->shape.dims[1]),
                                .inner = gpu_int (gpu_lines (&x->shape, 1).inner),
                                .size = gpu_int (axon_node_get_int (node, "size")),
                                .alpha = (gfloat)axon_node_get_float (node, "alpha"),
                                .beta = (gfloat)axon_node_get_float (node, "beta"),
                                .bias = (gfloat)axon_node_get_float (node, "bias") };
  gpu_each_element (plan, name, GPU_PARAMS_OF (plan, params), &x, 1, y);
  return TRUE;
}

static gboolean
build_lp_norm (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  GpuLines lines = gpu_lines (&x->shape, gpu_node_axis (node, x->shape.rank));
  g_autofree gchar *name = gpu_kernel_for (plan, "lpnorm", "lpnorm", x->dtype, NULL);
  const GpuLpNormParams params = { .line = gpu_line_params (&lines),
                                   .p = gpu_int (axon_node_get_int (node, "p")) };
  GpuStep *step =
      gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), lines.outer * lines.inner, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "LayerNormalization", .impl = "normalize", .build = build_layer_norm },
  { .name = "RMSNormalization", .impl = "normalize", .build = build_layer_norm },
  { .name = "InstanceNormalization", .impl = "normalize", .build = build_instance_norm },
  { .name = "GroupNormalization", .impl = "normalize", .build = build_group_norm },
  { .name = "LpNormalization", .impl = "normalize", .build = build_lp_norm },
  { .name = "LRN", .impl = "normalize", .build = build_lrn },
};

GPU_DEFINE_FAMILY (normalize, rows)
