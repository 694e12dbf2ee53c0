/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparisons, boolean operators and Where: results are booleans or chosen by them. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define COMPARE(name, op)                                                                          \
  static gdouble f_##name (gdouble a, gdouble b) { return a op b; }                                \
  static gint64 i_##name (gint64 a, gint64 b) { return a op b; }                                   \
  static gint64 u_##name (guint64 a, guint64 b) { return a op b; }                                 \
  static const AxonPair name = { f_##name, i_##name, u_##name };
COMPARE (equal, ==)
COMPARE (greater, >)
COMPARE (greater_or_equal, >=)
COMPARE (less, <)
COMPARE (less_or_equal, <=)
COMPARE (both, &&)
COMPARE (either, ||)
COMPARE (differ, !=)
#undef COMPARE
/* clang-format on */

static gboolean
infer_compare (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (!axon_infer_pair (node, in, out, error))
    return FALSE;
  out[0].dtype = AXON_DTYPE_BOOL;
  return TRUE;
}

#define EVAL(name)                                                                                 \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, G_GNUC_UNUSED GError **error)               \
  {                                                                                                \
    axon_eval_pair (node, in[0], in[1], out[0], &name);                                            \
    return TRUE;                                                                                   \
  }
EVAL (greater)
EVAL (greater_or_equal)
EVAL (less)
EVAL (less_or_equal)
EVAL (both)
EVAL (either)
EVAL (differ)

/* Strings: a table of them by first appearance makes numbers of them. */
static AxonTensor *
number_strings (AxonTensor *strings, GHashTable *numbers)
{
  AxonTensor *t = axon_tensor_new (AXON_DTYPE_I64, axon_tensor_get_shape (strings), NULL);
  for (gsize i = 0; t != NULL && i < axon_tensor_get_numel (strings); i++) {
    const gchar *text = axon_tensor_get_string (strings, i);
    if (!g_hash_table_contains (numbers, text))
      g_hash_table_insert (numbers, (gpointer)text,
                           GUINT_TO_POINTER (g_hash_table_size (numbers) + 1));
    ((gint64 *)axon_tensor_get_data (t))[i] =
        GPOINTER_TO_UINT (g_hash_table_lookup (numbers, text));
  }
  return t;
}

static gboolean
eval_equal (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
            G_GNUC_UNUSED GError **error)
{
  if (axon_tensor_get_dtype (in[0]) == AXON_DTYPE_STRING) {
    g_autoptr (GHashTable) numbers = g_hash_table_new (g_str_hash, g_str_equal);
    g_autoptr (AxonTensor) a = number_strings (in[0], numbers);
    g_autoptr (AxonTensor) b = number_strings (in[1], numbers);
    if (a == NULL || b == NULL)
      FAIL (MEMORY, "out of memory");
    axon_eval_pair (node, a, b, out[0], &equal);
    return TRUE;
  }
  axon_eval_pair (node, in[0], in[1], out[0], &equal);
  return TRUE;
}

static gboolean
infer_test (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  axon_infer_same (node, in, out, error);
  out[0].dtype = AXON_DTYPE_BOOL;
  return TRUE;
}

typedef gboolean (*TestFunc) (const AxonNode *node, gdouble x);

static gboolean
is_nan (G_GNUC_UNUSED const AxonNode *node, gdouble x)
{
  return isnan (x);
}

static gboolean
is_inf (const AxonNode *node, gdouble x)
{
  return isinf (x) && axon_node_get_int (node, x > 0 ? "detect_positive" : "detect_negative") != 0;
}

static gboolean
is_zero (G_GNUC_UNUSED const AxonNode *node, gdouble x)
{
  return x == 0;
}

#define TEST(name)                                                                                 \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, G_GNUC_UNUSED GError **error)               \
  {                                                                                                \
    guint8 *y = axon_tensor_get_data (out[0]);                                                     \
    for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++)                        \
      y[i] = (guint8)name (node, axon_tensor_get_value (in[0], i));                                \
    return TRUE;                                                                                   \
  }
TEST (is_nan)
TEST (is_inf)
TEST (is_zero)

static gboolean
eval_bit_not (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
              G_GNUC_UNUSED GError **error)
{
  const guint8 *x = axon_tensor_get_data (in[0]);
  guint8 *y = axon_tensor_get_data (out[0]);
  for (gsize i = 0; i < axon_tensor_get_n_bytes (in[0]); i++)
    y[i] = (guint8)~x[i];
  return TRUE;
}

static gboolean
infer_where (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
             GError **error)
{
  if (in[1].dtype != in[2].dtype && in[1].dtype != AXON_DTYPE_UNDEFINED &&
      in[2].dtype != AXON_DTYPE_UNDEFINED)
    FAIL (MODEL, "X is %s, Y is %s", axon_dtype_get_name (in[1].dtype),
          axon_dtype_get_name (in[2].dtype));
  if (!axon_infer_broadcast (node, in, out, error))
    return FALSE;
  out[0].dtype = in[1].dtype;
  return TRUE;
}

static gboolean
eval_where (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
            G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (out[0]);
  gint64 strides[3][AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  const guint8 *choose = axon_tensor_get_data (in[0]);
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (out[0]));
  guint8 *y = axon_tensor_get_data (out[0]);
  for (guint k = 0; k < 3; k++)
    axon_broadcast_strides (axon_tensor_get_shape (in[k]), shape, strides[k]);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++) {
    gint64 at[3] = { 0 };
    for (guint k = 0; k < 3; k++)
      for (gint d = 0; d < shape->rank; d++)
        at[k] += index[d] * strides[k][d];
    guint k = choose[at[0]] ? 1 : 2;
    memcpy (y + i * size, (guint8 *)axon_tensor_get_data (in[k]) + (gsize)at[k] * size, size);
    axon_next_index (index, shape);
  }
  return TRUE;
}

#define B AXON_DTYPE_BIT (AXON_DTYPE_BOOL)
#define ALL AXON_DTYPES_ALL

/* What the rows of a table share. */
#define UNARY                                                                                      \
  .inputs = { 1, 1 }, .outputs = { 1, 1 }, .same_type_inputs = 1, .flags = AXON_OP_ELEMENTWISE
#define PAIR                                                                                       \
  .inputs = { 2, 2 }, .outputs = { 1, 1 }, .same_type_inputs = 2, .infer = infer_compare,          \
  .flags = AXON_OP_ELEMENTWISE
#define AXIS_BROADCAST                                                                             \
  PAIR, .since = 1, .until = 6, .form = AXON_FORM_AXIS_BROADCAST, .attrs = AXIS_ATTRS
#define BROADCAST PAIR, .since = 7

static const AxonOp rows[] = {
  { .name = "Equal",
    .types = ALL | AXON_DTYPE_BIT (AXON_DTYPE_STRING),
    .eval = eval_equal,
    AXIS_BROADCAST },
  { .name = "Equal",
    .types = ALL | AXON_DTYPE_BIT (AXON_DTYPE_STRING),
    .eval = eval_equal,
    BROADCAST },
  { .name = "Greater", .types = ALL, .eval = eval_greater, AXIS_BROADCAST },
  { .name = "Greater", .types = ALL, .eval = eval_greater, BROADCAST },
  { .name = "Less", .types = ALL, .eval = eval_less, AXIS_BROADCAST },
  { .name = "Less", .types = ALL, .eval = eval_less, BROADCAST },
  { .name = "GreaterOrEqual", .types = ALL, .eval = eval_greater_or_equal, AXIS_BROADCAST },
  { .name = "GreaterOrEqual", .types = ALL, .eval = eval_greater_or_equal, BROADCAST },
  { .name = "LessOrEqual", .types = ALL, .eval = eval_less_or_equal, AXIS_BROADCAST },
  { .name = "LessOrEqual", .types = ALL, .eval = eval_less_or_equal, BROADCAST },
  { .name = "And", .types = B, .eval = eval_both, AXIS_BROADCAST },
  { .name = "And", .types = B, .eval = eval_both, BROADCAST },
  { .name = "Or", .types = B, .eval = eval_either, AXIS_BROADCAST },
  { .name = "Or", .types = B, .eval = eval_either, BROADCAST },
  { .name = "Xor", .types = B, .eval = eval_differ, AXIS_BROADCAST },
  { .name = "Xor", .types = B, .eval = eval_differ, BROADCAST },
  { UNARY, .name = "Not", .since = 1, .types = B, .infer = infer_test, .eval = eval_is_zero },
  { UNARY, .name = "IsNaN", .since = 9, .types = AXON_DTYPES_FLOAT, .infer = infer_test,
    .eval = eval_is_nan },
  { UNARY, .name = "IsInf", .since = 10, .types = AXON_DTYPES_FLOAT,
    .attrs = ATTRS (ATTR_I ("detect_negative", 1), ATTR_I ("detect_positive", 1)),
    .infer = infer_test, .eval = eval_is_inf },
  { UNARY, .name = "BitwiseNot", .since = 18, .types = AXON_DTYPES_INT, .infer = axon_infer_same,
    .eval = eval_bit_not },
  {
      .name = "Where",
      .since = 9,
      .inputs = { 3, 3 },
      .outputs = { 1, 1 },
      .types = B,
      .same_type_inputs = 1,
      .infer = infer_where,
      .eval = eval_where,
      .flags = AXON_OP_ELEMENTWISE,
  },
};

DEFINE_FAMILY (logic, rows)
