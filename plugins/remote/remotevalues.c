/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements of tensors as the protocol has them: names of types, strings, numbers in JSON. */
#include "remotejson.h"
#include "remoteprotocol.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

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

const gchar *
remote_dtype_name (AxonDType dtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].dtype == dtype)
      return types[i].name;
  return NULL;
}

AxonDType
remote_dtype_from_name (const gchar *name)
{
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (types[i].name, name))
      return types[i].dtype;
  return AXON_DTYPE_UNDEFINED;
}

GBytes *
remote_strings_to_bytes (const AxonTensor *tensor)
{
  GByteArray *bytes = g_byte_array_new ();
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++) {
    const gchar *text = axon_tensor_get_string (tensor, i);
    guint32 n = (guint32)strlen (text), little = GUINT32_TO_LE (n);
    g_byte_array_append (bytes, (guint8 *)&little, sizeof little);
    g_byte_array_append (bytes, (const guint8 *)text, n);
  }
  return g_byte_array_free_to_bytes (bytes);
}

gboolean
remote_strings_from_bytes (AxonTensor *tensor, gconstpointer data, gsize n, GError **error)
{
  const gchar *at = data;
  gsize left = n;
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++) {
    g_autofree gchar *text = NULL;
    guint32 length = G_MAXUINT32;
    if (left >= sizeof length) {
      memcpy (&length, at, sizeof length);
      length = GUINT32_FROM_LE (length);
      at += sizeof length;
      left -= sizeof length;
    }
    if (length > left || memchr (at, 0, length) != NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                   _ ("string %zu is longer than what is left of the data, or has a byte 0"), i);
      return FALSE;
    }
    text = g_strndup (at, length);
    axon_tensor_set_string (tensor, i, text);
    at += length;
    left -= length;
  }
  return TRUE;
}

/* The next element of a tensor that is filled from JSON. */
typedef struct {
  AxonTensor *tensor;
  gsize at, n;
} Fill;

/* Numbers that floats keep; whole numbers of 64 bits are stored as they are. */
static gboolean
store_number (Fill *fill, JsonNode *node)
{
  AxonDType dtype = axon_tensor_get_dtype (fill->tensor);
  gpointer data = axon_tensor_get_data (fill->tensor);
  GType type = json_node_get_value_type (node);
  if (type == G_TYPE_BOOLEAN && dtype == AXON_DTYPE_BOOL)
    ((guint8 *)data)[fill->at] = (guint8)json_node_get_boolean (node);
  else if (type == G_TYPE_INT64 && (dtype == AXON_DTYPE_I64 || dtype == AXON_DTYPE_U64))
    ((gint64 *)data)[fill->at] = json_node_get_int (node);
  else if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)
    axon_dtype_store (dtype, data, fill->at, json_node_get_double (node));
  else
    return FALSE;
  return TRUE;
}

/* null is what serializers make of a NaN. */
static gboolean
store_value (Fill *fill, JsonNode *node)
{
  AxonDType dtype = axon_tensor_get_dtype (fill->tensor);
  if (JSON_NODE_HOLDS_NULL (node) && axon_dtype_is_float (dtype)) {
    axon_dtype_store (dtype, axon_tensor_get_data (fill->tensor), fill->at, NAN);
    return TRUE;
  }
  if (!JSON_NODE_HOLDS_VALUE (node))
    return FALSE;
  if (dtype != AXON_DTYPE_STRING)
    return store_number (fill, node);
  if (json_node_get_value_type (node) != G_TYPE_STRING)
    return FALSE;
  axon_tensor_set_string (fill->tensor, fill->at, json_node_get_string (node));
  return TRUE;
}

/* How deep it goes was bounded when it was parsed. */
static gboolean
fill_from (Fill *fill, JsonArray *array)
{
  guint n = json_array_get_length (array);
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < n; i++) {
    JsonNode *node = json_array_get_element (array, i);
    if (JSON_NODE_HOLDS_ARRAY (node)) {
      ok = fill_from (fill, json_node_get_array (node));
    } else {
      ok = fill->at < fill->n && store_value (fill, node);
      fill->at++;
    }
  }
  return ok;
}

gboolean
remote_values_from_json (AxonTensor *tensor, gpointer json_array, GError **error)
{
  Fill fill = { tensor, 0, axon_tensor_get_numel (tensor) };
  if (fill_from (&fill, json_array) && fill.at == fill.n)
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
               _ ("expected %zu values of %s in \"data\"; the value at %zu is another, missing, or "
                  "one too many"),
               fill.n, remote_dtype_name (axon_tensor_get_dtype (tensor)),
               fill.at > 0 ? fill.at - 1 : 0);
  return FALSE;
}
