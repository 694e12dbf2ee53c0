/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CenterCropPad (18). */
#include "ops-private.h"

#include <string.h>

static gboolean
infer_center (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 shape[AXON_MAX_RANK];
  guint n, n_axes;
  const gint64 *axes = axon_node_get_ints (node, "axes", &n_axes);
  axon_infer_same (node, in, out, error);
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!axon_const_ints (&in[1], shape, AXON_MAX_RANK, &n)) {
    for (gint d = 0; d < in[0].shape.rank; d++)
      out[0].shape.dims[d] = -1;
    return TRUE;
  }
  if (n != (axes ? n_axes : (guint)in[0].shape.rank))
    FAIL (MODEL, "shape has %u values, expected %u", n, axes ? n_axes : (guint)in[0].shape.rank);
  for (guint i = 0; i < n; i++) {
    gint axis = (gint)i;
    if (axes && !axon_check_axis (axes[i], in[0].shape.rank, &axis, error))
      return FALSE;
    if (shape[i] < 0)
      FAIL (MODEL, "shape: dimension %u is negative", i);
    out[0].shape.dims[axis] = shape[i];
  }
  return TRUE;
}

static gboolean
eval_center (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
             G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *y = axon_tensor_get_shape (out[0]);
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  guint8 *dst = axon_tensor_get_data (out[0]);
  axon_row_strides (x, strides);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++) {
    gint64 at = 0;
    for (gint d = 0; at >= 0 && d < x->rank; d++) {
      gint64 more = y->dims[d] - x->dims[d]; /* both halves round down */
      gint64 c = index[d] - (more >= 0 ? more / 2 : -(-more / 2));
      at = c < 0 || c >= x->dims[d] ? -1 : at + c * strides[d];
    }
    if (at < 0)
      memset (dst + i * size, 0, size);
    else
      memcpy (dst + i * size, (guint8 *)axon_tensor_get_data (in[0]) + (gsize)at * size, size);
    axon_next_index (index, y);
  }
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "CenterCropPad",
      .since = 18,
      .inputs = { 2, 2 },
      .operands = ".n",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_INTS ("axes")),
      .infer = infer_center,
      .eval = eval_center,
  },
};

DEFINE_FAMILY (centercroppad, rows)
