/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of one input, in place where nobody needs it later. */
#include "dnn-private.h"
#include "../cpueltwise.h"

static const gchar *
eltwise_name (const AxonNode *node)
{
  if (!axon_node_is (node, "Gelu"))
    return node->op->name;
  return g_str_equal (axon_node_get_string (node, "approximate"), "tanh") ? "GeluTanh" : "GeluErf";
}

gboolean
cpu_dnn_build_unary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  g_autoptr (CpuMd) md = NULL;
  gfloat alpha, beta;
  DnnEltwise eltwise;
  CpuTensor *src, *dst;
  DnnCall call = { 0 };
  if (!dnn_is_f32 (node) || !cpu_eltwise_args (node, &alpha, &beta) ||
      !dnn_eltwise_init (&eltwise, eltwise_name (node), alpha, beta))
    return FALSE;
  src = cpu_plan_input (plan, node, 0);
  md = dnn_md_of (src);
  call.pd = dnn_pd_if_fast (dnn_pd_new_eltwise (&eltwise, md));
  if (call.pd == NULL)
    return FALSE;
  dst = cpu_plan_is_last_use (plan, src) ? cpu_plan_alias (plan, node, 0, src, src->md)
                                         : cpu_plan_output (plan, node, 0, src->md);
  dnn_call_add_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_DST, dst, TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}
