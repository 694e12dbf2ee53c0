/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attention without mask, cache or shared heads, as vision transformers have it, becomes matrix
 * products and a Softmax, which have kernels. A mask may leave a query nothing to look at, and then
 * Softmax gives NaN where Attention gives 0: such nodes keep their reference kernel. */
#include <axon/plugin/axonopset.h>
#include <axon/plugin/axonpass.h>

#include <math.h>

#define OPSET 13

static AxonValue *
apply (AxonModel *model, const AxonNode *like, const gchar *name, AxonValue *a, AxonValue *b)
{
  AxonValue *in[] = { a, b }, *out = axon_model_add_value (model, NULL);
  axon_pass_add_node (model, like, NULL, name, OPSET, in, b ? 2 : 1, out);
  return out;
}

static AxonValue *
transpose (AxonModel *model, const AxonNode *like, AxonValue *x, const gint64 *perm)
{
  AxonValue *out = apply (model, like, "Transpose", x, NULL);
  axon_node_set_ints (out->producer, "perm", perm, 4);
  return out;
}

static AxonValue *
reshape (AxonModel *model, const AxonNode *like, AxonValue *x, const gint64 *dims, guint n)
{
  g_autoptr (AxonTensor) shape = axon_tensor_new_i64 (dims, n);
  return apply (model, like, "Reshape", x, axon_model_add_constant (model, NULL, shape));
}

/* [batch, heads, length, size] of an input of rank 3 or 4 */
static AxonValue *
split_heads (AxonModel *model, const AxonNode *node, guint index, gint64 heads)
{
  static const gint64 perm[] = { 0, 2, 1, 3 };
  AxonValue *x = node->inputs[index];
  const AxonShape *s = &x->type.shape;
  gint64 dims[4];
  if (s->rank == 4)
    return x;
  dims[0] = s->dims[0];
  dims[1] = s->dims[1];
  dims[2] = heads;
  dims[3] = s->dims[2] / heads;
  return transpose (model, node, reshape (model, node, x, dims, 4), perm);
}

/* 0 where query i may look at key j, -infinity behind it. */
static AxonValue *
causal_bias (AxonModel *model, gint64 queries, gint64 keys)
{
  AxonShape shape = AXON_SHAPE (queries, keys);
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  gfloat *v = axon_tensor_get_data (t);
  for (gint64 i = 0; i < queries * keys; i++)
    v[i] = i % keys > i / keys ? -INFINITY : 0;
  return axon_model_add_constant (model, NULL, t);
}

static gint64
heads_of (const AxonNode *node, guint index, const gchar *attr)
{
  const AxonShape *s = &node->inputs[index]->type.shape;
  return s->rank == 4 ? s->dims[1] : axon_node_get_int (node, attr);
}

static gboolean
is_plain (const AxonNode *node)
{
  gboolean plain =
      axon_node_is (node, "Attention") && node->inputs[0]->type.dtype == AXON_DTYPE_F32;
  for (guint i = 3; plain && i < node->n_inputs; i++)
    plain = node->inputs[i] == NULL;
  for (guint i = 1; plain && i < node->n_outputs; i++)
    plain = node->outputs[i] == NULL;
  for (guint i = 0; plain && i < 3; i++)
    plain = axon_shape_is_static (&node->inputs[i]->type.shape) &&
            axon_shape_get_numel (&node->inputs[i]->type.shape) > 0;
  return plain && axon_node_get_int (node, "left_window_size") < 0 &&
         axon_node_get_int (node, "right_window_size") < 0 &&
         heads_of (node, 0, "q_num_heads") == heads_of (node, 1, "kv_num_heads");
}

static AxonValue *
scores (AxonModel *model, const AxonNode *node, AxonValue *q, AxonValue *k, gint64 size)
{
  static const gint64 perm[] = { 0, 1, 3, 2 };
  gdouble scale = axon_node_find_attr (node, "scale") ? axon_node_get_float (node, "scale")
                                                      : 1 / sqrt ((gdouble)size);
  gdouble cap = axon_node_get_float (node, "softcap");
  AxonValue *s = apply (model, node, "Mul", q, axon_pass_add_scalar (model, AXON_DTYPE_F32, scale));
  s = apply (model, node, "MatMul", s, transpose (model, node, k, perm));
  if (cap > 0) {
    s = apply (model, node, "Mul", s, axon_pass_add_scalar (model, AXON_DTYPE_F32, 1 / cap));
    s = apply (model, node, "Tanh", s, NULL);
    s = apply (model, node, "Mul", s, axon_pass_add_scalar (model, AXON_DTYPE_F32, cap));
  }
  return s;
}

static void
expand (AxonModel *model, AxonNode *node)
{
  static const gint64 back[] = { 0, 2, 1, 3 };
  gint64 heads = heads_of (node, 0, "q_num_heads");
  const AxonShape *x = &node->inputs[0]->type.shape, *kx = &node->inputs[1]->type.shape;
  gint64 size = x->rank == 4 ? x->dims[3] : x->dims[2] / heads;
  gint64 queries = x->dims[x->rank - 2], keys = kx->dims[kx->rank - 2];
  AxonValue *q = split_heads (model, node, 0, heads), *k = split_heads (model, node, 1, heads);
  AxonValue *v = split_heads (model, node, 2, heads), *out = node->outputs[0], *in[2];
  AxonValue *y = scores (model, node, q, k, size);
  if (axon_node_get_int (node, "is_causal") != 0)
    y = apply (model, node, "Add", y, causal_bias (model, queries, keys));
  y = apply (model, node, "Softmax", y, NULL);
  axon_node_set_output (node, 0, NULL);
  if (x->rank == 4) {
    in[0] = y;
    in[1] = v;
    axon_pass_add_node (model, node, NULL, "MatMul", OPSET, in, 2, out);
  } else {
    const AxonShape *wanted = &out->type.shape;
    g_autoptr (AxonTensor) shape = axon_tensor_new_i64 (wanted->dims, 3);
    in[0] = transpose (model, node, apply (model, node, "MatMul", y, v), back);
    in[1] = axon_model_add_constant (model, NULL, shape);
    axon_pass_add_node (model, node, NULL, "Reshape", OPSET, in, 2, out);
  }
  axon_model_remove_node (model, node);
}

gboolean
axon_pass_expand_attention (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (!is_plain (node))
      continue;
    expand (model, node);
    changed = TRUE;
    i--;
  }
  return !changed || (axon_model_sort (model, error) && axon_model_infer_shapes (model, error));
}
