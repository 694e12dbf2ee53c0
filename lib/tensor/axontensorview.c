/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors that are not dense, or not in host memory: regions, strides, copies. */
#include "axontensor-private.h"
#include "axontensorview-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

static gboolean
is_dense (AxonDType dtype, const AxonShape *shape, const gint64 *strides)
{
  gint64 dense[AXON_MAX_RANK];
  axon_shape_dense_strides (dtype, shape, dense);
  for (gint i = 0; i < shape->rank; i++)
    if (shape->dims[i] > 1 && strides[i] != dense[i])
      return FALSE;
  return TRUE;
}

static AxonTensor *
view_new (AxonDType dtype, const AxonShape *shape, const gint64 *strides, AxonMemory *memory,
          gpointer data, gsize offset)
{
  AxonTensor *t = g_new0 (AxonTensor, 1);
  g_atomic_ref_count_init (&t->ref_count);
  t->dtype = dtype;
  t->shape = *shape;
  t->numel = (gsize)axon_shape_get_numel (shape);
  memcpy (t->strides, strides, (gsize)shape->rank * sizeof *strides);
  t->dense = is_dense (dtype, shape, strides);
  t->memory = memory;
  t->data = data;
  t->offset = offset;
  return t;
}

/* Bytes from the first element to the end of the last one. */
static gboolean
extent (AxonDType dtype, const AxonShape *shape, const gint64 *strides, gsize *n_bytes)
{
  gsize total = axon_dtype_get_size (dtype);
  *n_bytes = 0;
  for (gint i = 0; i < shape->rank; i++) {
    gsize step;
    if (shape->dims[i] == 0)
      return TRUE;
    if (strides[i] < 0 ||
        !g_size_checked_mul (&step, (gsize)strides[i], (gsize)shape->dims[i] - 1) ||
        !g_size_checked_add (&total, total, step))
      return FALSE;
  }
  *n_bytes = total;
  return TRUE;
}

/**
 * axon_tensor_new_strided: (skip)
 * @dtype: the element type
 * @shape: a static shape
 * @strides: bytes from one element to the next, per dimension; not negative
 * @data: the first element; used in place, never freed
 * @n_bytes: bytes at @data; at least what @shape and @strides reach
 * @notify: (nullable): called with @user_data when the last tensor on this memory is gone
 * @user_data: for @notify
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the tensor. On error @notify is not called.
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new_strided (AxonDType dtype, const AxonShape *shape, const gint64 *strides,
                         gpointer data, gsize n_bytes, GDestroyNotify notify, gpointer user_data,
                         GError **error)
{
  gsize size, needed;
  if (!axon_tensor_checked_size (dtype, shape, &size, error))
    return NULL;
  if (!extent (dtype, shape, strides, &needed) || needed > n_bytes) {
    g_autofree gchar *text = axon_shape_to_string (shape);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("tensor %s%s: the strides reach beyond %zu bytes"), axon_dtype_get_name (dtype),
                 text, n_bytes);
    return NULL;
  }
  return view_new (dtype, shape, strides,
                   axon_memory_new_wrapped (data, n_bytes, notify, user_data), data, 0);
}

static gboolean
check_region (const AxonTensor *tensor, const AxonShape *begin, const AxonShape *size,
              GError **error)
{
  gboolean ok = begin->rank == tensor->shape.rank && size->rank == tensor->shape.rank;
  for (gint i = 0; ok && i < size->rank; i++)
    ok = begin->dims[i] >= 0 && size->dims[i] >= 0 && begin->dims[i] <= tensor->shape.dims[i] &&
         size->dims[i] <= tensor->shape.dims[i] - begin->dims[i];
  if (!ok) {
    g_autofree gchar *b = axon_shape_to_string (begin);
    g_autofree gchar *s = axon_shape_to_string (size);
    g_autofree gchar *t = axon_shape_to_string (&tensor->shape);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("a region of size %s at %s does not lie in a tensor of shape %s"), s, b, t);
  }
  return ok;
}

/**
 * axon_tensor_new_roi:
 * @tensor: a tensor
 * @begin: first element of the region, one number per dimension
 * @size: size of the region
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the region as a tensor on the same memory, or %NULL with
 *   %AXON_ERROR_ARGUMENT where it does not lie in @tensor
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new_roi (AxonTensor *tensor, const AxonShape *begin, const AxonShape *size,
                     GError **error)
{
  gint64 at = 0;
  if (!check_region (tensor, begin, size, error))
    return NULL;
  for (gint i = 0; i < size->rank; i++)
    at += begin->dims[i] * tensor->strides[i];
  return view_new (tensor->dtype, size, tensor->strides, axon_memory_ref (tensor->memory),
                   tensor->data ? (guint8 *)tensor->data + at : NULL, tensor->offset + (gsize)at);
}

/**
 * axon_tensor_get_stride:
 * @tensor: a tensor
 * @index: a dimension, outermost first
 *
 * Returns: bytes from one element to the next along that dimension
 *
 * Since: 1.0
 */
gint64
axon_tensor_get_stride (const AxonTensor *tensor, guint index)
{
  g_return_val_if_fail ((gint)index < tensor->shape.rank, 0);
  return tensor->strides[index];
}

/**
 * axon_tensor_is_contiguous:
 * @tensor: a tensor
 *
 * Returns: %TRUE if the elements lie row-major without gaps
 *
 * Since: 1.0
 */
gboolean
axon_tensor_is_contiguous (const AxonTensor *tensor)
{
  return tensor->dense;
}

/**
 * axon_tensor_is_remote:
 * @tensor: a tensor
 *
 * Returns: %TRUE if the elements lie in memory of a device: they have no address, and
 *   axon_tensor_copy_to() reads them
 *
 * Since: 1.0
 */
gboolean
axon_tensor_is_remote (const AxonTensor *tensor)
{
  return axon_memory_is_remote (tensor->memory);
}

AxonMemory *
axon_tensor_get_memory (const AxonTensor *tensor, gsize *offset)
{
  if (offset != NULL)
    *offset = tensor->offset;
  return tensor->memory;
}

/* A remote tensor that the host reaches all the same, as an ordinary one on the same memory; NULL
 * where it does not. For the device whose memory it is. */
AxonTensor *
axon_tensor_map_remote (AxonTensor *tensor)
{
  guint8 *base = tensor->memory->klass->map (tensor->memory);
  return base ? view_new (tensor->dtype, &tensor->shape, tensor->strides,
                          axon_memory_ref (tensor->memory), base + tensor->offset, tensor->offset)
              : NULL;
}

static gboolean
move_run (AxonTensor *from, gint64 from_at, AxonTensor *to, gint64 to_at, gsize n_bytes,
          GError **error)
{
  const AxonMemoryClass *source = from->memory->klass, *sink = to->memory->klass;
  guint8 *a = from->data ? (guint8 *)from->data + from_at : NULL;
  guint8 *b = to->data ? (guint8 *)to->data + to_at : NULL;
  g_autofree guint8 *between = NULL;
  if (a != NULL && b != NULL) {
    memcpy (b, a, n_bytes);
    return TRUE;
  }
  if (a != NULL)
    return sink->write (to->memory, to->offset + (gsize)to_at, a, n_bytes, error);
  if (b == NULL)
    b = between = g_malloc (n_bytes);
  return source->read (from->memory, from->offset + (gsize)from_at, b, n_bytes, error) &&
         (between == NULL ||
          sink->write (to->memory, to->offset + (gsize)to_at, between, n_bytes, error));
}

/* Dimensions from @dim on; the innermost ones that are dense in both tensors move in one piece. */
static gboolean
copy_from_dim (AxonTensor *from, gint64 from_at, AxonTensor *to, gint64 to_at, gint dim,
               gint dense_from, GError **error)
{
  gsize n_bytes = axon_dtype_get_size (from->dtype);
  if (dim < dense_from) {
    for (gint64 i = 0; i < from->shape.dims[dim]; i++)
      if (!copy_from_dim (from, from_at + i * from->strides[dim], to, to_at + i * to->strides[dim],
                          dim + 1, dense_from, error))
        return FALSE;
    return TRUE;
  }
  for (gint i = dim; i < from->shape.rank; i++)
    n_bytes *= (gsize)from->shape.dims[i];
  return n_bytes == 0 || move_run (from, from_at, to, to_at, n_bytes, error);
}

/**
 * axon_tensor_copy_to:
 * @tensor: a tensor
 * @destination: a tensor of the same type and shape, with whatever strides and memory
 * @error: return location
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where type or shape differ
 *
 * Since: 1.0
 */
gboolean
axon_tensor_copy_to (AxonTensor *tensor, AxonTensor *destination, GError **error)
{
  gint64 dense[AXON_MAX_RANK];
  gint from = tensor->shape.rank;
  if (tensor->dtype != destination->dtype ||
      !axon_shape_equal (&tensor->shape, &destination->shape)) {
    g_autofree gchar *a = axon_shape_to_string (&tensor->shape);
    g_autofree gchar *b = axon_shape_to_string (&destination->shape);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("cannot copy %s%s to %s%s"),
                 axon_dtype_get_name (tensor->dtype), a, axon_dtype_get_name (destination->dtype),
                 b);
    return FALSE;
  }
  if (axon_dtype_is_boxed (tensor->dtype) && (!tensor->dense || !destination->dense)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("regions of strings cannot be copied"));
    return FALSE;
  }
  if (axon_dtype_is_boxed (tensor->dtype)) {
    axon_tensor_copy_boxes (tensor, destination);
    return TRUE;
  }
  axon_shape_dense_strides (tensor->dtype, &tensor->shape, dense);
  while (from > 0 && tensor->strides[from - 1] == dense[from - 1] &&
         destination->strides[from - 1] == dense[from - 1])
    from--;
  return copy_from_dim (tensor, 0, destination, 0, 0, from, error);
}

/**
 * axon_tensor_to_host:
 * @tensor: a tensor
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the elements row-major in host memory: @tensor itself where
 *   they lie so already, else a copy
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_to_host (AxonTensor *tensor, GError **error)
{
  g_autoptr (AxonTensor) copy = NULL;
  if (tensor->dense && tensor->data != NULL)
    return axon_tensor_ref (tensor);
  copy = axon_tensor_new (tensor->dtype, &tensor->shape, error);
  if (copy == NULL || !axon_tensor_copy_to (tensor, copy, error))
    return NULL;
  return g_steal_pointer (&copy);
}
