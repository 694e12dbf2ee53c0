/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines to a listening Unix or TCP socket, datagrams to a UDP one: unix:///run/FILE,
 * tcp://HOST:PORT, udp://HOST:PORT. Threads: one at a time. */
#include "gstnntransport.h"

#include "config.h"
#include <gio/gunixsocketaddress.h>
#include <glib/gi18n-lib.h>

#define TIMEOUT 5 /* seconds to connect, or to take a record */

typedef struct {
  gchar *location;
  GSocketConnectable *address;
  GSocketClient *client;
  GSocketConnection *connection;
  GCancellable *cancellable;
  gboolean is_datagram;
} Socket;

static GSocketConnectable *
parse_address (const gchar *location, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (location, G_URI_FLAGS_NONE, error);
  const gchar *host;
  if (uri == NULL)
    return NULL;
  host = g_uri_get_host (uri);
  if (g_str_equal (g_uri_get_scheme (uri), "unix") && *g_uri_get_path (uri) != 0)
    return G_SOCKET_CONNECTABLE (g_unix_socket_address_new (g_uri_get_path (uri)));
  if (host != NULL && *host != 0 && g_uri_get_port (uri) > 0)
    return g_network_address_new (host, (guint16)g_uri_get_port (uri));
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               _ ("%s: expected unix:///PATH, tcp://HOST:PORT or udp://HOST:PORT"), location);
  return NULL;
}

static void
socket_close (gpointer transport)
{
  Socket *s = transport;
  g_clear_object (&s->connection);
  g_clear_object (&s->client);
  g_clear_object (&s->address);
  g_object_unref (s->cancellable);
  g_free (s->location);
  g_free (s);
}

static gpointer
socket_open (const GstNnTransportSettings *settings, GError **error)
{
  Socket *s = g_new0 (Socket, 1);
  s->location = g_strdup (settings->location);
  s->cancellable = g_object_ref (settings->cancellable);
  s->is_datagram = g_ascii_strncasecmp (s->location, "udp:", 4) == 0;
  s->address = parse_address (s->location, error);
  if (s->address == NULL) {
    socket_close (s);
    return NULL;
  }
  s->client = g_socket_client_new ();
  g_socket_client_set_timeout (s->client, TIMEOUT);
  if (s->is_datagram) {
    g_socket_client_set_socket_type (s->client, G_SOCKET_TYPE_DATAGRAM);
    g_socket_client_set_protocol (s->client, G_SOCKET_PROTOCOL_UDP);
  }
  return s;
}

/* A datagram is one record: what a network does not carry in one piece cannot be sent. */
static gboolean
send_datagram (Socket *s, const GstNnOutgoing *record, GError **error)
{
  g_autoptr (GError) failed = NULL;
  gsize n;
  const gchar *data = g_bytes_get_data (record->bytes, &n);
  if (g_socket_send (g_socket_connection_get_socket (s->connection), data, n, s->cancellable,
                     &failed) >= 0)
    return TRUE;
  if (g_error_matches (failed, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 _ ("%s: a record of %zu bytes does not fit a datagram"), s->location, n);
    return FALSE;
  }
  g_propagate_error (error, g_steal_pointer (&failed));
  return FALSE;
}

static gboolean
send_line (Socket *s, const GstNnOutgoing *record, GError **error)
{
  GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (s->connection));
  gsize n;
  const gchar *data = g_bytes_get_data (record->bytes, &n);
  g_autofree gchar *line = g_malloc (n + 1);
  memcpy (line, data, n);
  line[n] = '\n';
  return g_output_stream_write_all (out, line, n + 1, NULL, s->cancellable, error);
}

static gboolean
socket_send (gpointer transport, const GstNnOutgoing *record, GError **error)
{
  Socket *s = transport;
  gboolean ok;
  if (s->connection == NULL)
    s->connection = g_socket_client_connect (s->client, s->address, s->cancellable, error);
  if (s->connection == NULL) {
    g_prefix_error (error, "%s: ", s->location);
    return FALSE;
  }
  ok = s->is_datagram ? send_datagram (s, record, error) : send_line (s, record, error);
  if (!ok) /* the next is tried on a connection of its own: nobody reads half a line */
    g_clear_object (&s->connection);
  return ok;
}

const GstNnTransport gst_nn_transport_socket = {
  .version = GST_NN_TRANSPORT_VERSION,
  .open = socket_open,
  .send = socket_send,
  .close = socket_close,
};
