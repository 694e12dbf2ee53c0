/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values in files of their own (TensorProto, SequenceProto, OptionalProto) and sparse tensors. */
#include "axononnx-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_SPARSE_BYTES ((gint64)256 * 1024 * 1024)

/* How one kind of file is read. */
typedef AxonTensor *(*ReadFunc) (gpointer proto, AxonWireAllocator *a, GError **error);

static AxonTensor *read_optional (gpointer proto, AxonWireAllocator *a, GError **error);

static AxonTensor *
read_tensor (gpointer proto, AxonWireAllocator *a, GError **error)
{
  return axon_onnx_tensor (proto, a, NULL, error);
}

/* Recursion is bounded: the wire scan refuses more than 64 levels. */
static AxonTensor *
read_sequence (gpointer message, AxonWireAllocator *a, GError **error)
{
  Onnx__Sequence *proto = message;
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  const struct {
    ReadFunc read;
    gpointer *list;
    gsize n;
  } parts[] = { { read_tensor, (gpointer *)proto->tensor_values, proto->n_tensor_values },
                { read_sequence, (gpointer *)proto->sequence_values, proto->n_sequence_values },
                { read_optional, (gpointer *)proto->optional_values, proto->n_optional_values } };
  for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
    for (gsize i = 0; i < parts[k].n; i++) {
      AxonTensor *item = parts[k].read (parts[k].list[i], a, error);
      if (item == NULL)
        return NULL;
      g_ptr_array_add (items, item);
    }
  return axon_tensor_new_sequence ((AxonTensor *const *)items->pdata, items->len);
}

static AxonTensor *
read_optional (gpointer message, AxonWireAllocator *a, GError **error)
{
  Onnx__Optional *proto = message;
  g_autoptr (AxonTensor) item = NULL;
  if (proto->tensor_value != NULL)
    item = read_tensor (proto->tensor_value, a, error);
  else if (proto->sequence_value != NULL)
    item = read_sequence (proto->sequence_value, a, error);
  else if (proto->optional_value != NULL)
    item = read_optional (proto->optional_value, a, error);
  else
    return axon_tensor_new_optional (NULL);
  return item ? axon_tensor_new_optional (item) : NULL;
}

static const struct {
  AxonDType kind;
  AxonWireRoot root;
  const ProtobufCMessageDescriptor *descriptor;
  ReadFunc read;
} kinds[] = {
  { AXON_DTYPE_SEQUENCE, AXON_WIRE_SEQUENCE, &onnx__sequence__descriptor, read_sequence },
  { AXON_DTYPE_OPTIONAL, AXON_WIRE_OPTIONAL, &onnx__optional__descriptor, read_optional },
  { AXON_DTYPE_UNDEFINED, AXON_WIRE_TENSOR, &onnx__tensor__descriptor, read_tensor },
};

/* @kind: AXON_DTYPE_SEQUENCE, AXON_DTYPE_OPTIONAL, or anything else for a tensor. */
AxonTensor *
axon_onnx_read_value_file (const gchar *path, AxonDType kind, GError **error)
{
  g_autoptr (GBytes) bytes = axon_onnx_load_file (path, error);
  ProtobufCMessage *proto = NULL;
  AxonTensor *value = NULL;
  g_autofree AxonWireAllocator *a = g_new (AxonWireAllocator, 1);
  guint k = 0;
  gsize n;
  const guint8 *data;
  if (bytes == NULL)
    return NULL;
  data = g_bytes_get_data (bytes, &n);
  while (k + 1 < G_N_ELEMENTS (kinds) && kinds[k].kind != kind)
    k++;
  axon_wire_allocator_init (a, n);
  if (axon_wire_scan (data, n, kinds[k].root, NULL))
    proto = protobuf_c_message_unpack (kinds[k].descriptor, &a->allocator, n, data);
  if (proto == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s: not an ONNX %sProto"), path,
                 kinds[k].descriptor->short_name);
    return NULL;
  }
  if (axon_onnx_check_text (proto, error))
    value = kinds[k].read (proto, a, error);
  protobuf_c_message_free_unpacked (proto, &a->allocator);
  if (value == NULL)
    g_prefix_error (error, "%s: ", path);
  return value;
}

/* Indices are places in row-major order, or one tuple for each value. */
static gboolean
scatter (AxonTensor *values, AxonTensor *indices, AxonTensor *dense, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (dense);
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (dense)),
        n = axon_tensor_get_numel (values);
  gsize width = axon_tensor_get_shape (indices)->rank == 2 ? (gsize)shape->rank : 1;
  const gint64 *at = axon_tensor_get_data (indices);
  gboolean ok = axon_tensor_get_dtype (indices) == AXON_DTYPE_I64 &&
                axon_tensor_get_numel (indices) == n * width;
  memset (axon_tensor_get_data (dense), 0, axon_tensor_get_n_bytes (dense));
  for (gsize i = 0; ok && i < n; i++) {
    gint64 place = width == 1 ? at[i] : 0;
    for (gsize d = 0; ok && width > 1 && d < width; d++) {
      ok = at[i * width + d] >= 0 && at[i * width + d] < shape->dims[d];
      place = ok ? place * shape->dims[d] + at[i * width + d] : 0;
    }
    ok = ok && place >= 0 && place < (gint64)axon_tensor_get_numel (dense);
    if (ok)
      memcpy ((guint8 *)axon_tensor_get_data (dense) + (gsize)place * size,
              (guint8 *)axon_tensor_get_data (values) + i * size, size);
  }
  if (!ok)
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_MODEL,
        _ ("sparse tensor: the indices are not i64, not as many as the values, or outside"));
  return ok;
}

AxonTensor *
axon_onnx_sparse_tensor (Onnx__SparseTensor *proto, AxonWireAllocator *allocator,
                         const gchar *directory, GError **error)
{
  g_autoptr (AxonTensor) values = NULL;
  g_autoptr (AxonTensor) indices = NULL;
  g_autoptr (AxonTensor) dense = NULL;
  AxonShape shape = { .rank = (gint)MIN (proto->n_dims, AXON_MAX_RANK + 1) };
  if (proto->values == NULL || proto->indices == NULL || shape.rank > AXON_MAX_RANK) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 _ ("sparse tensor: no values, no indices, or a rank above %d"), AXON_MAX_RANK);
    return NULL;
  }
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = proto->dims[i];
  values = axon_onnx_tensor (proto->values, allocator, directory, error);
  indices = values ? axon_onnx_tensor (proto->indices, allocator, directory, error) : NULL;
  if (indices == NULL)
    return NULL;
  if (axon_shape_get_numel (&shape) < 0 || axon_dtype_is_boxed (axon_tensor_get_dtype (values)) ||
      axon_shape_get_numel (&shape) >
          MAX_SPARSE_BYTES / (gint64)axon_dtype_get_size (axon_tensor_get_dtype (values))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("sparse tensor: negative dimensions, text, or more than 256 MiB when dense"));
    return NULL;
  }
  dense = axon_tensor_new (axon_tensor_get_dtype (values), &shape, error);
  return dense && scatter (values, indices, dense, error) ? g_steal_pointer (&dense) : NULL;
}
