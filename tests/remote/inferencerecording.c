/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers as a server that was recorded did (record.py): the request that was sent then gets its
 * result, any other what that server said to a wrong one. */
#include "inferenceserver-private.h"

#include <string.h>

static GBytes *
body_of (JsonObject *message)
{
  const gchar *text;
  gsize n;
  guint8 *bytes;
  if (json_object_has_member (message, "base64")) {
    bytes = g_base64_decode (json_object_get_string_member (message, "base64"), &n);
    return g_bytes_new_take (bytes, n);
  }
  text = json_object_get_string_member (message, "body");
  return g_bytes_new (text, strlen (text));
}

static gsize
json_length_of (JsonObject *message, gsize all)
{
  JsonObject *headers = json_object_get_object_member (message, "headers");
  const gchar *n =
      json_object_get_string_member_with_default (headers, "inference-header-content-length", NULL);
  return n ? (gsize)g_ascii_strtoull (n, NULL, 10) : all;
}

/* The same JSON, however it is written, and the same bytes behind it. */
static gboolean
same_request (Exchange *x, JsonObject *request)
{
  g_autoptr (GBytes) bytes = body_of (request);
  gsize n, n_json, n_here = x->json_length ? x->json_length : x->n_body;
  const gchar *data = g_bytes_get_data (bytes, &n);
  g_autoptr (JsonParser) there = json_parser_new (), here = json_parser_new ();
  n_json = json_length_of (request, n);
  if (n - n_json != x->n_body - n_here ||
      (n > n_json && memcmp (data + n_json, x->body + n_here, n - n_json) != 0))
    return FALSE;
  if (n_json == 0)
    return n_here == 0;
  return json_parser_load_from_data (there, data, (gssize)n_json, NULL) &&
         json_parser_load_from_data (here, (const gchar *)x->body, (gssize)n_here, NULL) &&
         json_node_equal (json_parser_get_root (there), json_parser_get_root (here));
}

static JsonObject *
find_exchange (Exchange *x)
{
  JsonObject *root = json_node_get_object (json_parser_get_root (x->server->recording));
  JsonArray *exchanges = json_object_get_array_member (root, "exchanges");
  JsonObject *last = NULL;
  for (guint i = 0; i < json_array_get_length (exchanges); i++) {
    JsonObject *exchange = json_array_get_object_element (exchanges, i);
    if (!g_str_equal (json_object_get_string_member (exchange, "method"), x->method) ||
        !g_str_equal (json_object_get_string_member (exchange, "path"), x->path))
      continue;
    last = exchange;
    if (same_request (x, json_object_get_object_member (exchange, "request")))
      break;
  }
  return last;
}

gboolean
exchange_replay (Exchange *x)
{
  JsonObject *exchange = find_exchange (x), *answer, *headers;
  g_autofree gchar *status = NULL;
  g_autoptr (GString) head = g_string_new (NULL);
  g_autoptr (GBytes) body = NULL;
  g_autoptr (GList) names = NULL;
  if (exchange == NULL)
    return exchange_send_text (x, "404 Not Found", "{\"error\":\"nobody recorded this\"}");
  answer = json_object_get_object_member (exchange, "answer");
  headers = json_object_get_object_member (answer, "headers");
  status = g_strdup_printf ("%d %s", (gint)json_object_get_int_member (answer, "status"),
                            json_object_get_string_member (answer, "reason"));
  names = json_object_get_members (headers);
  for (GList *l = names; l != NULL; l = l->next)
    g_string_append_printf (head, "%s: %s\r\n", (const gchar *)l->data,
                            json_object_get_string_member (headers, l->data));
  body = body_of (answer);
  return exchange_send (x, status, head->str, g_bytes_get_data (body, NULL),
                        g_bytes_get_size (body));
}
