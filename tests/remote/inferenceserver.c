/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inferenceserver.h"

#include <fcntl.h>
#include <json-glib/json-glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct _InferenceServer {
  GSocketService *service;
  GMainContext *context; /* in which it accepts */
  gint is_closing;       /* atomic */
  GThread *thread;
  AxonModel *model;
  AxonCompiledModel *compiled;
  InferenceServerOptions options;
  guint16 port;
  gchar *address;
  gint mischief, n_inferences, n_connections; /* atomic */
  gsize n_sent;                               /* atomic */
  GMutex lock;
  GHashTable *connections;              /* lock: GSocketConnection that are open */
  GHashTable *regions;                  /* lock: name -> key */
  gchar *description, *token, *headers; /* lock */
  GCond idle;
};

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

static void
append_shape (GString *json, const AxonShape *shape)
{
  g_string_append (json, ",\"shape\":[");
  for (gint i = 0; i < shape->rank; i++)
    g_string_append_printf (json, "%s%" G_GINT64_FORMAT, i ? "," : "", shape->dims[i]);
  g_string_append (json, "]");
}

static void
append_port (GString *json, guint i, const gchar *name, AxonDType dtype, const AxonShape *shape)
{
  g_string_append_printf (json, "%s{\"name\":\"%s\",\"datatype\":\"%s\"", i ? "," : "", name,
                          type_name (dtype));
  append_shape (json, shape);
}

static gchar *
describe_model (InferenceServer *s)
{
  GString *json = g_string_new ("{\"name\":\"m\",\"versions\":[\"1\"],\"platform\":\"axon\"");
  gchar *own = NULL;
  g_mutex_lock (&s->lock);
  own = g_strdup (s->description);
  g_mutex_unlock (&s->lock);
  if (own != NULL) {
    g_string_free (json, TRUE);
    return own;
  }
  g_string_append (json, ",\"inputs\":[");
  for (guint i = 0; i < axon_model_get_n_inputs (s->model) && !s->options.lists_no_ports; i++) {
    append_port (json, i, axon_model_get_input_name (s->model, i),
                 axon_model_get_input_dtype (s->model, i),
                 axon_model_get_input_shape (s->model, i));
    g_string_append_c (json, '}');
  }
  g_string_append (json, "],\"outputs\":[");
  for (guint i = 0; i < axon_model_get_n_outputs (s->model) && !s->options.lists_no_ports; i++) {
    append_port (json, i, axon_model_get_output_name (s->model, i),
                 axon_model_get_output_dtype (s->model, i),
                 axon_model_get_output_shape (s->model, i));
    g_string_append_c (json, '}');
  }
  g_string_append (json, "]}");
  return g_string_free (json, FALSE);
}

/* One request of HTTP, and where its connection is. */
typedef struct {
  InferenceServer *server;
  GDataInputStream *in;
  GOutputStream *out;
  gchar *method, *path;
  GString *headers;
  gsize length, json_length;
  gboolean gzip;
  guint8 *body;
  gsize n_body;
} Exchange;

static gboolean
send_bytes (Exchange *x, gconstpointer data, gsize n)
{
  gsize written = 0;
  gboolean ok = g_output_stream_write_all (x->out, data, n, &written, NULL, NULL);
  g_atomic_pointer_add (&x->server->n_sent, (gssize)written);
  return ok;
}

static gboolean
send_answer (Exchange *x, const gchar *status, const gchar *headers, gconstpointer data, gsize n)
{
  g_autofree gchar *head = g_strdup_printf (
      "HTTP/1.1 %s\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n%s\r\n", status, n, headers);
  return send_bytes (x, head, strlen (head)) && send_bytes (x, data, n);
}

static gboolean
send_text (Exchange *x, const gchar *status, const gchar *text)
{
  return send_answer (x, status, "Content-Type: application/json\r\n", text, strlen (text));
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

static AxonTensor *
read_input (Exchange *x, JsonObject *object, gsize *at)
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

static gint
find_input (AxonModel *model, const gchar *name)
{
  for (guint i = 0; i < axon_model_get_n_inputs (model); i++)
    if (g_str_equal (axon_model_get_input_name (model, i), name))
      return (gint)i;
  return -1;
}

static gboolean
bind_inputs (Exchange *x, JsonObject *root, AxonInferRequest *request)
{
  JsonArray *inputs = json_object_get_array_member (root, "inputs");
  gsize at = 0;
  for (guint i = 0; i < json_array_get_length (inputs); i++) {
    JsonObject *object = json_array_get_object_element (inputs, i);
    gint index = find_input (x->server->model, json_object_get_string_member (object, "name"));
    g_autoptr (AxonTensor) t = read_input (x, object, &at);
    if (t == NULL || !axon_infer_request_set_input_tensor (request, (guint)index, t, NULL))
      return FALSE;
  }
  return TRUE;
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

/* How the client wants an output: its parameters, or NULL. */
static JsonObject *
wanted (JsonObject *root, const gchar *name)
{
  JsonArray *outputs = json_object_get_array_member (root, "outputs");
  for (guint i = 0; i < json_array_get_length (outputs); i++) {
    JsonObject *object = json_array_get_object_element (outputs, i);
    if (g_str_equal (json_object_get_string_member (object, "name"), name))
      return json_object_has_member (object, "parameters")
                 ? json_object_get_object_member (object, "parameters")
                 : NULL;
  }
  return NULL;
}

static void
append_output (Exchange *x, GString *json, GByteArray *bytes, JsonObject *parameters, AxonTensor *t,
               Mischief mischief)
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

static gboolean
send_result (Exchange *x, JsonObject *root, AxonInferRequest *request, Mischief mischief)
{
  AxonModel *model = x->server->model;
  g_autoptr (GString) json = g_string_new ("{\"model_name\":\"m\",\"outputs\":[");
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree gchar *header = NULL;
  gsize n_json;
  for (guint i = 0; i < axon_model_get_n_outputs (model) && mischief != NO_OUTPUTS; i++) {
    const gchar *name = axon_model_get_output_name (model, i);
    g_autoptr (AxonTensor) t = axon_infer_request_get_output_tensor (request, i);
    AxonShape shape = *axon_tensor_get_shape (t);
    AxonDType dtype = axon_tensor_get_dtype (t);
    if (mischief == OTHER_SHAPE)
      shape.dims[shape.rank - 1]++;
    append_port (json, i, name, mischief == OTHER_TYPE ? AXON_DTYPE_U64 : dtype, &shape);
    append_output (x, json, bytes, wanted (root, name), t, mischief);
    g_string_append_c (json, '}');
  }
  g_string_append (json, "]}");
  n_json = json->len;
  if (bytes->len > 0)
    header = g_strdup_printf ("Inference-Header-Content-Length: %s\r\n",
                              mischief == HUGE_JSON_LENGTH ? "10000000000" : "");
  if (bytes->len > 0 && mischief != HUGE_JSON_LENGTH) {
    g_free (header);
    header = g_strdup_printf ("Inference-Header-Content-Length: %" G_GSIZE_FORMAT "\r\n", n_json);
  }
  g_string_append_len (json, (const gchar *)bytes->data, bytes->len);
  if (mischief == CUT_ANSWER) {
    g_autofree gchar *head = g_strdup_printf (
        "HTTP/1.1 200 OK\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n", json->len);
    send_bytes (x, head, strlen (head));
    send_bytes (x, json->str, json->len / 2);
    return FALSE;
  }
  return send_answer (x, "200 OK", header ? header : "", json->str, json->len);
}

static gboolean
send_deep_json (Exchange *x)
{
  g_autofree gchar *text = g_malloc (100000);
  memset (text, '[', 100000);
  return send_answer (x, "200 OK", "", text, 100000);
}

static gboolean
send_endless (Exchange *x, const gchar *head, const gchar *more)
{
  gboolean ok = send_bytes (x, head, strlen (head));
  while (ok)
    ok = send_bytes (x, more, strlen (more));
  return FALSE;
}

/* What is wrong before anything was computed; TRUE in @done: the answer is sent. */
static gboolean
misbehave (Exchange *x, Mischief mischief, gboolean *done)
{
  static const gchar line[] =
      "X-Filling: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
  *done = TRUE;
  switch (mischief) {
  case ANSWER_GARBAGE:
    send_bytes (x, "\x01\x02 no such protocol\r\n\r\n", 22);
    return FALSE;
  case ANSWER_NO_JSON:
    return send_text (x, "200 OK", "<html>a \x1b[31mproxy\x1b[0m's page</html>");
  case ANSWER_DEEP_JSON:
    return send_deep_json (x);
  case HUGE_LENGTH:
    send_bytes (x, "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n{}", 51);
    return FALSE;
  case ENDLESS_HEADER:
    return send_endless (x, "HTTP/1.1 200 OK\r\n", line);
  case ENDLESS_BODY:
    return send_endless (
        x, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "40\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
  case HANG:
    g_input_stream_read (G_INPUT_STREAM (x->in), &(guint8){ 0 }, 1, NULL, NULL);
    return FALSE;
  case BUSY_ONCE:
    inference_server_set_mischief (x->server, BEHAVE);
    return send_answer (x, "503 Service Unavailable", "Retry-After: 0\r\n", "{}", 2);
  case FAIL:
    return send_text (x, "500 Internal Server Error", "{\"error\":\"the accelerator is on fire\"}");
  case REDIRECT:
    return send_answer (x, "307 Temporary Redirect", "Location: http://127.0.0.9/v2\r\n", "", 0);
  default:
    *done = FALSE;
    return TRUE;
  }
}

static gboolean
infer (Exchange *x)
{
  Mischief mischief = (Mischief)g_atomic_int_get (&x->server->mischief);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (GError) error = NULL;
  JsonObject *root;
  gboolean done, ok = misbehave (x, mischief, &done);
  g_atomic_int_inc (&x->server->n_inferences);
  g_mutex_lock (&x->server->lock);
  g_free (x->server->headers);
  x->server->headers = g_strdup (x->headers->str);
  g_mutex_unlock (&x->server->lock);
  if (done)
    return ok;
  json_parser_load_from_data (parser, (const gchar *)x->body,
                              (gssize)(x->json_length ? x->json_length : x->n_body), &error);
  g_assert_no_error (error);
  root = json_node_get_object (json_parser_get_root (parser));
  request = axon_compiled_model_create_infer_request (x->server->compiled);
  if (!bind_inputs (x, root, request) || !axon_infer_request_infer (request, NULL))
    return send_text (x, "400 Bad Request", "{\"error\":\"no such input or region\"}");
  return send_result (x, root, request, mischief);
}

static gboolean
share_memory (Exchange *x)
{
  g_auto (GStrv) parts = g_strsplit (x->path, "/", -1); /* "" v2 systemsharedmemory region N verb */
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *root;
  json_parser_load_from_data (parser, (const gchar *)x->body, (gssize)x->n_body, NULL);
  root = json_node_get_object (json_parser_get_root (parser));
  g_mutex_lock (&x->server->lock);
  if (g_str_equal (parts[5], "register"))
    g_hash_table_insert (x->server->regions, g_strdup (parts[4]),
                         g_strdup (json_object_get_string_member (root, "key")));
  else
    g_hash_table_remove (x->server->regions, parts[4]);
  g_mutex_unlock (&x->server->lock);
  return send_text (x, "200 OK", "{}");
}

static gboolean
is_authorized (Exchange *x)
{
  g_autofree gchar *line = NULL;
  gboolean ok;
  g_mutex_lock (&x->server->lock);
  line = g_strdup_printf ("Authorization: Bearer %s\n", x->server->token);
  ok = x->server->token == NULL || strstr (x->headers->str, line) != NULL;
  g_mutex_unlock (&x->server->lock);
  return ok;
}

static gboolean
answer (Exchange *x)
{
  g_autofree gchar *text = NULL;
  if (!is_authorized (x))
    return send_text (x, "401 Unauthorized", "{\"error\":\"who are you\"}");
  if (g_str_has_suffix (x->path, "/infer"))
    return infer (x);
  if (strstr (x->path, "/systemsharedmemory/") != NULL)
    return share_memory (x);
  if (g_str_has_suffix (x->path, "/ready"))
    return send_text (x, "200 OK", "{\"ready\":true}");
  if (g_str_equal (x->path, "/v2"))
    text = g_strdup_printf ("{\"name\":\"test\",\"version\":\"1\",\"extensions\":[%s]}",
                            x->server->options.extensions ? x->server->options.extensions : "");
  else if (g_str_has_prefix (x->path, "/v2/models/m"))
    text = describe_model (x->server);
  return text ? send_text (x, "200 OK", text)
              : send_text (x, "404 Not Found", "{\"error\":\"unknown model\"}");
}

static void
note_header (Exchange *x, const gchar *line)
{
  g_string_append_printf (x->headers, "%s\n", line);
  if (g_ascii_strncasecmp (line, "Content-Length:", 15) == 0)
    x->length = (gsize)g_ascii_strtoull (line + 15, NULL, 10);
  if (g_ascii_strncasecmp (line, "Inference-Header-Content-Length:", 32) == 0)
    x->json_length = (gsize)g_ascii_strtoull (line + 32, NULL, 10);
  if (g_ascii_strcasecmp (line, "Content-Encoding: gzip") == 0)
    x->gzip = TRUE;
}

static void
unzip (Exchange *x)
{
  g_autoptr (GConverter) converter =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autoptr (GInputStream) zipped =
      g_memory_input_stream_new_from_data (x->body, (gssize)x->n_body, g_free);
  g_autoptr (GInputStream) plain = g_converter_input_stream_new (zipped, converter);
  gsize most = 64 << 20;
  x->body = g_malloc (most);
  g_assert_true (g_input_stream_read_all (plain, x->body, most, &x->n_body, NULL, NULL));
}

/* FALSE: the connection is at its end. */
static gboolean
read_request (Exchange *x)
{
  g_autofree gchar *first = g_data_input_stream_read_line (x->in, NULL, NULL, NULL);
  g_auto (GStrv) words = first ? g_strsplit (first, " ", 3) : NULL;
  gchar *line;
  if (words == NULL || g_strv_length (words) < 3)
    return FALSE;
  x->method = g_strdup (words[0]);
  x->path = g_strdup (words[1]);
  while ((line = g_data_input_stream_read_line (x->in, NULL, NULL, NULL)) != NULL && *line) {
    note_header (x, line);
    g_free (line);
  }
  g_free (line);
  x->n_body = x->length;
  x->body = g_malloc (x->length + 1);
  x->body[x->length] = '\0';
  if (!g_input_stream_read_all (G_INPUT_STREAM (x->in), x->body, x->length, &x->n_body, NULL,
                                NULL) ||
      x->n_body < x->length)
    return FALSE;
  if (x->gzip)
    unzip (x);
  return TRUE;
}

static gboolean
serve_one (InferenceServer *s, GIOStream *stream, GDataInputStream *in)
{
  Exchange x = { .server = s,
                 .in = in,
                 .out = g_io_stream_get_output_stream (stream),
                 .headers = g_string_new (NULL) };
  gboolean ok = read_request (&x) && answer (&x);
  g_free (x.method);
  g_free (x.path);
  g_free (x.body);
  g_string_free (x.headers, TRUE);
  return ok;
}

static gboolean
accept_any (G_GNUC_UNUSED GTlsConnection *connection, GTlsCertificate *certificate,
            G_GNUC_UNUSED GTlsCertificateFlags flags, G_GNUC_UNUSED gpointer data)
{
  return certificate != NULL;
}

static GIOStream *
secure (InferenceServer *s, GSocketConnection *connection)
{
  GIOStream *tls;
  if (s->options.certificate == NULL)
    return g_object_ref (G_IO_STREAM (connection));
  tls = g_tls_server_connection_new (G_IO_STREAM (connection), s->options.certificate, NULL);
  if (s->options.wants_certificate)
    g_object_set (tls, "authentication-mode", G_TLS_AUTHENTICATION_REQUIRED, NULL);
  g_signal_connect (tls, "accept-certificate", G_CALLBACK (accept_any), NULL);
  return tls;
}

static gboolean
on_run (G_GNUC_UNUSED GThreadedSocketService *service, GSocketConnection *connection,
        G_GNUC_UNUSED GObject *source, gpointer data)
{
  InferenceServer *s = data;
  g_autoptr (GIOStream) stream = secure (s, connection);
  g_autoptr (GDataInputStream) in = g_data_input_stream_new (g_io_stream_get_input_stream (stream));
  g_data_input_stream_set_newline_type (in, G_DATA_STREAM_NEWLINE_TYPE_CR_LF);
  g_socket_set_option (g_socket_connection_get_socket (connection), IPPROTO_TCP, TCP_NODELAY, 1,
                       NULL); /* head and body are two packets, neither waits */
  g_atomic_int_inc (&s->n_connections);
  g_mutex_lock (&s->lock);
  g_hash_table_add (s->connections, g_object_ref (connection));
  g_mutex_unlock (&s->lock);
  while (serve_one (s, stream, in))
    continue;
  g_io_stream_close (stream, NULL, NULL);
  g_mutex_lock (&s->lock);
  g_hash_table_remove (s->connections, connection);
  g_cond_signal (&s->idle);
  g_mutex_unlock (&s->lock);
  return TRUE;
}

static gpointer
accept_main (gpointer data)
{
  InferenceServer *s = data;
  g_main_context_push_thread_default (s->context);
  while (!g_atomic_int_get (&s->is_closing))
    g_main_context_iteration (s->context, TRUE);
  g_main_context_pop_thread_default (s->context);
  return NULL;
}

static void
listen_at (InferenceServer *s, guint16 port)
{
  g_autoptr (GSocketAddress) wanted_address =
      g_inet_socket_address_new_from_string (s->address, port);
  g_autoptr (GSocketAddress) real = NULL;
  g_autoptr (GError) error = NULL;
  s->context = g_main_context_new ();
  g_main_context_push_thread_default (s->context);
  s->service = g_threaded_socket_service_new (-1);
  g_socket_listener_add_address (G_SOCKET_LISTENER (s->service), wanted_address,
                                 G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &real, &error);
  g_assert_no_error (error);
  s->port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (real));
  g_signal_connect (s->service, "run", G_CALLBACK (on_run), s);
  g_main_context_pop_thread_default (s->context);
  s->thread = g_thread_new ("server", accept_main, s);
}

InferenceServer *
inference_server_new (AxonModel *model, const InferenceServerOptions *options)
{
  InferenceServer *s = g_new0 (InferenceServer, 1);
  g_autoptr (GError) error = NULL;
  if (options != NULL)
    s->options = *options;
  if (s->options.certificate != NULL)
    g_object_ref (s->options.certificate);
  s->model = g_object_ref (model);
  s->compiled = axon_core_compile_model (axon_core_get_default (), model, "TEMPLATE", NULL, NULL,
                                         NULL, NULL, &error);
  g_assert_no_error (error);
  g_mutex_init (&s->lock);
  g_cond_init (&s->idle);
  s->address = g_strdup (s->options.address ? s->options.address : "127.0.0.1");
  s->token = g_strdup (s->options.token);
  s->connections = g_hash_table_new_full (NULL, NULL, g_object_unref, NULL);
  s->regions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  listen_at (s, s->options.port);
  return s;
}

void
inference_server_free (InferenceServer *s)
{
  GHashTableIter iter;
  gpointer connection;
  g_atomic_int_set (&s->is_closing, TRUE);
  g_main_context_wakeup (s->context);
  g_thread_join (s->thread);
  g_socket_service_stop (s->service);
  g_socket_listener_close (G_SOCKET_LISTENER (s->service));
  g_mutex_lock (&s->lock);
  g_hash_table_iter_init (&iter, s->connections);
  while (g_hash_table_iter_next (&iter, &connection, NULL))
    g_socket_shutdown (g_socket_connection_get_socket (connection), TRUE, TRUE, NULL);
  while (g_hash_table_size (s->connections) > 0)
    g_cond_wait (&s->idle, &s->lock);
  g_mutex_unlock (&s->lock);
  g_object_unref (s->service);
  g_main_context_unref (s->context);
  g_hash_table_unref (s->connections);
  g_hash_table_unref (s->regions);
  g_clear_object (&s->options.certificate);
  g_object_unref (s->compiled);
  g_object_unref (s->model);
  g_mutex_clear (&s->lock);
  g_cond_clear (&s->idle);
  g_free (s->description);
  g_free (s->headers);
  g_free (s->token);
  g_free (s->address);
  g_free (s);
}

gchar *
inference_server_url (InferenceServer *s)
{
  return g_strdup_printf ("%s://%s:%u", s->options.certificate ? "https" : "http", s->address,
                          s->port);
}

guint16
inference_server_port (InferenceServer *s)
{
  return s->port;
}

void
inference_server_set_mischief (InferenceServer *s, Mischief mischief)
{
  g_atomic_int_set (&s->mischief, mischief);
}

static void
set_text (InferenceServer *s, gchar **where, const gchar *text)
{
  g_mutex_lock (&s->lock);
  g_free (*where);
  *where = g_strdup (text);
  g_mutex_unlock (&s->lock);
}

void
inference_server_set_description (InferenceServer *s, const gchar *json)
{
  set_text (s, &s->description, json);
}

void
inference_server_set_token (InferenceServer *s, const gchar *token)
{
  set_text (s, &s->token, token);
}

guint
inference_server_get_n_inferences (InferenceServer *s)
{
  return (guint)g_atomic_int_get (&s->n_inferences);
}

guint
inference_server_get_n_connections (InferenceServer *s)
{
  return (guint)g_atomic_int_get (&s->n_connections);
}

gchar *
inference_server_dup_headers (InferenceServer *s)
{
  gchar *headers;
  g_mutex_lock (&s->lock);
  headers = g_strdup (s->headers ? s->headers : "");
  g_mutex_unlock (&s->lock);
  return headers;
}

gsize
inference_server_get_n_sent (InferenceServer *s)
{
  return (gsize)g_atomic_pointer_get (&s->n_sent);
}
