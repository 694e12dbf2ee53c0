/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Activations and residual additions move into the convolution before them (one activation only
 * into ConvIntegerToFloat), activations and a constant bias into the matrix product, as an ordered
 * list: attribute axon.posts ("Relu", "Clip", "Swish", "sum", "PRelu" ...) and two numbers each in
 * axon.post_args. A residual and slopes are inputs of the node. */
#include "cpupasses.h"
#include "../cpueltwise.h"
#include "../onednn/cpudnn.h"

#include <string.h>

#define MAX_POSTS 4

static const gchar *const fusible[] = { "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu",
                                        "Mish", "HardSwish", "Clip",    NULL };

/* ConvIntegerToFloat takes one of these, or Swish. */
static const gchar *const fusible_with_integers[] = { "Relu", "LeakyRelu", "Sigmoid", "Clip",
                                                      NULL };

static gboolean
sums_integers (const AxonNode *node)
{
  return axon_node_is_in (node, AXON_DOMAIN_AXON, "ConvIntegerToFloat");
}

static gboolean
is_full (const AxonShape *shape)
{
  return axon_shape_is_static (shape) && axon_shape_get_numel (shape) > 0;
}

static gboolean
has_near_window (const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *w = &node->inputs[1]->type.shape;
  AxonWindow window;
  if (axon_node_is (node, "ConvTranspose"))
    return axon_window_of_transposed (&window, node, NULL) && cpu_window_is_near (&window);
  return axon_window_init (&window, node, x, w->dims + 2, FALSE, NULL) &&
         cpu_window_is_near (&window);
}

/* What no kernel but the reference computes must keep what follows it to itself. */
static gboolean
is_conv_with_kernels (const AxonNode *node)
{
  const AxonValue *bias = axon_node_get_input (node, 2);
  const AxonShape *x;
  if (!axon_node_is (node, "Conv") && !axon_node_is (node, "ConvTranspose"))
    return FALSE;
  x = &node->inputs[0]->type.shape;
  return (bias == NULL || axon_value_is_constant (bias)) &&
         axon_node_find_attr (node, "output_shape") == NULL && x->rank >= 3 && x->rank <= 5 &&
         is_full (x) && is_full (&node->outputs[0]->type.shape) && has_near_window (node);
}

static gboolean
takes_posts (const AxonNode *node)
{
  if (cpu_dnn_takes_posts (node))
    return TRUE;
  return (is_conv_with_kernels (node) || sums_integers (node)) &&
         axon_value_is_constant (node->inputs[1]) && node->outputs[0]->type.dtype == AXON_DTYPE_F32;
}

static void
append_post (AxonNode *node, const gchar *name, gfloat alpha, gfloat beta)
{
  const AxonAttr *old = axon_node_find_attr (node, "axon.posts");
  guint n_args, n = old ? old->n : 0;
  const gfloat *args = axon_node_get_floats (node, "axon.post_args", &n_args);
  gfloat all[2 * MAX_POSTS] = { 0 };
  gchar **names = g_new0 (gchar *, n + 2);
  AxonAttr *attr;
  for (guint i = 0; i < n; i++)
    names[i] = g_strdup (old->strings[i]);
  names[n] = g_strdup (name);
  if (args != NULL)
    memcpy (all, args, 2 * n * sizeof *args);
  all[2 * n] = alpha;
  all[2 * n + 1] = beta;
  attr = axon_node_add_attr (node, "axon.posts", AXON_ATTR_STRINGS);
  attr->strings = names;
  attr->n = n + 1;
  axon_node_set_floats (node, "axon.post_args", all, 2 * (n + 1));
}

void
cpu_pass_copy_posts (AxonNode *to, const AxonNode *from)
{
  const AxonAttr *names = axon_node_find_attr (from, "axon.posts");
  guint n_args;
  const gfloat *args = axon_node_get_floats (from, "axon.post_args", &n_args);
  for (guint i = 0; names != NULL && i < names->n; i++)
    append_post (to, names->strings[i], args[2 * i], args[2 * i + 1]);
}

static guint
count_posts (const AxonNode *node)
{
  const AxonAttr *posts = axon_node_find_attr (node, "axon.posts");
  return posts ? posts->n : 0;
}

static gboolean
has_sum (const AxonNode *node)
{
  const AxonAttr *posts = axon_node_find_attr (node, "axon.posts");
  return posts != NULL && g_strv_contains ((const gchar *const *)posts->strings, "sum");
}

static gboolean
fuse_unary (AxonModel *model, AxonNode *conv)
{
  AxonNode *user = axon_match_only_user (conv->outputs[0], NULL);
  const gchar *const *names = sums_integers (conv) ? fusible_with_integers : fusible;
  gfloat alpha, beta;
  if (user == NULL || user->op->domain != NULL || !g_strv_contains (names, user->op->name) ||
      !cpu_eltwise_args (user, &alpha, &beta) ||
      cpu_dnn_confuses (conv, user->op->name, alpha, beta))
    return FALSE;
  append_post (conv, user->op->name, alpha, beta);
  axon_bypass_node (model, user, conv);
  return TRUE;
}

/* x * sigmoid (x): swish */
static gboolean
fuse_swish (AxonModel *model, AxonNode *conv)
{
  AxonValue *y = conv->outputs[0];
  AxonNode *sigmoid = NULL, *mul = NULL;
  if (y->users->len != 2 || y->is_output)
    return FALSE;
  for (guint i = 0; i < 2; i++) {
    AxonNode *user = g_ptr_array_index (y->users, i);
    if (axon_node_is (user, "Sigmoid"))
      sigmoid = user;
    else if (axon_node_is (user, "Mul"))
      mul = user;
  }
  if (sigmoid == NULL || mul == NULL || axon_match_only_user (sigmoid->outputs[0], "Mul") != mul)
    return FALSE;
  append_post (conv, "Swish", 1, 0);
  axon_node_add_origins (conv, sigmoid);
  axon_node_set_input (mul, mul->inputs[0] == y ? 1 : 0, NULL);
  axon_node_set_input (mul, 0, y);
  axon_model_remove_node (model, sigmoid);
  axon_bypass_node (model, mul, conv);
  return TRUE;
}

/* @value must be made before @conv runs: not from @conv itself. Its place in the list tells. */
static gboolean
is_made_before (const AxonModel *model, const AxonValue *value, const AxonNode *conv)
{
  guint at_value, at_conv;
  if (value->producer == NULL)
    return value->is_input;
  return g_ptr_array_find (model->nodes, value->producer, &at_value) &&
         g_ptr_array_find (model->nodes, conv, &at_conv) && at_value < at_conv;
}

static void
set_input (AxonNode *node, guint index, AxonValue *value)
{
  while (node->n_inputs <= index)
    axon_node_append_input (node, NULL);
  axon_node_set_input (node, index, value);
}

static gboolean
fuse_sum (AxonModel *model, AxonNode *conv)
{
  AxonValue *y = conv->outputs[0], *other;
  AxonNode *add = axon_match_only_user (y, NULL);
  if (add == NULL || !(axon_node_is (add, "Add") || axon_node_is (add, "Sum")) ||
      add->n_inputs != 2 || has_sum (conv) || !axon_node_is (conv, "Conv"))
    return FALSE;
  other = add->inputs[add->inputs[0] == y ? 1 : 0];
  if (!axon_shape_equal (&other->type.shape, &y->type.shape) || other->type.value != NULL ||
      other == y || !axon_shape_is_static (&y->type.shape) || !is_made_before (model, other, conv))
    return FALSE;
  append_post (conv, "sum", 0, 0);
  set_input (conv, CPU_CONV_RESIDUAL, other);
  if (add->inputs[0] != y) { /* bypass keeps input 0 */
    axon_node_set_input (add, 1, NULL);
    axon_node_set_input (add, 0, y);
  }
  axon_bypass_node (model, add, conv);
  return TRUE;
}

/* Add of a constant row behind a product that has none yet: its input 2. */
static gboolean
fuse_bias (AxonModel *model, AxonNode *product)
{
  AxonValue *y = product->outputs[0], *row;
  const AxonShape *shape = &y->type.shape;
  AxonNode *add = axon_match_only_user (y, "Add");
  if (add == NULL || !cpu_dnn_takes_posts (product) || count_posts (product) > 0 ||
      axon_node_get_input (product, 2) != NULL)
    return FALSE;
  row = add->inputs[add->inputs[0] == y ? 1 : 0];
  if (row->type.value == NULL || row->type.dtype != AXON_DTYPE_F32 || row->type.shape.rank < 1 ||
      !axon_shape_equal (&add->outputs[0]->type.shape, shape) ||
      row->type.shape.dims[row->type.shape.rank - 1] != shape->dims[shape->rank - 1] ||
      axon_shape_get_numel (&row->type.shape) != shape->dims[shape->rank - 1])
    return FALSE;
  set_input (product, 2, row);
  if (axon_node_is (product, "Gemm"))
    axon_node_set_float (product, "beta", 1);
  if (add->inputs[0] != y) { /* bypass keeps input 0 */
    axon_node_set_input (add, 1, NULL);
    axon_node_set_input (add, 0, y);
  }
  axon_bypass_node (model, add, product);
  return TRUE;
}

/* One slope for all, or one for each of the output's channels. */
static gboolean
has_channel_slopes (const AxonValue *slopes, const AxonShape *y)
{
  const AxonShape *s = &slopes->type.shape;
  gint channel = s->rank - y->rank + 1;
  return slopes->type.value != NULL && slopes->type.dtype == AXON_DTYPE_F32 &&
         (axon_shape_get_numel (s) == 1 || (channel >= 0 && s->dims[channel] == y->dims[1] &&
                                            axon_shape_get_numel (s) == y->dims[1]));
}

/* PRelu as the first thing behind a convolution of one or two dimensions, or behind its sum. */
static gboolean
fuse_slopes (AxonModel *model, AxonNode *conv)
{
  const AxonShape *y = &conv->outputs[0]->type.shape;
  AxonNode *user = axon_match_only_user (conv->outputs[0], "PRelu");
  if (user == NULL || sums_integers (conv) || cpu_dnn_takes_posts (conv) ||
      count_posts (conv) > (has_sum (conv) ? 1 : 0) || y->rank < 3 || y->rank > 4 ||
      !has_channel_slopes (user->inputs[1], y))
    return FALSE;
  if (axon_shape_get_numel (&user->inputs[1]->type.shape) == 1) {
    append_post (conv, "LeakyRelu", (gfloat)axon_tensor_get_value (user->inputs[1]->type.value, 0),
                 0);
  } else {
    append_post (conv, "PRelu", 0, 0);
    set_input (conv, CPU_CONV_SLOPES, user->inputs[1]);
  }
  axon_bypass_node (model, user, conv);
  return TRUE;
}

gboolean
cpu_pass_fuse_activation (AxonModel *model, G_GNUC_UNUSED GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    while (takes_posts (node) && count_posts (node) < (sums_integers (node) ? 1 : MAX_POSTS) &&
           (fuse_bias (model, node) || fuse_unary (model, node) || fuse_swish (model, node) ||
            fuse_sum (model, node) || fuse_slopes (model, node)))
      g_ptr_array_find (model->nodes, node, &i);
  }
  return TRUE;
}
