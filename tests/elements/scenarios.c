/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All elements in pipelines that are treated as applications treat them: seeks, end of stream while
 * frames are inferred, new caps, pads that are linked again, many streams at once. */
#include "axontest.h"

#include <gst/gst.h>
#include <string.h>

#define BALL TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx"
#define SOURCE                                                                                     \
  "videotestsrc name=source pattern=ball ! capsfilter name=caps caps-change-mode=delayed "         \
  "caps=video/x-raw,"
#define CAPS "format=I420,width=320,height=240,framerate=30/1 ! "
#define MOCK                                                                                       \
  "nninfer name=nninfer device=MOCK model=" BALL                                                   \
  " config=\"config,NUM_STREAMS=4,MOCK_LATENCY=2,MOCK_JITTER=5\" nireq=4 "

/* Every element is in one. */
static const gchar *const pipelines[] = {
  SOURCE CAPS MOCK "! nndecode name=after ! nnoverlay ! nnpublish location=/dev/null ! nnquery "
                   "statistics=true ! fakesink name=sink sync=false",
  SOURCE CAPS "nnpreproc device=TEMPLATE model=" BALL " ! " MOCK
              "! nnquery name=after statistics=true ! nndecode ! nnpublish location=/dev/null ! "
              "fakesink name=sink sync=false",
  SOURCE CAPS "tee name=t ! queue ! " MOCK "! nndecode name=after ! fakesink name=sink sync=false "
              "t. ! queue ! nninfer device=MOCK model=" BALL " drop-policy=newest ! nndecode ! "
              "nnoverlay ! fakesink sync=false async=false",
};

typedef struct {
  GstElement *pipeline, *sink, *source;
  GstBus *bus;
} Run;

static GstPadProbeReturn
count_buffers (G_GNUC_UNUSED GstPad *pad, G_GNUC_UNUSED GstPadProbeInfo *info, gpointer counter)
{
  g_atomic_int_inc ((gint *)counter);
  return GST_PAD_PROBE_OK;
}

static Run
start (const gchar *launch, gint num_buffers, gint *counter)
{
  g_autoptr (GError) error = NULL;
  Run r = { .pipeline = gst_parse_launch (launch, &error) };
  g_autoptr (GstPad) pad = NULL;
  g_assert_no_error (error);
  r.sink = gst_bin_get_by_name (GST_BIN (r.pipeline), "sink");
  r.source = gst_bin_get_by_name (GST_BIN (r.pipeline), "source");
  r.bus = gst_element_get_bus (r.pipeline);
  g_object_set (r.source, "num-buffers", num_buffers, NULL);
  pad = gst_element_get_static_pad (r.sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_buffers, counter, NULL);
  gst_element_set_state (r.pipeline, GST_STATE_PLAYING);
  return r;
}

static void
no_error (Run *r)
{
  GstMessage *message = gst_bus_pop_filtered (r->bus, GST_MESSAGE_ERROR);
  g_autofree gchar *more = NULL;
  g_autoptr (GError) error = NULL;
  if (message != NULL)
    gst_message_parse_error (message, &error, &more);
  if (error != NULL)
    g_error ("%s: %s (%s)", GST_MESSAGE_SRC_NAME (message), error->message, more);
}

static void
stop (Run *r)
{
  no_error (r);
  g_assert_cmpint (gst_element_set_state (r->pipeline, GST_STATE_NULL), ==,
                   GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (r->bus);
  gst_object_unref (r->sink);
  gst_object_unref (r->source);
  gst_object_unref (r->pipeline);
}

/* Until @more have come from now on. */
static void
wait_for_buffers (Run *r, gint *counter, gint more)
{
  gint until = g_atomic_int_get (counter) + more;
  while (g_atomic_int_get (counter) < until) {
    no_error (r);
    g_usleep (1000);
  }
}

static void
wait_for_end (Run *r)
{
  GstMessage *message =
      gst_bus_timed_pop_filtered (r->bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
}

static void
seeks_in_any_state_find_the_stream_alive (gconstpointer launch)
{
  gint n = 0;
  Run r = start (launch, -1, &n);
  g_autoptr (GRand) rand = g_rand_new_with_seed (17);
  wait_for_buffers (&r, &n, 5);
  for (guint i = 0; i < 30; i++) {
    GstClockTime to = (GstClockTime)g_rand_int_range (rand, 0, 10000) * GST_MSECOND;
    if (i % 5 == 4)
      gst_element_set_state (r.pipeline, i % 2 ? GST_STATE_PLAYING : GST_STATE_PAUSED);
    g_assert_true (gst_element_seek_simple (r.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, to));
    if (i % 3 == 0)
      wait_for_buffers (&r, &n, 1);
  }
  gst_element_set_state (r.pipeline, GST_STATE_PLAYING);
  wait_for_buffers (&r, &n, 5);
  stop (&r);
}

static void
every_frame_leaves_before_the_end_of_the_stream (gconstpointer launch)
{
  gint n = 0;
  Run r = start (launch, 25, &n);
  wait_for_end (&r);
  g_assert_cmpint (n, ==, 25);
  stop (&r);
}

static void
new_caps_find_the_stream_alive (gconstpointer launch)
{
  static const gchar *const formats[] = { "format=RGB,width=160,height=120",
                                          "format=NV12,width=322,height=242",
                                          "format=GRAY8,width=64,height=48",
                                          "format=I420,width=320,height=240" };
  gint n = 0;
  Run r = start (launch, -1, &n);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (r.pipeline), "caps");
  for (guint i = 0; i < 12; i++) {
    g_autofree gchar *text =
        g_strdup_printf ("video/x-raw,%s,framerate=30/1", formats[i % G_N_ELEMENTS (formats)]);
    g_autoptr (GstCaps) caps = gst_caps_from_string (text);
    g_object_set (filter, "caps", caps, NULL);
    wait_for_buffers (&r, &n, 8);
  }
  gst_object_unref (filter);
  stop (&r);
}

/* As applications do: the pad is blocked, the element behind taken out and put back. */
static GstPadProbeReturn
relink (GstPad *pad, G_GNUC_UNUSED GstPadProbeInfo *info, gpointer done)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (pad);
  g_assert_true (gst_pad_unlink (pad, peer));
  g_assert_cmpint (gst_pad_link (pad, peer), ==, GST_PAD_LINK_OK);
  g_atomic_int_set ((gint *)done, TRUE);
  return GST_PAD_PROBE_REMOVE;
}

static void
pads_are_linked_again_while_frames_flow (gconstpointer launch)
{
  gint n = 0;
  Run r = start (launch, -1, &n);
  GstElement *nninfer = gst_bin_get_by_name (GST_BIN (r.pipeline), "nninfer");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (nninfer, "src");
  wait_for_buffers (&r, &n, 3);
  for (guint i = 0; i < 10; i++) {
    gint done = FALSE;
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, relink, &done, NULL);
    while (!g_atomic_int_get (&done))
      g_usleep (1000);
    wait_for_buffers (&r, &n, 3);
  }
  gst_object_unref (nninfer);
  stop (&r);
}

static void
models_change_between_seeks_and_states (gconstpointer launch)
{
  gint n = 0;
  Run r = start (launch, -1, &n);
  GstElement *nninfer = gst_bin_get_by_name (GST_BIN (r.pipeline), "nninfer");
  for (guint i = 0; i < 20; i++) {
    g_object_set (nninfer, "nireq", 1 + i % 4, NULL);
    wait_for_buffers (&r, &n, (gint)i % 4);
    if (i % 4 == 1)
      gst_element_seek_simple (r.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, i * GST_SECOND);
    if (i % 6 == 5) {
      gst_element_set_state (r.pipeline, GST_STATE_READY);
      gst_element_set_state (r.pipeline, GST_STATE_PLAYING);
    }
  }
  wait_for_buffers (&r, &n, 5);
  gst_object_unref (nninfer);
  stop (&r);
}

static void
sixteen_streams_run_in_one_process (void)
{
  Run runs[16];
  gint counts[16] = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    runs[i] = start (pipelines[i % 2], 20, &counts[i]);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    wait_for_end (&runs[i]);
    g_assert_cmpint (counts[i], ==, 20);
  }
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    stop (&runs[i]);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, i)                                                                               \
  do {                                                                                             \
    g_autofree gchar *path = g_strdup_printf ("/scenarios/" #name "/%u", i);                       \
    g_test_add_data_func (path, pipelines[i], name);                                               \
  } while (0)
  for (guint i = 0; i < G_N_ELEMENTS (pipelines); i++) {
    ADD (seeks_in_any_state_find_the_stream_alive, i);
    ADD (every_frame_leaves_before_the_end_of_the_stream, i);
    ADD (new_caps_find_the_stream_alive, i);
    ADD (pads_are_linked_again_while_frames_flow, i);
    ADD (models_change_between_seeks_and_states, i);
  }
  g_test_add_func ("/scenarios/sixteen_streams_run_in_one_process",
                   sixteen_streams_run_in_one_process);
  return g_test_run ();
}
