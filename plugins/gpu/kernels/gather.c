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
add_gather (GpuPlan *plan, const AxonNode *node, const gchar *family, const gchar *type,
            const GpuNumbers *numbers)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *index = gpu_plan_input (plan, node, 1);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *base = g_strdup_printf ("%s_%s", family, type);
  g_autofree gchar *name = gpu_kernel_for (plan, base, family, x->dtype, "I", type, NULL);
  GpuStep *step = gpu_each_element (plan, name, numbers, (GpuTensor *[]){ x, index }, 2, y);
  gpu_step_complaint (plan, step, WRONG);
  return TRUE;
}

gboolean
gpu_build_gather (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const gchar *type = index_type (node, why);
  GpuLines lines = gpu_lines (x, gpu_node_axis (node, x->rank));
  GpuNumbers numbers = { .n = 0 };
  if (type == NULL)
    return FALSE;
  gpu_numbers_add (&numbers, axon_shape_get_numel (&node->inputs[1]->type.shape));
  gpu_numbers_add (&numbers, lines.inner);
  gpu_numbers_add (&numbers, lines.length);
  return add_gather (plan, node, "gather", type, &numbers);
}

gboolean
gpu_build_gather_elements (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gchar *type = index_type (node, why);
  gint axis = gpu_node_axis (node, x->rank);
  gint64 xs[AXON_MAX_RANK];
  GpuNumbers numbers = { .n = 0 };
  if (type == NULL)
    return FALSE;
  gpu_strides (x, xs);
  gpu_numbers_add (&numbers, x->rank);
  gpu_numbers_add (&numbers, axis);
  gpu_numbers_add (&numbers, x->dims[axis]);
  for (gint d = 0; d < x->rank; d++)
    gpu_numbers_add (&numbers, y->dims[d]);
  for (gint d = 0; d < x->rank; d++)
    gpu_numbers_add (&numbers, xs[d]);
  return add_gather (plan, node, "gatherelements", type, &numbers);
}

/* Sizes and steps of the axes that an index of @length numbers speaks of, from @first on. */
static void
add_axes (GpuNumbers *numbers, const AxonShape *shape, gint first, gint64 length)
{
  gint64 strides[AXON_MAX_RANK];
  gpu_strides (shape, strides);
  for (gint64 d = 0; d < length; d++)
    gpu_numbers_add (numbers, shape->dims[first + d]);
  for (gint64 d = 0; d < length; d++)
    gpu_numbers_add (numbers, strides[first + d]);
}

gboolean
gpu_build_gather_nd (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  const gchar *type = index_type (node, why);
  gint batch =
      axon_node_find_attr (node, "batch_dims") ? (gint)axon_node_get_int (node, "batch_dims") : 0;
  gint64 length = index->dims[index->rank - 1], slice = 1, per_batch = 1, batch_size = 1;
  GpuNumbers numbers = { .n = 0 };
  if (type == NULL)
    return FALSE;
  for (gint d = batch + (gint)length; d < x->rank; d++)
    slice *= x->dims[d];
  for (gint d = batch; d < index->rank - 1; d++)
    per_batch *= index->dims[d];
  for (gint d = batch; d < x->rank; d++)
    batch_size *= x->dims[d];
  gpu_numbers_add (&numbers, length);
  gpu_numbers_add (&numbers, slice);
  gpu_numbers_add (&numbers, per_batch);
  gpu_numbers_add (&numbers, batch_size);
  add_axes (&numbers, x, batch, length);
  return add_gather (plan, node, "gathernd", type, &numbers);
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
             const GpuNumbers *numbers)
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
  step = gpu_plan_step (plan, name, gpu_numbers_write (numbers, plan), n, 1, 1);
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
  GpuNumbers numbers = { .n = 0 };
  if (type == NULL || index->dims[axis] == 0)
    return FALSE;
  gpu_strides (x, xs);
  gpu_strides (index, is);
  gpu_numbers_add (&numbers, x->rank);
  gpu_numbers_add (&numbers, axis);
  gpu_numbers_add (&numbers, x->dims[axis]);
  for (gint d = 0; d < x->rank; d++)
    gpu_numbers_add (&numbers, index->dims[d]);
  for (gint d = 0; d < x->rank; d++)
    gpu_numbers_add (&numbers, is[d]);
  for (gint d = 0; d < x->rank; d++)
    gpu_numbers_add (&numbers, xs[d]);
  return add_scatter (plan, node, "scatterelements", type,
                      axon_shape_get_numel (index) / index->dims[axis], &numbers);
}

gboolean
gpu_build_scatter_nd (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  const gchar *type = index_type (node, why);
  gint64 length = index->dims[index->rank - 1], slice = 1;
  GpuNumbers numbers = { .n = 0 };
  if (type == NULL || length == 0)
    return FALSE;
  for (gint d = (gint)length; d < x->rank; d++)
    slice *= x->dims[d];
  gpu_numbers_add (&numbers, length);
  gpu_numbers_add (&numbers, axon_shape_get_numel (index) / length);
  add_axes (&numbers, x, 0, length);
  return add_scatter (plan, node, "scatternd", type, slice, &numbers);
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
  GpuNumbers numbers = { .n = 0 };
  gpu_numbers_add (&numbers, lines.length);
  gpu_numbers_add (&numbers, lines.inner);
  gpu_each_element (plan, name, &numbers, (GpuTensor *[]){ index, values }, 2, y);
  return TRUE;
}

gboolean
gpu_build_trilu (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *k = gpu_plan_input (plan, node, 1);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *name = gpu_kernel_for (plan, "trilu", "trilu", x->dtype, NULL);
  GpuNumbers numbers = { .n = 0 };
  GpuStep *step;
  gpu_numbers_add (&numbers, x->shape.dims[x->shape.rank - 2]);
  gpu_numbers_add (&numbers, x->shape.dims[x->shape.rank - 1]);
  gpu_numbers_add (&numbers, axon_node_get_int (node, "upper"));
  step = gpu_each_element (plan, name, &numbers, (GpuTensor *[]){ x, k }, 2, y);
  gpu_step_number (step, k != NULL);
  return TRUE;
}

gboolean
gpu_build_reverse_sequence (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *lengths = gpu_plan_input (plan, node, 1);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *name = gpu_kernel_for (plan, "reverse", "reverse", x->dtype, NULL);
  GpuNumbers numbers = { .n = 0 };
  GpuStep *step;
  gpu_numbers_add (&numbers, x->shape.dims[0]);
  gpu_numbers_add (&numbers, x->shape.dims[1]);
  gpu_numbers_add (&numbers, gpu_lines (&x->shape, 1).inner);
  gpu_numbers_add (&numbers, axon_node_get_int (node, "time_axis") == 0);
  step = gpu_each_element (plan, name, &numbers, (GpuTensor *[]){ x, lengths }, 2, y);
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
  GpuNumbers numbers = { .n = 0 };
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
  for (gint d = 1; d < 4; d++)
    gpu_numbers_add (&numbers, x->shape.dims[d]);
  gpu_numbers_add (&numbers, y->shape.dims[2]);
  gpu_numbers_add (&numbers, y->shape.dims[3]);
  gpu_numbers_add (&numbers, padding);
  gpu_numbers_add (&numbers, axon_node_get_int (node, "align_corners") != 0);
  gpu_each_element (plan, name, &numbers, (GpuTensor *[]){ x, grid }, 2, y);
  return TRUE;
}
