/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The module with libsoup 3: one try of a question, its answer bounded. Owns a session; everything
 * happens in the thread that opened it. Redirections are not followed: a token is for one server.
 */
#include "remotetransport.h"

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>
#include <libsoup/soup.h>
#include <string.h>

#define IDLE_SECONDS 60u
#define STEP (1024u * 1024u)

typedef struct {
  SoupSession *session;
  GTlsCertificate *certificate;
  gchar *url;
} Soup;

/* One question on its way. */
typedef struct {
  Soup *soup;
  SoupMessage *message;
  GInputStream *stream;
  GCancellable *cancellable;
  GByteArray *bytes;
  gsize filled, most;
  GTlsCertificateFlags refused;
  RemoteAnswerFunc func;
  gpointer data;
} Try;

static void
try_free (Try *t)
{
  g_clear_object (&t->stream);
  g_object_unref (t->message);
  g_clear_object (&t->cancellable);
  g_byte_array_unref (t->bytes);
  g_free (t);
}

/* What is wrong with a server's certificate, in words. */
static const gchar *
describe_refusal (GTlsCertificateFlags flags)
{
  static const struct {
    GTlsCertificateFlags flag;
    const gchar *text;
  } rows[] = {
    { G_TLS_CERTIFICATE_EXPIRED, N_ ("its certificate has expired") },
    { G_TLS_CERTIFICATE_NOT_ACTIVATED, N_ ("its certificate is not valid yet") },
    { G_TLS_CERTIFICATE_BAD_IDENTITY, N_ ("its certificate is for another host") },
    { G_TLS_CERTIFICATE_UNKNOWN_CA, N_ ("nobody who is trusted signed its certificate (CA_FILE)") },
    { G_TLS_CERTIFICATE_REVOKED, N_ ("its certificate was revoked") },
    { G_TLS_CERTIFICATE_INSECURE, N_ ("its certificate uses an insecure algorithm") },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (flags & rows[i].flag)
      return _ (rows[i].text);
  return _ ("its certificate is not accepted");
}

static void
fail (Try *t, const GError *error)
{
  g_autoptr (GError) own = NULL;
  if (t->refused != 0)
    own = g_error_new_literal (G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
                               describe_refusal (t->refused));
  t->func (NULL, own ? own : error, t->data);
  try_free (t);
}

/* A number of a header; -1: none, or not one. */
static gint64
header_number (SoupMessageHeaders *headers, const gchar *name)
{
  const gchar *text = soup_message_headers_get_one (headers, name);
  guint64 value;
  return text && g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64 / 1000, &value, NULL)
             ? (gint64)value
             : -1;
}

static void
succeed (Try *t)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (t->message);
  gint64 seconds = header_number (headers, "Retry-After");
  RemoteAnswer answer = { .status = soup_message_get_status (t->message),
                          .reason = g_strdup (soup_message_get_reason_phrase (t->message)),
                          .json_length =
                              (gssize)header_number (headers, "Inference-Header-Content-Length"),
                          .retry_after = seconds < 0 ? -1 : seconds * 1000 };
  g_byte_array_set_size (t->bytes, (guint)t->filled);
  answer.body = g_byte_array_free_to_bytes (g_steal_pointer (&t->bytes));
  t->bytes = g_byte_array_new ();
  t->func (&answer, NULL, t->data);
  g_free (answer.reason);
  g_bytes_unref (answer.body);
  try_free (t);
}

static void
fail_too_long (Try *t, goffset length)
{
  g_autofree gchar *got = length > 0 ? g_format_size ((guint64)length) : NULL;
  g_autofree gchar *most = g_format_size (t->most);
  g_autoptr (GError) error = NULL;
  if (got != NULL)
    g_set_error (&error, AXON_ERROR, AXON_ERROR_MEMORY,
                 _ ("its answer has %s, at most %s were expected (MAX_ANSWER_SIZE)"), got, most);
  else
    g_set_error (&error, AXON_ERROR, AXON_ERROR_MEMORY,
                 _ ("its answer has more, at most %s were expected (MAX_ANSWER_SIZE)"), most);
  fail (t, error);
}

static void read_on (Try *t);

static void
on_read (GObject *source, GAsyncResult *result, gpointer data)
{
  Try *t = data;
  gsize n;
  g_autoptr (GError) error = NULL;
  if (!g_input_stream_read_all_finish (G_INPUT_STREAM (source), result, &n, &error)) {
    fail (t, error);
    return;
  }
  t->filled += n;
  if (t->filled > t->most)
    fail_too_long (t, 0);
  else if (t->filled < t->bytes->len)
    succeed (t);
  else
    read_on (t);
}

/* One byte more than is allowed shows that there are more. */
static void
read_on (Try *t)
{
  goffset length =
      soup_message_headers_get_content_length (soup_message_get_response_headers (t->message));
  gsize step = MAX (STEP, t->filled);
  if (length > 0 && t->filled == 0)
    step = MIN (step, (gsize)length + 1);
  g_byte_array_set_size (t->bytes, (guint)MIN (t->filled + step, t->most + 1));
  g_input_stream_read_all_async (t->stream, t->bytes->data + t->filled, t->bytes->len - t->filled,
                                 G_PRIORITY_DEFAULT, t->cancellable, on_read, t);
}

static void
on_headers (GObject *source, GAsyncResult *result, gpointer data)
{
  Try *t = data;
  g_autoptr (GError) error = NULL;
  goffset length;
  t->stream = soup_session_send_finish (SOUP_SESSION (source), result, &error);
  if (t->stream == NULL) {
    fail (t, error);
    return;
  }
  length = soup_message_headers_get_content_length (soup_message_get_response_headers (t->message));
  if (length < 0 || (gsize)length > t->most)
    fail_too_long (t, length);
  else
    read_on (t);
}

static gboolean
on_certificate (G_GNUC_UNUSED SoupMessage *message, G_GNUC_UNUSED GTlsCertificate *certificate,
                GTlsCertificateFlags flags, gpointer data)
{
  ((Try *)data)->refused = flags;
  return FALSE;
}

/* The body as a stream (transfer full): what is compressed has no length that is known. */
static void
set_body (SoupMessage *message, const RemoteQuestion *question)
{
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  g_autoptr (GInputStream) plain = g_memory_input_stream_new ();
  gssize n = 0;
  for (guint i = 0; i < question->body->len; i++) {
    n += (gssize)g_bytes_get_size (question->body->pdata[i]);
    g_memory_input_stream_add_bytes (G_MEMORY_INPUT_STREAM (plain), question->body->pdata[i]);
  }
  if (question->json_length >= 0) {
    g_autofree gchar *length = g_strdup_printf ("%" G_GSSIZE_FORMAT, question->json_length);
    soup_message_headers_replace (headers, "Inference-Header-Content-Length", length);
  }
  if (question->gzip)
    soup_message_headers_replace (headers, "Content-Encoding", "gzip");
  soup_message_set_request_body (
      message, question->json_length >= 0 ? "application/octet-stream" : "application/json", plain,
      n);
}

static SoupMessage *
make_message (Soup *soup, const RemoteQuestion *question, const gchar *token)
{
  g_autofree gchar *url = g_strconcat (soup->url, question->path, NULL);
  SoupMessage *message =
      soup_message_new (question->body ? SOUP_METHOD_POST : SOUP_METHOD_GET, url);
  g_autofree gchar *bearer = token ? g_strconcat ("Bearer ", token, NULL) : NULL;
  if (message == NULL)
    return NULL;
  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT);
  if (question->repeatable) /* else libsoup opens a connection for every POST */
    soup_message_add_flags (message, SOUP_MESSAGE_IDEMPOTENT);
  if (!question->any_coding)
    soup_message_disable_feature (message, SOUP_TYPE_CONTENT_DECODER);
  if (bearer != NULL)
    soup_message_headers_replace (soup_message_get_request_headers (message), "Authorization",
                                  bearer);
  if (soup->certificate != NULL)
    soup_message_set_tls_client_certificate (message, soup->certificate);
  if (question->body != NULL)
    set_body (message, question);
  return message;
}

static void
transport_send (gpointer transport, const RemoteQuestion *question, const gchar *token,
                GCancellable *cancellable, RemoteAnswerFunc func, gpointer data)
{
  Soup *soup = transport;
  SoupMessage *message = make_message (soup, question, token);
  Try *t;
  if (message == NULL) {
    g_autoptr (GError) error =
        g_error_new (AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s is no path of a URL"), question->path);
    func (NULL, error, data);
    return;
  }
  t = g_new0 (Try, 1);
  *t =
      (Try){ .soup = soup, .message = message, .most = question->most, .func = func, .data = data };
  t->cancellable = g_object_ref (cancellable);
  t->bytes = g_byte_array_new ();
  g_signal_connect (message, "accept-certificate", G_CALLBACK (on_certificate), t);
  soup_session_send_async (soup->session, message, G_PRIORITY_DEFAULT, cancellable, on_headers, t);
}

static void
transport_close (gpointer transport)
{
  Soup *soup = transport;
  soup_session_abort (soup->session);
  g_object_unref (soup->session);
  g_clear_object (&soup->certificate);
  g_free (soup->url);
  g_free (soup);
}

static gpointer
transport_open (const RemoteAddress *address, GError **error)
{
  Soup *soup = g_new0 (Soup, 1);
  g_autoptr (GTlsDatabase) trusted = NULL;
  g_autoptr (GError) failed = NULL;
  const gchar *key = address->key_file ? address->key_file : address->certificate_file;
  soup->url = g_strdup (address->url);
  soup->session = soup_session_new_with_options (
      "max-conns", (gint)address->connections, "max-conns-per-host", (gint)address->connections,
      "idle-timeout", IDLE_SECONDS, "timeout", 0u, "user-agent", "axon/" AXON_PLUGIN_VERSION, NULL);
  if (address->ca_file != NULL)
    trusted = g_tls_file_database_new (address->ca_file, &failed);
  if (failed == NULL && address->certificate_file != NULL)
    soup->certificate = g_tls_certificate_new_from_files (address->certificate_file, key, &failed);
  if (failed != NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "%s: %s",
                 trusted || !address->ca_file ? address->certificate_file : address->ca_file,
                 failed->message);
    transport_close (soup);
    return NULL;
  }
  if (trusted != NULL)
    soup_session_set_tls_database (soup->session, trusted);
  return soup;
}

G_MODULE_EXPORT const RemoteTransport remote_transport = {
  .version = REMOTE_TRANSPORT_VERSION,
  .open = transport_open,
  .send = transport_send,
  .close = transport_close,
};
