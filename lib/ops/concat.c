/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concat (1, 4, 11, 13) and Split (1, 2, 11, 13, 18). */
#include "ops-private.h"

#include <string.h>

gboolean
axon_infer_concat (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint axis;
  out[0].dtype = in[0].dtype;
  for (guint i = 0; i < node->n_inputs; i++)
    if (in[i].shape.rank < 0)
      return TRUE;
  out[0].shape = in[0].shape;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error))
    return FALSE;
  for (guint i = 1; i < node->n_inputs; i++) {
    if (in[i].shape.rank != in[0].shape.rank)
      FAIL (MODEL, "input %u: expected rank %d, got %d", i, in[0].shape.rank, in[i].shape.rank);
    for (gint d = 0; d < in[0].shape.rank; d++) {
      gint64 a = out[0].shape.dims[d], b = in[i].shape.dims[d];
      if (d == axis)
        out[0].shape.dims[d] = a < 0 || b < 0 ? -1 : a + b;
      else if (a >= 0 && b >= 0 && a != b)
        FAIL (MODEL, "input %u: dimension %d is %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT,
              i, d, b, a);
      else
        out[0].shape.dims[d] = MAX (a, b);
    }
  }
  return TRUE;
}

/* Bytes of one slice from @axis inwards, and the number of such slices. */
static gsize
bytes_from (const AxonTensor *t, gint axis)
{
  gsize n = axon_dtype_get_size (axon_tensor_get_dtype (t));
  for (gint d = axis; d < axon_tensor_get_shape (t)->rank; d++)
    n *= (gsize)axon_tensor_get_dim (t, (guint)d);
  return n;
}

static gsize
count_before (const AxonTensor *t, gint axis)
{
  gsize n = 1;
  for (gint d = 0; d < axis; d++)
    n *= (gsize)axon_tensor_get_dim (t, (guint)d);
  return n;
}

gboolean
axon_eval_concat (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  gsize at = 0, row, outer;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), axon_tensor_get_shape (out[0])->rank,
                        &axis, error))
    return FALSE;
  row = bytes_from (out[0], axis);
  outer = count_before (out[0], axis);
  for (guint i = 0; i < node->n_inputs; i++) {
    gsize part = bytes_from (in[i], axis);
    for (gsize o = 0; part > 0 && o < outer; o++)
      memcpy ((guint8 *)axon_tensor_get_data (out[0]) + o * row + at,
              (guint8 *)axon_tensor_get_data (in[i]) + o * part, part);
    at += part;
  }
  return TRUE;
}

/* Sizes by attribute (2, 11), by input (13), or equal parts. */
static gboolean
infer_split (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  g_autofree gint64 *sizes = g_new0 (gint64, node->n_outputs + 1);
  const gint64 *attr;
  gint64 total = 0;
  gint axis;
  guint n = 0;
  gboolean given = FALSE;
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].dtype = in[0].dtype;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error))
    return FALSE;
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].shape = in[0].shape;
    out[i].shape.dims[axis] = -1;
  }
  attr = axon_node_get_ints (node, "split", &n);
  if (attr != NULL && n == node->n_outputs) {
    memcpy (sizes, attr, n * sizeof *sizes);
    given = TRUE;
  } else if (axon_is_given (node, in, 1)) {
    if (in[1].value == NULL)
      return TRUE;
    n = (guint)axon_tensor_get_numel (in[1].value);
    given = n == node->n_outputs && axon_const_ints (&in[1], sizes, n, &n);
  }
  if ((attr != NULL || n > 0) && !given)
    FAIL (MODEL, "split has %u sizes for %u outputs", n, node->n_outputs);
  if (in[0].shape.dims[axis] < 0)
    return TRUE;
  for (guint i = 0; i < node->n_outputs; i++) {
    if (!given) /* the last part is smaller where it does not divide (opset 18) */
      sizes[i] = MIN ((in[0].shape.dims[axis] + node->n_outputs - 1) / node->n_outputs,
                      in[0].shape.dims[axis] - total);
    if (sizes[i] < 0)
      FAIL (MODEL, "split size %u is negative", i);
    if (__builtin_add_overflow (total, sizes[i], &total))
      total = G_MAXINT64;
    out[i].shape.dims[axis] = sizes[i];
  }
  if (total != in[0].shape.dims[axis])
    FAIL (MODEL, "split sizes add up to %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, total,
          in[0].shape.dims[axis]);
  return TRUE;
}

static gboolean
eval_split (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gsize at = 0, row, outer;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), axon_tensor_get_shape (in[0])->rank,
                        &axis, error))
    return FALSE;
  row = bytes_from (in[0], axis);
  outer = count_before (in[0], axis);
  for (guint i = 0; i < node->n_outputs; i++) {
    gsize part = out[i] ? bytes_from (out[i], axis) : 0;
    for (gsize o = 0; part > 0 && o < outer; o++)
      memcpy ((guint8 *)axon_tensor_get_data (out[i]) + o * part,
              (guint8 *)axon_tensor_get_data (in[0]) + o * row + at, part);
    at += part;
  }
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "Concat",
      .since = 1,
      .until = 3,
      .inputs = { 1, AXON_VARIADIC },
      .outputs = { 1, 1 },
      .same_type_inputs = AXON_VARIADIC,
      .attrs = ATTRS (ATTR_I ("axis", 1)),
      .infer = axon_infer_concat,
      .eval = axon_eval_concat,
  },
  {
      .name = "Concat",
      .since = 4,
      .inputs = { 1, AXON_VARIADIC },
      .outputs = { 1, 1 },
      .same_type_inputs = AXON_VARIADIC,
      .attrs = ATTRS (REQUIRED ("axis", AXON_ATTR_INT)),
      .infer = axon_infer_concat,
      .eval = axon_eval_concat,
  },
  {
      .name = "Split",
      .since = 1,
      .until = 1,
      .inputs = { 1, 2 },
      .operands = ".x",
      .outputs = { 1, AXON_VARIADIC },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", 0), ATTR_INTS ("split")),
      .infer = infer_split,
      .eval = eval_split,
  },
  {
      .name = "Split",
      .since = 2,
      .until = 12,
      .form = AXON_FORM_ATTRIBUTES,
      .inputs = { 1, 1 },
      .outputs = { 1, AXON_VARIADIC },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", 0), ATTR_INTS ("split")),
      .infer = infer_split,
      .eval = eval_split,
  },
  {
      .name = "Split",
      .since = 13,
      .inputs = { 1, 2 },
      .operands = ".l",
      .outputs = { 1, AXON_VARIADIC },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", 0), ATTR_I ("num_outputs", 0)),
      .infer = infer_split,
      .eval = eval_split,
  },
};

DEFINE_FAMILY (concat, rows)
