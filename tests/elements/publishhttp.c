/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnpublish to a server of libsoup's, and a client that listens to its events. */
#include "publish.h"

#include <glib/gstdio.h>
#include <libsoup/soup.h>

typedef struct {
  GMainContext *context;
  GMainLoop *loop;
  SoupServer *server;
  GThread *thread;
  GMutex lock;
  GString *text, *headers;
  const guint *answers; /* what it says to each record in turn, the last to all after it */
  guint16 port;
} Server;

static void
on_post (G_GNUC_UNUSED SoupServer *server, SoupServerMessage *message,
         G_GNUC_UNUSED const char *path, G_GNUC_UNUSED GHashTable *query, gpointer data)
{
  Server *s = data;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  SoupMessageBody *body = soup_server_message_get_request_body (message);
  const gchar *authorization = soup_message_headers_get_one (headers, "Authorization");
  g_mutex_lock (&s->lock);
  if (*s->answers == SOUP_STATUS_OK) {
    g_string_append_len (s->text, body->data, (gssize)body->length);
    g_string_append_printf (s->headers, "%s %s\n",
                            soup_message_headers_get_content_type (headers, NULL),
                            authorization ? authorization : "");
  }
  soup_server_message_set_status (message, *s->answers, NULL);
  s->answers += s->answers[1] != 0;
  g_mutex_unlock (&s->lock);
}

static gpointer
serve (gpointer data)
{
  Server *s = data;
  g_main_context_push_thread_default (s->context);
  s->server = soup_server_new (NULL, NULL);
  soup_server_add_handler (s->server, "/records", on_post, s, NULL);
  g_assert_true (soup_server_listen_local (s->server, s->port, 0, NULL));
  g_main_loop_run (s->loop);
  soup_server_disconnect (s->server);
  while (g_main_context_iteration (s->context, FALSE)) /* connections end in turns of their own */
    ;
  g_object_unref (s->server);
  g_main_context_pop_thread_default (s->context);
  return NULL;
}

static Server *
server_new (guint16 port, const guint *answers)
{
  Server *s = g_new0 (Server, 1);
  s->port = port;
  s->answers = answers;
  s->text = g_string_new (NULL);
  s->headers = g_string_new (NULL);
  s->context = g_main_context_new ();
  s->loop = g_main_loop_new (s->context, FALSE);
  s->thread = g_thread_new ("server", serve, s);
  return s;
}

static void
server_free (Server *s)
{
  g_main_loop_quit (s->loop);
  g_thread_join (s->thread);
  g_main_loop_unref (s->loop);
  g_main_context_unref (s->context);
  g_string_free (s->text, TRUE);
  g_string_free (s->headers, TRUE);
  g_free (s);
}

static void
a_server_that_comes_later_and_fails_at_times_gets_all_in_order (void)
{
  static const guint answers[] = { 200, 503, 500, 429, 200, 0 };
  guint16 port = free_port ();
  g_autofree gchar *secret = NULL;
  gint fd = g_file_open_tmp ("axon-XXXXXX", &secret, NULL);
  Publisher *p;
  Server *s;
  g_assert_cmpint (write (fd, "token\n", 6), ==, 6);
  close (fd);
  p = publisher_new ("location=http://127.0.0.1:%u/records max-reconnect-interval=1 "
                     "options=options,password-file=%s",
                     port, secret);
  for (guint i = 0; i < 5; i++)
    publisher_push (p, i);
  publisher_wait (p, "failing", 1);
  s = server_new (port, answers);
  publisher_wait (p, "sent", 5);
  g_assert_cmpuint (publisher_stat (p, "lost"), ==, 0);
  publisher_free (p);
  assert_in_order (s->text->str, 0, 4, FALSE);
  g_assert_true (g_str_has_prefix (s->headers->str, "application/json Bearer token\n"));
  server_free (s);
  g_unlink (secret);
}

static void
a_record_that_a_server_refuses_is_lost_and_the_next_is_sent (void)
{
  static const guint answers[] = { 400, 200, 0 };
  guint16 port = free_port ();
  Server *s = server_new (port, answers);
  Publisher *p = publisher_new ("location=http://127.0.0.1:%u/records", port);
  for (guint i = 0; i < 3; i++)
    publisher_push (p, i);
  publisher_wait (p, "sent", 2);
  g_assert_cmpuint (publisher_stat (p, "lost"), ==, 1);
  publisher_free (p);
  assert_in_order (s->text->str, 1, 2, FALSE);
  server_free (s);
}

static GInputStream *
listen_to (SoupSession *session, guint16 port)
{
  g_autofree gchar *uri = g_strdup_printf ("http://127.0.0.1:%u/events", port);
  g_autoptr (SoupMessage) message = soup_message_new ("GET", uri);
  g_autoptr (GError) error = NULL;
  GInputStream *stream = soup_session_send (session, message, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (soup_message_get_status (message), ==, 200);
  g_assert_cmpstr (
      soup_message_headers_get_content_type (soup_message_get_response_headers (message), NULL), ==,
      "text/event-stream");
  return stream;
}

static void
hear_until (GInputStream *stream, GString *text, const gchar *mark)
{
  gchar piece[1024];
  while (strstr (text->str, mark) == NULL) {
    gssize n = g_input_stream_read (stream, piece, sizeof piece, NULL, NULL);
    g_assert_cmpint (n, >, 0);
    g_string_append_len (text, piece, n);
  }
}

static void
listeners_hear_each_event_from_then_on (void)
{
  guint16 port = free_port ();
  g_autoptr (SoupSession) session = soup_session_new ();
  g_autoptr (GInputStream) early = NULL;
  g_autoptr (GInputStream) late = NULL;
  g_autoptr (GString) all = g_string_new (NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  Publisher *p = publisher_new ("location=sse://127.0.0.1:%u/events", port);
  early = listen_to (session, port);
  publisher_push (p, 0);
  hear_until (early, all, "r0."); /* until then it may be on its way to who comes now, too */
  late = listen_to (session, port);
  for (guint i = 1; i < 4; i++)
    publisher_push (p, i);
  hear_until (early, all, "r3.");
  hear_until (late, text, "r3.");
  g_assert_nonnull (strstr (text->str, "\n\ndata: {"));
  assert_in_order (all->str, 0, 3, FALSE);
  assert_in_order (text->str, 1, 3, FALSE);
  publisher_free (p);
}

static void
a_port_that_is_taken_is_an_error (void)
{
  guint16 port = free_port ();
  Publisher *p = publisher_new ("location=sse://127.0.0.1:%u/events", port);
  g_autofree gchar *launch = g_strdup_printf ("nnpublish location=sse://127.0.0.1:%u/a", port);
  GstElement *second = gst_parse_launch (launch, NULL);
  g_assert_cmpint (gst_element_set_state (second, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (second, GST_STATE_NULL);
  gst_object_unref (second);
  publisher_free (p);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/publishhttp/" #name, name)
  ADD (a_server_that_comes_later_and_fails_at_times_gets_all_in_order);
  ADD (a_record_that_a_server_refuses_is_lost_and_the_next_is_sent);
  ADD (listeners_hear_each_event_from_then_on);
  ADD (a_port_that_is_taken_is_an_error);
  return g_test_run ();
}
