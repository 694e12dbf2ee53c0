/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantised nodes become DequantizeLinear, the float operator and QuantizeLinear, by the definition
 * of each; a device keeps those that it has integer kernels for. */
#include <axon/plugin/axonopset.h>
#include <axon/plugin/axonpass.h>

#define OPSET 13

/* One zero point may serve many scales here, but not in DequantizeLinear. */
static AxonValue *
as_many (AxonModel *model, AxonValue *zero, const AxonValue *scale)
{
  gint64 n = axon_shape_get_numel (&scale->type.shape);
  AxonShape shape = AXON_SHAPE (n);
  g_autoptr (AxonTensor) out = NULL;
  gdouble value;
  if (zero == NULL || n <= 1 || !axon_match_scalar (zero, &value))
    return zero;
  out = axon_tensor_new (zero->type.dtype, &shape, NULL);
  for (gsize i = 0; i < (gsize)n; i++)
    axon_dtype_store (zero->type.dtype, axon_tensor_get_data (out), i, value);
  return axon_model_add_constant (model, NULL, out);
}

/* Numbers between are f32, whatever the scales are. */
static AxonValue *
as_f32 (AxonModel *model, AxonNode *node, AxonValue *scale)
{
  AxonValue *out;
  AxonNode *cast;
  if (scale->type.dtype == AXON_DTYPE_F32)
    return scale;
  out = axon_model_add_value (model, NULL);
  cast = axon_pass_add_node (model, node, NULL, "Cast", OPSET, &scale, 1, out);
  axon_node_set_int (cast, "to", AXON_DTYPE_F32);
  return out;
}

static AxonValue *
dequantize (AxonModel *model, AxonNode *node, AxonValue *x, AxonValue *scale, AxonValue *zero,
            gint axis)
{
  AxonValue *in[] = { x, as_f32 (model, node, scale), as_many (model, zero, scale) };
  AxonValue *out = axon_model_add_value (model, NULL);
  AxonNode *dq =
      axon_pass_add_node (model, node, NULL, "DequantizeLinear", OPSET, in, zero ? 3 : 2, out);
  axon_node_set_int (dq, "axis", axis);
  return out;
}

/* @y clamped to the numbers that axon.clip lets through. */
static AxonValue *
clamp (AxonModel *model, AxonNode *node, AxonValue *y, AxonValue *scale, AxonValue *zero)
{
  guint n;
  const gint64 *clip = axon_node_get_ints (node, "axon.clip", &n);
  AxonValue *out, *in[3] = { y };
  gdouble s, z = 0;
  if (clip == NULL || !axon_match_scalar (scale, &s) || (zero && !axon_match_scalar (zero, &z)))
    return y;
  for (guint i = 0; i < 2; i++)
    in[1 + i] = axon_pass_add_scalar (model, AXON_DTYPE_F32, ((gdouble)clip[i] - z) * s);
  out = axon_model_add_value (model, NULL);
  axon_pass_add_node (model, node, NULL, "Clip", OPSET, in, 3, out);
  return out;
}

/* Quantises @y into the node's output and removes the node. */
static void
finish (AxonModel *model, AxonNode *node, AxonValue *y, AxonValue *scale, AxonValue *zero)
{
  AxonValue *out = node->outputs[0];
  AxonValue *in[] = { clamp (model, node, y, scale, zero), as_f32 (model, node, scale), zero };
  axon_node_set_output (node, 0, NULL);
  axon_pass_add_node (model, node, NULL, "QuantizeLinear", OPSET, in, zero ? 3 : 2, out);
  axon_model_remove_node (model, node);
}

/* One input: X, X_scale, X_zero, Y_scale, Y_zero */
static gboolean
expand_unary (AxonModel *model, AxonNode *node, const gchar *name, gint opset)
{
  AxonValue *x = dequantize (model, node, node->inputs[0], node->inputs[1], node->inputs[2], 1);
  AxonValue *y = axon_model_add_value (model, NULL);
  AxonNode *op = axon_pass_add_node (model, node, NULL, name, opset, &x, 1, y);
  axon_pass_copy_attrs (op, node);
  if (axon_node_is (op, "Softmax")) /* whose own default may be another */
    axon_node_set_int (op, "axis", axon_node_get_int (node, "axis"));
  finish (model, node, y, node->inputs[3], axon_node_get_input (node, 4));
  return TRUE;
}

/* The floats that the i32 @bias of @n channels means at the scale of the products. */
static AxonValue *
dequantize_bias (AxonModel *model, const AxonValue *bias, const AxonValue *a_scale,
                 const AxonValue *b_scale)
{
  const AxonTensor *b = bias->type.value, *as = a_scale->type.value, *bs = b_scale->type.value;
  g_autoptr (AxonTensor) out = NULL;
  gsize n;
  if (b == NULL || as == NULL || bs == NULL)
    return NULL;
  n = axon_tensor_get_numel (bs);
  if (n > 1 && axon_tensor_get_shape (b)->rank != 1)
    return NULL;
  out = axon_tensor_new (AXON_DTYPE_F32, axon_tensor_get_shape (b), NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (b); i++)
    axon_dtype_store (AXON_DTYPE_F32, axon_tensor_get_data (out), i,
                      axon_tensor_get_value (b, i) * axon_tensor_get_value (as, 0) *
                          axon_tensor_get_value (bs, n > 1 ? i : 0));
  return axon_model_add_constant (model, NULL, out);
}

/* A, A_scale, A_zero, B, B_scale, B_zero; Y_scale, Y_zero and a bias stand where a row says. */
typedef struct {
  const gchar *to;
  gint b_axis;         /* of B's scales; -1: the last */
  guint y_scale, bias; /* bias 0: there is none */
} Pair;

static gboolean
expand_pair (AxonModel *model, AxonNode *node, const Pair *pair)
{
  gint axis = pair->b_axis < 0 ? node->inputs[3]->type.shape.rank - 1 : pair->b_axis;
  AxonValue *bias = pair->bias ? axon_node_get_input (node, pair->bias) : NULL, *y, *in[3];
  AxonNode *op;
  if (bias != NULL) {
    bias = dequantize_bias (model, bias, node->inputs[1], node->inputs[4]);
    if (bias == NULL)
      return FALSE;
  }
  in[0] = dequantize (model, node, node->inputs[0], node->inputs[1], node->inputs[2], 1);
  in[1] = dequantize (model, node, node->inputs[3], node->inputs[4], node->inputs[5], axis);
  in[2] = bias;
  y = axon_model_add_value (model, NULL);
  op = axon_pass_add_node (model, node, NULL, pair->to, OPSET, in, bias ? 3 : 2, y);
  axon_pass_copy_attrs (op, node);
  finish (model, node, y, node->inputs[pair->y_scale],
          axon_node_get_input (node, pair->y_scale + 1));
  return TRUE;
}

/* Without Y_scale it gives floats; alpha multiplies the bias, too, as it does in the scale of C. */
static gboolean
expand_gemm (AxonModel *model, AxonNode *node)
{
  Pair pair = { "Gemm", axon_node_get_int (node, "transB") != 0 ? 0 : 1, 7, 6 };
  if (axon_node_get_input (node, 7) == NULL || axon_node_get_float (node, "alpha") != 1)
    return FALSE;
  return expand_pair (model, node, &pair);
}

/* ConvTranspose has the scales of its output channels along axis 1 of its weights, which lists them
 * for one group. */
static gboolean
expand_conv_transpose (AxonModel *model, AxonNode *node)
{
  static const Pair pair = { "ConvTranspose", 1, 6, 8 };
  if (axon_node_get_int (node, "group") != 1 &&
      axon_shape_get_numel (&node->inputs[4]->type.shape) != 1)
    return FALSE;
  return expand_pair (model, node, &pair);
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
    AxonValue *in[] = { dequantize (model, node, x[0], x[1], x[2], 1),
                        as_f32 (model, node, node->inputs[0]), node->inputs[1] };
    parts[i] = axon_model_add_value (model, NULL);
    axon_pass_add_node (model, node, NULL, "QuantizeLinear", OPSET, in, 3, parts[i]);
  }
  axon_node_set_output (node, 0, NULL);
  concat = axon_pass_add_node (model, node, NULL, "Concat", OPSET, parts, n, out);
  axon_node_set_int (concat, "axis", axon_node_get_int (node, "axis"));
  axon_model_remove_node (model, node);
  return TRUE;
}

/* Pooling of more dimensions has kernels nowhere, and by its definition it rounds once. */
static gboolean
has_float_kernels (const AxonNode *node)
{
  return !g_str_has_suffix (node->op->name, "Pool") || node->inputs[0]->type.shape.rank <= 5;
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
  static const struct {
    const gchar *domain, *name;
    Pair pair;
  } pairs[] = { { AXON_DOMAIN_MICROSOFT, "QLinearMul", { "Mul", 1, 6, 0 } },
                { AXON_DOMAIN_MICROSOFT, "QLinearAdd", { "Add", 1, 6, 0 } },
                { NULL, "QLinearMatMul", { "MatMul", -1, 6, 0 } },
                { NULL, "QLinearConv", { "Conv", 0, 6, 8 } } };
  for (guint i = 0; i < G_N_ELEMENTS (unary); i++)
    if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, unary[i].name) && has_float_kernels (node))
      return expand_unary (model, node, unary[i].to, unary[i].opset);
  if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QLinearSoftmax"))
    return expand_unary (model, node, "Softmax", axon_node_get_int (node, "opset") < 13 ? 11 : 13);
  if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QLinearConcat"))
    return expand_concat (model, node);
  if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QGemm"))
    return expand_gemm (model, node);
  if (axon_node_is_in (node, AXON_DOMAIN_AXON, "QLinearConvTranspose"))
    return expand_conv_transpose (model, node);
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (axon_node_is_in (node, pairs[i].domain, pairs[i].name))
      return expand_pair (model, node, &pairs[i].pair);
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
