/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concat of channels-last parts; of row-major ones, copying runs is faster (kernels/concat.c). */
#include "dnn-private.h"

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
  g_autoptr (CpuMd) md = NULL;
  gint64 strides[AXON_MAX_RANK], at = 0;
  CpuTensor *dst;
  for (guint i = 0; i < node->n_inputs; i++)
    if (!is_scattered (cpu_plan_input (plan, node, i)))
      return FALSE;
  md = cpu_md_channels_last (node->inputs[0]->type.dtype, y);
  dst = cpu_plan_output (plan, node, 0, md);
  cpu_md_get_strides (md, y, strides);
  for (guint i = 0; i < node->n_inputs; i++) {
    const AxonShape *x = &node->inputs[i]->type.shape;
    CpuMd *part = cpu_md_strided (dst->dtype, x, strides);
    cpu_dnn_add_reorder (plan, cpu_plan_input (plan, node, i),
                         dnn_view (plan, dst, x, part, at * strides[axis]));
    at += x->dims[axis];
  }
  return TRUE;
}

static gboolean
is_channels_last (const CpuTensor *t)
{
  gint64 strides[AXON_MAX_RANK];
  return t->md != NULL && t->shape.rank == 4 && cpu_md_get_strides (t->md, &t->shape, strides) &&
         strides[1] == 1;
}

static gboolean
build_concat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)cpu_md_free);
  AxonDType dtype = node->inputs[0]->type.dtype;
  g_autoptr (CpuMd) whole = NULL;
  DnnCall call = { 0 };
  axis += axis < 0 ? y->rank : 0;
  if (!dnn_is_movable (node) || node->n_inputs > DNN_MAX_ARGS - 3 || y->rank > 5)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (axon_shape_get_numel (&node->inputs[i]->type.shape) == 0)
      return FALSE;
  if (y->rank == 4 && build_scattered_concat (plan, node, axis))
    return TRUE;
  if (!is_channels_last (cpu_plan_input (plan, node, 0)))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    g_ptr_array_add (parts, cpu_md_channels_last (dtype, &node->inputs[i]->type.shape));
  whole = cpu_md_channels_last (dtype, y);
  call.pd = dnn_pd_new_concat ((const CpuMd *const *)parts->pdata, parts->len, axis, whole);
  if (call.pd == NULL)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    dnn_call_add_arg (&call, DNNL_ARG_MULTIPLE_SRC + (int)i,
                      cpu_plan_input_as (plan, node, i, parts->pdata[i]), FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_DST, cpu_plan_output (plan, node, 0, whole), TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}

const CpuKernel cpu_dnn_concat_kernels[] = {
  { .name = "Concat", .impl = "onednn", .build = build_concat },
  { 0 },
};
