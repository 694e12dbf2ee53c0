/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gather (1, 11, 13), GatherElements (11, 13), GatherND (11, 12, 13). Indices come from data: every
 * one is checked. */
#include "ops-private.h"

#include <string.h>

static gboolean
infer_gather (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint axis, r = in[0].shape.rank, q = in[1].shape.rank;
  out[0].dtype = in[0].dtype;
  if (!axon_check_index_type (in, 1, error))
    return FALSE;
  if (r < 0 || q < 0)
    return TRUE;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), r, &axis, error))
    return FALSE;
  if (r + q - 1 > AXON_MAX_RANK)
    FAIL_FOR (SHAPE, UNSUPPORTED, "rank %d", r + q - 1);
  out[0].shape.rank = r + q - 1;
  for (gint i = 0; i < out[0].shape.rank; i++)
    out[0].shape.dims[i] = i < axis       ? in[0].shape.dims[i]
                           : i < axis + q ? in[1].shape.dims[i - axis]
                                          : in[0].shape.dims[i - q + 1];
  return TRUE;
}

static gboolean
eval_gather (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  gsize n = axon_tensor_get_numel (in[1]), row;
  guint8 *dst = axon_tensor_get_data (out[0]);
  AxonLines lines;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error))
    return FALSE;
  lines = axon_lines (x, axis);
  row = (gsize)lines.inner * axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gint64 at;
    if (!axon_check_index (axon_int_at (in[1], i), lines.n, &at, error))
      return FALSE;
    for (gsize o = 0; row > 0 && o < (gsize)lines.outer; o++)
      memcpy (dst + (o * n + i) * row,
              (guint8 *)axon_tensor_get_data (in[0]) + (o * (gsize)lines.n + (gsize)at) * row, row);
  }
  return TRUE;
}

static gboolean
infer_gather_elements (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                       GError **error)
{
  gint axis;
  out[0].dtype = in[0].dtype;
  out[0].shape = in[1].shape;
  if (!axon_check_index_type (in, 1, error))
    return FALSE;
  if (in[0].shape.rank < 0 || in[1].shape.rank < 0)
    return TRUE;
  if (in[0].shape.rank != in[1].shape.rank)
    FAIL (MODEL, "data has rank %d, indices have rank %d", in[0].shape.rank, in[1].shape.rank);
  return axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error);
}

static gboolean
eval_gather_elements (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                      GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *y = axon_tensor_get_shape (out[0]);
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  guint8 *dst = axon_tensor_get_data (out[0]);
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error))
    return FALSE;
  for (gint d = 0; d < x->rank; d++)
    if (d != axis && y->dims[d] > x->dims[d])
      FAIL (MODEL, "dimension %d: indices have %" G_GINT64_FORMAT ", data %" G_GINT64_FORMAT, d,
            y->dims[d], x->dims[d]);
  axon_row_strides (x, strides);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++) {
    gint64 at = 0, k;
    if (!axon_check_index (axon_int_at (in[1], i), x->dims[axis], &k, error))
      return FALSE;
    for (gint d = 0; d < x->rank; d++)
      at += (d == axis ? k : index[d]) * strides[d];
    memcpy (dst + i * size, (guint8 *)axon_tensor_get_data (in[0]) + (gsize)at * size, size);
    axon_next_index (index, y);
  }
  return TRUE;
}

/* indices[..., k]: tuples that address the dimensions behind batch_dims. */
static gboolean
infer_gather_nd (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape, *at = &in[1].shape;
  gint64 batch = axon_node_get_int (node, "batch_dims"), k;
  AxonShape shape = { 0 };
  out[0].dtype = in[0].dtype;
  if (x->rank < 0 || at->rank < 0 || (at->rank > 0 && at->dims[at->rank - 1] < 0))
    return TRUE;
  k = at->rank > 0 ? at->dims[at->rank - 1] : 0;
  if (at->rank < 1 || batch < 0 || batch >= at->rank || k < 1 || batch + k > x->rank)
    FAIL (MODEL,
          "tuples of %" G_GINT64_FORMAT
          " indices do not fit rank %d with batch_dims %" G_GINT64_FORMAT,
          k, x->rank, batch);
  if (at->rank - 1 + x->rank - batch - k > AXON_MAX_RANK)
    FAIL_FOR (SHAPE, UNSUPPORTED, "rank %" G_GINT64_FORMAT, at->rank - 1 + x->rank - batch - k);
  for (gint d = 0; d < at->rank - 1; d++)
    shape.dims[shape.rank++] = at->dims[d];
  for (gint64 d = batch + k; d < x->rank; d++)
    shape.dims[shape.rank++] = x->dims[d];
  for (gint d = 0; d < batch; d++)
    if (x->dims[d] >= 0 && at->dims[d] >= 0 && x->dims[d] != at->dims[d])
      FAIL (MODEL, "batch dimension %d differs", d);
  out[0].shape = shape;
  return TRUE;
}

/* Where in data the slice of tuple @t begins, in slices. */
gboolean
axon_tuple_offset (const AxonTensor *indices, gsize t, const AxonShape *x, gint64 batch,
                   gint64 batch_index, gint64 *offset, GError **error)
{
  gint rank = axon_tensor_get_shape (indices)->rank;
  gint64 k = axon_tensor_get_dim (indices, (guint)rank - 1);
  *offset = batch_index;
  for (gint64 i = 0; i < k; i++) {
    gint64 at;
    if (!axon_check_index (axon_int_at (indices, t * (gsize)k + (gsize)i), x->dims[batch + i], &at,
                           error))
      return FALSE;
    *offset = *offset * x->dims[batch + i] + at;
  }
  return TRUE;
}

static gboolean
eval_gather_nd (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *at = axon_tensor_get_shape (in[1]);
  gint64 batch = axon_node_get_int (node, "batch_dims"), k = at->dims[at->rank - 1];
  gsize row = axon_dtype_get_size (axon_tensor_get_dtype (in[0])), n = 1, per_batch = 1;
  guint8 *dst = axon_tensor_get_data (out[0]);
  for (gint64 d = batch + k; d < x->rank; d++)
    row *= (gsize)x->dims[d];
  for (gint d = 0; d < at->rank - 1; d++) {
    n *= (gsize)at->dims[d];
    per_batch *= d < batch ? 1 : (gsize)at->dims[d];
  }
  for (gsize t = 0; t < n && row > 0; t++) {
    gint64 offset;
    if (!axon_tuple_offset (in[1], t, x, batch, (gint64)(t / per_batch), &offset, error))
      return FALSE;
    memcpy (dst + t * row, (guint8 *)axon_tensor_get_data (in[0]) + (gsize)offset * row, row);
  }
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "Gather",
      .since = 1,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", 0)),
      .infer = infer_gather,
      .eval = eval_gather,
  },
  {
      .name = "GatherElements",
      .since = 11,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", 0)),
      .infer = infer_gather_elements,
      .eval = eval_gather_elements,
  },
  {
      .name = "GatherND",
      .since = 11,
      .inputs = { 2, 2 },
      .operands = ".n",
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("batch_dims", 0)),
      .infer = infer_gather_nd,
      .eval = eval_gather_nd,
  },
};

DEFINE_FAMILY (gather, rows)
