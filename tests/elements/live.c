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

/* The sink was 100 ms late at half a second: until 0.7 s nothing would be in time. */
static void
frames_that_sinks_call_too_late_are_not_inferred_and_told (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=1", "auto", "30/1");
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstStructure *stats;
  GstMessage *message;
  guint told = 0;
  gst_harness_set_live (h, FALSE); /* so that every frame in time is inferred */
  gst_harness_set_src_caps_str (h, CAPS);
  gst_element_set_bus (h->element, bus);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, 0)));
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, 100 * GST_MSECOND, 500 * GST_MSECOND));
  for (guint i = 15; i < 30; i++) {
    GstBuffer *out = gst_harness_push_and_pull (h, frame (h, i));
    g_assert_true ((gst_buffer_get_nn_tensor_meta (out) != NULL) == (i > 21));
    gst_buffer_unref (out);
  }
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_QOS)) != NULL) {
    GstFormat format;
    guint64 processed, dropped;
    gst_message_parse_qos_stats (message, &format, &processed, &dropped);
    told++;
    g_assert_cmpuint (dropped, ==, told);
    g_assert_cmpint (format, ==, GST_FORMAT_BUFFERS);
    gst_message_unref (message);
  }
  g_assert_cmpuint (told, ==, 7);
  gst_harness_get (h, "nninfer", "stats", &stats, NULL);
  g_assert_cmpuint (stat (stats, "dropped"), ==, 7);
  g_assert_cmpuint (stat (stats, "inferred"), ==, 9);
  gst_structure_free (stats);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

/* A source that is late itself made all frames too late, and nothing was inferred any more. */
static void
where_all_frames_come_too_late_one_a_second_is_inferred (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=1", "auto", "30/1");
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, 0)));
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, 10 * GST_SECOND, 500 * GST_MSECOND));
  for (guint i = 1; i <= 90; i++) {
    GstBuffer *out = gst_harness_push_and_pull (h, frame (h, i));
    g_assert_true ((gst_buffer_get_nn_tensor_meta (out) != NULL) == (i % 30 == 0));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static void
every_frame_means_those_that_are_late_too (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=1", "none", "30/1");
  gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, 0)));
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, 100 * GST_MSECOND, 500 * GST_MSECOND));
  for (guint i = 1; i < 5; i++) {
    GstBuffer *out = gst_harness_push_and_pull (h, frame (h, i));
    g_assert_nonnull (gst_buffer_get_nn_tensor_meta (out));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static void
a_flush_forgets_what_was_too_late (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=1", "auto", "30/1");
  GstSegment segment;
  GstBuffer *out;
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, GST_SECOND, GST_SECOND));
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  out = gst_harness_push_and_pull (h, frame (h, 0));
  g_assert_nonnull (gst_buffer_get_nn_tensor_meta (out));
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
frames_with_nothing_in_them_are_not_inferred (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=1", "none", "30/1");
  for (guint i = 0; i < 6; i++) {
    GstBuffer *in = frame (h, i), *out;
    if (i % 2 == 1)
      GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_GAP);
    out = gst_harness_push_and_pull (h, in);
    g_assert_true ((gst_buffer_get_nn_tensor_meta (out) != NULL) == (i % 2 == 0));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static GstEventType
pull_type (GstHarness *h)
{
  GstEvent *event = gst_harness_pull_event (h);
  GstEventType type = GST_EVENT_TYPE (event);
  gst_event_unref (event);
  return type;
}

static void
gaps_keep_their_place_and_empty_tensors_become_gaps (void)
{
  GstHarness *h = live_new ("MOCK_LATENCY=20", "none", "30/1");
  GstBuffer *buffer;
  gst_harness_push (h, frame (h, 0));
  gst_harness_push_event (h, gst_event_new_gap (GST_SECOND / 30, GST_SECOND));
  gst_buffer_unref (gst_harness_pull (h));
  while (pull_type (h) != GST_EVENT_GAP)
    g_assert_cmpuint (gst_harness_buffers_received (h), ==, 1);
  gst_harness_set_src_caps_str (h, "other/tensors,format=static,num_tensors=1,types=float32,"
                                   "dimensions=128:96:3:1,framerate=30/1");
  buffer = gst_buffer_new ();
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  GST_BUFFER_PTS (buffer) = 2 * GST_SECOND;
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  while (pull_type (h) != GST_EVENT_GAP)
    ;
  g_assert_cmpuint (gst_harness_buffers_received (h), ==, 1);
  gst_harness_teardown (h);
}

/* A minute is what a frame lasts, a second what it may wait, and the run never ends. */
static void
no_frame_waits_for_longer_than_the_maximum_latency (void)
{
  GstHarness *h = live_new ("MOCK_STALL_AT=0", "newest", "1/60");
  gint64 begin = g_get_monotonic_time ();
  gst_harness_set (h, "nninfer", "max-latency", (guint64)(50 * GST_MSECOND), NULL);
  for (guint i = 0; i < 5; i++) {
    gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, i)));
    g_usleep (2000);
  }
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 40 * G_USEC_PER_SEC);
  gst_harness_teardown (h);
}

static gpointer
push_many (gpointer data)
{
  GstHarness *h = data;
  for (guint i = 0; i < 100 && gst_harness_push (h, frame (h, i)) == GST_FLOW_OK; i++)
    ;
  return NULL;
}

static guint
get_depth (GstHarness *h)
{
  GstStructure *stats;
  guint depth;
  gst_harness_get (h, "nninfer", "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint (stats, "queue-depth", &depth));
  g_assert_cmpuint (stat (stats, "queue-bytes"), ==, depth * 64 * 48 * 3);
  gst_structure_free (stats);
  return depth;
}

/* The first frame is inferred for ever; the queue fills behind it up to @full, and no further. */
static void
fill_queue (const gchar *limit, guint most, guint interval, guint full)
{
  GstHarness *h = live_new ("MOCK_STALL_AT=0", "none", "30/1");
  GThread *thread;
  gst_harness_set (h, "nninfer", limit, most, "inference-interval", interval, NULL);
  thread = g_thread_new ("push", push_many, h);
  while (get_depth (h) < full)
    g_usleep (1000);
  g_usleep (50000);
  g_assert_cmpuint (get_depth (h), ==, full);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  g_thread_join (thread);
  gst_harness_teardown (h);
}

static void
the_queue_ends_where_its_limits_are (void)
{
  fill_queue ("max-size-buffers", 7, 1000, 1 + 7);
  fill_queue ("max-size-bytes", 4 * 64 * 48 * 3, 1000, 4);
  fill_queue ("max-size-bytes", 1, 1, 1); /* one always may be */
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
  ADD (frames_that_sinks_call_too_late_are_not_inferred_and_told);
  ADD (where_all_frames_come_too_late_one_a_second_is_inferred);
  ADD (every_frame_means_those_that_are_late_too);
  ADD (a_flush_forgets_what_was_too_late);
  ADD (frames_with_nothing_in_them_are_not_inferred);
  ADD (gaps_keep_their_place_and_empty_tensors_become_gaps);
  ADD (no_frame_waits_for_longer_than_the_maximum_latency);
  ADD (the_queue_ends_where_its_limits_are);
  return g_test_run ();
}
