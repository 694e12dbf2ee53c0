/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax and LogSoftmax over one axis. */
#include "dnn-private.h"

/* A form of Softmax flattens; the same as one axis where all inner dimensions are 1. */
static gboolean
build_softmax (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  dnnl_alg_kind_t alg = (dnnl_alg_kind_t)plan->row->kind;
  gint axis = (gint)axon_node_get_int (node, "axis");
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *src;
  axis += axis < 0 ? x->rank : 0;
  if (!dnn_is_f32 (node) || x->dims[axis] == 1) /* of one: its logarithm is not quite 0 there */
    return FALSE;
  for (gint d = axis + 1; axon_node_has_form (node, AXON_FORM_FLATTENS) && d < x->rank; d++)
    if (x->dims[d] != 1)
      return FALSE;
  src = cpu_plan_input (plan, node, 0);
  md = dnn_md_of (src);
  return dnn_add_unary (plan, node, src, dnn_pd_if_fast (dnn_pd_new_softmax (alg, md, axis)));
}

const CpuKernel cpu_dnn_softmax_kernels[] = {
  { .name = "Softmax", .impl = "onednn", .build = build_softmax, .kind = dnnl_softmax_accurate },
  { .name = "LogSoftmax", .impl = "onednn", .build = build_softmax, .kind = dnnl_softmax_log },
  { 0 },
};
