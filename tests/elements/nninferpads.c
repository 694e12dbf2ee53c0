/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer on device MOCK: what its pads answer, what its properties do, and what mistakes say. */
#include "nninfer.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/video/video.h>

static gpointer
ask_caps (gpointer data)
{
  GstPad *pad = data;
  while (g_object_get_data (G_OBJECT (pad), "enough") == NULL)
    gst_caps_unref (gst_pad_query_caps (pad, NULL));
  return NULL;
}

/* Upstream asks whenever it likes, also while the model is closed. */
static void
caps_may_be_asked_while_states_change (void)
{
  g_autofree gchar *model = test_ball_model ();
  GstElement *element = gst_element_factory_make ("nninfer", NULL);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GThread *thread;
  g_object_set (element, "model", model, "device", "MOCK", NULL);
  thread = g_thread_new ("ask", ask_caps, pad);
  for (guint i = 0; i < 50; i++) {
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==,
                     GST_STATE_CHANGE_SUCCESS);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  }
  g_object_set_data (G_OBJECT (pad), "enough", pad);
  g_thread_join (thread);
  gst_object_unref (pad);
  gst_object_unref (element);
}

static void
latency_is_measured_and_answered (void)
{
  GstHarness *h = harness_new ("MOCK_LATENCY=20", 1);
  gst_harness_set_upstream_latency (h, 0);
  gst_harness_push (h, frame (h, 0));
  gst_buffer_unref (gst_harness_pull (h));
  gst_harness_set_live (h, TRUE); /* else it does not ask */
  g_assert_cmpuint (gst_harness_query_latency (h), >=, 20 * GST_MSECOND);
  gst_harness_teardown (h);
}

static void
a_model_set_in_ready_is_the_one_that_runs (void)
{
  g_autofree gchar *ball = test_ball_model ();
  GstElement *element = gst_element_factory_make ("nninfer", NULL);
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstMessage *message;
  guint opened = 0;
  gst_element_set_bus (element, bus);
  g_object_set (element, "model", ball, "device", "MOCK", NULL);
  gst_element_set_state (element, GST_STATE_PAUSED);
  gst_element_set_state (element, GST_STATE_READY);
  g_object_set (element, "model", ball, "labels", "nothing,everything", NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)) != NULL) {
    opened += gst_message_has_name (message, "nn-model-info");
    gst_message_unref (message);
  }
  g_assert_cmpuint (opened, ==, 2);
  gst_element_set_state (element, GST_STATE_READY);
  g_object_set (element, "model", "/nonexistent.onnx", NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
}

static void
check_allocation (gboolean takes_video_meta)
{
  GstHarness *h = harness_new (NULL, 5);
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  guint min;
  if (takes_video_meta)
    gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
  g_assert_true (gst_pad_peer_query (h->srcpad, query));
  g_assert_cmpint (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL), ==,
                   takes_video_meta);
  gst_query_parse_nth_allocation_pool (query, 0, NULL, NULL, &min, NULL);
  g_assert_cmpuint (min, >=, 5);
  gst_query_unref (query);
  gst_harness_teardown (h);
}

/* An appsink that did not ask for it got 520,704 bytes of a frame of 497,664. */
static void
upstream_may_do_only_what_downstream_can_take (void)
{
  check_allocation (TRUE);
  check_allocation (FALSE);
}

static void
a_pad_that_is_linked_again_gets_frames_again (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf ("nninfer model=%s device=MOCK", model);
  GstHarness *h = gst_harness_new_parse (launch);
  g_autoptr (GstPad) src = gst_element_get_static_pad (h->element, "src");
  g_autoptr (GstPad) peer = gst_pad_get_peer (src);
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, 0)));
  gst_pad_unlink (src, peer);
  for (guint i = 1; gst_harness_push (h, frame (h, i)) == GST_FLOW_OK; i++)
    g_usleep (1000);
  g_assert_cmpint (gst_pad_link (src, peer), ==, GST_PAD_LINK_OK);
  g_assert_cmpint (gst_harness_push (h, frame (h, 1000)), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
  gst_harness_teardown (h);
}

/* inference-interval 1 at the beginning, 1000 from the second second on. */
static void
controlled_properties_follow_the_time_of_the_frames (void)
{
  GstHarness *h = harness_new (NULL, 1);
  GstElement *nninfer = gst_harness_find_element (h, "nninfer");
  GstControlSource *values = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *timed = GST_TIMED_VALUE_CONTROL_SOURCE (values);
  guint interval;
  g_object_set (values, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_object_add_control_binding (
      GST_OBJECT (nninfer),
      gst_direct_control_binding_new_absolute (GST_OBJECT (nninfer), "inference-interval", values));
  gst_timed_value_control_source_set (timed, 0, 1);
  gst_timed_value_control_source_set (timed, GST_SECOND, 1000);
  for (guint i = 0; i < 60; i += 45) {
    gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, i)));
    g_object_get (nninfer, "inference-interval", &interval, NULL);
    g_assert_cmpuint (interval, ==, i < 30 ? 1 : 1000);
  }
  gst_object_unref (values);
  gst_object_unref (nninfer);
  gst_harness_teardown (h);
}

/* What the user did, and the words that must be in the one error. */
static const struct {
  const gchar *launch, *says;
} mistakes[] = {
  { "nninfer device=MOCK", "no model is set" },
  { "nninfer model=/nonexistent.onnx", "cannot be opened" },
  { "nninfer model=/dev/null", "not a regular file" },
  { "nninfer model=" TEST_SOURCE_ROOT "/meson.build", "not a valid ONNX file" },
  { "nninfer model=" TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx device=NOWHERE",
    "device \"NOWHERE\" is not available" },
  { "nninfer model=" TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx mean=<1,2,3,4,5>",
    "one to four numbers" },
  { "nninfer model=" TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx scale=<0>", "other than 0" },
  { "nninfer model=" TEST_SOURCE_ROOT
    "/pipelines/quickstart/ball.onnx device=MOCK config=\"config,NUM_STREAM=2\"",
    "did you mean \"NUM_STREAMS\"" },
};

static void
a_mistake_is_one_clear_error_and_null_is_reached (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree gchar *launch =
      g_strdup_printf ("videotestsrc num-buffers=3 ! %s ! fakesink", mistakes[i].launch);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  g_autoptr (GError) error = NULL;
  GstMessage *message;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 5 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  if (strstr (error->message, mistakes[i].says) == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, mistakes[i].says);
  gst_message_unref (message);
  g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

/* Others leave out the batch: 128:96:3 is 128:96:3:1. */
static void
dimensions_of_one_may_be_left_out (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf ("nninfer model=%s device=MOCK", model);
  GstHarness *h = gst_harness_new_parse (launch);
  GstBuffer *in = gst_buffer_new_allocate (NULL, 128 * 96 * 3 * sizeof (gfloat), NULL);
  gst_buffer_memset (in, 0, 0, gst_buffer_get_size (in));
  gst_harness_set_src_caps_str (h, "other/tensors,format=static,num_tensors=1,types=float32,"
                                   "dimensions=128:96:3,framerate=30/1");
  gst_buffer_unref (gst_harness_push_and_pull (h, in));
  gst_harness_teardown (h);
}

static void
tensors_of_the_wrong_shape_say_expected_and_got (void)
{
  static const gchar *const words[] = { "expected", "dimensions=(string)128:96:3:1", "got",
                                        "dimensions=(string)32:32:3:1" };
  g_autoptr (GError) error = NULL;
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "videotestsrc num-buffers=1 ! nnpreproc ! "
      "other/tensors,format=static,num_tensors=1,types=float32,dimensions=32:32:3:1 ! "
      "nninfer model=%s device=MOCK ! fakesink",
      model);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 5 * GST_SECOND, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strstr (error->message, words[i]) == NULL)
      g_error ("\"%s\" does not say \"%s\"", error->message, words[i]);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/nninferpads/" #name, name)
  ADD (caps_may_be_asked_while_states_change);
  ADD (latency_is_measured_and_answered);
  ADD (a_model_set_in_ready_is_the_one_that_runs);
  ADD (upstream_may_do_only_what_downstream_can_take);
  ADD (a_pad_that_is_linked_again_gets_frames_again);
  ADD (controlled_properties_follow_the_time_of_the_frames);
  ADD (dimensions_of_one_may_be_left_out);
  ADD (tensors_of_the_wrong_shape_say_expected_and_got);
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/nninferpads/a_mistake_is_one_clear_error_and_null_is_reached/%u", i);
    g_test_add_data_func (path, GUINT_TO_POINTER (i),
                          a_mistake_is_one_clear_error_and_null_is_reached);
  }
  return g_test_run ();
}
