/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that come faster than they can be inferred. */
#include "nninfer.h"

static GstHarness *
live_new (const gchar *config, const gchar *policy, const gchar *framerate)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch =
      g_strdup_printf ("nninfer model=%s device=MOCK nireq=1 drop-policy=%s config=\"config,%s\"",
                       model, policy, config);
  g_autofree gchar *caps =
      g_strdup_printf ("video/x-raw,format=RGB,width=64,height=48,framerate=%s", framerate);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

/* The model is compiled beside the stream: frames pass until a run has begun. */
static guint
push_until_inferred (GstHarness *h, GstNnTensorMeta **meta, GstBuffer **out)
{
  guint i = 0;
  do {
    if (i > 0)
      gst_clear_buffer (out);
    g_usleep (2000);
    *out = gst_harness_push_and_pull (h, frame (h, i++));
    *meta = gst_buffer_get_nn_tensor_meta (*out);
  } while (*meta == NULL);
  return i - 1;
}

static void
a_display_goes_on_while_a_run_never_ends (void)
{
  GstHarness *h = live_new ("MOCK_STALL_AT=0", "newest", "100/1");
  for (guint i = 0; i < 60; i++) {
    GstBuffer *out = gst_harness_push_and_pull (h, frame (h, i));
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * GST_SECOND / 30);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static void
a_late_result_leaves_with_a_later_frame_and_tells_which_it_is_of (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=100", "newest", "1000/1");
  GstNnTensorMeta *meta;
  GstBuffer *out = NULL;
  push_until_inferred (h, &meta, &out);
  g_assert_cmpuint (meta->pts, <, GST_BUFFER_PTS (out));
  g_assert_cmpuint (meta->tensors->len, >, 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
a_result_that_comes_in_time_leaves_with_its_own_frame (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=1", "newest", "1/60"); /* a minute is long enough */
  GstNnTensorMeta *meta;
  GstBuffer *out = NULL;
  push_until_inferred (h, &meta, &out);
  g_assert_cmpuint (meta->pts, ==, GST_BUFFER_PTS (out));
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
every_frame_is_inferred_where_none_may_pass (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=20", "none", "1000/1");
  for (guint i = 0; i < 5; i++)
    gst_harness_push (h, frame (h, i));
  for (guint i = 0; i < 5; i++) {
    GstBuffer *out = gst_harness_pull (h);
    g_assert_cmpuint (gst_buffer_get_nn_tensor_meta (out)->pts, ==, GST_BUFFER_PTS (out));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static void
a_late_error_is_told_once (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=50,MOCK_FAIL_AT=0", "newest", "1000/1");
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;
  gst_element_set_bus (h->element, bus);
  for (guint i = 0; gst_harness_push (h, frame (h, i)) == GST_FLOW_OK; i++)
    g_usleep (1000);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_false (gst_bus_have_pending (bus));
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

/* Seeks and states while results are on their way. */
static void
flushes_drop_late_results (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=30", "newest", "1000/1");
  for (guint round = 0; round < 10; round++) {
    GstSegment segment;
    for (guint i = 0; i < 10; i++)
      gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, 100 * round + i)));
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    for (guint i = 0; i < 50; i++) {
      GstBuffer *out = gst_harness_push_and_pull (h, frame (h, 100 * round + 20 + i));
      GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (out);
      g_assert_true (meta == NULL || meta->pts >= (100 * round + 20) * GST_SECOND / 30);
      gst_buffer_unref (out);
    }
  }
  gst_harness_teardown (h);
}

static guint64
stat (const GstStructure *stats, const gchar *field)
{
  guint64 value = G_MAXUINT64;
  g_assert_true (gst_structure_get_uint64 (stats, field, &value));
  return value;
}

static void
statistics_count_every_frame_once (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=10", "newest", "1000/1");
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;
  GstNnTensorMeta *meta;
  GstStructure *stats;
  GstBuffer *out = NULL;
  gst_element_set_bus (h->element, bus);
  gst_harness_set (h, "nninfer", "stats-interval", (guint64)1, NULL);
  push_until_inferred (h, &meta, &out);
  gst_buffer_unref (out);
  gst_harness_get (h, "nninfer", "stats", &stats, NULL);
  g_assert_cmpuint (stat (stats, "frames"), ==, stat (stats, "inferred") + stat (stats, "passed"));
  g_assert_cmpuint (stat (stats, "late"), ==, 1);
  g_assert_cmpuint (stat (stats, "inference-p99"), >=, stat (stats, "inference-p50"));
  g_assert_cmpuint (stat (stats, "queueing-p50"), <, GST_SECOND);
  gst_structure_free (stats);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/live/" #name, name)
  ADD (a_display_goes_on_while_a_run_never_ends);
  ADD (a_late_result_leaves_with_a_later_frame_and_tells_which_it_is_of);
  ADD (a_result_that_comes_in_time_leaves_with_its_own_frame);
  ADD (every_frame_is_inferred_where_none_may_pass);
  ADD (a_late_error_is_told_once);
  ADD (flushes_drop_late_results);
  ADD (statistics_count_every_frame_once);
  return g_test_run ();
}
