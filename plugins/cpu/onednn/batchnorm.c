/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BatchNormalization that passes left, with constant parameters, in blocks of channels; our own is
 * faster elsewhere. */
#include "dnn-private.h"

static gboolean
build_batch_norm (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  static const int args[] = { 0, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE };
  const AxonShape *x = &node->inputs[0]->type.shape;
  gfloat epsilon = (gfloat)axon_node_get_float (node, "epsilon");
  g_autoptr (CpuMd) md = NULL;
  gint64 strides[AXON_MAX_RANK];
  DnnCall call = { 0 };
  CpuTensor *src;
  for (guint i = 1; i < G_N_ELEMENTS (args); i++)
    if (cpu_node_constant (node, i) == NULL)
      return FALSE;
  if (!dnn_is_f32 (node) || x->rank < 3 || axon_node_get_int (node, "training_mode") != 0)
    return FALSE;
  src = cpu_plan_input (plan, node, 0);
  if (cpu_md_get_strides (src->md, x, strides))
    return FALSE;
  md = dnn_md_of (src);
  call.pd = dnn_pd_if_fast (dnn_pd_new_batch_norm (md, epsilon));
  if (call.pd == NULL)
    return FALSE;
  dnn_call_add_arg (&call, DNNL_ARG_SRC, src, FALSE);
  for (guint i = 1; i < G_N_ELEMENTS (args); i++)
    dnn_call_add_arg (
        &call, args[i],
        dnn_copy_constant (plan, cpu_node_constant (node, i), &AXON_SHAPE (x->dims[1])), FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_DST, cpu_plan_output (plan, node, 0, src->md), TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}

const CpuKernel cpu_dnn_batchnorm_kernels[] = {
  { .name = "BatchNormalization", .impl = "onednn", .build = build_batch_norm },
  { 0 },
};
