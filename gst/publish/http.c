/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http://HOST/PATH, https://: a POST for each record, by libsoup. Threads: the writer's. */
#include "gstnnaccess.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <libsoup/soup.h>

typedef struct {
  SoupSession *session;
  GUri *uri;
  gchar *location, *media_type, *authorization;
  GCancellable *cancellable;
} Http;

/* What a server may say of a record that is right, later. */
static gboolean
may_try_again (guint status)
{
  return status >= 500 || status == SOUP_STATUS_REQUEST_TIMEOUT || status == 429 ||
         status == SOUP_STATUS_UNAUTHORIZED || status == SOUP_STATUS_FORBIDDEN ||
         status == SOUP_STATUS_NOT_FOUND;
}

static gboolean
http_send (gpointer transport, const GstNnOutgoing *record, GError **error)
{
  Http *h = transport;
  g_autoptr (SoupMessage) message = soup_message_new_from_uri (SOUP_METHOD_POST, h->uri);
  g_autoptr (GBytes) reply = NULL;
  guint status;
  if (h->authorization != NULL)
    soup_message_headers_replace (soup_message_get_request_headers (message), "Authorization",
                                  h->authorization);
  soup_message_set_request_body_from_bytes (message, h->media_type, record->bytes);
  reply = soup_session_send_and_read (h->session, message, h->cancellable, error);
  if (reply == NULL) {
    g_prefix_error (error, "%s: ", h->location);
    return FALSE;
  }
  status = soup_message_get_status (message);
  if (SOUP_STATUS_IS_SUCCESSFUL (status))
    return TRUE;
  g_set_error (error, G_IO_ERROR,
               may_try_again (status) ? G_IO_ERROR_FAILED : G_IO_ERROR_INVALID_DATA,
               _ ("%s: the server answers %u %s"), h->location, status,
               soup_message_get_reason_phrase (message));
  return FALSE;
}

static void
http_close (gpointer transport)
{
  Http *h = transport;
  g_clear_object (&h->session);
  g_clear_pointer (&h->uri, g_uri_unref);
  g_object_unref (h->cancellable);
  g_free (h->location);
  g_free (h->media_type);
  g_free (h->authorization);
  g_free (h);
}

static gboolean
set_access (Http *h, const GstStructure *o, GError **error)
{
  const gchar *ca = gst_structure_get_string (o, "ca-file");
  const gchar *user = gst_structure_get_string (o, "user");
  g_autoptr (GError) failed = NULL;
  g_autofree gchar *secret = gst_nn_read_secret (o, "password-file", &failed);
  g_autofree gchar *pair = g_strdup_printf ("%s:%s", user ? user : "", secret ? secret : "");
  g_autofree gchar *basic = g_base64_encode ((const guchar *)pair, strlen (pair));
  g_autoptr (GTlsDatabase) trusted =
      ca && failed == NULL ? g_tls_file_database_new (ca, &failed) : NULL;
  if (failed != NULL) {
    g_propagate_error (error, g_steal_pointer (&failed));
    return FALSE;
  }
  if (trusted != NULL)
    soup_session_set_tls_database (h->session, trusted);
  if (user != NULL)
    h->authorization = g_strconcat ("Basic ", basic, NULL);
  else if (secret != NULL)
    h->authorization = g_strconcat ("Bearer ", secret, NULL);
  return TRUE;
}

static gpointer
http_open (const GstNnTransportSettings *settings, GError **error)
{
  Http *h = g_new0 (Http, 1);
  gint timeout = 0;
  gst_structure_get_int (settings->options, "timeout", &timeout);
  h->location = g_strdup (settings->location);
  h->media_type = g_strdup (settings->media_type);
  h->cancellable = g_object_ref (settings->cancellable);
  h->session = soup_session_new ();
  soup_session_set_timeout (h->session, (guint)MAX (timeout, 1));
  h->uri = g_uri_parse (h->location, SOUP_HTTP_URI_FLAGS, error);
  if (h->uri != NULL && set_access (h, settings->options, error))
    return h;
  http_close (h);
  return NULL;
}

static const GstNnTransportOption http_options[] = {
  { "user", G_TYPE_STRING, NULL, N_ ("name for the server (Basic)") },
  { "password-file", G_TYPE_STRING, NULL,
    N_ ("its first line is the password, or without a user a bearer's token") },
  { "ca-file", G_TYPE_STRING, NULL, N_ ("certificates to trust, otherwise the system's") },
  { "timeout", G_TYPE_INT, "10", N_ ("seconds that the server has to answer") },
  { NULL, G_TYPE_NONE, NULL, NULL },
};

G_MODULE_EXPORT const GstNnTransport gst_nn_transport = {
  .version = GST_NN_TRANSPORT_VERSION,
  .options = http_options,
  .open = http_open,
  .send = http_send,
  .close = http_close,
};
