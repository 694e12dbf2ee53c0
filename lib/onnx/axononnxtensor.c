/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorProto to AxonTensor: exact byte counts, checked sizes, external data only beneath the
 * model's directory. */
#include "axononnx-private.h"
#include "../base/axonfile-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean
read_dims (const Onnx__Tensor *proto, AxonShape *shape, GError **error)
{
  *shape = (AxonShape){ 0 };
  if (proto->n_dims > AXON_MAX_RANK) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("rank %zu (at most %d is supported)"), proto->n_dims, AXON_MAX_RANK);
    return FALSE;
  }
  shape->rank = (gint)proto->n_dims;
  for (gint i = 0; i < shape->rank; i++)
    shape->dims[i] = proto->dims[i];
  if (axon_shape_get_numel (shape) < 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("negative or too large dimensions"));
    return FALSE;
  }
  return TRUE;
}

static gboolean
read_all (int fd, guint8 *data, gsize n, goffset offset)
{
  while (n > 0) {
    gssize got = pread (fd, data, n, offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return FALSE;
    data += got;
    offset += got;
    n -= (gsize)got;
  }
  return TRUE;
}

static gboolean
external_fields (const Onnx__Tensor *proto, const gchar **location, guint64 *offset,
                 guint64 *length, GError **error)
{
  for (gsize i = 0; i < proto->n_external_data; i++) {
    const gchar *key = proto->external_data[i]->key, *value = proto->external_data[i]->value;
    gboolean ok = TRUE;
    if (g_strcmp0 (key, "location") == 0)
      *location = value;
    else if (g_strcmp0 (key, "offset") == 0)
      ok = value && g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, offset, NULL);
    else if (g_strcmp0 (key, "length") == 0)
      ok = value && g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, length, NULL);
    if (!ok) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("external data: bad %s"), key);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
load_external (const Onnx__Tensor *proto, const gchar *directory, AxonTensor *tensor,
               GError **error)
{
  const gchar *location = NULL;
  gsize n_bytes = axon_tensor_get_n_bytes (tensor);
  guint64 offset = 0, length = n_bytes;
  struct stat st;
  int fd;
  gboolean ok;
  if (!external_fields (proto, &location, &offset, &length, error))
    return FALSE;
  if (location == NULL || directory == NULL || length != n_bytes) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 _ ("external data: expected a location and %zu bytes, got \"%s\" with %llu bytes"),
                 n_bytes, location ? location : "", (unsigned long long)length);
    return FALSE;
  }
  fd = axon_open_beneath (directory, location);
  /* A second hard link may name a file of somebody else's choosing. */
  ok = fd >= 0 && fstat (fd, &st) == 0 && S_ISREG (st.st_mode) && st.st_nlink == 1 &&
       offset <= (guint64)st.st_size && length <= (guint64)st.st_size - offset &&
       read_all (fd, axon_tensor_get_data (tensor), n_bytes, (goffset)offset);
  if (fd >= 0)
    close (fd);
  if (!ok)
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_MODEL,
        _ ("external data file \"%s\" cannot be read: it must be a regular file beneath the "
           "model's directory (no links) with %llu bytes from offset %llu"),
        location, (unsigned long long)length, (unsigned long long)offset);
  return ok;
}

static gboolean
string_data (const Onnx__Tensor *p, AxonTensor *tensor, GError **error)
{
  if (p->n_string_data != axon_tensor_get_numel (tensor)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("expected %zu strings, got %zu"),
                 axon_tensor_get_numel (tensor), p->n_string_data);
    return FALSE;
  }
  for (gsize i = 0; i < p->n_string_data; i++) {
    g_autofree gchar *text = g_strndup (
        p->string_data[i].data ? (gchar *)p->string_data[i].data : "", p->string_data[i].len);
    axon_tensor_set_string (tensor, i, text);
  }
  return TRUE;
}

/* Elements of 2 or 4 bits, the first in the low bits; each int32 holds one byte of them. */
static gboolean
packed_data (const Onnx__Tensor *p, AxonTensor *tensor, GError **error)
{
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  guint bits = dtype == AXON_DTYPE_U2 || dtype == AXON_DTYPE_I2 ? 2 : 4, each = 8 / bits;
  gboolean is_signed = dtype == AXON_DTYPE_I2 || dtype == AXON_DTYPE_I4;
  gsize n = axon_tensor_get_numel (tensor), needed = (n + each - 1) / each;
  gsize have = p->has_raw_data ? p->raw_data.len : p->n_int32_data;
  guint8 *y = axon_tensor_get_data (tensor);
  if (have != needed) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 _ ("expected %zu bytes of packed elements, got %zu"), needed, have);
    return FALSE;
  }
  for (gsize i = 0; i < n; i++) {
    guint byte = p->has_raw_data ? p->raw_data.data[i / each] : (guint)p->int32_data[i / each];
    guint v = byte >> (i % each * bits) & ((1u << bits) - 1);
    y[i] = (guint8)(is_signed && v >> (bits - 1) ? v | (0xffu << bits) : v);
  }
  return TRUE;
}

/* Values in typed fields: which field by type is in the comments of onnx.proto's Tensor. */
static gboolean
typed_data (const Onnx__Tensor *p, AxonTensor *tensor, GError **error)
{
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  guint8 *data = axon_tensor_get_data (tensor);
  gsize n = axon_tensor_get_numel (tensor), size = axon_dtype_get_size (dtype), have;
  gconstpointer source;
  switch (dtype) {
  case AXON_DTYPE_F32:
    source = p->float_data;
    have = p->n_float_data;
    break;
  case AXON_DTYPE_F64:
    source = p->double_data;
    have = p->n_double_data;
    break;
  case AXON_DTYPE_I64:
    source = p->int64_data;
    have = p->n_int64_data;
    break;
  case AXON_DTYPE_U32:
  case AXON_DTYPE_U64:
    source = p->uint64_data;
    have = p->n_uint64_data;
    break;
  default:
    source = p->int32_data;
    have = p->n_int32_data;
  }
  if (dtype == AXON_DTYPE_STRING)
    return string_data (p, tensor, error);
  if (axon_dtype_is_packed (dtype))
    return packed_data (p, tensor, error);
  if (have != n) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("expected %zu elements, got %zu"), n,
                 have);
    return FALSE;
  }
  for (gsize i = 0; i < n; i++) {
    if (source == p->int32_data)
      memcpy (data + i * size, (const gint32 *)source + i, size); /* little endian: low bytes */
    else if (dtype == AXON_DTYPE_U32)
      ((guint32 *)(gpointer)data)[i] = (guint32)((const guint64 *)source)[i];
    else
      memcpy (data + i * size, (const guint8 *)source + i * size, size);
  }
  return TRUE;
}

/* Before memory is made for them. One byte may hold four elements. */
static gboolean
check_elements (const Onnx__Tensor *p, AxonDType dtype, const AxonShape *shape, GError **error)
{
  gsize n = (gsize)MAX (axon_shape_get_numel (shape), 0),
        each = axon_dtype_is_packed (dtype) ? 4 : 1;
  const gsize have[] = { p->n_float_data,       p->n_double_data, p->n_int64_data,
                         p->n_uint64_data,      p->n_string_data, p->n_int32_data * each,
                         p->raw_data.len * each };
  gsize most = 0;
  for (guint i = 0; i < G_N_ELEMENTS (have); i++)
    most = MAX (most, have[i]);
  if (n > most)
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("expected %zu elements, got %zu"), n,
                 most);
  return n <= most;
}

static AxonTensor *
steal_raw (Onnx__Tensor *proto, AxonWireAllocator *allocator, AxonDType dtype,
           const AxonShape *shape, GError **error)
{
  gpointer data = proto->raw_data.data;
  AxonTensor *tensor = axon_tensor_new_wrapped (dtype, shape, data, proto->raw_data.len,
                                                axon_wire_free, data, error);
  if (tensor != NULL) {
    allocator->used -= proto->raw_data.len + 16;
    proto->raw_data.data = NULL;
    proto->raw_data.len = 0;
  }
  return tensor;
}

static AxonTensor *
copy_raw (const Onnx__Tensor *proto, AxonDType dtype, const AxonShape *shape, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new (proto->raw_data.data, proto->raw_data.len);
  return axon_tensor_new_from_bytes (dtype, shape, bytes, error);
}

static gboolean
has_raw (const Onnx__Tensor *proto, AxonDType dtype)
{
  return proto->has_raw_data && proto->raw_data.len > 0 && !axon_dtype_is_packed (dtype) &&
         dtype != AXON_DTYPE_STRING;
}

AxonTensor *
axon_onnx_tensor (Onnx__Tensor *proto, AxonWireAllocator *allocator, const gchar *directory,
                  GError **error)
{
  AxonDType dtype = (AxonDType)proto->data_type;
  gboolean external = proto->has_data_location && proto->data_location == 1;
  g_autoptr (AxonTensor) tensor = NULL;
  AxonShape shape;
  gboolean ok = read_dims (proto, &shape, error);
  if (ok && external && (axon_dtype_is_packed (dtype) || axon_dtype_is_boxed (dtype))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("external data of type %s"),
                 axon_dtype_get_name (dtype));
    ok = FALSE;
  }
  if (dtype >= AXON_DTYPE_SEQUENCE)
    dtype = AXON_DTYPE_UNDEFINED;
  if (ok && has_raw (proto, dtype) && !external) {
    tensor = allocator ? steal_raw (proto, allocator, dtype, &shape, error)
                       : copy_raw (proto, dtype, &shape, error);
  } else if (ok && (external || check_elements (proto, dtype, &shape, error))) {
    tensor = axon_tensor_new (dtype, &shape, error);
    ok = tensor != NULL &&
         (external ? load_external (proto, directory, tensor, error)
                   : axon_tensor_get_numel (tensor) == 0 || typed_data (proto, tensor, error));
  }
  if (!ok || tensor == NULL) {
    g_prefix_error (error, _ ("tensor \"%s\": "), proto->name ? proto->name : "");
    return NULL;
  }
  return g_steal_pointer (&tensor);
}
