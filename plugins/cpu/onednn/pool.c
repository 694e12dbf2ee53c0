/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pooling of f32 in blocks of channels that our own does not take as it lies: other numbers of
 * dimensions than four, and all of a picture whose channels leave a block partly empty. */
#include "dnn-private.h"

static gboolean
build_pool (CpuPlan *plan, const AxonNode *node, dnnl_alg_kind_t alg, const gint64 *kernel)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  AxonDType dtype = node->inputs[0]->type.dtype;
  CpuTensor *src = cpu_plan_input (plan, node, 0);
  g_autoptr (CpuMd) in = dnn_md_of (src), out = dnn_md_any (dtype, y);
  gint64 strides[AXON_MAX_RANK];
  DnnWindow w;
  if (cpu_md_get_strides (src->md, x, strides) || !dnn_window_init (&w, node, x, y, kernel))
    return FALSE;
  return dnn_add_unary (plan, node, src, dnn_pd_if_fast (dnn_pd_new_pool (alg, in, out, &w)));
}

static gboolean
build_window (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  guint n;
  const gint64 *kernel = axon_node_get_ints (node, "kernel_shape", &n);
  gboolean max = plan->row->kind == dnnl_pooling_max;
  gboolean pad = axon_node_get_int (node, "count_include_pad") != 0;
  const CpuTensor *src = cpu_plan_input (plan, node, 0);
  if (src->dtype != AXON_DTYPE_F32 || node->n_outputs > 1 ||
      cpu_md_get_block (src->md, src->dtype, &src->shape) > 0 ||
      axon_shape_get_numel (&node->outputs[0]->type.shape) < 1 ||
      (pad && axon_node_get_int (node, "ceil_mode") != 0))
    return FALSE;
  return build_pool (
      plan, node, pad && !max ? dnnl_pooling_avg_include_padding : (dnnl_alg_kind_t)plan->row->kind,
      kernel);
}

static gboolean
build_global (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const CpuTensor *src = cpu_plan_input (plan, node, 0);
  gint64 block = cpu_md_get_block (src->md, src->dtype, x);
  if (!dnn_is_f32 (node) || x->rank < 3 || x->rank > 5 || (block > 0 && x->dims[1] % block == 0))
    return FALSE;
  return build_pool (plan, node, (dnnl_alg_kind_t)plan->row->kind, x->dims + 2);
}

const CpuKernel cpu_dnn_pool_kernels[] = {
  { .name = "MaxPool", .impl = "onednn", .build = build_window, .kind = dnnl_pooling_max },
  { .name = "AveragePool",
    .impl = "onednn",
    .build = build_window,
    .kind = dnnl_pooling_avg_exclude_padding },
  { .name = "GlobalMaxPool", .impl = "onednn", .build = build_global, .kind = dnnl_pooling_max },
  { .name = "GlobalAveragePool",
    .impl = "onednn",
    .build = build_global,
    .kind = dnnl_pooling_avg_exclude_padding },
  { 0 },
};
