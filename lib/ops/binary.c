/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of two and more tensors with multidirectional broadcasting (opset 7 on). */
#include "ops-private.h"

#include <math.h>

/* clang-format off */
#define FLOAT(name, expr) static gdouble f_##name (gdouble a, gdouble b) { return expr; }
#define INT(name, expr) static gint64 i_##name (gint64 a, gint64 b) { return expr; }
#define UINT(name, expr) static gint64 u_##name (guint64 a, guint64 b) { return (gint64)(expr); }
FLOAT (add, a + b)
FLOAT (sub, a - b)
FLOAT (mul, a * b)
FLOAT (div, a / b)
FLOAT (max, a > b || isnan (a) ? a : b)
FLOAT (min, a < b || isnan (a) ? a : b)
FLOAT (pow, pow (a, b))
FLOAT (prelu, a < 0 ? a * b : a)
FLOAT (fmod, fmod (a, b))
FLOAT (mod, fmod (a, b) == 0                  ? copysign (0, b)
            : (fmod (a, b) < 0) == (b < 0) ? fmod (a, b)
                                           : fmod (a, b) + b)
/* Wrap like two's complement: no integer trap. Division by zero gives 0. */
INT (add, (gint64)((guint64)a + (guint64)b))
INT (sub, (gint64)((guint64)a - (guint64)b))
INT (mul, (gint64)((guint64)a * (guint64)b))
INT (div, b == 0 ? 0 : b == -1 ? (gint64)(0 - (guint64)a) : a / b)
INT (max, MAX (a, b))
INT (min, MIN (a, b))
INT (prelu, a < 0 ? i_mul (a, b) : a)
INT (fmod, b == 0 || b == -1 ? 0 : a % b)
INT (mod, b == 0 || b == -1 ? 0 : (a % b != 0 && (a < 0) != (b < 0)) ? a % b + b : a % b)
UINT (div, b == 0 ? 0 : a / b)
UINT (max, MAX (a, b))
UINT (min, MIN (a, b))
UINT (mod, b == 0 ? 0 : a % b)
/* Shifts by the width or more give 0. */
INT (left, b < 0 || b > 63 ? 0 : (gint64)((guint64)a << b))
UINT (right, b > 63 ? 0 : a >> b)
INT (right, b < 0 || b > 62 ? -(a < 0) : a >> b) /* the sign fills */
INT (bit_and, a & b)
INT (bit_or, a | b)
INT (bit_xor, a ^ b)
#undef FLOAT
#undef INT
#undef UINT

static const AxonPair add = { f_add, i_add, NULL }, sub = { f_sub, i_sub, NULL },
  mul = { f_mul, i_mul, NULL }, divide = { f_div, i_div, u_div }, max = { f_max, i_max, u_max },
  min = { f_min, i_min, u_min }, power = { f_pow, NULL, NULL }, prelu = { f_prelu, i_prelu, NULL },
  mod = { f_mod, i_mod, u_mod }, fmodulo = { f_fmod, i_fmod, u_mod },
  left = { NULL, i_left, NULL }, right = { NULL, i_right, u_right },
  bit_and = { NULL, i_bit_and, NULL }, bit_or = { NULL, i_bit_or, NULL },
  bit_xor = { NULL, i_bit_xor, NULL };
/* clang-format on */

/* Of AXON_FORM_AXIS_BROADCAST: the second shape is a run of the first one's dimensions, from
 * attribute "axis". */
static AxonShape
aligned_shape (const AxonNode *node, const AxonShape *a, const AxonShape *b)
{
  AxonShape shape = *b;
  gint64 axis =
      axon_node_find_attr (node, "axis") ? axon_node_get_int (node, "axis") : a->rank - b->rank;
  if (!axon_node_has_form (node, AXON_FORM_AXIS_BROADCAST) || a->rank < 0 || b->rank < 0)
    return shape;
  axis += axis < 0 ? a->rank : 0;
  for (gint64 i = b->rank + axis; i < a->rank; i++)
    shape.dims[shape.rank++] = 1;
  return shape;
}

gboolean
axon_infer_pair (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonTypeInfo pair[2] = { in[0], in[1] };
  gint64 axis = axon_node_get_int (node, "axis");
  if (in[0].shape.rank >= 0 && (axis >= in[0].shape.rank + 1 || axis < -in[0].shape.rank))
    FAIL (MODEL, "axis %" G_GINT64_FORMAT " is outside the input", axis);
  pair[1].shape = aligned_shape (node, &in[0].shape, &in[1].shape);
  return axon_infer_broadcast (node, pair, out, error);
}

static gint64
apply_ints (const AxonPair *pair, AxonDType dtype, gint64 a, gint64 b)
{
  return dtype == AXON_DTYPE_U64 && pair->u ? pair->u ((guint64)a, (guint64)b) : pair->i (a, b);
}

void
axon_eval_pair (const AxonNode *node, AxonTensor *a, AxonTensor *b, AxonTensor *out,
                const AxonPair *pair)
{
  const AxonShape *shape = axon_tensor_get_shape (out);
  AxonShape second = aligned_shape (node, axon_tensor_get_shape (a), axon_tensor_get_shape (b));
  gint64 sa[AXON_MAX_RANK], sb[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  AxonDType ta = axon_tensor_get_dtype (a), tb = axon_tensor_get_dtype (b);
  AxonDType to = axon_tensor_get_dtype (out);
  gboolean ints = !axon_dtype_is_float (ta) && pair->i != NULL;
  gconstpointer da = axon_tensor_get_data (a), db = axon_tensor_get_data (b);
  gsize n = axon_tensor_get_numel (out);
  axon_broadcast_strides (axon_tensor_get_shape (a), shape, sa);
  axon_broadcast_strides (&second, shape, sb);
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gint64 ia = 0, ib = 0;
    for (gint d = 0; d < shape->rank; d++) {
      ia += index[d] * sa[d];
      ib += index[d] * sb[d];
    }
    if (ints)
      axon_store_int (to, axon_tensor_get_data (out), i,
                      apply_ints (pair, ta, axon_dtype_load_int (ta, da, (gsize)ia),
                                  axon_dtype_load_int (tb, db, (gsize)ib)));
    else
      axon_dtype_store (
          to, axon_tensor_get_data (out), i,
          pair->f (axon_dtype_load (ta, da, (gsize)ia), axon_dtype_load (tb, db, (gsize)ib)));
    axon_next_index (index, shape);
  }
}

/* Left fold over all inputs: two for Add, any number for Sum, Max, Min and Mean. */
static gboolean
eval_fold (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
           const AxonPair *pair, GError **error)
{
  g_autoptr (AxonTensor) left_side = axon_tensor_ref (in[0]);
  if (node->n_inputs == 1)
    return axon_eval_copy (node, in, out, error);
  for (guint i = 1; i < node->n_inputs; i++) {
    g_autoptr (AxonTensor) before = g_steal_pointer (&left_side);
    AxonShape shape;
    axon_shape_broadcast (axon_tensor_get_shape (before), axon_tensor_get_shape (in[i]), &shape);
    left_side = i + 1 == node->n_inputs
                    ? axon_tensor_ref (out[0])
                    : axon_tensor_new (axon_tensor_get_dtype (in[0]), &shape, error);
    if (left_side == NULL)
      return FALSE;
    axon_eval_pair (node, before, in[i], left_side, pair);
  }
  return TRUE;
}

#define EVAL(name, pair)                                                                           \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, GError **error)                             \
  {                                                                                                \
    return eval_fold (node, in, out, &pair, error);                                                \
  }
EVAL (add, add)
EVAL (sub, sub)
EVAL (mul, mul)
EVAL (div, divide)
EVAL (max, max)
EVAL (min, min)
EVAL (pow, power)
EVAL (prelu, prelu)
EVAL (bit_and, bit_and)
EVAL (bit_or, bit_or)
EVAL (bit_xor, bit_xor)

static gboolean
eval_mean (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AxonDType dtype = axon_tensor_get_dtype (out[0]);
  gpointer y = axon_tensor_get_data (out[0]);
  if (!eval_fold (node, in, out, &add, error))
    return FALSE;
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++)
    axon_dtype_store (dtype, y, i, axon_dtype_load (dtype, y, i) / node->n_inputs);
  return TRUE;
}

static gboolean
eval_mod (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gboolean c_sign = axon_node_get_int (node, "fmod") != 0;
  return eval_fold (node, in, out, c_sign ? &fmodulo : &mod, error);
}

static gboolean
eval_bit_shift (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gboolean to_left = g_str_equal (axon_node_get_string (node, "direction"), "LEFT");
  return eval_fold (node, in, out, to_left ? &left : &right, error);
}

static gboolean
infer_bit_shift (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const gchar *direction = axon_node_get_string (node, "direction");
  if (!g_str_equal (direction, "LEFT") && !g_str_equal (direction, "RIGHT"))
    FAIL (MODEL, "direction \"%s\": expected LEFT or RIGHT", direction);
  return axon_infer_broadcast (node, in, out, error);
}

/* PRelu's slope broadcasts towards the input only; a form has one per channel. */
static gboolean
infer_prelu (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (axon_node_has_form (node, AXON_FORM_CHANNEL_SLOPES)) {
    gint64 n = axon_shape_is_static (&in[1].shape) ? axon_shape_get_numel (&in[1].shape) : 1;
    gint rank = in[0].shape.rank;
    gint64 channels = rank > 0 ? in[0].shape.dims[MIN (rank - 1, 1)] : 1;
    if (n != 1 && rank >= 0 && channels >= 0 && n != channels)
      FAIL (MODEL,
            "the slope has %" G_GINT64_FORMAT " values, the input %" G_GINT64_FORMAT " channels", n,
            channels);
    return axon_infer_same (node, in, out, error);
  }
  if (!axon_infer_broadcast (node, in, out, error))
    return FALSE;
  if (axon_shape_is_static (&in[0].shape) && axon_shape_is_static (&in[1].shape) &&
      !axon_shape_equal (&out[0].shape, &in[0].shape))
    FAIL (MODEL, "the slope cannot be broadcast to the input");
  return TRUE;
}

static gboolean
eval_prelu_channels (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                     G_GNUC_UNUSED GError **error)
{
  gsize n = axon_tensor_get_numel (in[1]);
  gint rank = axon_tensor_get_shape (in[0])->rank;
  AxonShape shape = { .rank = n != 1 ? MAX (rank - 1, 1) : 0 };
  g_autoptr (AxonTensor) slope = NULL;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == 0 ? (gint64)n : 1;
  slope = axon_tensor_reshape (in[1], &shape);
  axon_eval_pair (node, in[0], slope, out[0], &prelu);
  return TRUE;
}

/* SwiGLU (27; Shazeer 2020): A sigmoid (alpha A) B, no broadcasting. */
static gboolean
infer_swiglu (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (axon_shape_is_static (&in[0].shape) && axon_shape_is_static (&in[1].shape) &&
      !axon_shape_equal (&in[0].shape, &in[1].shape))
    FAIL (MODEL, "A and B differ in shape");
  return axon_infer_same (node, in, out, error);
}

static gboolean
eval_swiglu (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gdouble alpha = axon_node_get_float (node, "alpha");
  AXON_AUTO_SCRATCH gdouble *a = axon_load_doubles (in[0], error),
                            *b = axon_load_doubles (in[1], error);
  if (*error != NULL)
    return FALSE;
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++)
    a[i] = a[i] / (1 + exp (-alpha * a[i])) * b[i];
  axon_store_doubles (out[0], a);
  return TRUE;
}

#define N AXON_DTYPES_NUMERIC

/* What the rows of a table share. */
#define PAIR                                                                                       \
  .inputs = { 2, 2 }, .outputs = { 1, 1 }, .same_type_inputs = 2, .flags = AXON_OP_ELEMENTWISE
#define AXIS_BROADCAST                                                                             \
  PAIR, .since = 1, .until = 6, .form = AXON_FORM_AXIS_BROADCAST, .types = N, .attrs = AXIS_ATTRS, \
        .infer = axon_infer_pair
#define BROADCAST PAIR, .since = 7, .types = N, .infer = axon_infer_broadcast
#define BITWISE PAIR, .since = 18, .types = AXON_DTYPES_INT, .infer = axon_infer_broadcast
#define FOLD                                                                                       \
  .since = 1, .inputs = { 1, AXON_VARIADIC }, .outputs = { 1, 1 }, .types = N,                     \
  .same_type_inputs = AXON_VARIADIC, .infer = axon_infer_broadcast, .flags = AXON_OP_ELEMENTWISE

static const AxonOp rows[] = {
  { .name = "Add", .eval = eval_add, AXIS_BROADCAST },
  { .name = "Add", .eval = eval_add, BROADCAST },
  { .name = "Sub", .eval = eval_sub, AXIS_BROADCAST },
  { .name = "Sub", .eval = eval_sub, BROADCAST },
  { .name = "Mul", .eval = eval_mul, AXIS_BROADCAST },
  { .name = "Mul", .eval = eval_mul, BROADCAST },
  { .name = "Div", .eval = eval_div, AXIS_BROADCAST },
  { .name = "Div", .eval = eval_div, BROADCAST },
  { .name = "Pow", .eval = eval_pow, AXIS_BROADCAST },
  {
      .name = "Pow",
      .since = 7,
      .inputs = { 2, 2 },
      .operands = ".m",
      .outputs = { 1, 1 },
      .types = N,
      .same_type_inputs = 1,
      .infer = axon_infer_broadcast,
      .eval = eval_pow,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "PRelu",
      .since = 1,
      .until = 6,
      .form = AXON_FORM_CHANNEL_SLOPES,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = N,
      .same_type_inputs = 2,
      .infer = infer_prelu,
      .eval = eval_prelu_channels,
  },
  {
      .name = "PRelu",
      .since = 7,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = N,
      .same_type_inputs = 2,
      .infer = infer_prelu,
      .eval = eval_prelu,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "Mod",
      .since = 10,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = N,
      .same_type_inputs = 2,
      .attrs = ATTRS (ATTR_I ("fmod", 0)),
      .infer = axon_infer_broadcast,
      .eval = eval_mod,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "BitShift",
      .since = 11,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_INT,
      .same_type_inputs = 2,
      .attrs = ATTRS (REQUIRED ("direction", AXON_ATTR_STRING)),
      .infer = infer_bit_shift,
      .eval = eval_bit_shift,
      .flags = AXON_OP_ELEMENTWISE,
  },
  {
      .name = "SwiGLU",
      .since = 27,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 2,
      .attrs = ATTRS (ATTR_F ("alpha", 1)),
      .infer = infer_swiglu,
      .eval = eval_swiglu,
      .flags = AXON_OP_ELEMENTWISE,
  },
  { .name = "BitwiseAnd", .eval = eval_bit_and, BITWISE },
  { .name = "BitwiseOr", .eval = eval_bit_or, BITWISE },
  { .name = "BitwiseXor", .eval = eval_bit_xor, BITWISE },
  { .name = "Sum", .eval = eval_add, FOLD },
  { .name = "Max", .eval = eval_max, FOLD },
  { .name = "Min", .eval = eval_min, FOLD },
  { .name = "Mean", .eval = eval_mean, FOLD },
};

DEFINE_FAMILY (binary, rows)
