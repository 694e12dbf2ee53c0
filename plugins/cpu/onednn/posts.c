/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators as oneDNN algorithms, and fused post-operations. */
#include "dnn-private.h"

/* ONNX operator -> algorithm, with its arguments where the operator gives none. */
static const struct {
  const gchar *name;
  DnnEltwise fixed;
  enum { NONE, ALPHA, BOTH } given;
} eltwises[] = {
  { "Relu", { dnnl_eltwise_relu, 0, 0 }, NONE },
  { "LeakyRelu", { dnnl_eltwise_relu, 0, 0 }, ALPHA },
  { "Sigmoid", { dnnl_eltwise_logistic, 0, 0 }, NONE },
  { "Tanh", { dnnl_eltwise_tanh, 0, 0 }, NONE },
  { "Elu", { dnnl_eltwise_elu, 0, 0 }, ALPHA },
  { "Exp", { dnnl_eltwise_exp, 0, 0 }, NONE },
  { "Log", { dnnl_eltwise_log, 0, 0 }, NONE },
  { "Sqrt", { dnnl_eltwise_sqrt, 0, 0 }, NONE },
  { "Abs", { dnnl_eltwise_abs, 0, 0 }, NONE },
  { "Mish", { dnnl_eltwise_mish, 0, 0 }, NONE },
  { "HardSwish", { dnnl_eltwise_hardswish, 1.0f / 6, 0.5f }, NONE },
  { "Clip", { dnnl_eltwise_clip, 0, 0 }, BOTH },
  { "Swish", { dnnl_eltwise_swish, 0, 0 }, ALPHA },
  { "Softplus", { dnnl_eltwise_soft_relu, 1, 0 }, NONE },
  { "GeluErf", { dnnl_eltwise_gelu_erf, 0, 0 }, NONE },
  { "GeluTanh", { dnnl_eltwise_gelu_tanh, 0, 0 }, NONE },
  { "Linear", { dnnl_eltwise_linear, 0, 0 }, BOTH },
};

gboolean
dnn_eltwise_init (DnnEltwise *eltwise, const gchar *op, gfloat alpha, gfloat beta)
{
  for (guint i = 0; i < G_N_ELEMENTS (eltwises); i++) {
    if (!g_str_equal (eltwises[i].name, op))
      continue;
    *eltwise = eltwises[i].fixed;
    if (eltwises[i].given != NONE)
      eltwise->alpha = alpha;
    if (eltwises[i].given == BOTH)
      eltwise->beta = beta;
    return TRUE;
  }
  return FALSE;
}

gboolean
dnn_attr_set_posts (DnnAttr *attr, const AxonNode *node, gboolean *has_sum)
{
  const AxonAttr *names = axon_node_find_attr (node, "axon.posts");
  const AxonAttr *args = axon_node_find_attr (node, "axon.post_args");
  g_autoptr (DnnPosts) posts = dnn_posts_new ();
  *has_sum = FALSE;
  for (guint i = 0; names != NULL && i < names->n; i++) {
    DnnEltwise eltwise;
    gboolean sum = g_str_equal (names->strings[i], "sum");
    *has_sum = *has_sum || sum;
    if (sum ? !dnn_posts_add_sum (posts)
            : !dnn_eltwise_init (&eltwise, names->strings[i], args->floats[2 * i],
                                 args->floats[2 * i + 1]) ||
                  !dnn_posts_add_eltwise (posts, &eltwise))
      return FALSE;
  }
  return dnnl_primitive_attr_set_post_ops (attr, posts) == dnnl_success;
}
