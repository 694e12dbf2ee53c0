/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ConstantOfShape (9), Expand (8, 13), Tile (1, 6, 13): elements that are repeated. */
#include "ops-private.h"

#include <string.h>

/* The shape that input @index holds. */
static gboolean
shape_from_input (const AxonTypeInfo *in, guint index, AxonShape *shape, GError **error)
{
  gint64 dims[AXON_MAX_RANK];
  guint n;
  *shape = AXON_SHAPE_UNKNOWN;
  if (in[index].value == NULL)
    return TRUE;
  if (!axon_const_ints (&in[index], dims, AXON_MAX_RANK, &n))
    FAIL_FOR (SHAPE, UNSUPPORTED, "a shape of more than %d dimensions", AXON_MAX_RANK);
  shape->rank = (gint)n;
  for (guint i = 0; i < n; i++) {
    if (dims[i] < 0)
      FAIL (MODEL, "dimension %u is negative", i);
    shape->dims[i] = dims[i];
  }
  return TRUE;
}

static gboolean
infer_constant_of_shape (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                         GError **error)
{
  const AxonAttr *attr = axon_node_find_attr (node, "value");
  if (attr != NULL && axon_tensor_get_numel (attr->tensor) != 1)
    FAIL (MODEL, "attribute \"value\" must have one element");
  out[0].dtype = attr ? axon_tensor_get_dtype (attr->tensor) : AXON_DTYPE_F32;
  return shape_from_input (in, 0, &out[0].shape, error);
}

static gboolean
eval_constant_of_shape (const AxonNode *node, G_GNUC_UNUSED AxonTensor *const *in,
                        AxonTensor *const *out, G_GNUC_UNUSED GError **error)
{
  const AxonAttr *attr = axon_node_find_attr (node, "value");
  gsize n = axon_tensor_get_numel (out[0]);
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (out[0]));
  guint8 *data = axon_tensor_get_data (out[0]);
  for (gsize i = 0; i < n && WANTED (i); i++)
    if (attr != NULL)
      memcpy (data + i * size, axon_tensor_get_data (attr->tensor), size);
    else
      memset (data + i * size, 0, size);
  return TRUE;
}

static gboolean
infer_expand (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
              GError **error)
{
  AxonShape target;
  out[0].dtype = in[0].dtype;
  if (!shape_from_input (in, 1, &target, error))
    return FALSE;
  if (!axon_shape_broadcast (&in[0].shape, &target, &out[0].shape))
    FAIL (MODEL, "the input cannot be broadcast to the shape");
  return TRUE;
}

static gboolean
eval_expand (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
             G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (out[0]);
  gint64 strides[AXON_MAX_RANK];
  axon_broadcast_strides (axon_tensor_get_shape (in[0]), shape, strides);
  axon_strided_copy (axon_tensor_get_data (out[0]), axon_tensor_get_data (in[0]),
                     axon_dtype_get_size (axon_tensor_get_dtype (in[0])), shape, strides);
  return TRUE;
}

/* Tile 1: so many copies along one axis. */
static gboolean
infer_tile_axis (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 count, wanted;
  gboolean known =
      axon_scalar_int (node, in, 1, 1, &count) && axon_scalar_int (node, in, 2, 0, &wanted);
  gint axis;
  axon_infer_same (node, in, out, error);
  if (in[0].shape.rank < 0)
    return TRUE;
  for (gint d = 0; !known && d < in[0].shape.rank; d++)
    out[0].shape.dims[d] = -1;
  if (!known)
    return TRUE;
  if (!axon_check_axis (wanted, in[0].shape.rank, &axis, error))
    return FALSE;
  if (count < 0 ||
      (in[0].shape.dims[axis] >= 0 &&
       __builtin_mul_overflow (in[0].shape.dims[axis], count, &out[0].shape.dims[axis])))
    FAIL (MODEL, "%" G_GINT64_FORMAT " tiles are out of range", count);
  return TRUE;
}

/* Tile 6, 13. */
static gboolean
infer_tile (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
            GError **error)
{
  AxonShape repeats;
  out[0].dtype = in[0].dtype;
  if (!shape_from_input (in, 1, &repeats, error))
    return FALSE;
  if (repeats.rank < 0 || in[0].shape.rank < 0)
    return TRUE;
  if (repeats.rank != in[0].shape.rank)
    FAIL (MODEL, "expected %d repeats, got %d", in[0].shape.rank, repeats.rank);
  out[0].shape = in[0].shape;
  for (gint i = 0; i < repeats.rank; i++)
    if (in[0].shape.dims[i] >= 0 &&
        __builtin_mul_overflow (in[0].shape.dims[i], repeats.dims[i], &out[0].shape.dims[i]))
      FAIL (MODEL, "dimension %d is too large", i);
  return TRUE;
}

static gboolean
eval_tile (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
           G_GNUC_UNUSED GError **error)
{
  const AxonShape *from = axon_tensor_get_shape (in[0]), *to = axon_tensor_get_shape (out[0]);
  gint64 strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  gsize n = axon_tensor_get_numel (out[0]);
  guint8 *dst = axon_tensor_get_data (out[0]), *src = axon_tensor_get_data (in[0]);
  axon_row_strides (from, strides);
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gint64 at = 0;
    for (gint d = 0; d < to->rank; d++)
      at += index[d] % from->dims[d] * strides[d];
    memcpy (dst + i * size, src + (gsize)at * size, size);
    for (gint d = to->rank - 1; d >= 0 && ++index[d] == to->dims[d]; d--)
      index[d] = 0;
  }
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "ConstantOfShape",
      .since = 9,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPE_BIT (AXON_DTYPE_I64),
      .same_type_inputs = 1,
      .attrs = ATTRS ({ .name = "value", .type = AXON_ATTR_TENSOR }),
      .infer = infer_constant_of_shape,
      .eval = eval_constant_of_shape,
  },
  {
      .name = "Expand",
      .since = 8,
      .inputs = { 2, 2 },
      .operands = ".l",
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .infer = infer_expand,
      .eval = eval_expand,
  },
  {
      .name = "Tile",
      .since = 1,
      .until = 5,
      .form = AXON_FORM_TILE_AXIS,
      .inputs = { 3, 3 },
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .infer = infer_tile_axis,
      .eval = eval_tile,
  },
  {
      .name = "Tile",
      .since = 6,
      .inputs = { 2, 2 },
      .operands = ".l",
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .infer = infer_tile,
      .eval = eval_tile,
  },
};

DEFINE_FAMILY (repeat, rows)
