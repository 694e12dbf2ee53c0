/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantised nodes become DequantizeLinear, the float operator and QuantizeLinear, by the definition
 * of each; a device keeps those that it has integer kernels for. */
#include "../ops/axonopset.h"
#include "axonpass.h"

#define OPSET 13

static AxonValue *
dequantize (AxonModel *model, AxonNode *node, AxonValue *x, AxonValue *scale, AxonValue *zero,
            gint axis)
{
  AxonValue *in[] = { x, scale, zero }, *out = axon_model_add_value (model, NULL);
  AxonNode *dq =
      axon_pass_add_node (model, node, NULL, "DequantizeLinear", OPSET, in, zero ? 3 : 2, out);
  axon_node_set_int (dq, "axis", axis);
  return out;
}

/* Quantises @y into the node's output and removes the node. */
static void
finish (AxonModel *model, AxonNode *node, AxonValue *y, AxonValue *scale, AxonValue *zero)
{
  AxonValue *out = node->outputs[0], *in[] = { y, scale, zero };
  axon_node_set_output (node, 0, NULL);
  axon_pass_add_node (model, node, NULL, "QuantizeLinear", OPSET, in, zero ? 3 : 2, out);
  axon_model_remove_node (model, node);
}

static void
copy_attrs (AxonNode *to, const AxonNode *from)
{
  for (guint i = 0; i < from->attrs->len; i++) {
    const AxonAttr *a = g_ptr_array_index (from->attrs, i);
    if (a->type == AXON_ATTR_INTS)
      axon_node_set_ints (to, a->name, a->ints, a->n);
    else if (a->type == AXON_ATTR_INT)
      axon_node_set_int (to, a->name, a->i);
    else if (a->type == AXON_ATTR_FLOAT)
      axon_node_set_float (to, a->name, a->f);
    else if (a->type == AXON_ATTR_STRING)
      axon_node_set_string (to, a->name, a->s);
  }
}

/* One input: X, X_scale, X_zero, Y_scale, Y_zero */
static gboolean
expand_unary (AxonModel *model, AxonNode *node, const gchar *name, gint opset)
{
  AxonValue *x = dequantize (model, node, node->inputs[0], node->inputs[1], node->inputs[2], 1);
  AxonValue *y = axon_model_add_value (model, NULL);
  AxonNode *op = axon_pass_add_node (model, node, NULL, name, opset, &x, 1, y);
  copy_attrs (op, node);
  finish (model, node, y, node->inputs[3], axon_node_get_input (node, 4));
  return TRUE;
}

/* A, A_scale, A_zero, B, B_scale, B_zero, Y_scale, Y_zero [, bias] */
static gboolean
expand_pair (AxonModel *model, AxonNode *node, const gchar *name, gint b_axis)
{
  AxonValue *in[3] = {
    dequantize (model, node, node->inputs[0], node->inputs[1], node->inputs[2], 1),
    dequantize (model, node, node->inputs[3], node->inputs[4], node->inputs[5], b_axis), NULL
  };
  AxonValue *y = axon_model_add_value (model, NULL);
  guint n = 2;
  AxonNode *op;
  if (axon_node_get_input (node, 8) != NULL) {
    const AxonTensor *b = node->inputs[8]->type.value, *xs = node->inputs[1]->type.value;
    const AxonTensor *ws = node->inputs[4]->type.value;
    g_autoptr (AxonTensor) bias = NULL;
    if (b == NULL || xs == NULL || ws == NULL)
      return FALSE;
    bias = axon_tensor_new (AXON_DTYPE_F32, axon_tensor_get_shape (b), NULL);
    for (gsize i = 0; i < axon_tensor_get_numel (b); i++)
      axon_dtype_store (AXON_DTYPE_F32, axon_tensor_get_data (bias), i,
                        axon_tensor_get_value (b, i) * axon_tensor_get_value (xs, 0) *
                            axon_tensor_get_value (ws, axon_tensor_get_numel (ws) > 1 ? i : 0));
    in[n++] = axon_model_add_constant (model, NULL, bias);
  }
  op = axon_pass_add_node (model, node, NULL, name, OPSET, in, n, y);
  copy_attrs (op, node);
  finish (model, node, y, node->inputs[6], axon_node_get_input (node, 7));
  return TRUE;
}

static gboolean
same_scalar (const AxonValue *a, const AxonValue *b)
{
  gdouble x, y;
  return axon_match_scalar (a, &x) && axon_match_scalar (b, &y) && x == y;
}

/* Y_scale, Y_zero, then X, X_scale, X_zero each: parts with the same scale need no work. */
static gboolean
expand_concat (AxonModel *model, AxonNode *node)
{
  guint n = (node->n_inputs - 2) / 3;
  g_autofree AxonValue **parts = g_new0 (AxonValue *, n + 1);
  AxonValue *out = node->outputs[0];
  AxonNode *concat;
  for (guint i = 0; i < n; i++) {
    AxonValue **x = node->inputs + 2 + 3 * i;
    if (same_scalar (x[1], node->inputs[0]) && same_scalar (x[2], node->inputs[1])) {
      parts[i] = x[0];
      continue;
    }
    AxonValue *in[] = { dequantize (model, node, x[0], x[1], x[2], 1), node->inputs[0],
                        node->inputs[1] };
    parts[i] = axon_model_add_value (model, NULL);
    axon_pass_add_node (model, node, NULL, "QuantizeLinear", OPSET, in, 3, parts[i]);
  }
  axon_node_set_output (node, 0, NULL);
  concat = axon_pass_add_node (model, node, NULL, "Concat", OPSET, parts, n, out);
  axon_node_set_int (concat, "axis", axon_node_get_int (node, "axis"));
  axon_model_remove_node (model, node);
  return TRUE;
}

static gboolean
expand (AxonModel *model, AxonNode *node)
{
  static const struct {
    const gchar *name, *to;
    gint opset;
  } unary[] = { { "QLinearAveragePool", "AveragePool", 11 },
                { "QLinearGlobalAveragePool", "GlobalAveragePool", 1 },
                { "QLinearSigmoid", "Sigmoid", 13 },
                { "QLinearLeakyRelu", "LeakyRelu", 6 } };
  for (guint i = 0; i < G_N_ELEMENTS (unary); i++)
    if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, unary[i].name) &&
        axon_node_get_int (node, "channels_last") == 0)
      return expand_unary (model, node, unary[i].to, unary[i].opset);
  if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QLinearSoftmax"))
    return expand_unary (model, node, "Softmax", axon_node_get_int (node, "opset") < 13 ? 11 : 13);
  if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QLinearConcat"))
    return expand_concat (model, node);
  if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QLinearMul"))
    return expand_pair (model, node, "Mul", 1);
  if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QLinearAdd"))
    return expand_pair (model, node, "Add", 1);
  if (axon_node_is (node, "QLinearMatMul"))
    return expand_pair (model, node, "MatMul", node->inputs[3]->type.shape.rank - 1);
  if (axon_node_is (node, "QLinearConv"))
    return expand_pair (model, node, "Conv", 0);
  return FALSE;
}

gboolean
axon_expand_quantized (AxonModel *model, gboolean (*keeps) (const AxonNode *node), GError **error)
{
  guint n = model->nodes->len;
  for (guint i = 0; i < n; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if ((keeps == NULL || !keeps (node)) && expand (model, node)) {
      i--; /* the node is gone, its expansion stands at the end */
      n--;
    }
  }
  return axon_model_sort (model, error) && axon_model_infer_shapes (model, error);
}

gboolean
axon_pass_expand_quantized (AxonModel *model, GError **error)
{
  return axon_expand_quantized (model, NULL, error);
}
