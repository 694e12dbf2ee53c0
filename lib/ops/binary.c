/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of two and more tensors with multidirectional broadcasting (opset 7 on). */
#include "ops-private.h"

#include <math.h>

typedef gdouble (*FloatFunc) (gdouble a, gdouble b);
typedef gint64 (*IntFunc) (gint64 a, gint64 b);

/* clang-format off */
#define FLOAT(name, expr) static gdouble f_##name (gdouble a, gdouble b) { return expr; }
#define INT(name, expr) static gint64 i_##name (gint64 a, gint64 b) { return expr; }
FLOAT (add, a + b)
FLOAT (sub, a - b)
FLOAT (mul, a * b)
FLOAT (div, a / b)
FLOAT (max, a > b || isnan (a) ? a : b)
FLOAT (min, a < b || isnan (a) ? a : b)
FLOAT (pow, pow (a, b))
FLOAT (prelu, a < 0 ? a * b : a)
/* Wrap like two's complement: no integer trap. Division by zero gives 0. */
INT (add, (gint64)((guint64)a + (guint64)b))
INT (sub, (gint64)((guint64)a - (guint64)b))
INT (mul, (gint64)((guint64)a * (guint64)b))
INT (div, b == 0 ? 0 : b == -1 ? (gint64)(0 - (guint64)a) : a / b)
INT (max, MAX (a, b))
INT (min, MIN (a, b))
#undef FLOAT
#undef INT
/* clang-format on */

static void
store_int (AxonDType dtype, gpointer data, gsize i, gint64 v)
{
  switch (axon_dtype_get_size (dtype)) {
  case 1:
    ((guint8 *)data)[i] = (guint8)v;
    break;
  case 2:
    ((guint16 *)data)[i] = (guint16)v;
    break;
  case 4:
    ((guint32 *)data)[i] = (guint32)v;
    break;
  default:
    ((gint64 *)data)[i] = v;
  }
}

static gboolean
eval_pair (AxonTensor *a, AxonTensor *b, AxonTensor *out, FloatFunc f, IntFunc g)
{
  const AxonShape *shape = axon_tensor_get_shape (out);
  gint64 sa[AXON_MAX_RANK], sb[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 }, ia = 0, ib = 0;
  AxonDType ta = axon_tensor_get_dtype (a), tb = axon_tensor_get_dtype (b);
  gboolean ints = !axon_dtype_is_float (ta) && g != NULL;
  gconstpointer da = axon_tensor_get_data (a), db = axon_tensor_get_data (b);
  gsize n = axon_tensor_get_numel (out);
  axon_broadcast_strides (axon_tensor_get_shape (a), shape, sa);
  axon_broadcast_strides (axon_tensor_get_shape (b), shape, sb);
  for (gsize i = 0; i < n; i++) {
    if (ints)
      store_int (
          ta, axon_tensor_get_data (out), i,
          g (axon_dtype_load_int (ta, da, (gsize)ia), axon_dtype_load_int (tb, db, (gsize)ib)));
    else
      axon_dtype_store (
          ta, axon_tensor_get_data (out), i,
          f (axon_dtype_load (ta, da, (gsize)ia), axon_dtype_load (tb, db, (gsize)ib)));
    for (gint d = shape->rank - 1; d >= 0; d--) {
      ia += sa[d];
      ib += sb[d];
      if (++index[d] < shape->dims[d])
        break;
      ia -= index[d] * sa[d];
      ib -= index[d] * sb[d];
      index[d] = 0;
    }
  }
  return TRUE;
}

/* Left fold over all inputs: two for Add, any number for Sum, Max, Min and Mean. */
static gboolean
eval_fold (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, FloatFunc f,
           IntFunc g, GError **error)
{
  g_autoptr (AxonTensor) left = axon_tensor_ref (in[0]);
  if (node->n_inputs == 1)
    return axon_eval_copy (node, in, out, error);
  for (guint i = 1; i < node->n_inputs; i++) {
    g_autoptr (AxonTensor) right = axon_tensor_ref (left);
    gboolean last = i + 1 == node->n_inputs;
    AxonShape shape;
    axon_tensor_unref (left);
    axon_shape_broadcast (axon_tensor_get_shape (right), axon_tensor_get_shape (in[i]), &shape);
    left = last ? axon_tensor_ref (out[0])
                : axon_tensor_new (axon_tensor_get_dtype (in[0]), &shape, error);
    if (left == NULL) {
      left = g_steal_pointer (&right);
      return FALSE;
    }
    eval_pair (right, in[i], left, f, g);
  }
  return TRUE;
}

#define EVAL(name, f, g)                                                                           \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, GError **error)                             \
  {                                                                                                \
    return eval_fold (node, in, out, f, g, error);                                                 \
  }
EVAL (add, f_add, i_add)
EVAL (sub, f_sub, i_sub)
EVAL (mul, f_mul, i_mul)
EVAL (div, f_div, i_div)
EVAL (max, f_max, i_max)
EVAL (min, f_min, i_min)
EVAL (pow, f_pow, NULL)
EVAL (prelu, f_prelu, NULL)

/* PRelu's slope broadcasts towards the input only (opset 7). */
static gboolean
infer_prelu (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (!axon_infer_broadcast (node, in, out, error))
    return FALSE;
  if (axon_shape_is_static (&in[0].shape) && axon_shape_is_static (&in[1].shape) &&
      !axon_shape_equal (&out[0].shape, &in[0].shape))
    FAIL (MODEL, "the slope cannot be broadcast to the input");
  return TRUE;
}

#define PAIR(name, since, eval)                                                                    \
  {                                                                                                \
    name, NULL, since, 0, 2, 2, 1, 1, AXON_DTYPES_NUMERIC, 2, NULL, axon_infer_broadcast, eval,    \
        AXON_OP_ELEMENTWISE                                                                        \
  }
#define MANY(name, since, eval)                                                                    \
  {                                                                                                \
    name, NULL, since, 0, 1, AXON_VARIADIC, 1, 1, AXON_DTYPES_NUMERIC, AXON_VARIADIC, NULL,        \
        axon_infer_broadcast, eval, AXON_OP_ELEMENTWISE                                            \
  }

static const AxonOp rows[] = {
  PAIR ("Add", 7, eval_add),
  PAIR ("Sub", 7, eval_sub),
  PAIR ("Mul", 7, eval_mul),
  PAIR ("Div", 7, eval_div),
  { "Pow", NULL, 7, 0, 2, 2, 1, 1, AXON_DTYPES_NUMERIC, 1, NULL, axon_infer_broadcast, eval_pow,
    AXON_OP_ELEMENTWISE },
  { "PRelu", NULL, 7, 0, 2, 2, 1, 1, AXON_DTYPES_NUMERIC, 2, NULL, infer_prelu, eval_prelu,
    AXON_OP_ELEMENTWISE },
  MANY ("Sum", 8, eval_add),
  MANY ("Max", 8, eval_max),
  MANY ("Min", 8, eval_min),
};

DEFINE_FAMILY (binary, rows)
