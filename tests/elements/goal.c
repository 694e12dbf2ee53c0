/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nninfer has its model compiled for, as its log tells. */
#include "axontest.h"

#include <gst/gst.h>
#include <string.h>

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"

typedef struct {
  GMutex lock;
  GString *text;
} Log;

static void
keep (G_GNUC_UNUSED GstDebugCategory *category, G_GNUC_UNUSED GstDebugLevel level,
      G_GNUC_UNUSED const gchar *file, G_GNUC_UNUSED const gchar *function, G_GNUC_UNUSED gint line,
      G_GNUC_UNUSED GObject *object, GstDebugMessage *message, gpointer user_data)
{
  Log *log = user_data;
  const gchar *text = gst_debug_message_get (message);
  g_mutex_lock (&log->lock);
  if (strstr (text, "compiled for") != NULL)
    g_string_append (log->text, text);
  g_mutex_unlock (&log->lock);
}

static Log *
log_open (void)
{
  Log *log = g_new0 (Log, 1);
  g_mutex_init (&log->lock);
  log->text = g_string_new (NULL);
  gst_debug_set_threshold_for_name ("nninfer", GST_LEVEL_INFO);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (keep, log, NULL);
  return log;
}

static void
log_close (Log *log)
{
  gst_debug_remove_log_function (keep);
  gst_debug_unset_threshold_for_name ("nninfer");
  g_string_free (log->text, TRUE);
  g_mutex_clear (&log->lock);
  g_free (log);
}

/* As a camera before it is open. */
static GstPadProbeReturn
leave_latency_unanswered (G_GNUC_UNUSED GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstElement *source = user_data;
  return GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) == GST_QUERY_LATENCY &&
                 GST_STATE (source) < GST_STATE_PAUSED
             ? GST_PAD_PROBE_DROP
             : GST_PAD_PROBE_OK;
}

static void
answer_when_open (GstElement *pipeline)
{
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (source, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, leave_latency_unanswered, source,
                     NULL);
}

/* Runs two frames of a source, live or not. */
static gchar *
goal_of (const gchar *live, const gchar *more)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "videotestsrc name=source num-buffers=2 is-live=%s ! " CAPS
      " ! nninfer model=%s device=CPU config=\"config,INFERENCE_NUM_THREADS=2%s\" ! fakesink",
      live, model, more);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error);
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) end = NULL;
  Log *log = log_open ();
  gchar *text;
  g_assert_no_error (error);
  answer_when_open (pipeline);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  end = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (end);
  g_assert_cmpint (GST_MESSAGE_TYPE (end), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  text = g_strdup (log->text->str);
  log_close (log);
  return text;
}

static void
a_file_is_inferred_for_throughput (void)
{
  g_autofree gchar *text = goal_of ("false", "");
  g_assert_nonnull (strstr (text, "throughput"));
  g_assert_null (strstr (text, "latency"));
}

static void
a_live_stream_is_inferred_for_latency_and_compiled_for_once (void)
{
  g_autofree gchar *text = goal_of ("true", "");
  g_assert_cmpstr (text, ==, "a live stream: the model is compiled for latency");
}

static void
who_says_how_many_streams_there_are_is_obeyed (void)
{
  g_autofree gchar *by_streams = goal_of ("false", ",NUM_STREAMS=1");
  g_autofree gchar *by_hint = goal_of ("true", ",PERFORMANCE_HINT=THROUGHPUT");
  g_assert_cmpstr (by_streams, ==, "");
  g_assert_cmpstr (by_hint, ==, "");
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/goal/" #name, name)
  ADD (a_file_is_inferred_for_throughput);
  ADD (a_live_stream_is_inferred_for_latency_and_compiled_for_once);
  ADD (who_says_how_many_streams_there_are_is_obeyed);
  return g_test_run ();
}
