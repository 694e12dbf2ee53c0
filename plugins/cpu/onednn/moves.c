/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that only move elements, as reorders between strided descriptions of the same data.
 * Transposing an nhwc tensor to N,H,W,C order costs nothing: its bytes lie that way already. */
#include "dnn-private.h"

/* Input 0 with strides: its own, or converted to row-major where it is blocked. */
static CpuTensor *
strided_input (CpuPlan *plan, const AxonNode *node, gint64 *strides)
{
  CpuTensor *src = cpu_plan_input (plan, node, 0);
  if (!cpu_md_get_strides (src->md, &src->shape, strides)) {
    src = cpu_plan_input_as (plan, node, 0, NULL);
    cpu_md_get_strides (NULL, &src->shape, strides);
  }
  return src;
}

/* Copies @src, described by @shape and @strides, to a row-major output. */
static void
add_gather (CpuPlan *plan, const AxonNode *node, CpuTensor *src, const AxonShape *shape,
            const gint64 *strides)
{
  CpuTensor *dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_dnn_add_reorder (plan,
                       dnn_view (plan, src, shape, cpu_md_strided (src->dtype, shape, strides), 0),
                       dnn_view (plan, dst, shape, NULL, 0));
}

gboolean
cpu_dnn_build_transpose (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint64 strides[AXON_MAX_RANK], moved[AXON_MAX_RANK];
  guint n;
  const gint64 *perm = axon_node_get_ints (node, "perm", &n);
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *src;
  if (!dnn_is_movable (node))
    return FALSE;
  src = strided_input (plan, node, strides);
  for (gint i = 0; i < x->rank; i++)
    moved[i] = strides[perm ? perm[i] : x->rank - 1 - i];
  md = cpu_md_strided (src->dtype, y, moved);
  cpu_plan_alias (plan, node, 0, src, md); /* a view; whoever needs row-major converts it */
  return TRUE;
}

gboolean
cpu_dnn_build_depth_to_space (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint64 b = axon_node_get_int (node, "blocksize"), s[AXON_MAX_RANK], c = x->dims[1] / (b * b);
  gboolean crd = g_str_equal (axon_node_get_string (node, "mode"), "CRD");
  AxonShape shape = AXON_SHAPE (x->dims[0], c, x->dims[2], b, x->dims[3], b);
  CpuTensor *src;
  if (!dnn_is_movable (node))
    return FALSE;
  src = strided_input (plan, node, s);
  gint64 strides[] = { s[0], crd ? b * b * s[1] : s[1], s[2], crd ? b * s[1] : b * c * s[1],
                       s[3], crd ? s[1] : c * s[1] };
  add_gather (plan, node, src, &shape, strides);
  return TRUE;
}

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

gboolean
cpu_dnn_build_slice (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint64 start[AXON_MAX_RANK] = { 0 }, step[AXON_MAX_RANK], strides[AXON_MAX_RANK], offset = 0;
  CpuTensor *src;
  for (guint d = 0; d < AXON_MAX_RANK; d++)
    step[d] = 1;
  if (!dnn_is_movable (node) || !slice_plan (node, start, step))
    return FALSE;
  src = strided_input (plan, node, strides);
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

gboolean
cpu_dnn_build_split (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint64 axis = axon_node_get_int (node, "axis"), strides[AXON_MAX_RANK], at = 0;
  CpuTensor *src;
  if (!has_known_parts (node) || !dnn_is_movable (node))
    return FALSE;
  axis += axis < 0 ? node->inputs[0]->type.shape.rank : 0;
  src = strided_input (plan, node, strides);
  for (guint i = 0; i < node->n_outputs; i++) {
    if (!add_view (plan, node, i, src, strides, at * strides[axis]))
      return FALSE;
    at += node->outputs[i]->type.shape.dims[axis];
  }
  return TRUE;
}
