/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concat of blocks of channels, and of what else is neither row-major nor channels last and is not
 * kernels/scattered.c's; of others, copying runs is faster (kernels/concat.c). */
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
                         cpu_dnn_view (plan, dst, x, part, at * strides[axis]));
    at += x->dims[axis];
  }
  return TRUE;
}

static gboolean
build_concat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  for (guint i = 0; i < node->n_inputs; i++)
    if (axon_shape_get_numel (&node->inputs[i]->type.shape) == 0)
      return FALSE;
  return y->rank == 4 && dnn_is_movable (node) &&
         build_scattered_concat (plan, node, axis + (axis < 0 ? y->rank : 0));
}

const CpuKernel cpu_dnn_concat_kernels[] = {
  { .name = "Concat", .impl = "onednn", .build = build_concat },
  { 0 },
};
