/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer on device MOCK: order, events, flush, end of stream, states, failures. */
#include "nninfer.h"

static void
frames_leave_in_order_though_runs_end_out_of_order (void)
{
  GstHarness *h = harness_new ("NUM_STREAMS=4,MOCK_LATENCY=2,MOCK_JITTER=15", 4);
  for (guint i = 0; i < 30; i++)
    g_assert_cmpint (gst_harness_push (h, frame (h, i)), ==, GST_FLOW_OK);
  for (guint i = 0; i < 30; i++) {
    GstBuffer *out = gst_harness_pull (h);
    GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (out);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * GST_SECOND / 30);
    g_assert_nonnull (meta);
    g_assert_cmpuint (meta->tensors->len, ==, 2);
    g_assert_cmpint (meta->width, ==, 64);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static void
serialized_events_keep_their_place (void)
{
  GstHarness *h = harness_new ("MOCK_LATENCY=10", 3);
  GstEvent *event;
  gboolean found = FALSE;
  gst_harness_push (h, frame (h, 0));
  gst_harness_push_event (
      h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("mark")));
  gst_harness_push (h, frame (h, 1));
  /* the mark must not be there before the first frame */
  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    g_assert_false (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM &&
                    gst_harness_buffers_received (h) == 0);
    gst_event_unref (event);
  }
  gst_buffer_unref (gst_harness_pull (h));
  gst_buffer_unref (gst_harness_pull (h));
  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    found = found || GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM;
    gst_event_unref (event);
  }
  g_assert_true (found);
  gst_harness_teardown (h);
}

static void
end_of_stream_follows_the_last_frame (void)
{
  GstHarness *h = harness_new ("MOCK_LATENCY=20", 4);
  GstEventType last = GST_EVENT_UNKNOWN;
  for (guint i = 0; i < 6; i++)
    gst_harness_push (h, frame (h, i));
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint i = 0; i < 6; i++)
    gst_buffer_unref (gst_harness_pull (h));
  while (last != GST_EVENT_EOS) {
    GstEvent *event = gst_harness_pull_event (h);
    g_assert_nonnull (event);
    last = GST_EVENT_TYPE (event);
    gst_event_unref (event);
  }
  gst_harness_teardown (h);
}

static void
flush_drops_what_is_in_flight_and_the_stream_goes_on (void)
{
  GstHarness *h = harness_new ("MOCK_LATENCY=50,NUM_STREAMS=1", 3);
  GstSegment segment;
  guint received;
  for (guint i = 0; i < 3; i++)
    gst_harness_push (h, frame (h, i));
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  received = gst_harness_buffers_received (h);
  g_assert_cmpuint (received, <, 3);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  g_assert_cmpint (gst_harness_push (h, frame (h, 10)), ==, GST_FLOW_OK);
  while (received-- > 0)
    gst_buffer_unref (gst_harness_pull (h));
  GstBuffer *out = gst_harness_pull (h);
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 10 * GST_SECOND / 30);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
a_run_that_never_ends_does_not_block_going_down (void)
{
  GstHarness *h = harness_new ("MOCK_STALL_AT=0", 2);
  gint64 start = g_get_monotonic_time ();
  gst_harness_push (h, frame (h, 0));
  g_usleep (20000);
  gst_harness_teardown (h);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 5 * G_USEC_PER_SEC);
}

static void
a_failing_run_is_one_error_on_the_bus (void)
{
  GstHarness *h = harness_new ("MOCK_FAIL_AT=1", 1);
  GstBus *bus = gst_bus_new ();
  g_autoptr (GError) error = NULL;
  GstMessage *message;
  GstFlowReturn flow = GST_FLOW_OK;
  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < 20 && flow == GST_FLOW_OK; i++) {
    flow = gst_harness_push (h, frame (h, i));
    g_usleep (3000);
  }
  g_assert_cmpint (flow, ==, GST_FLOW_ERROR);
  message = gst_bus_timed_pop_filtered (bus, GST_SECOND, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "mock failure in run 1"));
  gst_message_unref (message);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

static void
a_compile_is_cancelled_on_the_way_down (void)
{
  g_autofree gchar *model = test_ball_model ();
  GstElement *element = gst_element_factory_make ("nninfer", NULL);
  GstStructure *config = gst_structure_new ("config", "MOCK_COMPILE_MS", G_TYPE_INT, 600000, NULL);
  gint64 start = g_get_monotonic_time ();
  g_object_set (element, "model", model, "device", "MOCK", "config", config, NULL);
  gst_structure_free (config);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_SUCCESS);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 5 * G_USEC_PER_SEC);
  gst_object_unref (element);
}

/* Every change succeeds, and each time the stream runs anew. */
static void
states_go_up_and_down_many_times (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "videotestsrc num-buffers=3 ! " CAPS " ! nninfer model=%s device=MOCK ! fakesink name=sink "
      "sync=false",
      model);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstBus *bus = gst_element_get_bus (pipeline);
  for (guint i = 0; i < 20; i++) {
    GstState up = i % 2 ? GST_STATE_PLAYING : GST_STATE_PAUSED;
    GstState down = i % 3 ? GST_STATE_READY : GST_STATE_NULL;
    GstState now;
    GstMessage *end;
    g_assert_cmpint (gst_element_set_state (pipeline, up), !=, GST_STATE_CHANGE_FAILURE);
    g_assert_cmpint (gst_element_get_state (pipeline, &now, NULL, 10 * GST_SECOND), ==,
                     GST_STATE_CHANGE_SUCCESS);
    g_assert_cmpint (now, ==, up);
    if (up == GST_STATE_PLAYING) { /* all three frames came */
      end = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_EOS);
      g_assert_nonnull (end);
      gst_message_unref (end);
    }
    g_assert_cmpint (gst_element_set_state (pipeline, down), ==, GST_STATE_CHANGE_SUCCESS);
  }
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

/* Of a compile every element posts one START. */
static guint
count_compiles (GstBus *bus)
{
  GstMessage *message;
  guint n = 0;
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_PROGRESS)) != NULL) {
    GstProgressType type;
    g_autofree gchar *code = NULL;
    gst_message_parse_progress (message, &type, &code, NULL);
    n += type == GST_PROGRESS_TYPE_START && g_str_equal (code, "compile");
    gst_message_unref (message);
  }
  return n;
}

static GstHarness *
harness_with_bus (GstBus **bus)
{
  g_autofree gchar *model = test_ball_model ();
  GstElement *element = gst_element_factory_make ("nninfer", NULL);
  GstHarness *h;
  *bus = gst_bus_new ();
  gst_element_set_bus (element, *bus);
  g_object_set (element, "model", model, "device", "MOCK", "nireq", 2, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "drop-policy", "none"); /* harnesses are live */
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static void
new_caps_need_no_new_compile (void)
{
  GstBus *bus;
  GstHarness *h = harness_with_bus (&bus);
  GstBuffer *buffer, *out;
  gst_harness_push (h, frame (h, 0));
  gst_buffer_unref (gst_harness_pull (h));
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=32,height=32,framerate=30/1");
  buffer = gst_harness_create_buffer (h, 32 * 32);
  gst_buffer_memset (buffer, 0, 0, 32 * 32);
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  out = gst_harness_pull (h);
  g_assert_cmpint (gst_buffer_get_nn_tensor_meta (out)->width, ==, 32);
  gst_buffer_unref (out);
  g_assert_cmpuint (count_compiles (bus), ==, 1);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

/* The count above would see one: tensors after video are another graph. */
static void
another_kind_of_stream_is_a_new_compile (void)
{
  GstBus *bus;
  GstHarness *h = harness_with_bus (&bus);
  GstBuffer *buffer;
  gst_harness_push (h, frame (h, 0));
  gst_buffer_unref (gst_harness_pull (h));
  gst_harness_set_src_caps_str (h, "other/tensors,format=static,num_tensors=1,types=float32,"
                                   "dimensions=128:96:3:1,framerate=30/1");
  buffer = gst_harness_create_buffer (h, 128 * 96 * 3 * 4);
  gst_buffer_memset (buffer, 0, 0, 128 * 96 * 3 * 4);
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
  g_assert_cmpuint (count_compiles (bus), ==, 2);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

static void
downstream_may_hold_twenty_frames (void)
{
  GstHarness *h = harness_new ("MOCK_LATENCY=1", 2);
  GstBuffer *held[20];
  for (guint i = 0; i < 20; i++) {
    g_assert_cmpint (gst_harness_push (h, frame (h, i)), ==, GST_FLOW_OK);
    held[i] = gst_harness_pull (h);
  }
  for (guint i = 0; i < 20; i++) { /* no tensor was written over */
    GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (held[i]);
    for (guint k = 0; k < i; k++)
      g_assert_true (axon_tensor_get_data (g_ptr_array_index (meta->tensors, 0)) !=
                     axon_tensor_get_data (
                         g_ptr_array_index (gst_buffer_get_nn_tensor_meta (held[k])->tensors, 0)));
  }
  for (guint i = 0; i < 20; i++)
    gst_buffer_unref (held[i]);
  gst_harness_teardown (h);
}

static void
the_interval_skips_inference_not_frames (void)
{
  GstHarness *h = harness_new (NULL, 2);
  gst_harness_set (h, "nninfer", "inference-interval", 3, NULL);
  for (guint i = 0; i < 9; i++)
    gst_harness_push (h, frame (h, i));
  for (guint i = 0; i < 9; i++) {
    GstBuffer *out = gst_harness_pull (h);
    g_assert_true ((gst_buffer_get_nn_tensor_meta (out) != NULL) == (i % 3 == 0));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static gpointer
push_frames (gpointer data)
{
  GstHarness *h = data;
  guint *pushed = g_object_get_data (G_OBJECT (h->element), "pushed");
  for (guint i = 0; i < 1000 && gst_harness_push (h, frame (h, i)) == GST_FLOW_OK; i++)
    g_atomic_int_inc (pushed);
  return NULL;
}

/* The first frame is inferred for ever; of those behind it only some may wait. */
static void
frames_that_pass_do_not_pile_up (void)
{
  GstHarness *h = harness_new ("MOCK_STALL_AT=0", 2);
  guint pushed = 0, before;
  GThread *thread;
  gst_harness_set (h, "nninfer", "inference-interval", 1000000, NULL);
  g_object_set_data (G_OBJECT (h->element), "pushed", &pushed);
  thread = g_thread_new ("push", push_frames, h);
  do { /* until it waits */
    before = g_atomic_int_get (&pushed);
    g_usleep (100000);
  } while (before != (guint)g_atomic_int_get (&pushed) || before == 0);
  g_assert_cmpuint (before, <, 100);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  g_thread_join (thread);
  gst_harness_teardown (h);
}

/* Downstream holds each buffer for 100 ms; a run takes 5. */
static GstPadProbeReturn
hold (G_GNUC_UNUSED GstPad *pad, G_GNUC_UNUSED GstPadProbeInfo *info, G_GNUC_UNUSED gpointer data)
{
  g_usleep (100000);
  return GST_PAD_PROBE_OK;
}

static void
latency_is_the_runs_not_that_of_who_is_downstream (void)
{
  GstHarness *h = harness_new ("MOCK_LATENCY=5", 4);
  guint64 latency;
  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, hold, NULL, NULL);
  for (guint i = 0; i < 6; i++)
    gst_harness_push (h, frame (h, i));
  for (guint i = 0; i < 6; i++)
    gst_buffer_unref (gst_harness_pull (h));
  gst_harness_get (h, "nninfer", "latency", &latency, NULL);
  g_assert_cmpuint (latency, >=, 5 * GST_MSECOND);
  g_assert_cmpuint (latency, <, 90 * GST_MSECOND);
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/nninfer/" #name, name)
  ADD (frames_leave_in_order_though_runs_end_out_of_order);
  ADD (serialized_events_keep_their_place);
  ADD (end_of_stream_follows_the_last_frame);
  ADD (flush_drops_what_is_in_flight_and_the_stream_goes_on);
  ADD (a_run_that_never_ends_does_not_block_going_down);
  ADD (a_failing_run_is_one_error_on_the_bus);
  ADD (a_compile_is_cancelled_on_the_way_down);
  ADD (states_go_up_and_down_many_times);
  ADD (new_caps_need_no_new_compile);
  ADD (another_kind_of_stream_is_a_new_compile);
  ADD (downstream_may_hold_twenty_frames);
  ADD (the_interval_skips_inference_not_frames);
  ADD (frames_that_pass_do_not_pile_up);
  ADD (latency_is_the_runs_not_that_of_who_is_downstream);
  return g_test_run ();
}
