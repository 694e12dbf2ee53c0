/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that only move elements, as reorders between strided descriptions of the same data.
 * Transposing an nhwc tensor to N,H,W,C order costs nothing: its bytes lie that way already. */
#include "dnn-private.h"

static gboolean
movable (const AxonNode *node)
{
  const AxonTypeInfo *x = &node->inputs[0]->type;
  return cpu_dnn_has_type (x->dtype) && x->shape.rank >= 1 && x->shape.rank <= 6 &&
         axon_shape_get_numel (&x->shape) > 0 &&
         axon_shape_get_numel (&node->outputs[0]->type.shape) > 0;
}

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

/* Copies @src, described by @shape, @strides and @offset (elements), to a row-major output. */
static void
add_gather (CpuPlan *plan, const AxonNode *node, CpuTensor *src, const AxonShape *shape,
            const gint64 *strides, gint64 offset)
{
  CpuTensor *view = g_new0 (CpuTensor, 1), *dst = cpu_plan_output (plan, node, 0, NULL);
  CpuTensor *dense = g_new0 (CpuTensor, 1);
  *view = *src;
  view->shape = *shape;
  view->md = cpu_md_strided (src->dtype, shape, strides);
  view->offset += (gsize)offset * axon_dtype_get_size (src->dtype);
  g_ptr_array_add (plan->tensors, view);
  *dense = *dst;
  dense->shape = *shape;
  g_ptr_array_add (plan->tensors, dense);
  cpu_dnn_add_reorder (plan, view, dense);
}

gboolean
cpu_dnn_build_transpose (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint64 strides[AXON_MAX_RANK], moved[AXON_MAX_RANK];
  guint n;
  const gint64 *perm = axon_node_get_ints (node, "perm", &n);
  CpuTensor *src;
  CpuMd *md;
  if (!movable (node))
    return FALSE;
  src = strided_input (plan, node, strides);
  for (gint i = 0; i < x->rank; i++)
    moved[i] = strides[perm ? perm[i] : x->rank - 1 - i];
  md = cpu_md_strided (src->dtype, y, moved);
  cpu_plan_alias (plan, node, 0, src, md); /* a view; whoever needs row-major converts it */
  cpu_md_free (md);
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
  if (!movable (node))
    return FALSE;
  src = strided_input (plan, node, s);
  gint64 strides[] = { s[0], crd ? b * b * s[1] : s[1], s[2], crd ? b * s[1] : b * c * s[1],
                       s[3], crd ? s[1] : c * s[1] };
  add_gather (plan, node, src, &shape, strides, 0);
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

/* A view: no element moves until somebody needs another layout. */
gboolean
cpu_dnn_build_slice (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint64 start[AXON_MAX_RANK] = { 0 }, step[AXON_MAX_RANK], strides[AXON_MAX_RANK], offset = 0;
  CpuTensor *src, *view;
  CpuMd *md;
  for (guint d = 0; d < AXON_MAX_RANK; d++)
    step[d] = 1;
  if (!movable (node) || !slice_plan (node, start, step))
    return FALSE;
  src = strided_input (plan, node, strides);
  for (gint d = 0; d < src->shape.rank; d++) {
    offset += start[d] * strides[d];
    strides[d] *= step[d];
  }
  md = cpu_md_strided (src->dtype, &node->outputs[0]->type.shape, strides);
  if (md == NULL)
    return FALSE;
  view = cpu_plan_alias (plan, node, 0, src, md);
  view->offset += (gsize)offset * axon_dtype_get_size (src->dtype);
  cpu_md_free (md);
  return TRUE;
}

/* TRUE for views that are neither row-major nor channels last, such as every second column. */
static gboolean
is_scattered (const CpuTensor *t)
{
  gint64 strides[AXON_MAX_RANK];
  return t->md != NULL && (!cpu_md_get_strides (t->md, &t->shape, strides) || strides[1] != 1);
}

/* Scattered parts go straight to their place in a channels-last whole, one pass each. */
static gboolean
build_scattered_concat (CpuPlan *plan, const AxonNode *node, gint axis)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  g_autofree CpuMd *md = NULL;
  gint64 strides[AXON_MAX_RANK], at = 0;
  CpuTensor *dst;
  for (guint i = 0; i < node->n_inputs; i++)
    if (!is_scattered (cpu_plan_input (plan, node, i)))
      return FALSE;
  md = cpu_md_channels_last (node->inputs[0]->type.dtype, y);
  dst = cpu_plan_output (plan, node, 0, md);
  cpu_md_get_strides (md, y, strides);
  for (guint i = 0; i < node->n_inputs; i++) {
    CpuTensor *part = g_new0 (CpuTensor, 1);
    *part = *dst;
    part->shape = node->inputs[i]->type.shape;
    part->md = cpu_md_strided (dst->dtype, &part->shape, strides);
    part->offset += (gsize)(at * strides[axis]) * axon_dtype_get_size (dst->dtype);
    g_ptr_array_add (plan->tensors, part);
    cpu_dnn_add_reorder (plan, cpu_plan_input (plan, node, i), part);
    at += part->shape.dims[axis];
  }
  return TRUE;
}

/* Concat in the layout of the first input: dense nhwc stays nhwc. */
gboolean
cpu_dnn_build_concat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  g_autofree dnnl_memory_desc_t *mds = g_new0 (dnnl_memory_desc_t, node->n_inputs + 1);
  AxonDType dtype = node->inputs[0]->type.dtype;
  gint64 strides[AXON_MAX_RANK];
  dnnl_primitive_attr_t attr;
  dnnl_memory_desc_t dst;
  DnnCall call = { 0 };
  CpuTensor *first;
  CpuMd *wanted;
  gboolean last;
  axis += axis < 0 ? y->rank : 0;
  if (!movable (node) || node->n_inputs > DNN_MAX_ARGS - 3 || y->rank > 5)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (axon_shape_get_numel (&node->inputs[i]->type.shape) == 0)
      return FALSE;
  if (y->rank == 4 && build_scattered_concat (plan, node, axis))
    return TRUE;
  first = cpu_plan_input (plan, node, 0);
  last = first->md != NULL && y->rank == 4 &&
         cpu_md_get_strides (first->md, &first->shape, strides) && strides[1] == 1;
  if (!last) /* row-major: copying runs is faster than oneDNN's "simple:any" */
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    CpuMd *md = cpu_md_channels_last (dtype, &node->inputs[i]->type.shape);
    dnn_call_arg (&call, DNNL_ARG_MULTIPLE_SRC + (int)i, cpu_plan_input_as (plan, node, i, md),
                  FALSE);
    mds[i] = md->d;
    cpu_md_free (md);
  }
  wanted = cpu_md_channels_last (dtype, y);
  dst = wanted->d;
  cpu_md_free (wanted);
  attr = dnn_attr_new ();
  if (dnnl_concat_primitive_desc_create (&call.pd, &dst, (int)node->n_inputs, axis, mds, attr,
                                         dnn_engine ()) != dnnl_success)
    call.pd = NULL;
  dnnl_primitive_attr_destroy (attr);
  if (call.pd == NULL)
    return FALSE;
  dnn_call_arg (&call, DNNL_ARG_DST,
                cpu_plan_output (plan, node, 0, dnn_query (call.pd, dnnl_query_dst_md, 0)), TRUE);
  dnn_call_add (plan, &call);
  return TRUE;
}
