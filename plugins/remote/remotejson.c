/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remotejson.h"

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>
#include <string.h>

#define DEEPEST 32u /* a tensor's dimensions and what is around them; parsers recurse */
#define LONGEST_EXCERPT 300u

static gboolean
is_deep (const gchar *text, gsize n)
{
  guint depth = 0;
  gboolean quoted = FALSE;
  for (gsize i = 0; i < n; i++) {
    gchar c = text[i];
    if (quoted && c == '\\')
      i++;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > DEEPEST)
      return TRUE;
    else if (!quoted && (c == ']' || c == '}') && depth > 0)
      depth--;
  }
  return FALSE;
}

JsonParser *
remote_json_parse (gconstpointer data, gsize n, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) failed = NULL;
  g_autofree gchar *excerpt = NULL;
  JsonNode *root = NULL;
  if (!is_deep (data, n) && json_parser_load_from_data (parser, data, (gssize)n, &failed))
    root = json_parser_get_root (parser);
  if (root != NULL && JSON_NODE_HOLDS_OBJECT (root))
    return g_steal_pointer (&parser);
  excerpt = remote_excerpt (data, n);
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("expected a JSON object, got \"%s\"%s%s"),
               excerpt, failed ? ": " : "", failed ? failed->message : "");
  return NULL;
}

static JsonNode *
member (JsonObject *object, const gchar *name, JsonNodeType type)
{
  JsonNode *node = object ? json_object_get_member (object, name) : NULL;
  return node && json_node_get_node_type (node) == type ? node : NULL;
}

const gchar *
remote_json_string (JsonObject *object, const gchar *name)
{
  JsonNode *node = member (object, name, JSON_NODE_VALUE);
  return node && json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node)
                                                                  : NULL;
}

JsonArray *
remote_json_array (JsonObject *object, const gchar *name)
{
  JsonNode *node = member (object, name, JSON_NODE_ARRAY);
  return node ? json_node_get_array (node) : NULL;
}

JsonObject *
remote_json_object (JsonObject *object, const gchar *name)
{
  JsonNode *node = member (object, name, JSON_NODE_OBJECT);
  return node ? json_node_get_object (node) : NULL;
}

gint64
remote_json_int (JsonObject *object, const gchar *name)
{
  JsonNode *node = member (object, name, JSON_NODE_VALUE);
  return node && json_node_get_value_type (node) == G_TYPE_INT64 ? json_node_get_int (node) : -1;
}

gchar *
remote_json_quote (const gchar *text)
{
  g_autoptr (JsonNode) node = json_node_init_string (json_node_alloc (), text);
  return json_to_string (node, FALSE);
}

gchar *
remote_excerpt (const gchar *text, gsize n)
{
  gchar *shown = g_utf8_make_valid (text ? text : "", (gssize)MIN (n, LONGEST_EXCERPT));
  for (gchar *c = shown; *c != '\0'; c++)
    if ((guchar)*c < ' ' || *c == 0x7f)
      *c = ' ';
  return g_strstrip (shown);
}

/* Servers say {"error": "..."}; others, and what stands before them, anything. */
gchar *
remote_answer_describe (const RemoteAnswer *answer)
{
  gsize n;
  const gchar *text = g_bytes_get_data (answer->body, &n);
  g_autoptr (JsonParser) parser = remote_json_parse (text ? text : "", n, NULL);
  const gchar *said =
      parser ? remote_json_string (json_node_get_object (json_parser_get_root (parser)), "error")
             : NULL;
  g_autofree gchar *excerpt = remote_excerpt (said ? said : text, said ? strlen (said) : n);
  g_autofree gchar *reason = remote_excerpt (answer->reason, strlen (answer->reason));
  return g_strdup_printf (_ ("it answers %u %s%s%s"), answer->status, reason, *excerpt ? ": " : "",
                          excerpt);
}
