/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of one tensor, Clip included. */
#include "ops-private.h"

#include <math.h>

typedef gdouble (*UnaryFunc) (gdouble x, gdouble alpha, gdouble beta);

/* clang-format off */
#define FN(name, expr)                                                                             \
  static gdouble fn_##name (gdouble x, G_GNUC_UNUSED gdouble a, G_GNUC_UNUSED gdouble b)           \
  {                                                                                                \
    return expr;                                                                                   \
  }
FN (abs, fabs (x))
FN (acos, acos (x))
FN (acosh, acosh (x))
FN (asin, asin (x))
FN (asinh, asinh (x))
FN (atan, atan (x))
FN (atanh, atanh (x))
FN (ceil, ceil (x))
FN (celu, x < 0 ? a * expm1 (x / a) : x)
FN (cos, cos (x))
FN (cosh, cosh (x))
FN (elu, x < 0 ? a * expm1 (x) : x)
FN (erf, erf (x))
FN (exp, exp (x))
FN (floor, floor (x))
FN (hard_sigmoid, isnan (x) ? x : fmax (0, fmin (1, a * x + b)))
FN (hard_swish, x * fmax (0, fmin (1, x / 6 + 0.5)))
FN (leaky_relu, x < 0 ? a * x : x)
FN (log, log (x))
FN (neg, -x)
FN (reciprocal, 1 / x)
FN (relu, x > 0 || isnan (x) ? x : 0)
FN (round, fabs (x) < 1e15 ? (gdouble)axon_round_even (x) : x)
FN (selu, x > 0 ? b * x : b * (a * exp (x) - a))
FN (sigmoid, 1 / (1 + exp (-x)))
FN (sign, x > 0 ? 1 : x < 0 ? -1 : 0)
FN (shrink, x < -a ? x + b : x > a ? x - b : 0)
FN (sin, sin (x))
FN (sinh, sinh (x))
FN (softplus, log1p (exp (-fabs (x))) + fmax (x, 0))
FN (softsign, x / (1 + fabs (x)))
FN (sqrt, sqrt (x))
FN (swish, x / (1 + exp (-a * x)))
FN (tan, tan (x))
FN (tanh, tanh (x))
FN (thresholded_relu, x > a ? x : 0)
FN (mish, x * tanh (log1p (exp (-fabs (x))) + fmax (x, 0)))
FN (gelu, 0.5 * x * (1 + erf (x * G_SQRT2 / 2)))
FN (gelu_tanh, 0.5 * x * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x))))
#undef FN
/* clang-format on */

static gboolean
eval_unary (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, UnaryFunc fn)
{
  /* The first two float attributes of the row are the parameters. */
  const AxonAttrSpec *attrs = node->op->attrs;
  gboolean one = attrs != NULL && attrs[0].type == AXON_ATTR_FLOAT;
  gdouble a = one ? axon_node_get_float (node, attrs[0].name) : 0;
  gdouble b = one && attrs[1].name != NULL ? axon_node_get_float (node, attrs[1].name) : 0;
  AxonDType dtype = axon_tensor_get_dtype (in[0]);
  gconstpointer x = axon_tensor_get_data (in[0]);
  gpointer y = axon_tensor_get_data (out[0]);
  gsize n = axon_tensor_get_numel (in[0]);
  for (gsize i = 0; i < n && WANTED (i); i++)
    axon_dtype_store (dtype, y, i, fn (axon_dtype_load (dtype, x, i), a, b));
  return TRUE;
}

#define EVAL(name)                                                                                 \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, G_GNUC_UNUSED GError **error)               \
  {                                                                                                \
    return eval_unary (node, in, out, fn_##name);                                                  \
  }
/* clang-format off */
EVAL (acos) EVAL (acosh) EVAL (asin) EVAL (asinh) EVAL (atan) EVAL (atanh) EVAL (celu)
EVAL (cosh) EVAL (shrink) EVAL (sinh) EVAL (swish) EVAL (tan) EVAL (thresholded_relu)
EVAL (ceil) EVAL (cos) EVAL (elu) EVAL (erf) EVAL (exp) EVAL (floor)
EVAL (hard_sigmoid) EVAL (hard_swish) EVAL (leaky_relu) EVAL (log) EVAL (reciprocal)
EVAL (round) EVAL (selu) EVAL (sigmoid) EVAL (sin) EVAL (softplus)
EVAL (softsign) EVAL (sqrt) EVAL (tanh) EVAL (mish)
    /* clang-format on */

    gboolean axon_eval_sigmoid (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                                GError **error)
{
  return eval_sigmoid (node, in, out, error);
}

gboolean
axon_eval_leaky_relu (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                      GError **error)
{
  return eval_leaky_relu (node, in, out, error);
}

/* Whole numbers stay whole beyond 2^53, and wrap where two's complement does. */
typedef gint64 (*IntFunc) (gint64 x, gboolean is_signed);

/* clang-format off */
#define FN(name, expr) static gint64 i_##name (gint64 x, G_GNUC_UNUSED gboolean is_signed) { return expr; }
FN (abs, is_signed && x < 0 ? (gint64)(0 - (guint64)x) : x)
FN (neg, (gint64)(0 - (guint64)x))
FN (relu, is_signed && x < 0 ? 0 : x)
FN (sign, is_signed && x < 0 ? -1 : x != 0)
#undef FN
/* clang-format on */

static gboolean
eval_number (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, UnaryFunc fn,
             IntFunc whole)
{
  AxonDType dtype = axon_tensor_get_dtype (in[0]);
  gboolean is_signed = dtype != AXON_DTYPE_U64; /* as gint64 holds it */
  gsize n = axon_tensor_get_numel (in[0]);
  if (axon_dtype_is_float (dtype))
    return eval_unary (node, in, out, fn);
  for (gsize i = 0; i < n && WANTED (i); i++)
    axon_store_int (
        dtype, axon_tensor_get_data (out[0]), i,
        whole (axon_dtype_load_int (dtype, axon_tensor_get_data (in[0]), i), is_signed));
  return TRUE;
}

#define EVAL_NUMBER(name)                                                                          \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, G_GNUC_UNUSED GError **error)               \
  {                                                                                                \
    return eval_number (node, in, out, fn_##name, i_##name);                                       \
  }
/* clang-format off */
EVAL_NUMBER (abs) EVAL_NUMBER (neg) EVAL_NUMBER (relu) EVAL_NUMBER (sign)
    /* clang-format on */

    static gboolean eval_gelu (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                               G_GNUC_UNUSED GError **error)
{
  gboolean tanh_form = g_str_equal (axon_node_get_string (node, "approximate"), "tanh");
  return eval_unary (node, in, out, tanh_form ? fn_gelu_tanh : fn_gelu);
}

/* An optional bound, as the element type's own number. */
static gint64
whole_bound (const AxonNode *node, AxonTensor *const *in, guint index, gint64 fallback)
{
  gboolean given = node->n_inputs > index && in[index] != NULL;
  return given ? axon_dtype_load_int (axon_tensor_get_dtype (in[index]),
                                      axon_tensor_get_data (in[index]), 0)
               : fallback;
}

static void
clip_numbers (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out)
{
  AxonDType dtype = axon_tensor_get_dtype (in[0]);
  /* Flipping the top bit makes unsigned order signed order. */
  guint64 flip = dtype == AXON_DTYPE_U64 ? G_GUINT64_CONSTANT (1) << 63 : 0;
  gint64 lo = (gint64)((guint64)whole_bound (node, in, 1, flip ? 0 : G_MININT64) ^ flip);
  gint64 hi = (gint64)((guint64)whole_bound (node, in, 2, flip ? -1 : G_MAXINT64) ^ flip);
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++) {
    gint64 x = axon_dtype_load_int (dtype, axon_tensor_get_data (in[0]), i);
    x = (gint64)((guint64)x ^ flip);
    x = MIN (MAX (x, lo), hi);
    axon_store_int (dtype, axon_tensor_get_data (out[0]), i, (gint64)((guint64)x ^ flip));
  }
}

/* Clip 6: bounds are attributes; Clip 11: optional scalar inputs. */
static gboolean
eval_clip (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
           G_GNUC_UNUSED GError **error)
{
  gboolean attrs = axon_node_has_form (node, AXON_FORM_ATTRIBUTES);
  gdouble lo = attrs                         ? axon_node_get_float (node, "min")
               : node->n_inputs > 1 && in[1] ? axon_tensor_get_value (in[1], 0)
                                             : -INFINITY;
  gdouble hi = attrs                         ? axon_node_get_float (node, "max")
               : node->n_inputs > 2 && in[2] ? axon_tensor_get_value (in[2], 0)
                                             : INFINITY;
  AxonDType dtype = axon_tensor_get_dtype (in[0]);
  gsize n = axon_tensor_get_numel (in[0]);
  if (!axon_dtype_is_float (dtype)) {
    clip_numbers (node, in, out);
    return TRUE;
  }
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gdouble x = axon_dtype_load (dtype, axon_tensor_get_data (in[0]), i);
    x = x < lo ? lo : x;
    axon_dtype_store (dtype, axon_tensor_get_data (out[0]), i, x > hi ? hi : x);
  }
  return TRUE;
}

static gboolean
infer_clip (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  for (guint i = 1; i < node->n_inputs; i++)
    if (in[i].shape.rank > 0 && axon_shape_get_numel (&in[i].shape) != 1)
      FAIL (MODEL, "input %u: expected a scalar", i);
  return axon_infer_same (node, in, out, error);
}

#define F AXON_DTYPES_FLOAT
#define N AXON_DTYPES_NUMERIC

#define UNARY                                                                                      \
  .inputs = { 1, 1 }, .outputs = { 1, 1 }, .same_type_inputs = 1, .infer = axon_infer_same,        \
  .flags = AXON_OP_ELEMENTWISE

static const AxonOp rows[] = {
  { UNARY, .name = "Abs", .since = 1, .types = N, .eval = eval_abs },
  { UNARY, .name = "Acos", .since = 7, .types = F, .eval = eval_acos },
  { UNARY, .name = "Acosh", .since = 9, .types = F, .eval = eval_acosh },
  { UNARY, .name = "Asin", .since = 7, .types = F, .eval = eval_asin },
  { UNARY, .name = "Asinh", .since = 9, .types = F, .eval = eval_asinh },
  { UNARY, .name = "Atan", .since = 7, .types = F, .eval = eval_atan },
  { UNARY, .name = "Atanh", .since = 9, .types = F, .eval = eval_atanh },
  { UNARY, .name = "Celu", .since = 12, .types = F, .eval = eval_celu,
    .attrs = ATTRS (ATTR_F ("alpha", 1)) },
  { UNARY, .name = "Cosh", .since = 9, .types = F, .eval = eval_cosh },
  { UNARY, .name = "Gelu", .since = 20, .types = F, .eval = eval_gelu,
    .attrs = ATTRS (ATTR_S ("approximate", "none")) },
  { UNARY, .name = "Shrink", .since = 9, .types = N, .eval = eval_shrink,
    .attrs = ATTRS (ATTR_F ("lambd", 0.5), ATTR_F ("bias", 0)) },
  { UNARY, .name = "Sinh", .since = 9, .types = F, .eval = eval_sinh },
  { UNARY, .name = "Swish", .since = 24, .types = F, .eval = eval_swish,
    .attrs = ATTRS (ATTR_F ("alpha", 1)) },
  { UNARY, .name = "Tan", .since = 7, .types = F, .eval = eval_tan },
  { UNARY, .name = "ThresholdedRelu", .since = 1, .types = F, .eval = eval_thresholded_relu,
    .attrs = ATTRS (ATTR_F ("alpha", 1)) },
  { UNARY, .name = "Ceil", .since = 1, .types = F, .eval = eval_ceil },
  { UNARY, .name = "Cos", .since = 7, .types = F, .eval = eval_cos },
  { UNARY, .name = "Elu", .since = 1, .types = F, .eval = eval_elu,
    .attrs = ATTRS (ATTR_F ("alpha", 1)) },
  { UNARY, .name = "Erf", .since = 9, .types = N, .eval = eval_erf },
  { UNARY, .name = "Exp", .since = 1, .types = F, .eval = eval_exp },
  { UNARY, .name = "Floor", .since = 1, .types = F, .eval = eval_floor },
  { UNARY, .name = "HardSigmoid", .since = 1, .types = F, .eval = eval_hard_sigmoid,
    .attrs = ATTRS (ATTR_F ("alpha", 0.2), ATTR_F ("beta", 0.5)) },
  { UNARY, .name = "HardSwish", .since = 14, .types = F, .eval = eval_hard_swish },
  { UNARY, .name = "LeakyRelu", .since = 1, .types = F, .eval = eval_leaky_relu,
    .attrs = ATTRS (ATTR_F ("alpha", 0.01)) },
  { UNARY, .name = "Log", .since = 1, .types = F, .eval = eval_log },
  { UNARY, .name = "Mish", .since = 18, .types = F, .eval = eval_mish },
  { UNARY, .name = "Neg", .since = 1, .types = N, .eval = eval_neg },
  { UNARY, .name = "Reciprocal", .since = 1, .types = F, .eval = eval_reciprocal },
  { UNARY, .name = "Relu", .since = 1, .types = N, .eval = eval_relu },
  { UNARY, .name = "Round", .since = 11, .types = F, .eval = eval_round },
  {
      .name = "Selu",
      .since = 1,
      .until = 5,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_F ("alpha", 1.6732), ATTR_F ("gamma", 1.0507)),
      .infer = axon_infer_same,
      .eval = eval_selu,
      .flags = AXON_OP_ELEMENTWISE,
  },
  { UNARY, .name = "Selu", .since = 6, .types = F, .eval = eval_selu,
    .attrs = ATTRS (ATTR_F ("alpha", 1.67326319217681884765625),
                    ATTR_F ("gamma", 1.05070102214813232421875)) },
  { UNARY, .name = "Sigmoid", .since = 1, .types = F, .eval = eval_sigmoid },
  { UNARY, .name = "Sign", .since = 9, .types = N, .eval = eval_sign },
  { UNARY, .name = "Sin", .since = 7, .types = F, .eval = eval_sin },
  { UNARY, .name = "Softplus", .since = 1, .types = F, .eval = eval_softplus },
  { UNARY, .name = "Softsign", .since = 1, .types = F, .eval = eval_softsign },
  { UNARY, .name = "Sqrt", .since = 1, .types = F, .eval = eval_sqrt },
  { UNARY, .name = "Tanh", .since = 1, .types = F, .eval = eval_tanh },
  {
      .name = "Clip",
      .since = 1,
      .until = 10,
      .form = AXON_FORM_ATTRIBUTES,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_F ("min", -3.402823466e+38), ATTR_F ("max", 3.402823466e+38)),
      .infer = infer_clip,
      .eval = eval_clip,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "Clip",
      .since = 11,
      .inputs = { 1, 3 },
      .outputs = { 1, 1 },
      .types = N,
      .same_type_inputs = 3,
      .infer = infer_clip,
      .eval = eval_clip,
      .flags = AXON_OP_ELEMENTWISE,
  },
};

DEFINE_FAMILY (unary, rows)
