/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of one input, in place where nobody needs it later. */
#include "dnn-private.h"
#include "../cpueltwise.h"

/* The algorithm, with its arguments where the operator gives none. */
typedef struct {
  DnnEltwise fixed;
  enum { NONE, ALPHA, BOTH } given;
} Unary;

static void
set_eltwise (DnnEltwise *eltwise, const Unary *unary, gfloat alpha, gfloat beta)
{
  *eltwise = unary->fixed;
  if (unary->given != NONE)
    eltwise->alpha = alpha;
  if (unary->given == BOTH)
    eltwise->beta = beta;
}

gboolean
dnn_eltwise_init (DnnEltwise *eltwise, const gchar *op, gfloat alpha, gfloat beta)
{
  const CpuKernel *row = cpu_dnn_unary_kernels;
  while (row->name != NULL && !g_str_equal (row->name, op))
    row++;
  if (row->data != NULL)
    set_eltwise (eltwise, row->data, alpha, beta);
  return row->data != NULL;
}

static DnnPd *
eltwise_pd (const CpuTensor *src, const DnnEltwise *eltwise)
{
  g_autoptr (CpuMd) md = dnn_md_of (src);
  return dnn_pd_if_fast (dnn_pd_new_eltwise (eltwise, md));
}

static gboolean
add_eltwise (CpuPlan *plan, const AxonNode *node, const DnnEltwise *eltwise)
{
  CpuTensor *src = cpu_plan_input (plan, node, 0), *dst;
  DnnCall call = { .pd = eltwise_pd (src, eltwise) };
  if (call.pd == NULL) { /* a view with gaps */
    src = cpu_plan_input_as (plan, node, 0, NULL);
    call.pd = eltwise_pd (src, eltwise);
  }
  if (call.pd == NULL)
    return FALSE;
  dst = cpu_plan_is_last_use (plan, src) ? cpu_plan_alias (plan, node, 0, src, src->md)
                                         : cpu_plan_output (plan, node, 0, src->md);
  dnn_call_add_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_DST, dst, TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}

static gboolean
build_unary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gfloat alpha, beta;
  DnnEltwise eltwise;
  if (!dnn_is_f32 (node) || !cpu_eltwise_args (node, &alpha, &beta))
    return FALSE;
  set_eltwise (&eltwise, plan->row->data, alpha, beta);
  return add_eltwise (plan, node, &eltwise);
}

static gboolean
build_gelu (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gboolean by_tanh = g_str_equal (axon_node_get_string (node, "approximate"), "tanh");
  DnnEltwise eltwise = { by_tanh ? dnnl_eltwise_gelu_tanh : dnnl_eltwise_gelu_erf, 0, 0 };
  return dnn_is_f32 (node) && add_eltwise (plan, node, &eltwise);
}

#define UNARY(...)                                                                                 \
  .impl = "onednn", .build = build_unary, .data = &(const Unary)                                   \
  {                                                                                                \
    __VA_ARGS__                                                                                    \
  }

const CpuKernel cpu_dnn_unary_kernels[] = {
  { .name = "Relu", UNARY ({ dnnl_eltwise_relu, 0, 0 }, NONE) },
  { .name = "LeakyRelu", UNARY ({ dnnl_eltwise_relu, 0, 0 }, ALPHA) },
  { .name = "Sigmoid", UNARY ({ dnnl_eltwise_logistic, 0, 0 }, NONE) },
  { .name = "Tanh", UNARY ({ dnnl_eltwise_tanh, 0, 0 }, NONE) },
  { .name = "Elu", UNARY ({ dnnl_eltwise_elu, 0, 0 }, ALPHA) },
  { .name = "Exp", UNARY ({ dnnl_eltwise_exp, 0, 0 }, NONE) },
  { .name = "Log", UNARY ({ dnnl_eltwise_log, 0, 0 }, NONE) },
  { .name = "Sqrt", UNARY ({ dnnl_eltwise_sqrt, 0, 0 }, NONE) },
  { .name = "Abs", UNARY ({ dnnl_eltwise_abs, 0, 0 }, NONE) },
  { .name = "Mish", UNARY ({ dnnl_eltwise_mish, 0, 0 }, NONE) },
  { .name = "HardSwish", UNARY ({ dnnl_eltwise_hardswish, 1.0f / 6, 0.5f }, NONE) },
  { .name = "Clip", UNARY ({ dnnl_eltwise_clip, 0, 0 }, BOTH) },
  { .name = "Swish", UNARY ({ dnnl_eltwise_swish, 0, 0 }, ALPHA) },
  { .name = "Softplus", UNARY ({ dnnl_eltwise_soft_relu, 1, 0 }, NONE) },
  { .name = "Gelu", .impl = "onednn", .build = build_gelu },
  { 0 },
};
