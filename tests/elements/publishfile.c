/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnpublish: files that change, disks that are full, sockets, and what waits on disk. */
#include "publish.h"

#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>

static gchar *
in_folder (const gchar *dir, const gchar *name)
{
  return g_build_filename (dir, name, NULL);
}

static gchar *
read_file (const gchar *dir, const gchar *name)
{
  g_autofree gchar *path = in_folder (dir, name);
  gchar *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    g_error ("%s is not there", path);
  return text;
}

static void
remove_folder (gchar *dir)
{
  g_autoptr (GDir) d = g_dir_open (dir, 0, NULL);
  const gchar *name;
  while ((name = g_dir_read_name (d)) != NULL) {
    g_autofree gchar *path = in_folder (dir, name);
    g_unlink (path);
  }
  g_rmdir (dir);
  g_free (dir);
}

static void
a_file_changes_by_the_clock (void)
{
  gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  Publisher *p = publisher_new ("location=%s/out-%%03d.jsonl "
                                "options=options,max-size-time=(guint64)60000000000",
                                dir);
  for (guint i = 0; i < 6; i++) { /* two files of three times half a minute */
    gst_harness_set_time (p->h, i * 20 * GST_SECOND);
    publisher_push (p, i);
    publisher_wait (p, "sent", i + 1);
  }
  publisher_free (p);
  g_autofree gchar *first = read_file (dir, "out-000.jsonl");
  g_autofree gchar *second = read_file (dir, "out-001.jsonl");
  assert_in_order (first, 0, 2, FALSE);
  assert_in_order (second, 3, 5, FALSE);
  remove_folder (dir);
}

static void
a_file_changes_before_it_is_too_long_and_the_oldest_goes (void)
{
  gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *gone = in_folder (dir, "out-00000.jsonl");
  Publisher *p = publisher_new ("location=%s/out.jsonl "
                                "options=options,max-size-bytes=(guint64)900,max-files=(guint64)2",
                                dir);
  for (guint i = 0; i < 9; i++)
    publisher_push (p, i);
  publisher_free (p);
  g_autofree gchar *last = read_file (dir, "out-00004.jsonl");
  g_autofree gchar *before = read_file (dir, "out-00003.jsonl");
  g_assert_cmpuint (strlen (before), <=, 900);
  assert_in_order (before, 6, 7, FALSE);
  assert_in_order (last, 8, 8, FALSE);
  g_assert_false (g_file_test (gone, G_FILE_TEST_EXISTS));
  p = publisher_new ("append=true location=%s/out-%%05d.jsonl", dir);
  publisher_push (p, 0);
  publisher_free (p);
  remove_folder (dir);
}

/* Two records, with the ends of their lines. */
static void
a_file_may_be_as_long_as_was_said_and_no_longer (void)
{
  gsize n = 0;
  for (guint i = 0; i < 3; i++) { /* without a limit, with just enough, with one byte less */
    gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
    g_autofree gchar *first = NULL;
    Publisher *p = publisher_new (
        "location=%s/out-%%d.jsonl options=options,max-size-bytes=(guint64)%" G_GSIZE_FORMAT, dir,
        i == 2 ? n - 1 : n);
    publisher_push (p, 0);
    publisher_push (p, 1);
    publisher_free (p);
    first = read_file (dir, "out-0.jsonl");
    assert_in_order (first, 0, i == 2 ? 0 : 1, FALSE);
    n = strlen (first);
    remove_folder (dir);
  }
}

/* A service may have none: then the file that is opened next has its number. */
static void
a_file_is_written_where_standard_input_is_closed (void)
{
  gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  Publisher *p = publisher_new ("location=%s/out.jsonl", dir);
  gint input = dup (STDIN_FILENO);
  gst_element_set_state (p->element, GST_STATE_READY);
  close (STDIN_FILENO);
  g_assert_cmpint (gst_element_set_state (p->element, GST_STATE_PLAYING), ==,
                   GST_STATE_CHANGE_SUCCESS);
  gst_harness_set_src_caps_str (p->h, "video/x-raw,format=GRAY8,width=320,height=240");
  publisher_push (p, 0);
  publisher_free (p);
  dup2 (input, STDIN_FILENO);
  close (input);
  g_autofree gchar *text = read_file (dir, "out.jsonl");
  assert_in_order (text, 0, 0, FALSE);
  remove_folder (dir);
}

static void
a_full_disk_is_one_warning_and_the_stream_goes_on (void)
{
  Publisher *p = publisher_new ("location=/dev/full queue-size=10 eos-timeout=0");
  for (guint i = 0; i < 8; i++)
    publisher_push (p, i);
  publisher_wait (p, "failing", 1);
  for (guint i = 0; i < 8; i++)
    publisher_push (p, i);
  g_assert_true (gst_harness_push_event (p->h, gst_event_new_eos ()));
  gst_element_set_state (p->element, GST_STATE_READY);
  g_assert_cmpuint (publisher_stat (p, "sent"), ==, 0);
  g_assert_cmpuint (publisher_stat (p, "lost"), ==, 16);
  publisher_free (p);
}

/* A server of lines that comes and goes. */
typedef struct {
  GSocketListener *listener;
  GThread *thread;
  GCancellable *stop;
  GString *text;
} Reader;

static gpointer
read_lines (gpointer data)
{
  Reader *r = data;
  g_autoptr (GSocketConnection) c = g_socket_listener_accept (r->listener, NULL, r->stop, NULL);
  gchar piece[4096];
  gssize n;
  while (c != NULL && (n = g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (c)),
                                                piece, sizeof piece, r->stop, NULL)) > 0)
    g_string_append_len (r->text, piece, n);
  return NULL;
}

static Reader *
reader_new (const gchar *path)
{
  Reader *r = g_new0 (Reader, 1);
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
  r->listener = g_socket_listener_new ();
  r->stop = g_cancellable_new ();
  r->text = g_string_new (NULL);
  g_assert_true (g_socket_listener_add_address (r->listener, address, G_SOCKET_TYPE_STREAM,
                                                G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, NULL));
  r->thread = g_thread_new ("reader", read_lines, r);
  return r;
}

static gchar *
reader_free (Reader *r)
{
  gchar *text;
  g_thread_join (r->thread);
  g_object_unref (r->listener);
  g_object_unref (r->stop);
  text = g_string_free (r->text, FALSE);
  g_free (r);
  return text;
}

static void
a_socket_gets_what_waited_for_it (void)
{
  gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = in_folder (dir, "socket");
  Publisher *p = publisher_new ("location=unix://%s max-reconnect-interval=1", path);
  Reader *r;
  for (guint i = 0; i < 5; i++)
    publisher_push (p, i);
  publisher_wait (p, "failing", 1);
  g_assert_cmpuint (publisher_messages (p, GST_MESSAGE_WARNING, NULL), ==, 1);
  r = reader_new (path);
  publisher_wait (p, "sent", 5);
  g_assert_cmpuint (publisher_stat (p, "lost"), ==, 0);
  publisher_free (p);
  g_autofree gchar *text = reader_free (r);
  assert_in_order (text, 0, 4, FALSE);
  remove_folder (dir);
}

/* Within the bound nothing is lost, though the queue holds four and the process ends between. */
static void
what_cannot_be_sent_waits_on_disk_for_the_next_run (void)
{
  gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = in_folder (dir, "socket");
  g_autofree gchar *spool = in_folder (dir, "spool");
  Publisher *p = publisher_new ("location=unix://%s spool-location=%s queue-size=6 "
                                "max-reconnect-interval=1",
                                path, spool);
  Reader *r;
  publisher_push (p, 0);
  publisher_wait (p, "failing", 1);
  for (guint i = 1; i < 20; i++) {
    publisher_push (p, i);
    if (i % 3 == 0) /* the queue keeps three, and has room for three more until the disk has them */
      publisher_wait (p, "spooled", i - 3);
  }
  publisher_free (p);
  p = publisher_new ("location=unix://%s spool-location=%s max-reconnect-interval=1", path, spool);
  publisher_push (p, 20);
  r = reader_new (path);
  publisher_wait (p, "sent", 21);
  publisher_free (p);
  g_autofree gchar *text = reader_free (r);
  assert_in_order (text, 0, 20, FALSE);
  g_assert_false (g_file_test (spool, G_FILE_TEST_EXISTS));
  remove_folder (dir);
}

static void
the_disk_holds_no_more_than_its_bound (void)
{
  gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *spool = in_folder (dir, "spool");
  Publisher *p = publisher_new ("location=unix://%s/nobody spool-location=%s queue-size=1 "
                                "spool-size=1000",
                                dir, spool);
  g_autofree gchar *text = NULL;
  publisher_push (p, 0);
  publisher_wait (p, "failing", 1);
  for (guint i = 1; i < 10; i++)
    publisher_push (p, i);
  publisher_wait (p, "lost", 1);
  publisher_free (p);
  text = read_file (dir, "spool");
  g_assert_cmpuint (strlen (text), <=, 1000 + 400); /* and the one that was tried */
  remove_folder (dir);
}

static void
a_datagram_is_one_record (void)
{
  g_autoptr (GSocket) socket =
      g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  g_autoptr (GInetAddress) loopback = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  g_autoptr (GSocketAddress) any = g_inet_socket_address_new (loopback, 0);
  g_autoptr (GSocketAddress) bound = NULL;
  gchar piece[4096];
  Publisher *p;
  g_assert_true (g_socket_bind (socket, any, FALSE, NULL));
  bound = g_socket_get_local_address (socket, NULL);
  p = publisher_new ("location=udp://127.0.0.1:%u",
                     g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound)));
  for (guint i = 0; i < 3; i++) {
    gssize n;
    publisher_push (p, i);
    n = g_socket_receive (socket, piece, sizeof piece - 1, NULL, NULL);
    g_assert_cmpint (n, >, 0);
    piece[n] = 0;
    assert_in_order (piece, i, i, FALSE);
    g_assert_cmpint (piece[n - 1], ==, '}');
  }
  publisher_free (p);
}

static void
a_location_or_an_option_that_is_none_says_what_there_is (void)
{
  static const struct {
    const gchar *properties, *said;
  } rows[] = {
    { "location=gopher://there", "there are file, unix" },
    { "location=/dev/null options=options,qos=1", "it has: max-size-bytes" },
    { "location=/dev/null options=options,max-files=many", "expected a value of type guint64" },
    { "location=/nowhere/at/all.jsonl", "/nowhere/at/all.jsonl" },
    { "location=udp://host", "expected unix:///PATH" },
    { "location=/dev/null spool-location=/nowhere/spool", "/nowhere/spool" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *launch = g_strconcat ("nnpublish ", rows[i].properties, NULL);
    GstElement *element = gst_parse_launch (launch, NULL);
    g_autoptr (GstBus) bus = gst_bus_new ();
    g_autoptr (GstMessage) message = NULL;
    g_autoptr (GError) error = NULL;
    gst_element_set_bus (element, bus);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    gst_message_parse_error (message, &error, NULL);
    if (strstr (error->message, rows[i].said) == NULL)
      g_error ("%s: %s", rows[i].properties, error->message);
    gst_element_set_bus (element, NULL);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_object_unref (element);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/publishfile/" #name, name)
  ADD (a_file_changes_by_the_clock);
  ADD (a_file_changes_before_it_is_too_long_and_the_oldest_goes);
  ADD (a_file_may_be_as_long_as_was_said_and_no_longer);
  ADD (a_file_is_written_where_standard_input_is_closed);
  ADD (a_full_disk_is_one_warning_and_the_stream_goes_on);
  ADD (a_socket_gets_what_waited_for_it);
  ADD (what_cannot_be_sent_waits_on_disk_for_the_next_run);
  ADD (the_disk_holds_no_more_than_its_bound);
  ADD (a_datagram_is_one_record);
  ADD (a_location_or_an_option_that_is_none_says_what_there_is);
  return g_test_run ();
}
