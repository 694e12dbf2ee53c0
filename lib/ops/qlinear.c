/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QLinearMatMul (10), and ONNX Runtime's com.microsoft QGemm and QLinear operators (onnxruntime
 * docs/ContribOperators.md). Products and means sum integers and scale once, see requantize.c. The
 * others dequantise, compute and quantise. Either rounds half to even and is in single precision,
 * as the scales are: 8-bit results hang on ties. */
#include "requantize.h"

#include <math.h>
#include <string.h>

/* y = saturate (round (value / scale) + zero) */
static void
quantize_into (const AxonNode *node, AxonTensor *out, gdouble *values, const AxonTensor *scale,
               const AxonTensor *zero)
{
  gdouble s = axon_tensor_get_value (scale, 0), z = zero ? axon_tensor_get_value (zero, 0) : 0;
  gsize n = axon_tensor_get_numel (out);
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gdouble q = (gdouble)((gfloat)values[i] / (gfloat)s);
    values[i] = fabs (q) < 1e9 ? (gdouble)axon_round_even (q) + z : q;
  }
  axon_store_clipped (out, values, node);
}

static gdouble *
dequantize (const AxonTensor *x, const AxonTensor *scale, const AxonTensor *zero, GError **error)
{
  gdouble *v = axon_load_doubles (x, error), z = zero ? axon_tensor_get_value (zero, 0) : 0;
  for (gsize i = 0; v != NULL && i < axon_tensor_get_numel (x); i++)
    v[i] = (gdouble)((gfloat)(v[i] - z) * (gfloat)axon_tensor_get_value (scale, 0));
  return v;
}

static gboolean
infer_qlinear_matmul (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                      GError **error)
{
  AxonTypeInfo pair[2] = { in[0], in[3] };
  gint rank = in[3].shape.rank;
  gint64 n = rank > 1 ? in[3].shape.dims[rank - 1] : 1;
  if (!axon_check_count (in, 4, n, error) || !axon_check_count (in, 5, n, error) ||
      !axon_infer_matmul (node, pair, out, error))
    return FALSE;
  out[0].dtype = in[7].dtype;
  return TRUE;
}

/* A tensor of doubles that takes over @values (nullable, as the tensor is then). */
static AxonTensor *
wrap (gdouble *values, const AxonShape *shape)
{
  gsize n = (gsize)axon_shape_get_numel (shape) * sizeof *values;
  return values ? axon_tensor_new_wrapped (AXON_DTYPE_F64, shape, values, n, axon_scratch_free,
                                           values, NULL)
                : NULL;
}

static gboolean
eval_qlinear_matmul (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     GError **error)
{
  const AxonShape *as = axon_tensor_get_shape (in[0]), *bs = axon_tensor_get_shape (in[3]);
  g_autoptr (AxonTensor) a = wrap (axon_centre (in[0], in[2], 1, error), as);
  g_autoptr (AxonTensor) b = wrap (axon_centre (in[3], in[5], 1, error), bs);
  g_autoptr (AxonTensor) y =
      axon_tensor_new (AXON_DTYPE_F64, axon_tensor_get_shape (out[0]), error);
  gsize columns = bs->rank > 1 ? (gsize)bs->dims[bs->rank - 1] : 1;
  gdouble *sums;
  if (a == NULL || b == NULL || y == NULL ||
      !axon_eval_matmul (node, (AxonTensor *[]){ a, b }, &y, error))
    return FALSE;
  sums = axon_tensor_get_data (y);
  for (gsize i = 0; i < axon_tensor_get_numel (y) && WANTED (i); i++)
    sums[i] =
        axon_requantize (sums[i], axon_product_scale (in[1], in[4], i % columns, in[6]), in[7]);
  axon_store_clipped (out[0], sums, node);
  return TRUE;
}

/* QGemm: A, A_scale, A_zero, B, B_scale, B_zero [, C i32, Y_scale, Y_zero]; no Y_scale: floats. */
static gboolean
infer_qgemm (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint column = axon_node_get_int (node, "transB") != 0 ? 0 : 1;
  gint64 n = in[3].shape.rank == 2 ? in[3].shape.dims[column] : -1;
  AxonTypeInfo gemm[3] = { in[0], in[3], { .shape = AXON_SHAPE_UNKNOWN } };
  AxonNode plain = *node;
  plain.n_inputs = 3;
  if (axon_is_given (node, in, 6))
    gemm[2] = in[6];
  if (!axon_check_count (in, 4, n, error) || !axon_check_count (in, 5, n, error) ||
      !axon_infer_gemm (&plain, gemm, out, error))
    return FALSE;
  if (!axon_is_given (node, in, 7))
    out[0].dtype = AXON_DTYPE_F32;
  else if (axon_is_given (node, in, 8))
    out[0].dtype = in[8].dtype;
  return TRUE;
}

static gboolean
eval_qgemm (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gboolean ta = axon_node_get_int (node, "transA") != 0;
  gboolean tb = axon_node_get_int (node, "transB") != 0;
  const AxonShape *ys = axon_tensor_get_shape (out[0]);
  gint64 m = ys->dims[0], n = ys->dims[1], k = axon_tensor_get_dim (in[0], ta ? 0 : 1);
  AxonTensor *bias = axon_operand (node, in, 6), *y_scale = axon_operand (node, in, 7);
  gfloat a_scale =
      (gfloat)axon_node_get_float (node, "alpha") * (gfloat)axon_tensor_get_value (in[1], 0);
  gsize per_column = axon_tensor_get_numel (in[4]) > 1;
  AXON_AUTO_SCRATCH gdouble *a = axon_centre (in[0], in[2], 1, error);
  AXON_AUTO_SCRATCH gdouble *b = axon_centre (in[3], in[5], tb ? (gsize)k : 1, error);
  AXON_AUTO_SCRATCH gdouble *y = axon_scratch_new ((gsize)(m * n) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 strides[AXON_MAX_RANK] = { 0 };
  if (bias != NULL)
    axon_broadcast_strides (axon_tensor_get_shape (bias), ys, strides);
  for (gint64 at = 0; at < m * n && WANTED (at); at++) {
    gint64 i = at / n, j = at % n;
    gfloat scale = a_scale * (gfloat)axon_tensor_get_value (in[4], per_column * (gsize)j);
    gdouble sum = bias ? axon_tensor_get_value (bias, (gsize)(i * strides[0] + j * strides[1])) : 0;
    for (gint64 l = 0; l < k; l++)
      sum += a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
    y[at] = y_scale ? axon_requantize (sum, scale / (gfloat)axon_tensor_get_value (y_scale, 0),
                                       axon_operand (node, in, 8))
                    : (gdouble)((gfloat)sum * scale);
  }
  axon_store_clipped (out[0], y, node);
  return TRUE;
}

/* QLinearAdd, QLinearMul: A, A_scale, A_zero, B, B_scale, B_zero, C_scale, C_zero */
static gboolean
infer_qlinear_pair (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                    GError **error)
{
  out[0].dtype = in[0].dtype;
  if (!axon_shape_broadcast (&in[0].shape, &in[3].shape, &out[0].shape))
    FAIL (MODEL, "A and B cannot be broadcast");
  return TRUE;
}

static gboolean
eval_qlinear_pair (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                   gboolean multiply, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (out[0]);
  AXON_AUTO_SCRATCH gdouble *a = dequantize (in[0], in[1], in[2], error);
  AXON_AUTO_SCRATCH gdouble *b = dequantize (in[3], in[4], in[5], error);
  gsize n = axon_tensor_get_numel (out[0]);
  AXON_AUTO_SCRATCH gdouble *y = axon_scratch_new (n + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 sa[AXON_MAX_RANK], sb[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  axon_broadcast_strides (axon_tensor_get_shape (in[0]), shape, sa);
  axon_broadcast_strides (axon_tensor_get_shape (in[3]), shape, sb);
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gint64 ia = 0, ib = 0;
    for (gint d = 0; d < shape->rank; d++) {
      ia += index[d] * sa[d];
      ib += index[d] * sb[d];
    }
    y[i] = multiply ? a[ia] * b[ib] : a[ia] + b[ib];
    for (gint d = shape->rank - 1; d >= 0 && ++index[d] == shape->dims[d]; d--)
      index[d] = 0;
  }
  quantize_into (node, out[0], y, in[6], node->n_inputs > 7 ? in[7] : NULL);
  return TRUE;
}

static gboolean
eval_qlinear_add (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  return eval_qlinear_pair (node, in, out, FALSE, error);
}

static gboolean
eval_qlinear_mul (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  return eval_qlinear_pair (node, in, out, TRUE, error);
}

/* One tensor: X, X_scale, X_zero, Y_scale, Y_zero around the float kernel @eval. */
static gboolean
eval_qlinear_unary (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                    AxonEvalFunc eval, GError **error)
{
  g_autoptr (AxonTensor) x =
      wrap (dequantize (in[0], in[1], in[2], error), axon_tensor_get_shape (in[0]));
  g_autoptr (AxonTensor) y =
      axon_tensor_new (AXON_DTYPE_F64, axon_tensor_get_shape (out[0]), error);
  if (x == NULL || y == NULL || !eval (node, &x, &y, error))
    return FALSE;
  quantize_into (node, out[0], axon_tensor_get_data (y), in[3], node->n_inputs > 4 ? in[4] : NULL);
  return TRUE;
}

static gboolean
infer_qlinear_mean (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (axon_node_get_int (node, "channels_last") != 0)
    FAIL (UNSUPPORTED, "channels_last is not supported, expected 0");
  return strstr (node->op->name, "Global") == NULL ? axon_infer_pool (node, in, out, error)
                                                   : axon_infer_global (node, in, out, error);
}

/* The mean of integers by the pooling kernel @eval, then x_scale / y_scale. */
static gboolean
eval_qlinear_mean (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                   AxonEvalFunc eval, GError **error)
{
  g_autoptr (AxonTensor) x =
      wrap (axon_centre (in[0], in[2], 1, error), axon_tensor_get_shape (in[0]));
  g_autoptr (AxonTensor) y =
      axon_tensor_new (AXON_DTYPE_F64, axon_tensor_get_shape (out[0]), error);
  gfloat scale =
      (gfloat)axon_tensor_get_value (in[1], 0) / (gfloat)axon_tensor_get_value (in[3], 0);
  gdouble *means;
  if (x == NULL || y == NULL || !eval (node, &x, &y, error))
    return FALSE;
  means = axon_tensor_get_data (y);
  for (gsize i = 0; i < axon_tensor_get_numel (y) && WANTED (i); i++)
    means[i] = axon_requantize (means[i], scale, axon_operand (node, in, 4));
  axon_store_doubles (out[0], means);
  return TRUE;
}

#define EVAL(name, by, kernel)                                                                     \
  static gboolean eval_qlinear_##name (const AxonNode *node, AxonTensor *const *in,                \
                                       AxonTensor *const *out, GError **error)                     \
  {                                                                                                \
    return eval_qlinear_##by (node, in, out, kernel, error);                                       \
  }
EVAL (average_pool, mean, axon_eval_average_pool)
EVAL (global_average_pool, mean, axon_eval_global_average)
EVAL (softmax, unary, axon_eval_softmax)
EVAL (sigmoid, unary, axon_eval_sigmoid)
EVAL (leaky_relu, unary, axon_eval_leaky_relu)

/* QLinearConcat: Y_scale, Y_zero, then X, X_scale, X_zero for each input */
static gboolean
infer_qlinear_concat (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                      GError **error)
{
  guint n = (node->n_inputs - 2) / 3;
  g_autofree AxonTypeInfo *parts = g_new (AxonTypeInfo, n);
  AxonNode plain = *node;
  if (node->n_inputs != 2 + 3 * n)
    FAIL (MODEL, "expected three inputs per tensor");
  for (guint i = 0; i < n; i++)
    parts[i] = in[2 + 3 * i];
  plain.n_inputs = n;
  return axon_infer_concat (&plain, parts, out, error);
}

static gboolean
eval_qlinear_concat (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     GError **error)
{
  guint n = (node->n_inputs - 2) / 3;
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (AxonTensor) y =
      axon_tensor_new (AXON_DTYPE_F64, axon_tensor_get_shape (out[0]), error);
  AxonNode plain = *node;
  plain.n_inputs = n;
  for (guint i = 0; i < n; i++) {
    AxonTensor *const *p = in + 2 + 3 * i;
    g_ptr_array_add (parts,
                     wrap (dequantize (p[0], p[1], p[2], error), axon_tensor_get_shape (p[0])));
  }
  if (y == NULL || !axon_eval_concat (&plain, (AxonTensor **)parts->pdata, &y, error))
    return FALSE;
  quantize_into (node, out[0], axon_tensor_get_data (y), in[0], in[1]);
  return TRUE;
}

#define B AXON_DTYPES_BYTE
#define MS AXON_DOMAIN_MICROSOFT
#define POOL_ATTRS                                                                                 \
  ATTR_S ("auto_pad", "NOTSET"), ATTR_I ("ceil_mode", 0), ATTR_I ("count_include_pad", 0),         \
      REQUIRED ("kernel_shape", AXON_ATTR_INTS), ATTR_INTS ("pads"), ATTR_INTS ("strides"),        \
      ATTR_I ("channels_last", 0)

static const AxonOp rows[] = {
  {
      .name = "QLinearMatMul",
      .since = 10,
      .inputs = { 8, 8 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTbfbFB",
      .infer = infer_qlinear_matmul,
      .eval = eval_qlinear_matmul,
  },
  {
      .name = "QGemm",
      .domain = MS,
      .since = 1,
      .inputs = { 6, 9 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTbfbiFB",
      .attrs = ATTRS (ATTR_F ("alpha", 1), ATTR_I ("transA", 0), ATTR_I ("transB", 0)),
      .infer = infer_qgemm,
      .eval = eval_qgemm,
  },
  {
      .name = "QLinearAdd",
      .domain = MS,
      .since = 1,
      .inputs = { 7, 8 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTtFTFT",
      .infer = infer_qlinear_pair,
      .eval = eval_qlinear_add,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "QLinearMul",
      .domain = MS,
      .since = 1,
      .inputs = { 7, 8 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTtFTFT",
      .infer = infer_qlinear_pair,
      .eval = eval_qlinear_mul,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "QLinearAveragePool",
      .domain = MS,
      .since = 1,
      .inputs = { 4, 5 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTFT",
      .attrs = ATTRS (POOL_ATTRS),
      .infer = infer_qlinear_mean,
      .eval = eval_qlinear_average_pool,
  },
  {
      .name = "QLinearGlobalAveragePool",
      .domain = MS,
      .since = 1,
      .inputs = { 5, 5 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTFT",
      .attrs = ATTRS (ATTR_I ("channels_last", 0)),
      .infer = infer_qlinear_mean,
      .eval = eval_qlinear_global_average_pool,
  },
  {
      .name = "QLinearSoftmax",
      .domain = MS,
      .since = 1,
      .inputs = { 5, 5 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTFT",
      .attrs = ATTRS (ATTR_I ("axis", -1), REQUIRED ("opset", AXON_ATTR_INT)),
      .infer = axon_infer_softmax,
      .eval = eval_qlinear_softmax,
  },
  {
      .name = "QLinearSigmoid",
      .domain = MS,
      .since = 1,
      .inputs = { 4, 5 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTFT",
      .infer = axon_infer_same,
      .eval = eval_qlinear_sigmoid,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "QLinearLeakyRelu",
      .domain = MS,
      .since = 1,
      .inputs = { 4, 5 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTFT",
      .attrs = ATTRS (ATTR_F ("alpha", 0.01)),
      .infer = axon_infer_same,
      .eval = eval_qlinear_leaky_relu,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "QLinearConcat",
      .domain = MS,
      .since = 1,
      .inputs = { 5, AXON_VARIADIC },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .operands = "FT+tFT",
      .attrs = ATTRS (REQUIRED ("axis", AXON_ATTR_INT)),
      .infer = infer_qlinear_concat,
      .eval = eval_qlinear_concat,
  },
};

DEFINE_FAMILY (qlinear, rows)
