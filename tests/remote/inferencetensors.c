/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inferenceserver-private.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
  AxonDType dtype;
  const gchar *name;
} types[] = {
  { AXON_DTYPE_F32, "FP32" },   { AXON_DTYPE_U8, "UINT8" },     { AXON_DTYPE_I8, "INT8" },
  { AXON_DTYPE_U16, "UINT16" }, { AXON_DTYPE_I16, "INT16" },    { AXON_DTYPE_I32, "INT32" },
  { AXON_DTYPE_I64, "INT64" },  { AXON_DTYPE_STRING, "BYTES" }, { AXON_DTYPE_BOOL, "BOOL" },
  { AXON_DTYPE_F16, "FP16" },   { AXON_DTYPE_F64, "FP64" },     { AXON_DTYPE_U32, "UINT32" },
  { AXON_DTYPE_U64, "UINT64" }, { AXON_DTYPE_BF16, "BF16" },
};

static const gchar *
type_name (AxonDType dtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].dtype == dtype)
      return types[i].name;
  g_assert_not_reached ();
}

static AxonDType
type_of (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (types[i].name, name))
      return types[i].dtype;
  g_assert_not_reached ();
}

static void
append_shape (GString *json, const AxonShape *shape)
{
  g_string_append (json, ",\"shape\":[");
  for (gint i = 0; i < shape->rank; i++)
    g_string_append_printf (json, "%s%" G_GINT64_FORMAT, i ? "," : "", shape->dims[i]);
  g_string_append (json, "]");
}

void
inference_append_port (GString *json, guint i, const gchar *name, AxonDType dtype,
                       const AxonShape *shape)
{
  g_string_append_printf (json, "%s{\"name\":\"%s\",\"datatype\":\"%s\"", i ? "," : "", name,
                          type_name (dtype));
  append_shape (json, shape);
}

static void
fill_strings (AxonTensor *t, const guint8 *bytes)
{
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++) {
    guint32 n = (guint32)bytes[0] | (guint32)bytes[1] << 8 | (guint32)bytes[2] << 16;
    g_autofree gchar *text = g_strndup ((const gchar *)bytes + 4, n);
    axon_tensor_set_string (t, i, text);
    bytes += 4 + n;
  }
}

static void
fill_json (AxonTensor *t, JsonArray *data)
{
  AxonDType dtype = axon_tensor_get_dtype (t);
  for (guint i = 0; i < json_array_get_length (data); i++) {
    JsonNode *node = json_array_get_element (data, i);
    if (dtype == AXON_DTYPE_STRING)
      axon_tensor_set_string (t, i, json_node_get_string (node));
    else if (dtype == AXON_DTYPE_I64 || dtype == AXON_DTYPE_U64)
      ((gint64 *)axon_tensor_get_data (t))[i] = json_node_get_int (node);
    else if (dtype == AXON_DTYPE_BOOL)
      ((guint8 *)axon_tensor_get_data (t))[i] = json_node_get_boolean (node);
    else
      axon_dtype_store (dtype, axon_tensor_get_data (t), i, json_node_get_double (node));
  }
}

/* Maps a registered region; NULL: there is none. */
static guint8 *
map_region (InferenceServer *s, JsonObject *parameters, gsize *size)
{
  const gchar *name = json_object_get_string_member (parameters, "shared_memory_region");
  gsize offset = (gsize)json_object_get_int_member (parameters, "shared_memory_offset");
  const gchar *key;
  guint8 *data;
  gint fd;
  *size = (gsize)json_object_get_int_member (parameters, "shared_memory_byte_size");
  g_mutex_lock (&s->lock);
  key = g_hash_table_lookup (s->regions, name);
  fd = key ? shm_open (key, O_RDWR, 0) : -1;
  g_mutex_unlock (&s->lock);
  if (fd < 0)
    return NULL;
  data = mmap (NULL, offset + *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close (fd);
  g_assert_true (data != MAP_FAILED);
  return data; /* for as long as the test runs */
}

AxonTensor *
exchange_read_tensor (Exchange *x, JsonObject *object, gsize *at)
{
  AxonDType dtype = type_of (json_object_get_string_member (object, "datatype"));
  JsonArray *dims = json_object_get_array_member (object, "shape");
  JsonObject *parameters = json_object_has_member (object, "parameters")
                               ? json_object_get_object_member (object, "parameters")
                               : NULL;
  AxonShape shape = { .rank = (gint)json_array_get_length (dims) };
  AxonTensor *t;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = json_array_get_int_element (dims, (guint)i);
  t = axon_tensor_new (dtype, &shape, NULL);
  if (parameters != NULL && json_object_has_member (parameters, "shared_memory_region")) {
    gsize size, offset = (gsize)json_object_get_int_member (parameters, "shared_memory_offset");
    guint8 *data = map_region (x->server, parameters, &size);
    if (data == NULL) {
      axon_tensor_unref (t);
      return NULL;
    }
    g_assert_cmpuint (size, ==, axon_tensor_get_n_bytes (t));
    memcpy (axon_tensor_get_data (t), data + offset, size);
  } else if (parameters != NULL) {
    gsize n = (gsize)json_object_get_int_member (parameters, "binary_data_size");
    g_assert_cmpuint (x->json_length + *at + n, <=, x->n_body);
    if (dtype == AXON_DTYPE_STRING)
      fill_strings (t, x->body + x->json_length + *at);
    else
      memcpy (axon_tensor_get_data (t), x->body + x->json_length + *at, n);
    *at += n;
  } else {
    fill_json (t, json_object_get_array_member (object, "data"));
  }
  return t;
}

static void
append_json_values (GString *json, AxonTensor *t)
{
  AxonDType dtype = axon_tensor_get_dtype (t);
  g_string_append (json, ",\"data\":[");
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++) {
    gchar text[G_ASCII_DTOSTR_BUF_SIZE];
    if (i > 0)
      g_string_append_c (json, ',');
    if (dtype == AXON_DTYPE_STRING)
      g_string_append_printf (json, "\"%s\"", axon_tensor_get_string (t, i));
    else if (dtype == AXON_DTYPE_BOOL)
      g_string_append (json, ((guint8 *)axon_tensor_get_data (t))[i] ? "true" : "false");
    else if (dtype == AXON_DTYPE_I64)
      g_string_append_printf (json, "%" G_GINT64_FORMAT, ((gint64 *)axon_tensor_get_data (t))[i]);
    else
      g_string_append (json, g_ascii_dtostr (text, sizeof text, axon_tensor_get_value (t, i)));
  }
  g_string_append_c (json, ']');
}

static void
append_string_bytes (GByteArray *bytes, AxonTensor *t)
{
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++) {
    const gchar *text = axon_tensor_get_string (t, i);
    guint32 n = GUINT32_TO_LE ((guint32)strlen (text));
    g_byte_array_append (bytes, (guint8 *)&n, 4);
    g_byte_array_append (bytes, (const guint8 *)text, (guint)strlen (text));
  }
}

void
exchange_append_tensor (Exchange *x, GString *json, GByteArray *bytes, JsonObject *parameters,
                        AxonTensor *t, Mischief mischief)
{
  guint before = bytes->len;
  if (parameters != NULL && json_object_has_member (parameters, "shared_memory_region")) {
    gsize size, offset = (gsize)json_object_get_int_member (parameters, "shared_memory_offset");
    guint8 *data = map_region (x->server, parameters, &size);
    memcpy (data + offset, axon_tensor_get_data (t), axon_tensor_get_n_bytes (t));
  } else if (parameters != NULL) {
    if (axon_tensor_get_dtype (t) == AXON_DTYPE_STRING)
      append_string_bytes (bytes, t);
    else
      g_byte_array_append (bytes, axon_tensor_get_data (t), (guint)axon_tensor_get_n_bytes (t));
    g_string_append_printf (json, ",\"parameters\":{\"binary_data_size\":%u}", bytes->len - before);
    if (mischief == TRUNCATE_TENSOR)
      g_byte_array_set_size (bytes, bytes->len - 1);
  } else {
    append_json_values (json, t);
  }
}
