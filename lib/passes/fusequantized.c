/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DequantizeLinear, operator, QuantizeLinear become one quantised node, with the activation between
 * them: Conv a QLinearConv, Add a QLinearAdd, ConvTranspose a QLinearConvTranspose, MatMul a
 * QLinearMatMul, Gemm a QGemm, Concat a QLinearConcat. */
#include "quantchain.h"

/* Conv has its output channels along axis 0 of the weights; ConvTranspose along axis 1, as many in
 * each group. */
static gboolean
fuse_convolution (AxonModel *model, AxonNode *conv, gint axis, const gchar *domain,
                  const gchar *name, gint opset)
{
  AxonNode *x = axon_match_dequantize (conv, 0);
  AxonNode *w = axon_match_dequantized_constant (conv, 1, axis), *q;
  AxonValue *bias = axon_node_get_input (conv, 2), *w_scale;
  gint64 groups = axis == 1 ? axon_node_get_int (conv, "group") : 1;
  AxonQuantTail t;
  if (x == NULL || w == NULL || !axon_match_quantize (conv, &t))
    return FALSE;
  w_scale = axon_quant_repeat (model, w->inputs[1], groups);
  if (bias != NULL) {
    gsize n = (gsize)(w->inputs[0]->type.shape.dims[axis] * groups);
    bias = axon_quantize_bias (model, bias, 1, x->inputs[1]->type.value, w_scale->type.value, n,
                               t.q->inputs[1]->type.value);
    if (bias == NULL)
      return FALSE;
  }
  AxonValue *in[] = {
    x->inputs[0],   x->inputs[1],   axon_quant_zero (model, x),
    w->inputs[0],   w_scale,        axon_quant_repeat (model, axon_quant_zero (model, w), groups),
    t.q->inputs[1], t.q->inputs[2], bias
  };
  q = axon_pass_add_node (model, conv, domain, name, opset, in, bias ? 9 : 8,
                          axon_model_add_value (model, NULL));
  axon_pass_copy_attrs (q, conv);
  axon_quant_replace (model, q, &t, x, w);
  return TRUE;
}

static gboolean
fuse_conv (AxonModel *model, AxonNode *conv)
{
  return fuse_convolution (model, conv, 0, NULL, "QLinearConv", 10);
}

static gboolean
fuse_conv_transpose (AxonModel *model, AxonNode *conv)
{
  return fuse_convolution (model, conv, 1, AXON_DOMAIN_AXON, "QLinearConvTranspose", 1);
}

static gboolean
fuse_add (AxonModel *model, AxonNode *add)
{
  AxonNode *a = axon_match_dequantize (add, 0), *b = axon_match_dequantize (add, 1), *q;
  AxonQuantTail t;
  if (a == NULL || b == NULL || !axon_match_quantize (add, &t) ||
      a->inputs[0]->type.dtype != b->inputs[0]->type.dtype ||
      a->inputs[0]->type.dtype != t.q->inputs[2]->type.dtype)
    return FALSE;
  AxonValue *in[] = { a->inputs[0],   a->inputs[1],  axon_node_get_input (a, 2),
                      b->inputs[0],   b->inputs[1],  axon_node_get_input (b, 2),
                      t.q->inputs[1], t.q->inputs[2] };
  q = axon_pass_add_node (model, add, AXON_DOMAIN_MICROSOFT, "QLinearAdd", 1, in, 8,
                          axon_model_add_value (model, NULL));
  axon_quant_replace (model, q, &t, a, b);
  return TRUE;
}

/* All parts and the result are bytes of one type. */
static gboolean
fuse_concat (AxonModel *model, AxonNode *concat)
{
  guint n = concat->n_inputs;
  g_autofree AxonNode **parts = g_new (AxonNode *, n);
  g_autofree AxonValue **in = g_new (AxonValue *, 3 * n + 2);
  AxonNode *q;
  AxonQuantTail t;
  if (!axon_match_quantize (concat, &t) || t.act != NULL)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    parts[i] = axon_match_dequantize (concat, i);
    if (parts[i] == NULL || parts[i]->inputs[0]->type.dtype != t.q->inputs[2]->type.dtype)
      return FALSE;
  }
  in[0] = t.q->inputs[1];
  in[1] = t.q->inputs[2];
  for (guint i = 0; i < n; i++) {
    in[3 * i + 2] = parts[i]->inputs[0];
    in[3 * i + 3] = parts[i]->inputs[1];
    in[3 * i + 4] = axon_quant_zero (model, parts[i]);
  }
  q = axon_pass_add_node (model, concat, AXON_DOMAIN_MICROSOFT, "QLinearConcat", 1, in, 3 * n + 2,
                          axon_model_add_value (model, NULL));
  axon_pass_copy_attrs (q, concat);
  for (guint i = 1; i + 1 < n; i++)
    axon_node_add_origins (q, parts[i]);
  axon_quant_replace (model, q, &t, parts[0], parts[n - 1]);
  return TRUE;
}

/* The second operand has one scale, or, if it is a constant, one for each column. */
static gboolean
fuse_matmul (AxonModel *model, AxonNode *matmul)
{
  gint rank = matmul->inputs[1]->type.shape.rank;
  AxonNode *a = axon_match_dequantize (matmul, 0), *b = axon_match_dequantize (matmul, 1), *q;
  AxonQuantTail t;
  if (b == NULL && rank > 1)
    b = axon_match_dequantized_constant (matmul, 1, rank - 1);
  if (a == NULL || b == NULL || !axon_match_quantize (matmul, &t))
    return FALSE;
  AxonValue *in[] = { a->inputs[0],   a->inputs[1],  axon_quant_zero (model, a),
                      b->inputs[0],   b->inputs[1],  axon_quant_zero (model, b),
                      t.q->inputs[1], t.q->inputs[2] };
  q = axon_pass_add_node (model, matmul, NULL, "QLinearMatMul", 10, in, 8,
                          axon_model_add_value (model, NULL));
  axon_quant_replace (model, q, &t, a, b);
  return TRUE;
}

/* C lies along the columns, all rows alike. */
static gboolean
is_row (const AxonValue *c, gint64 columns)
{
  gint64 n = axon_shape_get_numel (&c->type.shape);
  return n == 1 || (n == columns && c->type.shape.rank > 0 &&
                    c->type.shape.dims[c->type.shape.rank - 1] == columns);
}

/* alpha goes into the scale of A, beta into the bias. */
static gboolean
fuse_gemm (AxonModel *model, AxonNode *gemm)
{
  gint axis = axon_node_get_int (gemm, "transB") != 0 ? 0 : 1;
  AxonNode *a = axon_match_dequantize (gemm, 0), *q;
  AxonNode *b = axon_match_dequantized_constant (gemm, 1, axis);
  AxonValue *bias = axon_node_get_input (gemm, 2), *a_scale;
  gdouble alpha = axon_node_get_float (gemm, "alpha");
  AxonQuantTail t;
  if (a == NULL || b == NULL || !(alpha > 0) || !axon_match_quantize (gemm, &t))
    return FALSE;
  a_scale = a->inputs[1];
  if (alpha != 1)
    a_scale = axon_pass_add_scalar (
        model, AXON_DTYPE_F32,
        (gdouble)((gfloat)alpha * (gfloat)axon_tensor_get_value (a_scale->type.value, 0)));
  if (bias != NULL) {
    gint64 n = b->inputs[0]->type.shape.dims[axis];
    bias = is_row (bias, n) ? axon_quantize_bias (model, bias, axon_node_get_float (gemm, "beta"),
                                                  a_scale->type.value, b->inputs[1]->type.value,
                                                  (gsize)n, t.q->inputs[1]->type.value)
                            : NULL;
    if (bias == NULL)
      return FALSE;
  }
  AxonValue *in[] = { a->inputs[0], a_scale,        axon_quant_zero (model, a),
                      b->inputs[0], b->inputs[1],   axon_quant_zero (model, b),
                      bias,         t.q->inputs[1], t.q->inputs[2] };
  q = axon_pass_add_node (model, gemm, AXON_DOMAIN_MICROSOFT, "QGemm", 1, in, 9,
                          axon_model_add_value (model, NULL));
  axon_node_set_int (q, "transA", axon_node_get_int (gemm, "transA"));
  axon_node_set_int (q, "transB", axon_node_get_int (gemm, "transB"));
  axon_quant_replace (model, q, &t, a, b);
  return TRUE;
}

typedef struct {
  const gchar *name;
  gboolean (*fuse) (AxonModel *, AxonNode *);
} Fusion;

static gboolean
fuse_all (AxonModel *model, const Fusion *fusions, guint n, GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    for (guint f = 0; f < n; f++)
      if (axon_node_is (node, fusions[f].name)) {
        fusions[f].fuse (model, node);
        break;
      }
  }
  return axon_model_sort (model, error) && axon_pass_remove_dead_code (model, error) &&
         axon_model_infer_shapes (model, error);
}

gboolean
axon_pass_fuse_quantized_convolutions (AxonModel *model, GError **error)
{
  static const Fusion conv[] = { { "Conv", fuse_conv } };
  return fuse_all (model, conv, 1, error);
}

gboolean
axon_pass_fuse_quantized_products (AxonModel *model, GError **error)
{
  static const Fusion products[] = { { "ConvTranspose", fuse_conv_transpose },
                                     { "MatMul", fuse_matmul },
                                     { "Gemm", fuse_gemm } };
  return fuse_all (model, products, G_N_ELEMENTS (products), error);
}

gboolean
axon_pass_fuse_quantized_sums (AxonModel *model, GError **error)
{
  static const Fusion sums[] = { { "Add", fuse_add }, { "Concat", fuse_concat } };
  return fuse_all (model, sums, G_N_ELEMENTS (sums), error);
}
