/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slice and Split: views of the same data, with strides. */
#include "dnn-private.h"

/* Where a slice starts and how it steps, from constant inputs or attributes. Only forwards. */
static gboolean
slice_plan (const AxonNode *node, gint64 *start, gint64 *step)
{
  static const gchar *const names[] = { "starts", "axes", "steps" };
  static const guint inputs[] = { 1, 3, 4 };
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint64 values[3][AXON_MAX_RANK] = { { 0 } };
  guint n[3] = { 0 };
  for (guint k = 0; k < 3; k++) {
    const gint64 *attr = axon_node_get_ints (node, names[k], &n[k]);
    const AxonTensor *t = cpu_node_constant (node, inputs[k]);
    if (attr == NULL && axon_node_get_input (node, inputs[k]) != NULL && t == NULL)
      return FALSE;
    if (attr == NULL)
      n[k] = t ? (guint)axon_tensor_get_numel (t) : 0;
    for (guint i = 0; i < n[k]; i++)
      values[k][i] =
          attr ? attr[i]
               : axon_dtype_load_int (axon_tensor_get_dtype (t), axon_tensor_get_data (t), i);
  }
  for (guint i = 0; i < n[0]; i++) {
    gint64 axis = n[1] ? values[1][i] : (gint64)i, from = values[0][i];
    axis += axis < 0 ? x->rank : 0;
    from += from < 0 ? x->dims[axis] : 0;
    start[axis] = CLAMP (from, 0, x->dims[axis]);
    step[axis] = n[2] ? values[2][i] : 1;
    if (step[axis] < 1)
      return FALSE;
  }
  return TRUE;
}

/* Output @index as a view of @src from element @offset on: no element moves until somebody needs
 * another layout. FALSE: oneDNN cannot describe it. */
static gboolean
add_view (CpuPlan *plan, const AxonNode *node, guint index, CpuTensor *src, const gint64 *strides,
          gint64 offset)
{
  g_autoptr (CpuMd) md = cpu_md_strided (src->dtype, &node->outputs[index]->type.shape, strides);
  CpuTensor *view;
  if (md == NULL)
    return FALSE;
  view = cpu_plan_alias (plan, node, index, src, md);
  view->offset += (gsize)offset * axon_dtype_get_size (src->dtype);
  return TRUE;
}

static gboolean
build_slice (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint64 start[AXON_MAX_RANK] = { 0 }, step[AXON_MAX_RANK], strides[AXON_MAX_RANK], offset = 0;
  CpuTensor *src;
  for (guint d = 0; d < AXON_MAX_RANK; d++)
    step[d] = 1;
  if (!dnn_is_movable (node) || !slice_plan (node, start, step))
    return FALSE;
  src = dnn_strided_input (plan, node, strides);
  for (gint d = 0; d < src->shape.rank; d++) {
    offset += start[d] * strides[d];
    strides[d] *= step[d];
  }
  return add_view (plan, node, 0, src, strides, offset);
}

/* Parts that are known: what they are is in the shapes of the outputs. */
static gboolean
has_known_parts (const AxonNode *node)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] == NULL || !axon_shape_is_static (&node->outputs[i]->type.shape) ||
        axon_shape_get_numel (&node->outputs[i]->type.shape) == 0)
      return FALSE;
  return axon_node_get_input (node, 1) == NULL || cpu_node_constant (node, 1) != NULL;
}

static gboolean
build_split (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint64 axis = axon_node_get_int (node, "axis"), strides[AXON_MAX_RANK], at = 0;
  CpuTensor *src;
  if (!has_known_parts (node) || !dnn_is_movable (node))
    return FALSE;
  axis += axis < 0 ? node->inputs[0]->type.shape.rank : 0;
  src = dnn_strided_input (plan, node, strides);
  for (guint i = 0; i < node->n_outputs; i++) {
    if (!add_view (plan, node, i, src, strides, at * strides[axis]))
      return FALSE;
    at += node->outputs[i]->type.shape.dims[axis];
  }
  return TRUE;
}

const CpuKernel cpu_dnn_slice_kernels[] = {
  { .name = "Slice", .impl = "onednn", .build = build_slice },
  { .name = "Split", .impl = "onednn", .build = build_split },
  { 0 },
};
