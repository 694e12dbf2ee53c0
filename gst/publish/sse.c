/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sse://ADDRESS:PORT/PATH: a server of events (text/event-stream) for web pages, by libsoup. Who
 * listens gets what comes from then on; who reads too slowly is sent away.
 * Threads: the server has one of its own; sending hands it the record. */
#include "gstnntransport.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <libsoup/soup.h>

#define MOST_BEHIND (4 * 1024 * 1024) /* bytes that wait for one listener */

typedef struct {
  SoupServer *server;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  GList *listeners; /* SoupServerMessage; server's thread */
  gchar *location, *origin;
  gint most;
} Sse;

typedef struct {
  Sse *sse;
  GBytes *event;
} Sending;

static void
on_finished (SoupServerMessage *message, gpointer data)
{
  Sse *s = data;
  GList *link = g_list_find (s->listeners, message);
  if (link == NULL)
    return;
  s->listeners = g_list_delete_link (s->listeners, link);
  g_object_unref (message);
}

/* What was written is behind the body no more. */
static void
on_wrote (SoupServerMessage *message, guint n, gpointer data)
{
  gsize *behind = data;
  (void)message;
  *behind -= MIN (*behind, n);
}

static void
on_request (G_GNUC_UNUSED SoupServer *server, SoupServerMessage *message,
            G_GNUC_UNUSED const char *path, G_GNUC_UNUSED GHashTable *query, gpointer data)
{
  Sse *s = data;
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  gsize *behind = g_new0 (gsize, 1);
  g_object_set_data_full (G_OBJECT (message), "behind", behind, g_free);
  if (soup_server_message_get_method (message) != SOUP_METHOD_GET ||
      g_list_length (s->listeners) >= (guint)s->most) {
    gboolean full = soup_server_message_get_method (message) == SOUP_METHOD_GET;
    soup_server_message_set_status (
        message, full ? SOUP_STATUS_SERVICE_UNAVAILABLE : SOUP_STATUS_METHOD_NOT_ALLOWED, NULL);
    return;
  }
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_message_headers_set_content_type (headers, "text/event-stream", NULL);
  soup_message_headers_set_encoding (headers, SOUP_ENCODING_CHUNKED);
  soup_message_headers_replace (headers, "Cache-Control", "no-store");
  if (s->origin != NULL)
    soup_message_headers_replace (headers, "Access-Control-Allow-Origin", s->origin);
  soup_message_body_set_accumulate (soup_server_message_get_response_body (message), FALSE);
  soup_message_body_append (soup_server_message_get_response_body (message), SOUP_MEMORY_STATIC,
                            ":\n\n", 3); /* a comment: headers go out at once */
  g_signal_connect (message, "wrote-body-data", G_CALLBACK (on_wrote), behind);
  g_signal_connect (message, "finished", G_CALLBACK (on_finished), s);
  s->listeners = g_list_prepend (s->listeners, g_object_ref (message));
}

static gboolean
send_to_all (gpointer data)
{
  Sending *sending = data;
  GList *i = sending->sse->listeners;
  while (i != NULL) {
    SoupServerMessage *message = i->data;
    gsize *behind = g_object_get_data (G_OBJECT (message), "behind");
    SoupMessageBody *body = soup_server_message_get_response_body (message);
    i = i->next;
    *behind += g_bytes_get_size (sending->event);
    if (*behind > MOST_BEHIND) {
      soup_message_body_complete (body);
      on_finished (message, sending->sse);
      continue;
    }
    soup_message_body_append_bytes (body, sending->event);
    soup_server_message_unpause (message);
  }
  return G_SOURCE_REMOVE;
}

static void
sending_free (gpointer data)
{
  Sending *sending = data;
  g_bytes_unref (sending->event);
  g_free (sending);
}

static gboolean
sse_send (gpointer transport, const GstNnOutgoing *record, G_GNUC_UNUSED GError **error)
{
  Sse *s = transport;
  Sending *sending = g_new (Sending, 1);
  gsize n;
  const gchar *data = g_bytes_get_data (record->bytes, &n);
  GString *event = g_string_new ("data: ");
  g_string_append_len (event, data, (gssize)n);
  g_string_append (event, "\n\n");
  sending->sse = s;
  sending->event = g_string_free_to_bytes (event);
  g_main_context_invoke_full (s->context, G_PRIORITY_DEFAULT, send_to_all, sending, sending_free);
  /* cppcheck-suppress memleak */
  return TRUE;
}

static gpointer
serve (gpointer data)
{
  Sse *s = data;
  g_main_context_push_thread_default (s->context);
  g_main_loop_run (s->loop);
  while (g_main_context_iteration (s->context, FALSE)) /* connections end in turns of their own */
    ;
  g_main_context_pop_thread_default (s->context);
  return NULL;
}

static gboolean
stop_serving (gpointer data)
{
  Sse *s = data;
  soup_server_disconnect (s->server);
  g_main_loop_quit (s->loop);
  return G_SOURCE_REMOVE;
}

static void
sse_close (gpointer transport)
{
  Sse *s = transport;
  if (s->thread != NULL) {
    g_autoptr (GSource) stop = g_idle_source_new ();
    g_source_set_callback (stop, stop_serving, s, NULL);
    g_source_attach (stop, s->context);
    g_thread_join (s->thread);
  }
  g_list_free_full (g_steal_pointer (&s->listeners), g_object_unref);
  g_clear_object (&s->server);
  g_main_loop_unref (s->loop);
  g_main_context_unref (s->context);
  g_free (s->location);
  g_free (s->origin);
  g_free (s);
}

static gboolean
listen_at (Sse *s, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (s->location, G_URI_FLAGS_NONE, error);
  g_autoptr (GInetAddress) inet = NULL;
  g_autoptr (GSocketAddress) address = NULL;
  const gchar *host = uri ? g_uri_get_host (uri) : NULL;
  if (uri == NULL)
    return FALSE;
  inet = g_strcmp0 (host, "localhost") == 0 ? g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4)
         : host != NULL                     ? g_inet_address_new_from_string (host)
                                            : NULL;
  if (inet == NULL || g_uri_get_port (uri) < 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 _ ("%s: expected sse://ADDRESS:PORT/PATH, an address of this machine as number, "
                    "or localhost"),
                 s->location);
    return FALSE;
  }
  address = g_inet_socket_address_new (inet, (guint16)g_uri_get_port (uri));
  soup_server_add_handler (s->server, *g_uri_get_path (uri) ? g_uri_get_path (uri) : "/",
                           on_request, s, NULL);
  if (soup_server_listen (s->server, address, 0, error))
    return TRUE;
  g_prefix_error (error, "%s: ", s->location);
  return FALSE;
}

static gpointer
sse_open (const GstNnTransportSettings *settings, GError **error)
{
  Sse *s = g_new0 (Sse, 1);
  gboolean ok;
  s->location = g_strdup (settings->location);
  s->origin = g_strdup (gst_structure_get_string (settings->options, "allow-origin"));
  gst_structure_get_int (settings->options, "max-listeners", &s->most);
  s->context = g_main_context_new ();
  s->loop = g_main_loop_new (s->context, FALSE);
  g_main_context_push_thread_default (s->context);
  s->server = soup_server_new (NULL, NULL);
  ok = listen_at (s, error);
  g_main_context_pop_thread_default (s->context);
  if (ok) {
    s->thread = g_thread_new ("nnpublish-sse", serve, s);
    return s;
  }
  sse_close (s);
  return NULL;
}

static const GstNnTransportOption sse_options[] = {
  { "allow-origin", G_TYPE_STRING, NULL, N_ ("pages of this origin may listen, too; *: all") },
  { "max-listeners", G_TYPE_INT, "16", N_ ("at the same time") },
  { NULL, G_TYPE_NONE, NULL, NULL },
};

G_MODULE_EXPORT const GstNnTransport gst_nn_transport = {
  .version = GST_NN_TRANSPORT_VERSION,
  .options = sse_options,
  .open = sse_open,
  .send = sse_send,
  .close = sse_close,
};
