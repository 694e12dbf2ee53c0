/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators as oneDNN algorithms, and fused post-operations. */
#include "dnn-private.h"

/* ONNX operator -> algorithm, with what becomes of its alpha and beta. */
static const struct {
  const gchar *name;
  dnnl_alg_kind_t alg;
  enum { NONE, ALPHA, BOTH } args;
} eltwise[] = {
  { "Relu", dnnl_eltwise_relu, NONE },
  { "LeakyRelu", dnnl_eltwise_relu, ALPHA },
  { "Sigmoid", dnnl_eltwise_logistic, NONE },
  { "Tanh", dnnl_eltwise_tanh, NONE },
  { "Elu", dnnl_eltwise_elu, ALPHA },
  { "Exp", dnnl_eltwise_exp, NONE },
  { "Log", dnnl_eltwise_log, NONE },
  { "Sqrt", dnnl_eltwise_sqrt, NONE },
  { "Abs", dnnl_eltwise_abs, NONE },
  { "Mish", dnnl_eltwise_mish, NONE },
  { "HardSwish", dnnl_eltwise_hardswish, NONE },
  { "Clip", dnnl_eltwise_clip, BOTH },
  { "Swish", dnnl_eltwise_swish, ALPHA },
  { "Softplus", dnnl_eltwise_soft_relu, NONE },
  { "GeluErf", dnnl_eltwise_gelu_erf, NONE },
  { "GeluTanh", dnnl_eltwise_gelu_tanh, NONE },
  { "Linear", dnnl_eltwise_linear, BOTH },
};

gboolean
dnn_eltwise_of (const gchar *op, gfloat alpha, gfloat beta, dnnl_alg_kind_t *alg, gfloat *a,
                gfloat *b)
{
  for (guint i = 0; i < G_N_ELEMENTS (eltwise); i++) {
    if (!g_str_equal (eltwise[i].name, op))
      continue;
    *alg = eltwise[i].alg;
    *a = eltwise[i].args == NONE ? 0 : alpha;
    *b = eltwise[i].args == BOTH ? beta : 0;
    return TRUE;
  }
  return FALSE;
}

gboolean
dnn_append_posts (dnnl_primitive_attr_t attr, const AxonNode *node, gboolean *has_sum)
{
  const AxonAttr *posts = axon_node_find_attr (node, "axon.posts");
  const AxonAttr *args = axon_node_find_attr (node, "axon.post_args");
  dnnl_post_ops_t ops;
  gboolean ok = TRUE;
  *has_sum = FALSE;
  if (posts == NULL)
    return TRUE;
  dnnl_post_ops_create (&ops);
  for (guint i = 0; ok && i < posts->n; i++) {
    dnnl_alg_kind_t alg;
    gfloat a, b;
    if (g_str_equal (posts->strings[i], "sum")) {
      *has_sum = TRUE;
      ok = dnnl_post_ops_append_sum (ops, 1) == dnnl_success;
    } else {
      ok = dnn_eltwise_of (posts->strings[i], args->floats[2 * i], args->floats[2 * i + 1], &alg,
                           &a, &b) &&
           dnnl_post_ops_append_eltwise (ops, 1, alg, a, b) == dnnl_success;
    }
  }
  ok = ok && dnnl_primitive_attr_set_post_ops (attr, ops) == dnnl_success;
  dnnl_post_ops_destroy (ops);
  return ok;
}
