/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remoteserver.h"
#include "remotejson.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

#define MOST_METADATA (4u * 1024u * 1024u)

void
remote_server_free (RemoteServer *server)
{
  g_free (server->name);
  g_free (server->model);
  g_free (server->path);
  g_ptr_array_unref (server->inputs);
  g_ptr_array_unref (server->outputs);
  g_free (server);
}

static gboolean
fail_metadata (GError **error, const gchar *model, const gchar *what, const gchar *got)
{
  g_autofree gchar *shown = NULL;
  if (got == NULL)
    got = _ ("nothing");
  shown = remote_excerpt (got, strlen (got));
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
               _ ("the description of model \"%s\": %s, got \"%s\""), model, what, shown);
  return FALSE;
}

/* A dimension is free where it is negative; some servers write numbers as texts. */
static gboolean
read_dim (JsonNode *node, gint64 *dim)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
  if (type == G_TYPE_INT64)
    *dim = json_node_get_int (node);
  else if (type != G_TYPE_STRING ||
           !g_ascii_string_to_signed (json_node_get_string (node), 10, -1, G_MAXINT64, dim, NULL))
    return FALSE;
  *dim = MAX (*dim, -1);
  return TRUE;
}

static gboolean
read_port (const gchar *model, JsonNode *node, GPtrArray *ports, GError **error)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  const gchar *name = remote_json_string (object, "name");
  const gchar *type = remote_json_string (object, "datatype");
  AxonDType dtype = remote_dtype_from_name (type);
  JsonArray *dims = remote_json_array (object, "shape");
  AxonShape shape = { .rank = dims ? (gint)MIN (json_array_get_length (dims), 1000) : 0 };
  if (name == NULL)
    return fail_metadata (error, model, _ ("expected ports with names"), NULL);
  if (dtype == AXON_DTYPE_UNDEFINED)
    return fail_metadata (error, model, _ ("expected one of the protocol's datatypes"), type);
  if (dims == NULL || shape.rank > AXON_MAX_RANK)
    return fail_metadata (error, model, _ ("expected a shape of at most 8 dimensions"), name);
  for (gint i = 0; i < shape.rank; i++)
    if (!read_dim (json_array_get_element (dims, (guint)i), &shape.dims[i]))
      return fail_metadata (error, model, _ ("expected whole numbers in the shape"), name);
  g_ptr_array_add (ports, remote_port_new (name, dtype, &shape));
  return TRUE;
}

static gboolean
read_ports (const gchar *model, JsonObject *object, const gchar *key, GPtrArray *ports,
            GError **error)
{
  JsonArray *array = remote_json_array (object, key);
  guint n = array ? json_array_get_length (array) : 0;
  for (guint i = 0; i < n; i++)
    if (!read_port (model, json_array_get_element (array, i), ports, error))
      return FALSE;
  return TRUE;
}

static JsonParser *
ask_json (RemoteClient *client, const gchar *path, GCancellable *cancellable, GError **error)
{
  RemoteQuestion question = { .path = g_strdup (path), .json_length = -1, .most = MOST_METADATA };
  g_autoptr (GBytes) body = remote_client_fetch (client, &question, cancellable, error);
  JsonParser *parser;
  gsize n;
  gconstpointer data;
  if (body == NULL)
    return NULL;
  data = g_bytes_get_data (body, &n);
  parser = remote_json_parse (data ? data : "", n, error);
  if (parser == NULL)
    g_prefix_error (error, _ ("device REMOTE: %s%s: "), remote_client_get_url (client), path);
  return parser;
}

static JsonObject *
root_of (JsonParser *parser)
{
  return json_node_get_object (json_parser_get_root (parser));
}

/* Triton's name of the extension, and KServe's, which is longer. */
static void
read_extensions (RemoteServer *server, JsonObject *object)
{
  JsonArray *list = remote_json_array (object, "extensions");
  guint n = list ? json_array_get_length (list) : 0;
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (list, i);
    const gchar *name = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
    server->binary_data |= name != NULL && g_str_has_prefix (name, "binary_tensor_data");
    server->shared_memory |= g_strcmp0 (name, "system_shared_memory") == 0;
  }
}

static gboolean
ask_ready (RemoteClient *client, const gchar *path, GCancellable *cancellable, GError **error)
{
  RemoteQuestion question = { .path = g_strconcat (path, "/ready", NULL),
                              .json_length = -1,
                              .most = MOST_METADATA };
  g_autoptr (GBytes) body = remote_client_fetch (client, &question, cancellable, error);
  if (body == NULL)
    g_prefix_error (error, _ ("%s is not ready: "), path);
  return body != NULL;
}

static gboolean
ask_all (RemoteServer *server, RemoteClient *client, GCancellable *cancellable, GError **error)
{
  g_autoptr (JsonParser) about = ask_json (client, "/v2", cancellable, error);
  g_autoptr (JsonParser) described = NULL;
  const gchar *name, *version;
  if (about == NULL || !ask_ready (client, server->path, cancellable, error))
    return FALSE;
  name = remote_json_string (root_of (about), "name");
  version = remote_json_string (root_of (about), "version");
  server->name = g_strjoin (" ", name ? name : _ ("a server"), version, NULL);
  read_extensions (server, root_of (about));
  described = ask_json (client, server->path, cancellable, error);
  if (described == NULL)
    return FALSE;
  if (read_ports (server->model, root_of (described), "inputs", server->inputs, error) &&
      read_ports (server->model, root_of (described), "outputs", server->outputs, error))
    return TRUE;
  g_prefix_error (error, _ ("device REMOTE: %s: "), remote_client_get_url (client));
  return FALSE;
}

RemoteServer *
remote_server_ask (RemoteClient *client, const gchar *model, const gchar *version,
                   GCancellable *cancellable, GError **error)
{
  g_autoptr (RemoteServer) server = g_new0 (RemoteServer, 1);
  g_autofree gchar *name = g_uri_escape_string (model, NULL, FALSE);
  g_autofree gchar *number = g_uri_escape_string (version, NULL, FALSE);
  server->inputs = g_ptr_array_new_with_free_func (remote_port_free);
  server->outputs = g_ptr_array_new_with_free_func (remote_port_free);
  server->model = g_strdup (model);
  server->path = *number ? g_strdup_printf ("/v2/models/%s/versions/%s", name, number)
                         : g_strdup_printf ("/v2/models/%s", name);
  return ask_all (server, client, cancellable, error) ? g_steal_pointer (&server) : NULL;
}

static gboolean
same_port (const RemotePort *a, const RemotePort *b)
{
  if (a->dtype != b->dtype || a->shape.rank != b->shape.rank)
    return a->dtype == b->dtype && a->shape.rank < 0; /* not even the rank is known here */
  for (gint i = 0; i < a->shape.rank; i++)
    if (a->shape.dims[i] != b->shape.dims[i] && a->shape.dims[i] >= 0 && b->shape.dims[i] >= 0)
      return FALSE;
  return TRUE;
}

static gboolean
same_ports (const GPtrArray *here, const GPtrArray *there)
{
  guint n = 0;
  if (there->len == 0)
    return TRUE;
  for (guint i = 0; i < here->len; i++)
    for (guint k = 0; k < there->len; k++)
      if (g_str_equal (((RemotePort *)here->pdata[i])->name, ((RemotePort *)there->pdata[k])->name))
        n += same_port (here->pdata[i], there->pdata[k]);
  return n == here->len && n == there->len;
}

static gchar *
list_ports (const GPtrArray *ports)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < ports->len; i++) {
    const RemotePort *port = ports->pdata[i];
    g_autofree gchar *name = remote_excerpt (port->name, strlen (port->name));
    g_autofree gchar *shape = axon_shape_to_string (&port->shape);
    g_string_append_printf (text, "%s\"%s\" %s%s", i ? ", " : "", name,
                            axon_dtype_get_name (port->dtype), shape);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
remote_server_check (const RemoteServer *server, const gchar *url, const GPtrArray *inputs,
                     const GPtrArray *outputs, GError **error)
{
  g_autofree gchar *in_here = NULL, *out_here = NULL, *in_there = NULL, *out_there = NULL;
  if (same_ports (inputs, server->inputs) && same_ports (outputs, server->outputs))
    return TRUE;
  in_here = list_ports (inputs);
  out_here = list_ports (outputs);
  in_there = list_ports (server->inputs);
  out_there = list_ports (server->outputs);
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_MODEL,
      _ ("device REMOTE: %s: model \"%s\" (%s) is another: the model here has inputs %s, "
         "outputs %s; there it has inputs %s, outputs %s. REMOTE runs whole models only, no parts "
         "of them"),
      url, server->model, server->name, in_here, out_here, in_there, out_there);
  return FALSE;
}
