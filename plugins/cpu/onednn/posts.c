/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fused post-operations. */
#include "dnn-private.h"

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
