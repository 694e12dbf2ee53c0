/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements for long and in bad company: states up and down, sixteen streams of which one breaks
 * every rule, hours of frames. Short by default: AXON_CYCLES=1000 and AXON_SOAK=SECONDS make it
 * long. */
#include "axontest.h"

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) /* which keeps what was freed for a while */
#define KEEPS_FREED TRUE
#else
#define KEEPS_FREED FALSE
#endif
#define N_STREAMS 16
#define N_FRAMES 20

static guint
setting (const gchar *name, guint usual)
{
  const gchar *text = g_getenv (name);
  return text ? (guint)g_ascii_strtoull (text, NULL, 10) : usual;
}

static gsize
resident_bytes (void)
{
  g_autofree gchar *text = NULL;
  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  return (gsize)g_ascii_strtoull (strchr (text, ' '), NULL, 10) * 4096;
}

static GstElement *
launch (const gchar *format)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *text = g_strdup_printf (format, model);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);
  g_assert_no_error (error);
  return pipeline;
}

static void
wait_for_end (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message =
      gst_bus_timed_pop_filtered (bus, 120 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
}

static void
run_states (GstElement *pipeline, guint n)
{
  static const GstState states[] = { GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING };
  for (guint i = 0; i < n; i++) {
    gst_element_set_state (pipeline, states[i % G_N_ELEMENTS (states)]);
    if (i % 2)
      gst_element_get_state (pipeline, NULL, NULL, GST_SECOND);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
}

/* Threads end by and by; those that stay are left. */
static guint
count_threads (guint expected)
{
  gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  guint n;
  while ((n = test_count_entries ("/proc/self/task")) > expected && g_get_monotonic_time () < end)
    g_usleep (50000);
  return n;
}

static void
states_up_and_down_leave_no_thread_and_no_descriptor (void)
{
  GstElement *pipeline =
      launch ("videotestsrc ! video/x-raw,width=64,height=64 ! nninfer model=%s device=CPU "
              "! nndecode ! nnoverlay ! nnpublish location=/dev/null ! fakesink");
  guint descriptors, threads;
  run_states (pipeline, 6); /* what is made once for the process */
  descriptors = test_count_entries ("/proc/self/fd");
  threads = test_count_entries ("/proc/self/task");
  run_states (pipeline, setting ("AXON_CYCLES", 30));
  g_assert_cmpuint (test_count_entries ("/proc/self/fd"), <=, descriptors);
  g_assert_cmpuint (count_threads (threads + 2), <=, threads + 2); /* idle ones of a pool */
  gst_object_unref (pipeline);
}

/* Sizes that change each frame, timestamps that jump or lack, a buffer that is too short. */
static void
push_hostile (GstAppSrc *source)
{
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = 0; i < N_FRAMES * 3 && flow == GST_FLOW_OK; i++) {
    gint width = 16 + (gint)(i * 37 % 200), height = 16 + (gint)(i * 53 % 200);
    g_autoptr (GstCaps) caps = gst_caps_new_simple (
        "video/x-raw", "format", G_TYPE_STRING, i % 2 ? "RGB" : "BGR", "width", G_TYPE_INT, width,
        "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 30, 1, NULL);
    gsize row = (gsize)(width * 3 + 3) / 4 * 4, n = row * (gsize)height;
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, i % 7 == 6 ? n / 2 : n, NULL);
    gst_buffer_memset (buffer, 0, (guint8)i, n);
    GST_BUFFER_PTS (buffer) = i % 3 == 0 ? GST_CLOCK_TIME_NONE : (N_FRAMES * 3 - i) * GST_SECOND;
    GST_BUFFER_DURATION (buffer) = i % 5 ? GST_CLOCK_TIME_NONE : G_MAXUINT64 - 1;
    gst_app_src_set_caps (source, caps);
    flow = gst_app_src_push_buffer (source, buffer);
  }
  gst_app_src_end_of_stream (source);
}

static void
count (G_GNUC_UNUSED GstElement *sink, G_GNUC_UNUSED GstBuffer *buffer, G_GNUC_UNUSED GstPad *pad,
       gpointer user_data)
{
  g_atomic_int_inc ((gint *)user_data);
}

static void
one_hostile_stream_takes_nothing_from_fifteen_others (void)
{
  GstElement *pipelines[N_STREAMS];
  g_autoptr (GstElement) source = NULL;
  gint counts[N_STREAMS] = { 0 };
  for (guint i = 0; i < N_STREAMS; i++) {
    g_autoptr (GstElement) sink = NULL;
    pipelines[i] = launch (
        i == 0 ? "appsrc name=source format=time ! nninfer model=%s device=CPU "
                 ""
                 "! nndecode ! fakesink name=sink signal-handoffs=true sync=false"
               : "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=64 ! nninfer model=%s "
                 "device=CPU ! nndecode ! fakesink name=sink "
                 "signal-handoffs=true sync=false");
    sink = gst_bin_get_by_name (GST_BIN (pipelines[i]), "sink");
    g_signal_connect (sink, "handoff", G_CALLBACK (count), &counts[i]);
    gst_element_set_state (pipelines[i], GST_STATE_PLAYING);
  }
  source = gst_bin_get_by_name (GST_BIN (pipelines[0]), "source");
  push_hostile (GST_APP_SRC (source));
  for (guint i = 1; i < N_STREAMS; i++) {
    wait_for_end (pipelines[i]);
    g_assert_cmpint (g_atomic_int_get (&counts[i]), ==, N_FRAMES);
  }
  for (guint i = 0; i < N_STREAMS; i++) {
    gst_element_set_state (pipelines[i], GST_STATE_NULL);
    gst_object_unref (pipelines[i]);
  }
}

/* Symptom: fonts belonged to the thread that had made the overlays, and text drawn by others ended
 * the process. */
static void
overlays_made_in_one_thread_draw_in_several (void)
{
  GstElement *pipelines[4];
  for (guint i = 0; i < G_N_ELEMENTS (pipelines); i++)
    pipelines[i] =
        launch ("videotestsrc pattern=ball num-buffers=30 ! video/x-raw,width=128,height=96 "
                "! nninfer model=%s device=CPU ! nndecode ! nnoverlay ! fakesink sync=false");
  for (guint i = 0; i < G_N_ELEMENTS (pipelines); i++)
    gst_element_set_state (pipelines[i], GST_STATE_PLAYING);
  for (guint i = 0; i < G_N_ELEMENTS (pipelines); i++)
    wait_for_end (pipelines[i]);
  for (guint i = 0; i < G_N_ELEMENTS (pipelines); i++) {
    gst_element_set_state (pipelines[i], GST_STATE_NULL);
    gst_object_unref (pipelines[i]);
  }
}

static void
memory_descriptors_and_threads_stay_as_they_are (void)
{
  GstElement *pipeline = launch (
      "videotestsrc ! video/x-raw,width=64,height=64 ! nninfer model=%s device=CPU ! nndecode "
      "! nnoverlay ! nnpublish location=/dev/null ! fakesink sync=false");
  gint64 end;
  gsize before;
  guint descriptors, threads;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_assert_cmpint (gst_element_get_state (pipeline, NULL, NULL, 120 * GST_SECOND), ==,
                   GST_STATE_CHANGE_SUCCESS);
  g_usleep (2 * G_USEC_PER_SEC);
  before = resident_bytes ();
  descriptors = test_count_entries ("/proc/self/fd");
  threads = test_count_entries ("/proc/self/task");
  end = g_get_monotonic_time () + (gint64)setting ("AXON_SOAK", 4) * G_USEC_PER_SEC;
  while (g_get_monotonic_time () < end)
    g_usleep (G_USEC_PER_SEC / 4);
  g_assert_cmpuint (test_count_entries ("/proc/self/fd"), <=, descriptors);
  g_assert_cmpuint (test_count_entries ("/proc/self/task"), <=, threads);
  if (!KEEPS_FREED)
    g_assert_cmpuint (resident_bytes (), <=, before + before / 50 + (2 << 20));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/endure/" #name, name)
  ADD (states_up_and_down_leave_no_thread_and_no_descriptor);
  ADD (one_hostile_stream_takes_nothing_from_fifteen_others);
  ADD (overlays_made_in_one_thread_draw_in_several);
  ADD (memory_descriptors_and_threads_stay_as_they_are);
  return g_test_run ();
}
