/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ReduceMean, ReduceSum, ReduceMax, ReduceMin: axes by attribute, from 13 or 18 by input; ArgMax.
 */
#include "ops-private.h"

#include <math.h>

typedef enum { MEAN, SUM, TOP, LOW } Reduction;

static gboolean
reduced_axes (const AxonNode *node, const AxonTypeInfo *in, gint rank, gboolean *marks,
              gboolean *known, GError **error)
{
  gint64 axes[AXON_MAX_RANK];
  guint n = 0;
  *known = TRUE;
  if (node->op->max_in > 1) {
    if (node->n_inputs > 1 && in[1].dtype != AXON_DTYPE_UNDEFINED)
      *known = axon_const_ints (&in[1], axes, AXON_MAX_RANK, &n);
  } else {
    const gint64 *attr = axon_node_get_ints (node, "axes", &n);
    n = MIN (n, AXON_MAX_RANK);
    for (guint i = 0; i < n; i++)
      axes[i] = attr[i];
  }
  for (gint i = 0; i < rank; i++)
    marks[i] = n == 0 && axon_node_get_int (node, "noop_with_empty_axes") == 0;
  for (guint i = 0; *known && i < n; i++) {
    gint axis;
    if (!axon_check_axis (axes[i], rank, &axis, error))
      return FALSE;
    marks[axis] = TRUE;
  }
  return TRUE;
}

static gboolean
infer_reduce (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gboolean marks[AXON_MAX_RANK], known, keep = axon_node_get_int (node, "keepdims") != 0;
  AxonShape shape = { 0 };
  out[0].dtype = in[0].dtype;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!reduced_axes (node, in, in[0].shape.rank, marks, &known, error))
    return FALSE;
  if (!known)
    return TRUE;
  for (gint i = 0; i < in[0].shape.rank; i++)
    if (!marks[i])
      shape.dims[shape.rank++] = in[0].shape.dims[i];
    else if (keep)
      shape.dims[shape.rank++] = 1;
  out[0].shape = shape;
  return TRUE;
}

static gboolean
eval_reduce (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, Reduction how,
             GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  AxonTypeInfo infos[2] = { 0 };
  g_autofree gdouble *v = axon_load_doubles (in[0]);
  gsize n_in = axon_tensor_get_numel (in[0]), n_out = axon_tensor_get_numel (out[0]);
  g_autofree gdouble *y = g_new (gdouble, n_out + 1);
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 }, step = 1;
  gboolean marks[AXON_MAX_RANK], known;
  if (node->n_inputs > 1 && in[1] != NULL)
    infos[1] =
        (AxonTypeInfo){ axon_tensor_get_dtype (in[1]), *axon_tensor_get_shape (in[1]), in[1] };
  if (!reduced_axes (node, infos, x->rank, marks, &known, error))
    return FALSE;
  for (gint d = x->rank - 1; d >= 0; d--) {
    strides[d] = marks[d] ? 0 : step;
    step *= marks[d] ? 1 : x->dims[d];
  }
  for (gsize i = 0; i < n_out; i++)
    y[i] = how == TOP ? -INFINITY : how == LOW ? INFINITY : 0;
  for (gsize i = 0; i < n_in; i++) {
    gint64 at = 0;
    for (gint d = 0; d < x->rank; d++)
      at += index[d] * strides[d];
    y[at] = how == TOP ? fmax (y[at], v[i]) : how == LOW ? fmin (y[at], v[i]) : y[at] + v[i];
    for (gint d = x->rank - 1; d >= 0 && ++index[d] == x->dims[d]; d--)
      index[d] = 0;
  }
  for (gsize i = 0; how == MEAN && i < n_out; i++)
    y[i] /= (gdouble)(n_in / MAX (n_out, 1));
  axon_store_doubles (out[0], y);
  return TRUE;
}

#define EVAL(name, how)                                                                            \
  static gboolean eval_##name (const AxonNode *node, AxonTensor *const *in,                        \
                               AxonTensor *const *out, GError **error)                             \
  {                                                                                                \
    return eval_reduce (node, in, out, how, error);                                                \
  }
EVAL (mean, MEAN)
EVAL (sum, SUM)
EVAL (max, TOP)
EVAL (min, LOW)

static gboolean
infer_argmax (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint axis;
  out[0].dtype = AXON_DTYPE_I64;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error))
    return FALSE;
  if (in[0].shape.dims[axis] == 0)
    FAIL (MODEL, "axis %d is empty", axis);
  out[0].shape = in[0].shape;
  out[0].shape.dims[axis] = 1;
  if (axon_node_get_int (node, "keepdims") != 0)
    return TRUE;
  for (gint i = axis; i + 1 < in[0].shape.rank; i++)
    out[0].shape.dims[i] = in[0].shape.dims[i + 1];
  out[0].shape.rank--;
  return TRUE;
}

static gboolean
eval_argmax (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  g_autofree gdouble *v = axon_load_doubles (in[0]);
  gint64 *y = axon_tensor_get_data (out[0]), n, inner = 1, count;
  gboolean last = axon_node_get_int (node, "select_last_index") != 0;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error))
    return FALSE;
  n = x->dims[axis];
  for (gint d = axis + 1; d < x->rank; d++)
    inner *= x->dims[d];
  count = (gint64)axon_tensor_get_numel (out[0]);
  for (gint64 i = 0; i < count; i++) {
    const gdouble *line = v + i / inner * n * inner + i % inner;
    y[i] = 0;
    for (gint64 k = 1; k < n; k++)
      if (line[k * inner] > line[y[i] * inner] || (last && line[k * inner] == line[y[i] * inner]))
        y[i] = k;
  }
  return TRUE;
}

#define N AXON_DTYPES_NUMERIC
#define BY_ATTR(name, until, eval)                                                                 \
  {                                                                                                \
    name, NULL, 1, until, 1, 1, 1, 1, N, 1, ATTRS (ATTR_INTS ("axes"), ATTR_I ("keepdims", 1)),    \
        infer_reduce, eval, AXON_OP_NONE                                                           \
  }
#define BY_INPUT(name, since, eval)                                                                \
  {                                                                                                \
    name, NULL, since, 0, 1, 2, 1, 1, N, 1,                                                        \
        ATTRS (ATTR_I ("keepdims", 1), ATTR_I ("noop_with_empty_axes", 0)), infer_reduce, eval,    \
        AXON_OP_NONE                                                                               \
  }

static const AxonOp rows[] = {
  BY_ATTR ("ReduceMean", 17, eval_mean),
  BY_INPUT ("ReduceMean", 18, eval_mean),
  BY_ATTR ("ReduceSum", 12, eval_sum),
  BY_INPUT ("ReduceSum", 13, eval_sum),
  BY_ATTR ("ReduceMax", 17, eval_max),
  BY_INPUT ("ReduceMax", 18, eval_max),
  BY_ATTR ("ReduceMin", 17, eval_min),
  BY_INPUT ("ReduceMin", 18, eval_min),
  { "ArgMax", NULL, 1, 0, 1, 1, 1, 1, N, 1,
    ATTRS (ATTR_I ("axis", 0), ATTR_I ("keepdims", 1), ATTR_I ("select_last_index", 0)),
    infer_argmax, eval_argmax, AXON_OP_NONE },
};

DEFINE_FAMILY (reduce, rows)
