/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fused post-operations. */
#include "dnn-private.h"
#include "../cpueltwise.h"

/* The algorithm, with its arguments where the operator gives none. */
static const struct {
  DnnEltwise fixed;
  enum { NONE, ALPHA, BOTH } given;
} algorithms[CPU_N_POSTS] = {
  [CPU_POST_RELU] = { { dnnl_eltwise_relu, 0, 0 }, NONE },
  [CPU_POST_LEAKY] = { { dnnl_eltwise_relu, 0, 0 }, ALPHA },
  [CPU_POST_SIGMOID] = { { dnnl_eltwise_logistic, 0, 0 }, NONE },
  [CPU_POST_TANH] = { { dnnl_eltwise_tanh, 0, 0 }, NONE },
  [CPU_POST_ELU] = { { dnnl_eltwise_elu, 0, 0 }, ALPHA },
  [CPU_POST_MISH] = { { dnnl_eltwise_mish, 0, 0 }, NONE },
  [CPU_POST_HARD_SWISH] = { { dnnl_eltwise_hardswish, 1.0f / 6, 0.5f }, NONE },
  [CPU_POST_CLIP] = { { dnnl_eltwise_clip, 0, 0 }, BOTH },
  [CPU_POST_SILU] = { { dnnl_eltwise_swish, 1, 0 }, NONE },
  [CPU_POST_SWISH] = { { dnnl_eltwise_swish, 0, 0 }, ALPHA },
};

gboolean
dnn_eltwise_init (DnnEltwise *eltwise, const gchar *op, gfloat alpha, gfloat beta)
{
  CpuPost post;
  if (!cpu_post_init (&post, op, alpha, beta) || algorithms[post.kind].fixed.alg == 0)
    return FALSE;
  *eltwise = algorithms[post.kind].fixed;
  if (algorithms[post.kind].given != NONE)
    eltwise->alpha = post.alpha;
  if (algorithms[post.kind].given == BOTH)
    eltwise->beta = post.beta;
  return TRUE;
}

gboolean
cpu_dnn_confuses (const AxonNode *node, const gchar *op, gfloat alpha, gfloat beta)
{
  const AxonAttr *names = axon_node_find_attr (node, "axon.posts");
  const AxonAttr *args = axon_node_find_attr (node, "axon.post_args");
  DnnEltwise e, other;
  if (!dnn_eltwise_init (&e, op, alpha, beta))
    return FALSE;
  for (guint i = 0; names != NULL && i < names->n; i++)
    if (dnn_eltwise_init (&other, names->strings[i], args->floats[2 * i],
                          args->floats[2 * i + 1]) &&
        other.alg == e.alg && (other.alpha != e.alpha || other.beta != e.beta))
      return TRUE;
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
