/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ArgMax and ArgMin (1, 11, 12, 13). */
#include "ops-private.h"

static gboolean
infer_arg (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
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
eval_arg (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, gdouble sign,
          GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  AXON_AUTO_SCRATCH gdouble *v = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gint64 *y = axon_tensor_get_data (out[0]);
  gboolean last = axon_node_get_int (node, "select_last_index") != 0;
  AxonLines lines;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error))
    return FALSE;
  lines = axon_lines (x, axis);
  for (gint64 i = 0; i < lines.outer * lines.inner && WANTED (i); i++) {
    const gdouble *line = v + i / lines.inner * lines.n * lines.inner + i % lines.inner;
    y[i] = 0;
    for (gint64 k = 1; k < lines.n; k++) {
      gdouble value = sign * line[k * lines.inner], best = sign * line[y[i] * lines.inner];
      if (value > best || (last && value == best))
        y[i] = k;
    }
  }
  return TRUE;
}

static gboolean
eval_arg_max (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_arg (node, in, out, 1, error);
}

static gboolean
eval_arg_min (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_arg (node, in, out, -1, error);
}

#define N AXON_DTYPES_NUMERIC
#define ARG                                                                                        \
  .since = 1, .inputs = { 1, 1 }, .outputs = { 1, 1 }, .types = N, .same_type_inputs = 1,          \
  .attrs = ATTRS (ATTR_I ("axis", 0), ATTR_I ("keepdims", 1), ATTR_I ("select_last_index", 0)),    \
  .infer = infer_arg

static const AxonOp rows[] = {
  { ARG, .name = "ArgMax", .eval = eval_arg_max },
  { ARG, .name = "ArgMin", .eval = eval_arg_min },
};

DEFINE_FAMILY (arg, rows)
