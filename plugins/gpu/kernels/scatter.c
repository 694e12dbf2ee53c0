/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ScatterElements, ScatterND: into a copy, in the order of the indices. */
#include "indices.h"

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
  gpu_step_complaint (plan, step, GPU_WRONG_INDEX);
  return TRUE;
}

static gboolean
build_scatter_elements (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  const gchar *type = gpu_index_type (node, why);
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

static gboolean
build_scatter_nd (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  const gchar *type = gpu_index_type (node, why);
  gint64 length = index->dims[index->rank - 1], slice = 1;
  GpuScatterNdParams params = { .length = gpu_int (length) };
  if (type == NULL || length == 0)
    return FALSE;
  for (gint d = (gint)length; d < x->rank; d++)
    slice *= x->dims[d];
  params.tuples = gpu_int (axon_shape_get_numel (index) / length);
  gpu_set_axes (x, 0, length, params.size, params.y_step);
  return add_scatter (plan, node, "scatternd", type, slice, GPU_PARAMS_OF (plan, params));
}

static const GpuKernel rows[] = {
  { .name = "ScatterElements", .impl = "scatter", .build = build_scatter_elements },
  { .name = "Scatter", .impl = "scatter", .build = build_scatter_elements },
  { .name = "ScatterND", .impl = "scatter", .build = build_scatter_nd },
};

GPU_DEFINE_FAMILY (scatter, rows)
