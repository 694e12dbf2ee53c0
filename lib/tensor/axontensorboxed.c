/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors whose elements are owned: strings, and tensors (ONNX's sequences and optionals). They
 * live in host memory that frees its elements; a copy copies strings and shares tensors. */
#include "axontensor-private.h"
#include "axontensorview-private.h"
#include <axon/plugin/axonwork.h>

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

typedef struct {
  gpointer *elements;
  gsize n;
  AxonDType dtype;
} Boxes;

static void
free_boxes (gpointer data)
{
  Boxes *boxes = data;
  for (gsize i = 0; i < boxes->n; i++)
    if (boxes->dtype == AXON_DTYPE_STRING)
      g_free (boxes->elements[i]);
    else
      g_clear_pointer ((AxonTensor **)&boxes->elements[i], axon_tensor_unref);
  axon_scratch_free (boxes->elements);
  g_free (boxes);
}

AxonMemory *
axon_memory_new_boxed (gsize n_bytes, AxonDType dtype, GError **error)
{
  gpointer *elements = axon_scratch_new0 (n_bytes, 1, error);
  Boxes *boxes;
  if (elements == NULL)
    return NULL;
  boxes = g_new (Boxes, 1);
  *boxes = (Boxes){ elements, n_bytes / sizeof (gpointer), dtype };
  return axon_memory_new_wrapped (elements, n_bytes, free_boxes, boxes);
}

static gpointer
copy_box (AxonDType dtype, gpointer element)
{
  if (element == NULL)
    return NULL;
  return dtype == AXON_DTYPE_STRING ? (gpointer)g_strdup (element)
                                    : (gpointer)axon_tensor_ref (element);
}

/* Element-wise copy between dense tensors; what @to held is released. */
void
axon_tensor_copy_boxes (const AxonTensor *from, AxonTensor *to)
{
  gpointer *a = from->data, *b = to->data;
  for (gsize i = 0; i < from->numel; i++) {
    gpointer old = b[i];
    b[i] = copy_box (from->dtype, a[i]);
    if (old != NULL && from->dtype == AXON_DTYPE_STRING)
      g_free (old);
    else if (old != NULL)
      axon_tensor_unref (old);
  }
}

/* A tensor whose elements are owned by somebody else: where kernels move elements as bytes. */
AxonTensor *
axon_tensor_new_borrowing (AxonDType dtype, const AxonShape *shape, GError **error)
{
  gsize n_bytes;
  gpointer *elements;
  if (!axon_tensor_checked_size (dtype, shape, &n_bytes, error))
    return NULL;
  elements = calloc (MAX (n_bytes, 1), 1);
  if (elements == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("out of memory"));
    return NULL;
  }
  return axon_tensor_new_wrapped (dtype, shape, elements, n_bytes, free, elements, error);
}

/* The same elements, owned. */
AxonTensor *
axon_tensor_adopt (AxonTensor *borrowing, GError **error)
{
  AxonTensor *own = axon_tensor_new (borrowing->dtype, &borrowing->shape, error);
  if (own != NULL)
    axon_tensor_copy_boxes (borrowing, own);
  return own;
}

/**
 * axon_tensor_new_strings:
 * @shape: a static shape
 * @strings: (array length=n_strings) (element-type utf8): the elements, row-major; copied
 * @n_strings: how many; as many as @shape has
 * @error: return location
 *
 * Returns: (transfer full) (nullable): a tensor of strings
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new_strings (const AxonShape *shape, const gchar *const *strings, gsize n_strings,
                         GError **error)
{
  AxonTensor *tensor = axon_tensor_new (AXON_DTYPE_STRING, shape, error);
  if (tensor != NULL && tensor->numel != n_strings) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("expected %zu strings, got %zu"),
                 tensor->numel, n_strings);
    g_clear_pointer (&tensor, axon_tensor_unref);
  }
  for (gsize i = 0; tensor != NULL && i < n_strings; i++)
    ((gchar **)tensor->data)[i] = g_strdup (strings[i]);
  return tensor;
}

/**
 * axon_tensor_get_string:
 * @tensor: a dense tensor of strings
 * @index: an element, counted row-major
 *
 * Returns: (transfer none): the element
 *
 * Since: 1.0
 */
const gchar *
axon_tensor_get_string (const AxonTensor *tensor, gsize index)
{
  const gchar *text;
  g_return_val_if_fail (tensor->dtype == AXON_DTYPE_STRING && index < tensor->numel, NULL);
  text = ((gchar **)tensor->data)[index];
  return text ? text : "";
}

/**
 * axon_tensor_set_string:
 * @tensor: a dense tensor of strings
 * @index: an element, counted row-major
 * @string: the new element; copied
 *
 * Since: 1.0
 */
void
axon_tensor_set_string (AxonTensor *tensor, gsize index, const gchar *string)
{
  g_return_if_fail (tensor->dtype == AXON_DTYPE_STRING && index < tensor->numel);
  g_free (((gchar **)tensor->data)[index]);
  ((gchar **)tensor->data)[index] = g_strdup (string);
}

static AxonTensor *
new_list (AxonDType dtype, AxonTensor *const *items, gsize n_items)
{
  AxonShape shape = AXON_SHAPE ((gint64)n_items);
  AxonTensor *tensor = axon_tensor_new (dtype, &shape, NULL);
  for (gsize i = 0; tensor != NULL && i < n_items; i++)
    ((AxonTensor **)tensor->data)[i] = axon_tensor_ref (items[i]);
  return tensor;
}

/**
 * axon_tensor_new_sequence:
 * @items: (array length=n_items) (transfer none): tensors; references are taken
 * @n_items: how many
 *
 * Returns: (transfer full): a sequence, which is a tensor of tensors
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new_sequence (AxonTensor *const *items, gsize n_items)
{
  return new_list (AXON_DTYPE_SEQUENCE, items, n_items);
}

/**
 * axon_tensor_new_optional: (constructor)
 * @item: (nullable): what it holds; a reference is taken
 *
 * Returns: (transfer full): an optional, which is a tensor of one tensor or none
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_new_optional (AxonTensor *item)
{
  return new_list (AXON_DTYPE_OPTIONAL, &item, item ? 1 : 0);
}

/**
 * axon_tensor_get_item:
 * @tensor: a sequence or an optional
 * @index: which item; below axon_tensor_get_numel()
 *
 * Returns: (transfer none): the tensor there
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_get_item (const AxonTensor *tensor, gsize index)
{
  g_return_val_if_fail (tensor->dtype >= AXON_DTYPE_SEQUENCE && index < tensor->numel, NULL);
  return ((AxonTensor **)tensor->data)[index];
}
