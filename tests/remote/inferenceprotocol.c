/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inferenceserver-private.h"

#include <string.h>

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
    inference_append_port (json, i, axon_model_get_input_name (s->model, i),
                           axon_model_get_input_dtype (s->model, i),
                           axon_model_get_input_shape (s->model, i));
    g_string_append_c (json, '}');
  }
  g_string_append (json, "],\"outputs\":[");
  for (guint i = 0; i < axon_model_get_n_outputs (s->model) && !s->options.lists_no_ports; i++) {
    inference_append_port (json, i, axon_model_get_output_name (s->model, i),
                           axon_model_get_output_dtype (s->model, i),
                           axon_model_get_output_shape (s->model, i));
    g_string_append_c (json, '}');
  }
  g_string_append (json, "]}");
  return g_string_free (json, FALSE);
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
    g_autoptr (AxonTensor) t = exchange_read_tensor (x, object, &at);
    if (t == NULL || !axon_infer_request_set_input_tensor (request, (guint)index, t, NULL))
      return FALSE;
  }
  return TRUE;
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

static gboolean
send_result (Exchange *x, JsonObject *root, AxonInferRequest *request, Mischief mischief)
{
  AxonModel *model = x->server->model;
  g_autoptr (GString) json = g_string_new ("{\"model_name\":\"m\",\"outputs\":[");
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree gchar *header = NULL;
  for (guint i = 0; i < axon_model_get_n_outputs (model) && mischief != NO_OUTPUTS; i++) {
    const gchar *name = axon_model_get_output_name (model, i);
    g_autoptr (AxonTensor) t = axon_infer_request_get_output_tensor (request, i);
    AxonShape shape = *axon_tensor_get_shape (t);
    AxonDType dtype = axon_tensor_get_dtype (t);
    if (mischief == OTHER_SHAPE)
      shape.dims[shape.rank - 1]++;
    inference_append_port (json, i, name, mischief == OTHER_TYPE ? AXON_DTYPE_U64 : dtype, &shape);
    exchange_append_tensor (x, json, bytes, wanted (root, name), t, mischief);
    g_string_append_c (json, '}');
  }
  g_string_append (json, "]}");
  if (bytes->len > 0)
    header = g_strdup_printf ("Inference-Header-Content-Length: %" G_GUINT64_FORMAT "\r\n",
                              mischief == HUGE_JSON_LENGTH ? 10000000000u : (guint64)json->len);
  g_string_append_len (json, (const gchar *)bytes->data, bytes->len);
  if (mischief == CUT_ANSWER) {
    g_autofree gchar *head = g_strdup_printf (
        "HTTP/1.1 200 OK\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n", json->len);
    exchange_send_bytes (x, head, strlen (head));
    exchange_send_bytes (x, json->str, json->len / 2);
    return FALSE;
  }
  return exchange_send (x, "200 OK", header ? header : "", json->str, json->len);
}

static gboolean
infer (Exchange *x)
{
  Mischief mischief = (Mischief)g_atomic_int_get (&x->server->mischief);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (GError) error = NULL;
  JsonObject *root;
  gboolean done, ok = exchange_misbehave (x, mischief, &done);
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
    return exchange_send_text (x, "400 Bad Request", "{\"error\":\"no such input or region\"}");
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
  return exchange_send_text (x, "200 OK", "{}");
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

gboolean
exchange_answer (Exchange *x)
{
  g_autofree gchar *text = NULL;
  if (!is_authorized (x))
    return exchange_send_text (x, "401 Unauthorized", "{\"error\":\"who are you\"}");
  if (x->server->recording != NULL)
    return exchange_replay (x);
  if (g_str_has_suffix (x->path, "/infer"))
    return infer (x);
  if (strstr (x->path, "/systemsharedmemory/") != NULL)
    return share_memory (x);
  if (g_str_has_suffix (x->path, "/ready"))
    return exchange_send_text (x, "200 OK", "{\"ready\":true}");
  if (g_str_equal (x->path, "/v2"))
    text = g_strdup_printf ("{\"name\":\"test\",\"version\":\"1\",\"extensions\":[%s]}",
                            x->server->options.extensions ? x->server->options.extensions : "");
  else if (g_str_has_prefix (x->path, "/v2/models/m"))
    text = describe_model (x->server);
  return text ? exchange_send_text (x, "200 OK", text)
              : exchange_send_text (x, "404 Not Found", "{\"error\":\"unknown model\"}");
}
