/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue and the thread of nnpublish, with a transport of the test's own. */
#include "axontest.h"

#include "publish/gstnnwriter.h"

#define N_REFUSED 20

typedef struct {
  GstNnTransportSettings settings;
  GMutex lock;
  GCond changed;
  guint tries;
  gboolean sent;
} Fake;

static Fake fake;

static gpointer
fake_open (const GstNnTransportSettings *settings, G_GNUC_UNUSED GError **error)
{
  fake.settings = *settings;
  return &fake;
}

/* What it waits for comes while it still says that it cannot. */
static gboolean
fake_send (G_GNUC_UNUSED gpointer transport, G_GNUC_UNUSED const GstNnOutgoing *record,
           GError **error)
{
  if (fake.tries++ < N_REFUSED) {
    fake.settings.ready (fake.settings.data);
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
    return FALSE;
  }
  g_mutex_lock (&fake.lock);
  fake.sent = TRUE;
  g_cond_signal (&fake.changed);
  g_mutex_unlock (&fake.lock);
  return TRUE;
}

static void
fake_close (G_GNUC_UNUSED gpointer transport)
{
}

const GstNnTransport *
gst_nn_transport_find (G_GNUC_UNUSED const gchar *location, G_GNUC_UNUSED GError **error)
{
  static const GstNnTransport transport = {
    .version = GST_NN_TRANSPORT_VERSION,
    .open = fake_open,
    .send = fake_send,
    .close = fake_close,
  };
  return &transport;
}

GstStructure *
gst_nn_transport_options (G_GNUC_UNUSED const GstNnTransport *transport,
                          G_GNUC_UNUSED const GstStructure *given, G_GNUC_UNUSED GError **error)
{
  return gst_structure_new_empty ("options");
}

static void
ignore_news (G_GNUC_UNUSED GstNnWriterNews news, G_GNUC_UNUSED const gchar *text,
             G_GNUC_UNUSED gpointer data)
{
}

/* It waited for the next try, which doubled each time: days. */
static void
a_transport_that_gets_ready_while_it_refuses_is_asked_again (void)
{
  GstNnWriterSettings settings = {
    .location = "fake://", .queue_size = 10, .max_interval = 1000000, .tell = ignore_news
  };
  GstNnWriter *writer = gst_nn_writer_new (&settings, NULL);
  gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND; /* for ever */
  g_autoptr (GstStructure) stats = NULL;
  gst_nn_writer_push (writer, g_bytes_new_static ("{}", 2), 0);
  g_mutex_lock (&fake.lock);
  while (!fake.sent && g_cond_wait_until (&fake.changed, &fake.lock, end)) {
  }
  g_assert_true (fake.sent);
  g_mutex_unlock (&fake.lock);
  stats = gst_nn_writer_close (writer);
  g_assert_cmpuint (fake.tries, ==, N_REFUSED + 1);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/publishwriter/" #name, name)
  ADD (a_transport_that_gets_ready_while_it_refuses_is_asked_again);
  return g_test_run ();
}
