/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gather (1, 11, 13). Indices come from data: every one is checked. */
#include "ops-private.h"

#include <string.h>

static gboolean
infer_gather (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint axis, r = in[0].shape.rank, q = in[1].shape.rank;
  out[0].dtype = in[0].dtype;
  if (in[1].dtype != AXON_DTYPE_I64 && in[1].dtype != AXON_DTYPE_I32)
    FAIL (MODEL, "indices: expected i32 or i64, got %s", axon_dtype_get_name (in[1].dtype));
  if (r < 0 || q < 0)
    return TRUE;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), r, &axis, error))
    return FALSE;
  if (r + q - 1 > AXON_MAX_RANK)
    FAIL (UNSUPPORTED, "rank %d", r + q - 1);
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
  gsize outer = 1, row = axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  gsize n = axon_tensor_get_numel (in[1]);
  guint8 *dst = axon_tensor_get_data (out[0]);
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error))
    return FALSE;
  for (gint d = 0; d < x->rank; d++)
    if (d != axis)
      *(d < axis ? &outer : &row) *= (gsize)x->dims[d];
  for (gsize i = 0; i < n; i++) {
    gint64 at =
        axon_dtype_load_int (axon_tensor_get_dtype (in[1]), axon_tensor_get_data (in[1]), i);
    if (at < -x->dims[axis] || at >= x->dims[axis])
      FAIL (MODEL, "index %" G_GINT64_FORMAT " is outside dimension %" G_GINT64_FORMAT, at,
            x->dims[axis]);
    at += at < 0 ? x->dims[axis] : 0;
    for (gsize o = 0; row > 0 && o < outer; o++)
      memcpy (dst + (o * n + i) * row,
              (guint8 *)axon_tensor_get_data (in[0]) + (o * (gsize)x->dims[axis] + (gsize)at) * row,
              row);
  }
  return TRUE;
}

static const AxonOp rows[] = {
  { "Gather", NULL, 1, 0, 2, 2, 1, 1, 0, 1, ATTRS (ATTR_I ("axis", 0)), infer_gather, eval_gather,
    AXON_OP_NONE },
};

DEFINE_FAMILY (gather, rows)
