/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of bytes that end in bytes or floats: QLinearConv (10), and two that passes make:
 * axon.QLinearConvTranspose (inputs as QLinearConv) and axon.ConvIntegerToFloat. Integers are
 * summed exactly and scaled once. */
#include "requantize.h"

#include <math.h>

/* X, X_scale, X_zero, W, W_scale, W_zero, Y_scale, Y_zero [, bias] by @infer for floats. */
static gboolean
infer_qlinear (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, AxonInferFunc infer,
               gint64 channels, GError **error)
{
  AxonTypeInfo conv[3] = { in[0], in[3], { 0 } };
  AxonNode plain = *node;
  conv[2].dtype = AXON_DTYPE_UNDEFINED;
  if (node->n_inputs > 8)
    conv[2] = in[8];
  plain.n_inputs = node->n_inputs > 8 ? 3 : 2;
  if (!axon_check_count (in, 4, channels, error) || !axon_check_count (in, 5, channels, error) ||
      !infer (&plain, conv, out, error))
    return FALSE;
  out[0].dtype = in[7].dtype;
  return TRUE;
}

static gboolean
infer_qlinear_conv (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  return infer_qlinear (node, in, out, axon_infer_conv,
                        in[3].shape.rank > 0 ? in[3].shape.dims[0] : -1, error);
}

static gboolean
infer_qlinear_conv_transpose (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                              GError **error)
{
  gint64 per = in[3].shape.rank > 1 ? in[3].shape.dims[1] : -1;
  return infer_qlinear (node, in, out, axon_infer_conv_transpose,
                        per >= 0 ? per * axon_node_get_int (node, "group") : -1, error);
}

/* Requantises the sums @y, which have the channels of @out, into @out. */
static void
store_sums (const AxonNode *node, AxonTensor *const *in, AxonTensor *out, gdouble *y)
{
  gsize n = axon_tensor_get_numel (out), m = (gsize)axon_tensor_get_dim (out, 1);
  gsize plane = n / MAX ((gsize)axon_tensor_get_dim (out, 0) * m, 1);
  for (gsize i = 0; i < n && WANTED (i); i++)
    y[i] = axon_requantize (y[i], axon_product_scale (in[1], in[4], i / plane % m, in[6]), in[7]);
  axon_store_clipped (out, y, node);
}

static gboolean
eval_qlinear_conv (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                   GError **error)
{
  const AxonShape *ws = axon_tensor_get_shape (in[3]);
  gsize inner = axon_tensor_get_numel (in[3]) / MAX ((gsize)ws->dims[0], 1);
  AxonTensor *bias = axon_operand (node, in, 8);
  AXON_AUTO_SCRATCH gdouble *x = axon_centre (in[0], in[2], 1, error);
  AXON_AUTO_SCRATCH gdouble *w = axon_centre (in[3], in[5], inner, error);
  AXON_AUTO_SCRATCH gdouble *b = bias ? axon_load_doubles (bias, error) : NULL;
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  if (!axon_conv_doubles (node, x, axon_tensor_get_shape (in[0]), w, ws, b, y, error))
    return FALSE;
  store_sums (node, in, out[0], y);
  return TRUE;
}

/* Weights [I, O / group, k...] less the zero points of their output channels: output channel o of
 * group g is column o of the rows of that group. */
static gdouble *
centre_transposed (const AxonTensor *w, const AxonTensor *zero, gsize group, GError **error)
{
  gsize n = axon_tensor_get_numel (w), rows = MAX ((gsize)axon_tensor_get_dim (w, 0) / group, 1);
  gsize per = MAX ((gsize)axon_tensor_get_dim (w, 1), 1);
  gsize inner = MAX (n / MAX ((gsize)axon_tensor_get_dim (w, 0) * per, 1), 1);
  gdouble *v;
  if (zero == NULL || axon_tensor_get_numel (zero) == 1)
    return axon_centre (w, zero, 1, error);
  v = axon_load_doubles (w, error);
  for (gsize i = 0; v != NULL && i < n; i++) {
    gsize row = i / inner / per, column = i / inner % per;
    v[i] -= axon_tensor_get_value (zero, row / rows * per + column);
  }
  return v;
}

static gboolean
eval_qlinear_conv_transpose (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                             GError **error)
{
  gsize group = (gsize)axon_node_get_int (node, "group");
  AxonTensor *bias = axon_operand (node, in, 8);
  AXON_AUTO_SCRATCH gdouble *x = axon_centre (in[0], in[2], 1, error);
  AXON_AUTO_SCRATCH gdouble *w = centre_transposed (in[3], in[5], group, error);
  AXON_AUTO_SCRATCH gdouble *b = bias ? axon_load_doubles (bias, error) : NULL;
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  if (!axon_conv_transpose_doubles (node, x, axon_tensor_get_shape (in[0]), w,
                                    axon_tensor_get_shape (in[3]), b, y, error))
    return FALSE;
  store_sums (node, in, out[0], y);
  return TRUE;
}

/* ConvIntegerToFloat: X, W, X_scale, W_scale [, X_zero, W_zero, bias] */
static gboolean
infer_to_float (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonNode plain = *node;
  gint64 channels = in[1].shape.rank > 0 ? in[1].shape.dims[0] : -1;
  plain.n_inputs = 2;
  if (!axon_check_count (in, 3, channels, error) ||
      (axon_is_given (node, in, 5) && !axon_check_count (in, 5, channels, error)) ||
      (axon_is_given (node, in, 6) && !axon_check_count (in, 6, channels, error)) ||
      !axon_infer_conv (&plain, in, out, error))
    return FALSE;
  out[0].dtype = AXON_DTYPE_F32;
  return TRUE;
}

static gdouble
activate (const gchar *name, gdouble v, gdouble alpha, gdouble beta)
{
  if (g_str_equal (name, "Relu"))
    return fmax (v, 0);
  if (g_str_equal (name, "LeakyRelu"))
    return v < 0 ? alpha * v : v;
  if (g_str_equal (name, "Clip"))
    return fmin (fmax (v, alpha), beta);
  return (g_str_equal (name, "Swish") ? v : 1) / (1 + exp (-v));
}

/* A device's passes put the activation that follows into axon.posts: Relu, LeakyRelu, Clip, Sigmoid
 * or Swish. */
static void
apply_posts (const AxonNode *node, gdouble *y, gsize n)
{
  const AxonAttr *posts = axon_node_find_attr (node, "axon.posts");
  guint n_args;
  const gfloat *args = axon_node_get_floats (node, "axon.post_args", &n_args);
  for (guint p = 0; posts != NULL && p < posts->n && 2 * p + 1 < n_args; p++)
    for (gsize i = 0; i < n && WANTED (i); i++)
      y[i] = activate (posts->strings[p], y[i], (gdouble)args[2 * p], (gdouble)args[2 * p + 1]);
}

/* y = sum * (x_scale * w_scale) + bias, in single precision */
static gboolean
eval_to_float (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *ws = axon_tensor_get_shape (in[1]);
  gsize n = axon_tensor_get_numel (out[0]), m = (gsize)ws->dims[0];
  gsize inner = axon_tensor_get_numel (in[1]) / MAX (m, 1);
  gsize plane = n / MAX ((gsize)axon_tensor_get_dim (out[0], 0) * m, 1);
  AxonTensor *bias = axon_operand (node, in, 6);
  gsize n_scale = axon_tensor_get_numel (in[3]), n_bias = bias ? axon_tensor_get_numel (bias) : 0;
  AXON_AUTO_SCRATCH gdouble *x = axon_centre (in[0], axon_operand (node, in, 4), 1, error);
  AXON_AUTO_SCRATCH gdouble *w = axon_centre (in[1], axon_operand (node, in, 5), inner, error);
  AXON_AUTO_SCRATCH gdouble *y = axon_scratch_new0 (n + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  if (!axon_conv_doubles (node, x, axon_tensor_get_shape (in[0]), w, ws, NULL, y, error))
    return FALSE;
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gsize channel = i / plane % m;
    gfloat scale = (gfloat)axon_tensor_get_value (in[2], 0) *
                   (gfloat)axon_tensor_get_value (in[3], n_scale > 1 ? channel : 0);
    gfloat scaled = (gfloat)y[i] * scale;
    gfloat b = n_bias ? (gfloat)axon_tensor_get_value (bias, n_bias > 1 ? channel : 0) : 0;
    y[i] = (gdouble)(n_bias ? scaled + b : scaled);
  }
  apply_posts (node, y, n);
  axon_store_doubles (out[0], y);
  return TRUE;
}

#define B AXON_DTYPES_BYTE
#define AXON AXON_DOMAIN_AXON
#define CONV_ATTRS                                                                                 \
  ATTR_S ("auto_pad", "NOTSET"), ATTR_I ("group", 1), ATTR_INTS ("dilations"),                     \
      ATTR_INTS ("kernel_shape"), ATTR_INTS ("pads"), ATTR_INTS ("strides")

static const AxonOp rows[] = {
  {
      .name = "QLinearConv",
      .since = 10,
      .inputs = { 8, 9 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTbfbFBi",
      .attrs = ATTRS (CONV_ATTRS),
      .infer = infer_qlinear_conv,
      .eval = eval_qlinear_conv,
  },
  {
      .name = "QLinearConvTranspose",
      .domain = AXON,
      .since = 1,
      .inputs = { 8, 9 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tFTbfbFBi",
      .attrs = ATTRS (CONV_ATTRS, ATTR_INTS ("output_padding"), ATTR_INTS ("output_shape")),
      .infer = infer_qlinear_conv_transpose,
      .eval = eval_qlinear_conv_transpose,
  },
  {
      .name = "ConvIntegerToFloat",
      .domain = AXON,
      .since = 1,
      .inputs = { 4, 7 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .operands = "tbFfTbf",
      .attrs = ATTRS (CONV_ATTRS),
      .infer = infer_to_float,
      .eval = eval_to_float,
  },
};

DEFINE_FAMILY (qlinearconv, rows)
