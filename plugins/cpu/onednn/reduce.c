/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ReduceMean and others over constant axes. */
#include "dnn-private.h"

static gboolean
build_reduce (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonShape kept = node->inputs[0]->type.shape;
  g_autoptr (CpuMd) in = NULL, out = NULL;
  gint64 axes[AXON_MAX_RANK];
  guint n;
  CpuTensor *src;
  DnnCall call = { 0 };
  if (!dnn_is_f32 (node) || !cpu_node_axes (node, axes, &n) || n == 0 || kept.rank > 5)
    return FALSE;
  for (guint i = 0; i < n; i++)
    kept.dims[axes[i] < 0 ? axes[i] + kept.rank : axes[i]] = 1;
  src = cpu_plan_input (plan, node, 0);
  in = dnn_md_of (src);
  out = dnn_md_plain (AXON_DTYPE_F32, &kept);
  call.pd = dnn_pd_if_fast (dnn_pd_new_reduction ((dnnl_alg_kind_t)plan->row->kind, in, out));
  if (call.pd == NULL)
    return FALSE;
  dnn_call_add_arg (&call, DNNL_ARG_SRC, src, FALSE);
  /* row-major: dropped dimensions change nothing */
  dnn_call_add_arg (&call, DNNL_ARG_DST, cpu_plan_output (plan, node, 0, NULL), TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}

const CpuKernel cpu_dnn_reduce_kernels[] = {
  { .name = "ReduceMean", .impl = "onednn", .build = build_reduce, .kind = dnnl_reduction_mean },
  { .name = "ReduceSum", .impl = "onednn", .build = build_reduce, .kind = dnnl_reduction_sum },
  { .name = "ReduceMax", .impl = "onednn", .build = build_reduce, .kind = dnnl_reduction_max },
  { .name = "ReduceMin", .impl = "onednn", .build = build_reduce, .kind = dnnl_reduction_min },
  { 0 },
};
