/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remoteprotocol.h"
#include "remotejson.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

RemotePort *
remote_port_new (const gchar *name, AxonDType dtype, const AxonShape *shape)
{
  RemotePort *port = g_new0 (RemotePort, 1);
  *port = (RemotePort){ g_strdup (name), remote_json_quote (name), dtype, *shape };
  return port;
}

void
remote_port_free (gpointer data)
{
  RemotePort *port = data;
  g_free (port->name);
  g_free (port->quoted);
  g_free (port);
}

static void
append_shape (GString *json, const AxonShape *shape)
{
  g_string_append_c (json, '[');
  for (gint i = 0; i < shape->rank; i++)
    g_string_append_printf (json, "%s%" G_GINT64_FORMAT, i ? "," : "", shape->dims[i]);
  g_string_append_c (json, ']');
}

/* As few digits as give the same number again. FALSE: JSON has no such number. */
static gboolean
append_float (GString *json, AxonDType dtype, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  if (!isfinite (value))
    return FALSE;
  g_ascii_formatd (text, sizeof text, dtype == AXON_DTYPE_F64 ? "%.17g" : "%.9g", value);
  g_string_append (json, text);
  return TRUE;
}

static gboolean
append_value (GString *json, const AxonTensor *tensor, gsize i)
{
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  gconstpointer data = axon_tensor_get_data (tensor);
  g_autofree gchar *quoted = NULL;
  if (axon_dtype_is_float (dtype))
    return append_float (json, dtype, axon_dtype_load (dtype, data, i));
  if (dtype == AXON_DTYPE_BOOL)
    g_string_append (json, ((const guint8 *)data)[i] ? "true" : "false");
  else if (dtype == AXON_DTYPE_U64)
    g_string_append_printf (json, "%" G_GUINT64_FORMAT, ((const guint64 *)data)[i]);
  else if (dtype != AXON_DTYPE_STRING)
    g_string_append_printf (json, "%" G_GINT64_FORMAT, axon_dtype_load_int (dtype, data, i));
  else if (g_utf8_validate (axon_tensor_get_string (tensor, i), -1, NULL))
    g_string_append (json, quoted = remote_json_quote (axon_tensor_get_string (tensor, i)));
  else
    return FALSE;
  return TRUE;
}

static gboolean
append_values (GString *json, const RemotePort *port, const AxonTensor *tensor, GError **error)
{
  gsize n = axon_tensor_get_numel (tensor);
  g_string_append (json, ",\"data\":[");
  for (gsize i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (json, ',');
    if (append_value (json, tensor, i))
      continue;
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 port->dtype == AXON_DTYPE_STRING
                     ? _ ("input \"%s\": value %zu is no UTF-8, which JSON cannot carry, and the "
                          "server does not list the binary tensor extension (BINARY_DATA)")
                     : _ ("input \"%s\": value %zu is not finite, which JSON cannot carry, and the "
                          "server does not list the binary tensor extension (BINARY_DATA)"),
                 port->name, i);
    return FALSE;
  }
  g_string_append_c (json, ']');
  return TRUE;
}

static void
append_region (GString *json, const RemoteRegion *region, gsize offset, gsize n)
{
  g_string_append_printf (json,
                          ",\"parameters\":{\"shared_memory_region\":\"%s\","
                          "\"shared_memory_offset\":%" G_GSIZE_FORMAT
                          ",\"shared_memory_byte_size\":%" G_GSIZE_FORMAT "}",
                          region->name, offset, n);
}

static gboolean
append_input (GString *json, const RemotePort *port, AxonTensor *tensor, gboolean binary,
              const RemoteRegion *region, guint index, GPtrArray *body, GError **error)
{
  g_string_append_printf (json, "%s{\"name\":%s,\"datatype\":\"%s\",\"shape\":", index ? "," : "",
                          port->quoted, remote_dtype_name (port->dtype));
  append_shape (json, axon_tensor_get_shape (tensor));
  if (region != NULL) {
    append_region (json, region, region->inputs[index], axon_tensor_get_n_bytes (tensor));
  } else if (binary) {
    GBytes *bytes = port->dtype == AXON_DTYPE_STRING ? remote_strings_to_bytes (tensor)
                                                     : axon_tensor_get_bytes (tensor);
    g_string_append_printf (json, ",\"parameters\":{\"binary_data_size\":%" G_GSIZE_FORMAT "}",
                            g_bytes_get_size (bytes));
    g_ptr_array_add (body, bytes);
  } else if (!append_values (json, port, tensor, error)) {
    return FALSE;
  }
  g_string_append_c (json, '}');
  return TRUE;
}

static void
append_outputs (GString *json, const GPtrArray *outputs, gboolean binary,
                const RemoteRegion *region)
{
  g_string_append (json, "],\"outputs\":[");
  for (guint i = 0; i < outputs->len; i++) {
    const RemotePort *port = outputs->pdata[i];
    g_string_append_printf (json, "%s{\"name\":%s", i ? "," : "", port->quoted);
    if (region != NULL)
      append_region (json, region, region->outputs[i], region->output_sizes[i]);
    else if (binary)
      g_string_append (json, ",\"parameters\":{\"binary_data\":true}");
    g_string_append_c (json, '}');
  }
  g_string_append (json, "]}");
}

GPtrArray *
remote_encode (const GPtrArray *inputs, const GPtrArray *outputs, AxonTensor *const *tensors,
               gboolean binary, const RemoteRegion *region, gssize *json_length, GError **error)
{
  g_autoptr (GPtrArray) body = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  GString *json = g_string_new ("{\"inputs\":[");
  g_ptr_array_add (body, NULL);
  for (guint i = 0; i < inputs->len; i++)
    if (!append_input (json, inputs->pdata[i], tensors[i], binary, region, i, body, error)) {
      g_string_free (json, TRUE);
      g_ptr_array_remove_index (body, 0);
      return NULL;
    }
  append_outputs (json, outputs, binary, region);
  *json_length = binary ? (gssize)json->len : -1;
  body->pdata[0] = g_string_free_to_bytes (json);
  return g_steal_pointer (&body);
}

/* An answer that is read. */
typedef struct {
  const guint8 *bytes; /* behind the JSON */
  gsize left;
  const RemoteRegion *region;
  RemoteTakeFunc take;
  gpointer data;
} Reader;

static gboolean fail_output (const RemotePort *port, GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail_output (const RemotePort *port, GError **error, const gchar *format, ...)
{
  g_autofree gchar *what = NULL;
  va_list args;
  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("output \"%s\": %s"), port->name, what);
  return FALSE;
}

/* The shape that an answer gives an output: as it was said to be, and of a size that exists. */
static gboolean
read_shape (const RemotePort *port, JsonObject *object, AxonShape *shape, GError **error)
{
  JsonArray *array = remote_json_array (object, "shape");
  g_autofree gchar *expected = axon_shape_to_string (&port->shape);
  g_autofree gchar *got = NULL;
  gint64 numel = 1;
  guint n = array ? json_array_get_length (array) : 0;
  if (array == NULL || n > AXON_MAX_RANK)
    return fail_output (port, error, _ ("its answer has no shape of at most %d dimensions"),
                        AXON_MAX_RANK);
  *shape = (AxonShape){ .rank = (gint)n };
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (array, i);
    gint64 dim = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_int (node) : -1;
    shape->dims[i] = dim;
    if (dim < 0 || (dim > 0 && numel > G_MAXINT32 * G_GINT64_CONSTANT (64) / dim))
      return fail_output (port, error, _ ("a dimension of its answer is %lld"), (long long)dim);
    numel *= dim;
  }
  got = axon_shape_to_string (shape);
  return axon_shape_accepts (&port->shape, shape) ||
         fail_output (port, error, _ ("expected %s%s, got %s"), axon_dtype_get_name (port->dtype),
                      expected, got);
}

static gboolean
store_bytes (const RemotePort *port, AxonTensor *tensor, gconstpointer data, gsize n,
             GError **error)
{
  if (port->dtype == AXON_DTYPE_STRING)
    return remote_strings_from_bytes (tensor, data, n, error);
  if (n != axon_tensor_get_n_bytes (tensor))
    return fail_output (port, error, _ ("expected %zu bytes, got %zu"),
                        axon_tensor_get_n_bytes (tensor), n);
  if (n > 0)
    memcpy (axon_tensor_get_data (tensor), data, n);
  return TRUE;
}

/* What the shape says, before memory is taken for it. */
static gboolean
check_size (const RemotePort *port, const AxonShape *shape, gint64 n_bytes, gsize there,
            GError **error)
{
  gsize numel = (gsize)axon_shape_get_numel (shape);
  gsize least =
      port->dtype == AXON_DTYPE_STRING ? numel * 4 : numel * axon_dtype_get_size (port->dtype);
  return (n_bytes >= 0 && (gsize)n_bytes <= there && (gsize)n_bytes >= least) ||
         fail_output (port, error,
                      _ ("its shape needs %zu bytes, the answer says %lld and has %zu"), least,
                      (long long)n_bytes, there);
}

static guint
count_values (JsonArray *array)
{
  guint n = 0, length = json_array_get_length (array);
  for (guint i = 0; i < length; i++) {
    JsonNode *node = json_array_get_element (array, i);
    n += JSON_NODE_HOLDS_ARRAY (node) ? count_values (json_node_get_array (node)) : 1;
  }
  return n;
}

static gboolean
read_json (Reader *r, const RemotePort *port, guint index, JsonObject *object,
           const AxonShape *shape, GError **error)
{
  JsonArray *values = remote_json_array (object, "data");
  gint64 numel = axon_shape_get_numel (shape);
  guint n = values ? count_values (values) : 0;
  AxonTensor *tensor;
  if (values == NULL || n != numel)
    return fail_output (port, error, _ ("expected %lld values in \"data\", got %u"),
                        (long long)numel, n);
  tensor = r->take (index, shape, r->data, error);
  return tensor != NULL && remote_values_from_json (tensor, values, error);
}

/* Bytes are in the order in which the answer lists its outputs, ours or not. */
static gboolean
read_output (Reader *r, const RemotePort *port, guint index, JsonObject *object,
             const guint8 *bytes, gint64 n_bytes, GError **error)
{
  const gchar *type = remote_json_string (object, "datatype");
  AxonShape shape;
  AxonTensor *tensor;
  if (type == NULL)
    return fail_output (port, error, _ ("expected %s, got no datatype"),
                        remote_dtype_name (port->dtype));
  if (remote_dtype_from_name (type) != port->dtype)
    return fail_output (port, error, _ ("expected %s, got %s"), remote_dtype_name (port->dtype),
                        type);
  if (!read_shape (port, object, &shape, error))
    return FALSE;
  if (n_bytes < 0 && r->region == NULL)
    return read_json (r, port, index, object, &shape, error);
  if (!check_size (port, &shape, n_bytes >= 0 ? n_bytes : (gint64)r->region->output_sizes[index],
                   n_bytes >= 0 ? (gsize)n_bytes : r->region->output_sizes[index], error))
    return FALSE;
  tensor = r->take (index, &shape, r->data, error);
  return tensor != NULL &&
         (n_bytes >= 0 ? store_bytes (port, tensor, bytes, (gsize)n_bytes, error)
                       : store_bytes (port, tensor, r->region->data + r->region->outputs[index],
                                      axon_tensor_get_n_bytes (tensor), error));
}

static gint
find_port (const GPtrArray *ports, const gchar *name)
{
  for (guint i = 0; name != NULL && i < ports->len; i++)
    if (g_str_equal (((RemotePort *)ports->pdata[i])->name, name))
      return (gint)i;
  return -1;
}

static gboolean
read_outputs (Reader *r, const GPtrArray *outputs, JsonArray *array, gboolean *seen, GError **error)
{
  guint n = json_array_get_length (array);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (array, i);
    JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
    gint64 n_bytes =
        remote_json_int (remote_json_object (object, "parameters"), "binary_data_size");
    gint index = find_port (outputs, remote_json_string (object, "name"));
    const guint8 *bytes = r->bytes;
    if (n_bytes > 0 && (guint64)n_bytes > r->left) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                   _ ("output %u of the answer has %lld bytes, %zu are left"), i,
                   (long long)n_bytes, r->left);
      return FALSE;
    }
    r->bytes += MAX (n_bytes, 0);
    r->left -= (gsize)MAX (n_bytes, 0);
    if (index < 0 || seen[index])
      continue;
    seen[index] = TRUE;
    if (!read_output (r, outputs->pdata[index], (guint)index, object, bytes, n_bytes, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
remote_decode (const GPtrArray *outputs, GBytes *body, gssize json_length,
               const RemoteRegion *region, RemoteTakeFunc take, gpointer data, GError **error)
{
  gsize n;
  const guint8 *bytes = g_bytes_get_data (body, &n);
  gsize n_json = json_length >= 0 ? (gsize)json_length : n;
  g_autofree gboolean *seen = g_new0 (gboolean, outputs->len + 1);
  g_autoptr (JsonParser) parser = NULL;
  JsonArray *array;
  Reader reader = { bytes + MIN (n_json, n), n - MIN (n_json, n), region, take, data };
  if (n_json > n) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("Inference-Header-Content-Length is %zu, the answer has %zu bytes"), n_json, n);
    return FALSE;
  }
  parser = remote_json_parse (bytes ? bytes : (const guint8 *)"", n_json, error);
  if (parser == NULL)
    return FALSE;
  array = remote_json_array (json_node_get_object (json_parser_get_root (parser)), "outputs");
  if (array != NULL && !read_outputs (&reader, outputs, array, seen, error))
    return FALSE;
  for (guint i = 0; i < outputs->len; i++)
    if (!seen[i])
      return fail_output (outputs->pdata[i], error, _ ("the answer does not have it"));
  return TRUE;
}
