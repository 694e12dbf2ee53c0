/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that follow indices. Every index is checked on the device; a wrong one ends the run
 * with an error, and nothing outside of the tensor is touched. */
#include "kernels.h"

#define WRONG "an index is out of range"

static const gchar *
index_type (const AxonNode *node, gchar **why)
{
  AxonDType dtype = node->inputs[1]->type.dtype;
  if (dtype == AXON_DTYPE_I32 || dtype == AXON_DTYPE_I64)
    return dtype == AXON_DTYPE_I32 ? "int" : "long";
  *why = g_strdup_printf ("indices are %s", axon_dtype_get_name (dtype));
  return NULL;
}

static gboolean
add_gather (GpuPlan *plan, const AxonNode *node, const gchar *family, const gchar *type, gint32 p)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *index = gpu_plan_input (plan, node, 1);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *base = g_strdup_printf ("%s_%s", family, type);
  g_autofree gchar *name = gpu_kernel_for (plan, base, family, x->dtype, "I", type, NULL);
  GpuStep *step = gpu_each_element (plan, name, p, (GpuTensor *[]){ x, index }, 2, y);
  gpu_step_complaint (plan, step, WRONG);
  return TRUE;
}

gboolean
gpu_build_gather (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const gchar *type = index_type (node, why);
  GpuLines lines = gpu_lines (x, gpu_node_axis (node, x->rank));
  const GpuGatherParams params = { .count = gpu_int (
                                       axon_shape_get_numel (&node->inputs[1]->type.shape)),
                                   .inner = gpu_int (lines.inner),
                                   .length = gpu_int (lines.length) };
  if (type == NULL)
    return FALSE;
  return add_gather (plan, node, "gather", type, GPU_PARAMS_OF (plan, params));
}

gboolean
gpu_build_gather_elements (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gchar *type = index_type (node, why);
  gint axis = gpu_node_axis (node, x->rank);
  gint64 xs[AXON_MAX_RANK];
  GpuGatherElementsParams params = {
    .rank = x->rank,
    .axis = axis,
    .length = gpu_int (x->dims[axis]),
  };
  if (type == NULL)
    return FALSE;
  gpu_strides (x, xs);
  gpu_ints (y->dims, x->rank, params.size);
  gpu_ints (xs, x->rank, params.x_step);
  return add_gather (plan, node, "gatherelements", type, GPU_PARAMS_OF (plan, params));
}

/* Sizes and steps of the axes that an index of @length numbers speaks of, from @first on. */
static void
set_axes (const AxonShape *shape, gint first, gint64 length, gint32 *size, gint32 *step)
{
  gint64 strides[AXON_MAX_RANK];
  gpu_strides (shape, strides);
  gpu_ints (shape->dims + first, (gint)length, size);
  gpu_ints (strides + first, (gint)length, step);
}

gboolean
gpu_build_gather_nd (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  const gchar *type = index_type (node, why);
  gint batch =
      axon_node_find_attr (node, "batch_dims") ? (gint)axon_node_get_int (node, "batch_dims") : 0;
  gint64 length = index->dims[index->rank - 1], slice = 1, per_batch = 1, batch_size = 1;
  GpuGatherNdParams params;
  if (type == NULL)
    return FALSE;
  for (gint d = batch + (gint)length; d < x->rank; d++)
    slice *= x->dims[d];
  for (gint d = batch; d < index->rank - 1; d++)
    per_batch *= index->dims[d];
  for (gint d = batch; d < x->rank; d++)
    batch_size *= x->dims[d];
  params = (GpuGatherNdParams){ .length = gpu_int (length),
                                .slice = gpu_int (slice),
                                .per_batch = gpu_int (per_batch),
                                .batch_size = gpu_int (batch_size) };
  set_axes (x, batch, length, params.size, params.x_step);
  return add_gather (plan, node, "gathernd", type, GPU_PARAMS_OF (plan, params));
}

static const gchar *
reduction (const AxonNode *node, AxonDType dtype)
{
  static const struct {
    const gchar *name, *real, *whole;
  } rows[] = { { "none", "b", "b" },
               { "add", "a + b", "a + b" },
               { "mul", "a * b", "a * b" },
               { "max", "LARGER(a, b)", "max(a, b)" },
               { "min", "SMALLER(a, b)", "min(a, b)" } };
  const gchar *name =
      axon_node_find_attr (node, "reduction") ? axon_node_get_string (node, "reduction") : "none";
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].name, name))
      return axon_dtype_is_float (dtype) ? rows[i].real : rows[i].whole;
  return NULL;
}

/* y is a copy of x; then @family, with @n items, changes it. */
static gboolean
add_scatter (GpuPlan *plan, const AxonNode *node, const gchar *family, const gchar *type, gint64 n,
             gint32 p)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *index = gpu_plan_input (plan, node, 1);
  GpuTensor *updates = gpu_plan_input (plan, node, 2), *y = gpu_plan_output (plan, node, 0);
  const gchar *reduce = reduction (node, x->dtype);
  g_autofree gchar *id = gpu_text_id (reduce);
  g_autofree gchar *base = g_strdup_printf ("%s_%s_%s", family, type, id);
  g_autofree gchar *name =
      gpu_kernel_for (plan, base, family, x->dtype, "I", type, "REDUCE", reduce, NULL);
  GpuStep *step;
  gpu_copy (plan, x, y);
  step = gpu_plan_step (plan, name, p, n, 1, 1);
  gpu_step_read (plan, step, index);
  gpu_step_read (plan, step, updates);
  gpu_step_write (plan, step, y);
  gpu_step_complaint (plan, step, WRONG);
  return TRUE;
}

gboolean
gpu_build_scatter_elements (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  const gchar *type = index_type (node, why);
  gint axis = gpu_node_axis (node, x->rank);
  gint64 xs[AXON_MAX_RANK], is[AXON_MAX_RANK];
  GpuScatterElementsParams params = {
    .rank = x->rank,
    .axis = axis,
    .length = gpu_int (x->dims[axis]),
  };
  if (type == NULL || index->dims[axis] == 0)
    return FALSE;
  gpu_strides (x, xs);
  gpu_strides (index, is);
  gpu_ints (index->dims, x->rank, params.size);
  gpu_ints (is, x->rank, params.index_step);
  gpu_ints (xs, x->rank, params.y_step);
  return add_scatter (plan, node, "scatterelements", type,
                      axon_shape_get_numel (index) / index->dims[axis],
                      GPU_PARAMS_OF (plan, params));
}

gboolean
gpu_build_scatter_nd (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  const gchar *type = index_type (node, why);
  gint64 length = index->dims[index->rank - 1], slice = 1;
  GpuScatterNdParams params = { .length = gpu_int (length) };
  if (type == NULL || length == 0)
    return FALSE;
  for (gint d = (gint)length; d < x->rank; d++)
    slice *= x->dims[d];
  params.tuples = gpu_int (axon_shape_get_numel (index) / length);
  set_axes (x, 0, length, params.size, params.y_step);
  return add_scatter (plan, node, "scatternd", type, slice, GPU_PARAMS_OF (plan, params));
}

gboolean
gpu_build_one_hot (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
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

gboolean
gpu_build_trilu (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
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

gboolean
gpu_build_reverse_sequence (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *lengths = gpu_plan_input (plan, node, 1);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *name = gpu_kernel_for (plan, "reverse", "reverse", x->dtype, NULL);
  const GpuReverseParams params = { .size = { gpu_int (x->shape.dims[0]),
                                              gpu_int (x->shape.dims[1]) },
                                    .inner = gpu_int (gpu_lines (&x->shape, 1).inner),
                                    .time_first = axon_node_get_int (node, "time_axis") == 0 };
  GpuStep *step = gpu_each_element (plan, name, GPU_PARAMS_OF (plan, params),
                                    (GpuTensor *[]){ x, lengths }, 2, y);
  gpu_step_complaint (plan, step, "a length is out of range");
  return TRUE;
}

static gint
find_text (const gchar *text, const gchar *const *list, gint n)
{
  for (gint i = 0; i < n; i++)
    if (g_str_equal (text, list[i]))
      return i;
  return -1;
}

gboolean
gpu_build_grid_sample (GpuPlan *plan, const AxonNode *node, gchar **why)
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
