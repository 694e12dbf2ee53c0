/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Integer arithmetic with 32-bit sums: ConvInteger (10), MatMulInteger (10), and
 * DynamicQuantizeLinear (11), which finds its own scale. Of com.microsoft what ONNX Runtime fuses
 * of them: MatMulIntegerToFloat and DynamicQuantizeMatMul (docs/ContribOperators.md there). */
#include "ops-private.h"

#include <math.h>

/* Values less their zero point, which may have one element for each place along @axis. */
static gdouble *
centred (const AxonTensor *x, const AxonTensor *zero, gint axis, GError **error)
{
  AxonLines lines = axon_lines (axon_tensor_get_shape (x), axis);
  gdouble *v = axon_load_doubles (x, error);
  gint64 n = zero ? (gint64)axon_tensor_get_numel (zero) : 0;
  for (gsize i = 0; v != NULL && n > 0 && i < axon_tensor_get_numel (x); i++)
    v[i] -= axon_tensor_get_value (zero, n > 1 ? (gsize)((gint64)i / lines.inner % lines.n) : 0);
  return v;
}

static gboolean
check_zero (const AxonNode *node, const AxonTypeInfo *in, guint index, gint64 channels,
            GError **error)
{
  gint64 n = axon_is_given (node, in, index) ? axon_shape_get_numel (&in[index].shape) : 1;
  if (n >= 0 && n != 1 && channels >= 0 && n != channels)
    FAIL (MODEL, "input %u: expected 1 or %" G_GINT64_FORMAT " zero points, got %" G_GINT64_FORMAT,
          index, channels, n);
  return TRUE;
}

static gboolean
infer_conv_integer (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonNode plain = *node;
  plain.n_inputs = 2;
  if (!check_zero (node, in, 3, in[1].shape.rank > 0 ? in[1].shape.dims[0] : -1, error) ||
      !axon_infer_conv (&plain, in, out, error))
    return FALSE;
  out[0].dtype = AXON_DTYPE_I32;
  return TRUE;
}

static gboolean
eval_conv_integer (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                   GError **error)
{
  AXON_AUTO_SCRATCH gdouble *x = centred (in[0], axon_operand (node, in, 2), 0, error);
  AXON_AUTO_SCRATCH gdouble *w = centred (in[1], axon_operand (node, in, 3), 0, error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  if (!axon_conv_doubles (node, x, axon_tensor_get_shape (in[0]), w, axon_tensor_get_shape (in[1]),
                          NULL, y, error))
    return FALSE;
  axon_store_doubles (out[0], y);
  return TRUE;
}

static gboolean
infer_matmul_integer (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                      GError **error)
{
  const AxonShape *a = &in[0].shape, *b = &in[1].shape;
  if (!check_zero (node, in, 2, a->rank > 1 ? a->dims[a->rank - 2] : -1, error) ||
      !check_zero (node, in, 3, b->rank > 0 ? b->dims[b->rank - 1] : -1, error) ||
      !axon_infer_matmul (node, in, out, error))
    return FALSE;
  out[0].dtype = AXON_DTYPE_I32;
  return TRUE;
}

/* A tensor of doubles that takes over @values. */
static AxonTensor *
take_doubles (gdouble *values, const AxonTensor *like)
{
  if (values == NULL)
    return NULL;
  return axon_tensor_new_wrapped (AXON_DTYPE_F64, axon_tensor_get_shape (like), values,
                                  axon_tensor_get_numel (like) * sizeof *values, axon_scratch_free,
                                  values, NULL);
}

static gboolean
eval_matmul_integer (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     GError **error)
{
  gint rank_a = axon_tensor_get_shape (in[0])->rank, rank_b = axon_tensor_get_shape (in[1])->rank;
  g_autoptr (AxonTensor) a =
      take_doubles (centred (in[0], axon_operand (node, in, 2), MAX (rank_a - 2, 0), error), in[0]);
  g_autoptr (AxonTensor) b =
      take_doubles (centred (in[1], axon_operand (node, in, 3), rank_b - 1, error), in[1]);
  AxonTensor *pair[] = { a, b };
  return a != NULL && b != NULL && axon_eval_matmul (node, pair, out, error);
}

static gboolean
infer_dynamic_quantize (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in,
                        AxonTypeInfo *out, G_GNUC_UNUSED GError **error)
{
  static const AxonDType types[] = { AXON_DTYPE_U8, AXON_DTYPE_F32, AXON_DTYPE_U8 };
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].dtype = types[i];
    out[i].shape = i == 0 ? in[0].shape : (AxonShape){ 0 };
  }
  return TRUE;
}

/* The range, widened to hold 0, onto 0 to 255; in single precision, as the f32 outputs are. */
static void
find_scale (const gfloat *x, gsize n, gfloat *scale, gdouble *zero)
{
  gfloat low = 0, high = 0;
  for (gsize i = 0; i < n && WANTED (i); i++) {
    low = fminf (low, x[i]);
    high = fmaxf (high, x[i]);
  }
  *scale = (high - low) / 255;
  *zero = *scale > 0 ? CLAMP ((gdouble)axon_round_even ((gdouble)(-low / *scale)), 0, 255) : 0;
}

static void
quantize_dynamically (guint8 *y, const gfloat *x, gsize n, gfloat scale, gdouble zero)
{
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gdouble q = scale > 0 ? (gdouble)(x[i] / scale) : 0;
    axon_dtype_store (AXON_DTYPE_U8, y, i, isfinite (q) ? (gdouble)axon_round_even (q) + zero : q);
  }
}

static gboolean
eval_dynamic_quantize (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                       G_GNUC_UNUSED GError **error)
{
  const gfloat *x = axon_tensor_get_data (in[0]);
  gsize n = axon_tensor_get_numel (in[0]);
  gfloat scale;
  gdouble zero;
  find_scale (x, n, &scale, &zero);
  if (out[0] != NULL)
    quantize_dynamically (axon_tensor_get_data (out[0]), x, n, scale, zero);
  if (node->n_outputs > 1 && out[1] != NULL)
    *(gfloat *)axon_tensor_get_data (out[1]) = scale;
  if (node->n_outputs > 2 && out[2] != NULL)
    *(guint8 *)axon_tensor_get_data (out[2]) = (guint8)zero;
  return TRUE;
}

/* Input @index has one element, or one for each column of B. */
static gboolean
check_columns (const AxonNode *node, const AxonTypeInfo *in, guint index, GError **error)
{
  const AxonShape *b = &in[1].shape;
  gint64 n = axon_is_given (node, in, index) ? axon_shape_get_numel (&in[index].shape) : 1;
  gint64 columns = b->rank < 0 ? -1 : b->rank > 1 ? b->dims[b->rank - 1] : 1;
  if (n >= 0 && n != 1 && columns >= 0 && n != columns)
    FAIL (MODEL, "input %u: expected 1 or %" G_GINT64_FORMAT " elements, got %" G_GINT64_FORMAT,
          index, columns, n);
  return TRUE;
}

/* y = sum * (a_scale * b_scale) + bias, in single precision; @b_scale and @bias lie along columns.
 */
static gboolean
scale_product (const AxonNode *node, AxonTensor *a, AxonTensor *b, gfloat a_scale,
               const AxonTensor *b_scale, const AxonTensor *bias, AxonTensor *out, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (b);
  gsize columns = shape->rank > 1 ? (gsize)shape->dims[shape->rank - 1] : 1;
  gsize n_scale = axon_tensor_get_numel (b_scale), n_bias = bias ? axon_tensor_get_numel (bias) : 0;
  g_autoptr (AxonTensor) y = axon_tensor_new (AXON_DTYPE_F64, axon_tensor_get_shape (out), error);
  gdouble *v;
  if (y == NULL || !axon_eval_matmul (node, (AxonTensor *[]){ a, b }, &y, error))
    return FALSE;
  v = axon_tensor_get_data (y);
  for (gsize i = 0; i < axon_tensor_get_numel (y) && WANTED (i); i++) {
    gsize column = i % columns;
    gfloat scale = a_scale * (gfloat)axon_tensor_get_value (b_scale, n_scale > 1 ? column : 0);
    gfloat scaled = (gfloat)v[i] * scale;
    v[i] = n_bias == 0
               ? (gdouble)scaled
               : (gdouble)(scaled + (gfloat)axon_tensor_get_value (bias, n_bias > 1 ? column : 0));
  }
  axon_store_doubles (out, v);
  return TRUE;
}

/* A, B, A_scale, B_scale [, A_zero, B_zero, bias] */
static gboolean
infer_matmul_to_float (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                       GError **error)
{
  if (!check_columns (node, in, 3, error) || !check_columns (node, in, 5, error) ||
      !check_columns (node, in, 6, error) || !axon_infer_matmul (node, in, out, error))
    return FALSE;
  out[0].dtype = in[2].dtype;
  return TRUE;
}

static gboolean
eval_matmul_to_float (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                      GError **error)
{
  gint last = axon_tensor_get_shape (in[1])->rank - 1;
  g_autoptr (AxonTensor) a =
      take_doubles (centred (in[0], axon_operand (node, in, 4), 0, error), in[0]);
  g_autoptr (AxonTensor) b =
      take_doubles (centred (in[1], axon_operand (node, in, 5), last, error), in[1]);
  return a != NULL && b != NULL &&
         scale_product (node, a, b, (gfloat)axon_tensor_get_value (in[2], 0), in[3],
                        axon_operand (node, in, 6), out[0], error);
}

/* A f32, B, B_scale [, B_zero, bias] */
static gboolean
infer_dynamic_matmul (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                      GError **error)
{
  return check_columns (node, in, 2, error) && check_columns (node, in, 3, error) &&
         check_columns (node, in, 4, error) && axon_infer_matmul (node, in, out, error);
}

static gboolean
eval_dynamic_matmul (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     GError **error)
{
  gint last = axon_tensor_get_shape (in[1])->rank - 1;
  g_autoptr (AxonTensor) q = axon_tensor_new (AXON_DTYPE_U8, axon_tensor_get_shape (in[0]), error);
  g_autoptr (AxonTensor) a = NULL;
  g_autoptr (AxonTensor) b =
      take_doubles (centred (in[1], axon_operand (node, in, 3), last, error), in[1]);
  gsize n = axon_tensor_get_numel (in[0]);
  gdouble zero, *values;
  gfloat scale;
  if (q == NULL)
    return FALSE;
  find_scale (axon_tensor_get_data (in[0]), n, &scale, &zero);
  quantize_dynamically (axon_tensor_get_data (q), axon_tensor_get_data (in[0]), n, scale, zero);
  values = axon_load_doubles (q, error);
  for (gsize i = 0; values != NULL && i < n; i++)
    values[i] -= zero;
  a = take_doubles (values, q);
  if (a == NULL || b == NULL)
    return FALSE;
  return scale_product (node, a, b, scale, in[2], axon_operand (node, in, 4), out[0], error);
}

static const AxonOp rows[] = {
  {
      .name = "ConvInteger",
      .since = 10,
      .inputs = { 2, 4 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_BYTE,
      .same_type_inputs = 1,
      .operands = "tbTb",
      .attrs = ATTRS (ATTR_S ("auto_pad", "NOTSET"), ATTR_I ("group", 1), ATTR_INTS ("dilations"),
                      ATTR_INTS ("kernel_shape"), ATTR_INTS ("pads"), ATTR_INTS ("strides")),
      .infer = infer_conv_integer,
      .eval = eval_conv_integer,
  },
  {
      .name = "MatMulInteger",
      .since = 10,
      .inputs = { 2, 4 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_BYTE,
      .same_type_inputs = 1,
      .operands = "tbtb",
      .infer = infer_matmul_integer,
      .eval = eval_matmul_integer,
  },
  {
      .name = "DynamicQuantizeLinear",
      .since = 11,
      .inputs = { 1, 1 },
      .outputs = { 1, 3 },
      .types = AXON_DTYPE_BIT (AXON_DTYPE_F32),
      .same_type_inputs = 1,
      .infer = infer_dynamic_quantize,
      .eval = eval_dynamic_quantize,
  },
  {
      .name = "MatMulIntegerToFloat",
      .domain = AXON_DOMAIN_MICROSOFT,
      .since = 1,
      .inputs = { 4, 7 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_BYTE,
      .same_type_inputs = 1,
      .operands = "tbFfTbf",
      .infer = infer_matmul_to_float,
      .eval = eval_matmul_to_float,
  },
  {
      .name = "DynamicQuantizeMatMul",
      .domain = AXON_DOMAIN_MICROSOFT,
      .since = 1,
      .inputs = { 3, 5 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPE_BIT (AXON_DTYPE_F32),
      .same_type_inputs = 1,
      .operands = ".bfbf",
      .infer = infer_dynamic_matmul,
      .eval = eval_dynamic_matmul,
  },
};

DEFINE_FAMILY (integer, rows)
