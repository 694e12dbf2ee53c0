/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inferenceserver-private.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

static gboolean
serve_one (InferenceServer *s, GIOStream *stream, GDataInputStream *in)
{
  Exchange x = { .server = s,
                 .in = in,
                 .out = g_io_stream_get_output_stream (stream),
                 .headers = g_string_new (NULL) };
  gboolean ok = exchange_read (&x) && exchange_answer (&x);
  exchange_clear (&x);
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

/* The server's thread: whoever frees the server knows of a connection before it is served. */
static gboolean
on_incoming (G_GNUC_UNUSED GSocketService *service, GSocketConnection *connection,
             G_GNUC_UNUSED GObject *source, gpointer data)
{
  InferenceServer *s = data;
  g_mutex_lock (&s->lock);
  g_hash_table_add (s->connections, g_object_ref (connection));
  g_mutex_unlock (&s->lock);
  return FALSE;
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
  g_signal_connect (s->service, "incoming", G_CALLBACK (on_incoming), s);
  g_signal_connect (s->service, "run", G_CALLBACK (on_run), s);
  g_main_context_pop_thread_default (s->context);
  s->thread = g_thread_new ("server", accept_main, s);
}

static void
load_recording (InferenceServer *s)
{
  g_autoptr (GError) error = NULL;
  s->recording = json_parser_new ();
  json_parser_load_from_file (s->recording, s->options.recording, &error);
  g_assert_no_error (error);
}

static void
load_model (InferenceServer *s, AxonModel *model)
{
  g_autoptr (GError) error = NULL;
  s->model = g_object_ref (model);
  s->compiled = axon_core_compile_model (axon_core_get_default (), model,
                                         s->options.device ? s->options.device : "TEMPLATE", NULL,
                                         NULL, NULL, NULL, &error);
  g_assert_no_error (error);
}

InferenceServer *
inference_server_new (AxonModel *model, const InferenceServerOptions *options)
{
  InferenceServer *s = g_new0 (InferenceServer, 1);
  if (options != NULL)
    s->options = *options;
  if (s->options.certificate != NULL)
    g_object_ref (s->options.certificate);
  if (s->options.recording != NULL)
    load_recording (s);
  else if (model != NULL)
    load_model (s, model);
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
  g_clear_object (&s->compiled);
  g_clear_object (&s->model);
  g_clear_object (&s->recording);
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
