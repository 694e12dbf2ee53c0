/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonTensor: owns a reference on its memory; does not know devices. Any thread. */
#include <axon/axontensor.h>
#include "axontensor-private.h"
#include "../base/axondtype-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

G_DEFINE_BOXED_TYPE (AxonTensor, axon_tensor, axon_tensor_ref, axon_tensor_unref)

/* Of an empty shape: what kernels may walk along although nothing is there. */
static gboolean
is_walkable (const AxonShape *shape)
{
  gint64 steps = 1;
  for (gint i = 0; i < shape->rank; i++) {
    if (steps > G_MAXINT32 / MAX (shape->dims[i], 1))
      return FALSE;
    steps *= MAX (shape->dims[i], 1);
  }
  return TRUE;
}

gboolean
axon_tensor_checked_size (AxonDType dtype, const AxonShape *shape, gsize *n_bytes, GError **error)
{
  gint64 numel = axon_shape_get_numel (shape);
  gsize size = axon_dtype_get_size (dtype);
  if (size != 0 && numel >= 0 && (guint64)numel <= (guint64)G_MAXSSIZE / size &&
      (numel > 0 || is_walkable (shape))) {
    *n_bytes = (gsize)numel * size;
    return TRUE;
  }
  g_autofree gchar *text = axon_shape_to_string (shape);
  if (size == 0)
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("tensors of type %s cannot be stored"), axon_dtype_get_name (dtype));
  else
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("tensor shape %s is not static or too large"), text);
  return FALSE;
}

void
axon_shape_dense_strides (AxonDType dtype, const AxonShape *shape, gint64 *strides)
{
  gint64 stride = (gint64)axon_dtype_get_size (dtype);
  for (gint i = shape->rank - 1; i >= 0; i--) {
    strides[i] = stride;
    if (__builtin_mul_overflow (stride, MAX (shape->dims[i], 1), &stride))
      stride = 0; /* empty: nobody follows it */
  }
}

/* Takes over @memory. The tensor begins at its first byte and is dense. */
static AxonTensor *
tensor_new (AxonDType dtype, const AxonShape *shape, AxonMemory *memory)
{
  AxonTensor *t = g_new0 (AxonTensor, 1);
  g_atomic_ref_count_init (&t->ref_count);
  t->dtype = dtype;
  t->shape = *shape;
  t->numel = (gsize)axon_shape_get_numel (shape);
  t->memory = memory;
  t->dense = TRUE;
  axon_shape_dense_strides (dtype, shape, t->strides);
  if (!axon_memory_is_remote (memory))
    t->data = memory->klass->map (memory);
  return t;
}

/**
 * axon_tensor_new:
 * @dtype: the element type
 * @shape: a static shape
 * @error: return location
 *
 * Makes a tensor on new host memory, 64-byte aligned, elements undefined; strings and tensors in it
 * are %NULL and owned by it.
 *
 * Returns: (transfer full) (nullable): the tensor; %NULL with %AXON_ERROR_MEMORY where memory is
 *   exhausted, %AXON_ERROR_ARGUMENT or %AXON_ERROR_UNSUPPORTED for a shape or type that cannot be
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new (AxonDType dtype, const AxonShape *shape, GError **error)
{
  gsize n_bytes;
  AxonMemory *memory;
  g_return_val_if_fail (shape != NULL, NULL);
  if (!axon_tensor_checked_size (dtype, shape, &n_bytes, error))
    return NULL;
  memory = axon_dtype_is_boxed (dtype) ? axon_memory_new_boxed (n_bytes, dtype, error)
                                       : axon_memory_new_host_full (n_bytes, error);
  return memory ? tensor_new (dtype, shape, memory) : NULL;
}

/**
 * axon_tensor_new_wrapped: (skip)
 * @dtype: the element type
 * @shape: a static shape
 * @data: the elements; used in place, never freed
 * @n_bytes: bytes at @data; exactly what @dtype and @shape need
 * @notify: (nullable): called with @user_data when the last tensor on this memory is gone
 * @user_data: for @notify
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the tensor. On error @notify is not called.
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new_wrapped (AxonDType dtype, const AxonShape *shape, gpointer data, gsize n_bytes,
                         GDestroyNotify notify, gpointer user_data, GError **error)
{
  gsize needed;
  if (!axon_tensor_checked_size (dtype, shape, &needed, error))
    return NULL;
  if (needed != n_bytes) {
    g_autofree gchar *text = axon_shape_to_string (shape);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("tensor %s%s needs %zu bytes, got %zu"),
                 axon_dtype_get_name (dtype), text, needed, n_bytes);
    return NULL;
  }
  return tensor_new (dtype, shape, axon_memory_new_wrapped (data, n_bytes, notify, user_data));
}

/**
 * axon_tensor_new_from_bytes:
 * @dtype: the element type
 * @shape: a static shape
 * @bytes: exactly the elements, row-major, native byte order; not copied, so never written to
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the tensor, or %NULL with %AXON_ERROR_ARGUMENT
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new_from_bytes (AxonDType dtype, const AxonShape *shape, GBytes *bytes, GError **error)
{
  gsize n_bytes;
  gconstpointer data = g_bytes_get_data (bytes, &n_bytes);
  AxonTensor *tensor = axon_tensor_new_wrapped (dtype, shape, (gpointer)data, n_bytes,
                                                (GDestroyNotify)g_bytes_unref, bytes, error);
  if (tensor != NULL)
    g_bytes_ref (bytes);
  return tensor;
}

/**
 * axon_tensor_new_i64: (skip)
 * @values: (array length=n_values): the elements
 * @n_values: how many
 *
 * Returns: (transfer full): a one-dimensional i64 tensor
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new_i64 (const gint64 *values, gsize n_values)
{
  gint64 *copy = g_memdup2 (values, n_values * sizeof *values);
  AxonShape shape = AXON_SHAPE ((gint64)n_values);
  return tensor_new (AXON_DTYPE_I64, &shape,
                     axon_memory_new_wrapped (copy, n_values * sizeof *values, g_free, copy));
}

/**
 * axon_tensor_reshape:
 * @tensor: a tensor
 * @shape: a static shape with as many elements
 *
 * Returns: (transfer full): a tensor of @shape on the same memory, which must be contiguous
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_reshape (AxonTensor *tensor, const AxonShape *shape)
{
  AxonTensor *view;
  g_return_val_if_fail (axon_shape_get_numel (shape) == (gint64)tensor->numel, NULL);
  g_return_val_if_fail (tensor->dense, NULL);
  view = tensor_new (tensor->dtype, shape, axon_memory_ref (tensor->memory));
  view->data = tensor->data;
  view->offset = tensor->offset;
  return view;
}

/**
 * axon_tensor_convert:
 * @tensor: a tensor
 * @dtype: the wanted element type
 * @error: return location
 *
 * Returns: (transfer full) (nullable): a tensor with the elements converted, saturating to
 * integers;
 *   @tensor itself, with a reference, where it has @dtype already
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_convert (AxonTensor *tensor, AxonDType dtype, GError **error)
{
  g_autoptr (AxonTensor) out = NULL;
  if (tensor->dtype == dtype)
    return axon_tensor_ref (tensor);
  out = axon_tensor_new (dtype, &tensor->shape, error);
  return out != NULL && axon_tensor_convert_to (tensor, out, error) ? g_steal_pointer (&out) : NULL;
}

/**
 * axon_tensor_convert_to:
 * @tensor: a tensor
 * @destination: a tensor of the same shape, in host memory, its elements side by side
 * @error: return location
 *
 * Writes the elements of @tensor to @destination, converted to its type, saturating to integers.
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where @destination is another
 *
 * Since: 1.0
 */
gboolean
axon_tensor_convert_to (AxonTensor *tensor, AxonTensor *destination, GError **error)
{
  AxonDType dtype = destination->dtype;
  if (!axon_shape_equal (&tensor->shape, &destination->shape) || !destination->dense ||
      destination->data == NULL) {
    g_autofree gchar *expected = axon_shape_to_string (&tensor->shape);
    g_autofree gchar *got = axon_shape_to_string (&destination->shape);
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("cannot convert into %s%s: expected a contiguous tensor in host memory of shape %s"),
        axon_dtype_get_name (dtype), got, expected);
    return FALSE;
  }
  if (tensor->dense && tensor->data != NULL) {
    axon_dtype_convert (tensor->dtype, tensor->data, dtype, destination->data, tensor->numel);
    return TRUE;
  }
  for (gsize i = 0; i < tensor->numel; i++)
    axon_dtype_store (dtype, destination->data, i, axon_tensor_get_value (tensor, i));
  return TRUE;
}

/**
 * axon_tensor_ref:
 * @tensor: a tensor
 *
 * Returns: (transfer full): @tensor
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_ref (AxonTensor *tensor)
{
  g_atomic_ref_count_inc (&tensor->ref_count);
  return tensor;
}

/**
 * axon_tensor_unref:
 * @tensor: (transfer full): a tensor
 *
 * Since: 1.0
 */
void
axon_tensor_unref (AxonTensor *tensor)
{
  if (!g_atomic_ref_count_dec (&tensor->ref_count))
    return;
  axon_memory_unref (tensor->memory);
  g_free (tensor);
}

/**
 * axon_tensor_get_dtype:
 * @tensor: a tensor
 *
 * Returns: the element type
 *
 * Since: 1.0
 */
AxonDType
axon_tensor_get_dtype (const AxonTensor *tensor)
{
  return tensor->dtype;
}

/**
 * axon_tensor_get_shape:
 * @tensor: a tensor
 *
 * Returns: (transfer none): the shape
 *
 * Since: 1.0
 */
const AxonShape *
axon_tensor_get_shape (const AxonTensor *tensor)
{
  return &tensor->shape;
}

/**
 * axon_tensor_get_dim:
 * @tensor: a tensor
 * @index: a dimension, outermost first
 *
 * Returns: that dimension, 1 beyond the rank
 *
 * Since: 1.0
 */
gint64
axon_tensor_get_dim (const AxonTensor *tensor, guint index)
{
  return (gint)index < tensor->shape.rank ? tensor->shape.dims[index] : 1;
}

/**
 * axon_tensor_get_numel:
 * @tensor: a tensor
 *
 * Returns: the number of elements
 *
 * Since: 1.0
 */
gsize
axon_tensor_get_numel (const AxonTensor *tensor)
{
  return tensor->numel;
}

/**
 * axon_tensor_get_n_bytes:
 * @tensor: a tensor
 *
 * Returns: the size of the elements in bytes
 *
 * Since: 1.0
 */
gsize
axon_tensor_get_n_bytes (const AxonTensor *tensor)
{
  return tensor->numel * axon_dtype_get_size (tensor->dtype);
}

/**
 * axon_tensor_get_data: (skip)
 * @tensor: a tensor
 *
 * Returns: (transfer none) (nullable): the first element; the others follow row-major where
 *   axon_tensor_is_contiguous(), else by the strides. %NULL for memory of a device.
 *
 * Since: 1.0
 */
gpointer
axon_tensor_get_data (const AxonTensor *tensor)
{
  return tensor->data;
}

/**
 * axon_tensor_get_bytes:
 * @tensor: a tensor
 *
 * Returns: (transfer full) (nullable): the elements, row-major; without a copy where they lie so in
 * host memory already. %NULL if a device or memory failed.
 *
 * Since: 1.0
 */
GBytes *
axon_tensor_get_bytes (AxonTensor *tensor)
{
  AxonTensor *host = axon_tensor_to_host (tensor, NULL);
  return host ? g_bytes_new_with_free_func (host->data, axon_tensor_get_n_bytes (host),
                                            (GDestroyNotify)axon_tensor_unref, host)
              : NULL;
}

/**
 * axon_tensor_is_shared: (skip)
 * @tensor: a tensor
 *
 * Returns: %TRUE if another reference on the tensor or on its memory exists
 *
 * Since: 1.0
 */
gboolean
axon_tensor_is_shared (const AxonTensor *tensor)
{
  return !g_atomic_ref_count_compare ((gatomicrefcount *)&tensor->ref_count, 1) ||
         axon_memory_is_shared (tensor->memory);
}

/**
 * axon_tensor_get_value:
 * @tensor: a tensor
 * @index: an element, counted row-major
 *
 * Returns: the element as a double; slow, for tests and messages
 *
 * Since: 1.0
 */
gdouble
axon_tensor_get_value (const AxonTensor *tensor, gsize index)
{
  gint64 at = 0;
  g_return_val_if_fail (index < tensor->numel && tensor->data != NULL, 0);
  if (tensor->dense)
    return axon_dtype_load (tensor->dtype, tensor->data, index);
  for (gint i = tensor->shape.rank - 1; i >= 0; i--) {
    at += (gint64)(index % (gsize)tensor->shape.dims[i]) * tensor->strides[i];
    index /= (gsize)tensor->shape.dims[i];
  }
  return axon_dtype_load (tensor->dtype, (const guint8 *)tensor->data + at, 0);
}

AxonTensor *
axon_tensor_new_with_memory (AxonDType dtype, const AxonShape *shape, AxonMemory *memory,
                             GError **error)
{
  gsize n_bytes;
  if (!axon_tensor_checked_size (dtype, shape, &n_bytes, error)) {
    axon_memory_unref (memory);
    return NULL;
  }
  g_assert (n_bytes <= memory->n_bytes);
  return tensor_new (dtype, shape, memory);
}

static void
append_box (GString *s, const AxonTensor *tensor, gsize i)
{
  g_autofree gchar *text = NULL;
  if (tensor->dtype == AXON_DTYPE_STRING)
    text = g_strescape (axon_tensor_get_string (tensor, i), NULL);
  else
    text = axon_tensor_to_string (axon_tensor_get_item (tensor, i), 4);
  g_string_append_printf (s, tensor->dtype == AXON_DTYPE_STRING ? " \"%s\"" : " (%s)", text);
}

/**
 * axon_tensor_to_string:
 * @tensor: a tensor
 * @max_values: how many elements to print at most
 *
 * Returns: (transfer full): text such as `f32[2,2] 1 2 3 4`
 *
 * Since: 1.0
 */
gchar *
axon_tensor_to_string (const AxonTensor *tensor, guint max_values)
{
  g_autofree gchar *shape = axon_shape_to_string (&tensor->shape);
  g_autoptr (GString) s = g_string_new (axon_dtype_get_name (tensor->dtype));
  g_string_append (s, shape);
  for (gsize i = 0; tensor->data != NULL && i < MIN (tensor->numel, max_values); i++) {
    gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
    if (axon_dtype_is_boxed (tensor->dtype)) {
      append_box (s, tensor, i);
      continue;
    }
    g_string_append_printf (
        s, " %s",
        g_ascii_formatd (buffer, sizeof buffer, "%.6g", axon_tensor_get_value (tensor, i)));
  }
  if (tensor->numel > max_values)
    g_string_append (s, " ...");
  return g_string_free (g_steal_pointer (&s), FALSE);
}
