/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that cannot be inferred: how many of them a stream takes. */
#include "nninfer.h"
#include "teststream.h"

#include <glib/gstdio.h>
#include <string.h>

static GstHarness *
stream_new (const gchar *config, guint max_errors, GstBus *bus)
{
  GstHarness *h = harness_new (config, 1);
  gst_harness_set (h, "nninfer", "max-errors", max_errors, NULL);
  gst_element_set_bus (h->element, bus);
  return h;
}

static gboolean
push_is_inferred (GstHarness *h, guint i)
{
  GstBuffer *out = gst_harness_push_and_pull (h, frame (h, i));
  gboolean inferred = gst_buffer_get_nn_tensor_meta (out) != NULL;
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * GST_SECOND / 30);
  gst_buffer_unref (out);
  return inferred;
}

static void
assert_message (GstBus *bus, GstMessageType type, const gchar *says)
{
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, type);
  if (type == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, NULL);
  else
    gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, says));
}

static void
as_many_frames_as_max_errors_pass_and_the_next_stops_the_stream (void)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstHarness *h = stream_new ("MOCK_FAIL_FROM=1", 3, bus);
  g_assert_true (push_is_inferred (h, 0));
  for (guint i = 1; i < 4; i++)
    g_assert_false (push_is_inferred (h, i));
  assert_message (bus, GST_MESSAGE_WARNING, "mock failure in run 1");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  for (guint i = 4; gst_harness_push (h, frame (h, i)) == GST_FLOW_OK; i++)
    g_usleep (1000);
  assert_message (bus, GST_MESSAGE_ERROR, "mock failure in run 4");
  g_assert_cmpuint (count (h, "inferred"), ==, 1);
  g_assert_cmpuint (count (h, "passed"), ==, 3);
  g_assert_cmpuint (count (h, "failed"), ==, 4);
  stream_end (h);
}

/* A change of the model counts its runs anew: the second fails again. */
static void
a_frame_that_is_inferred_allows_as_many_errors_again (void)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstHarness *h = stream_new ("MOCK_FAIL_AT=1", 1, bus);
  for (guint round = 0, i = 0; round < 3; round++) {
    guint failed = 0;
    g_autoptr (GstStructure) config = gst_structure_new (
        "config", "MOCK_FAIL_AT", G_TYPE_INT, 1, "MOCK_JITTER", G_TYPE_INT, (gint)round, NULL);
    gst_harness_set (h, "nninfer", "config", config, NULL);
    while (failed == 0)
      failed += !push_is_inferred (h, i++);
    g_assert_true (push_is_inferred (h, i++));
    assert_message (bus, GST_MESSAGE_WARNING, "mock failure in run 1");
  }
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
  stream_end (h);
}

static void
of_tensors_that_cannot_be_inferred_their_time_leaves (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "nnpreproc model=%s ! nninfer name=infer model=%s device=MOCK nireq=1 max-errors=9 "
      "config=\"config,MOCK_FAIL_AT=1\"",
      model, model);
  GstHarness *h = gst_harness_new_parse (launch);
  GstClockTime gap = GST_CLOCK_TIME_NONE;
  GstEvent *event;
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (gst_harness_push (h, frame (h, i)), ==, GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  while (GST_EVENT_TYPE (event = gst_harness_pull_event (h)) != GST_EVENT_EOS) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
      gst_event_parse_gap (event, &gap, NULL);
    gst_event_unref (event);
  }
  gst_event_unref (event);
  g_assert_cmpuint (gst_harness_buffers_received (h), ==, 2);
  g_assert_cmpuint (gap, ==, GST_SECOND / 30);
  gst_harness_teardown (h);
}

static void
a_late_error_is_forgiven_like_another (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch =
      g_strdup_printf ("nninfer model=%s device=MOCK nireq=1 drop-policy=newest max-errors=1 "
                       "config=\"config,MOCK_LATENCY=50,MOCK_FAIL_AT=0\"",
                       model);
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstHarness *h = gst_harness_new_parse (launch);
  gboolean inferred = FALSE;
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=48,framerate=1000/1");
  gst_element_set_bus (h->element, bus);
  for (guint i = 0; !inferred; i++) {
    inferred = push_is_inferred (h, i);
    g_usleep (1000);
  }
  assert_message (bus, GST_MESSAGE_WARNING, "mock failure in run 0");
  g_assert_cmpuint (count (h, "failed"), ==, 1);
  stream_end (h);
}

static void
a_region_that_cannot_be_inferred_has_no_result_and_the_others_have (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "nninfer model=%s device=MOCK nireq=1 inference-region=roi-list max-errors=1 "
      "config=\"config,MOCK_FAIL_AT=1\"",
      model);
  GstHarness *h = gst_harness_new_parse (launch);
  GstBuffer *buffer;
  GstNnResultMeta *result;
  gpointer state = NULL;
  guint n = 0;
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  buffer = frame (h, 0);
  result = gst_buffer_add_nn_result_meta (buffer, 64, 48);
  for (guint i = 0; i < 3; i++)
    gst_nn_object_set_box (gst_nn_result_meta_add_object (result, 0), 8 * i, 8, 16, 16);
  buffer = gst_harness_push_and_pull (h, buffer);
  while (gst_buffer_iterate_meta_filtered (buffer, &state, GST_NN_TENSOR_META_API_TYPE) != NULL)
    n++;
  g_assert_cmpuint (n, ==, 2);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

/* No size of a frame could change it. */
static void
a_model_of_pictures_without_rows_is_refused_before_there_are_caps (void)
{
  TestModel t = test_model_new (13);
  AxonShape shape = AXON_SHAPE (1, 3, 0, 8);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  g_autoptr (AxonModel) model =
      test_model_finish (&t, test_model_node (&t, "Relu", 1, x)->outputs[0]);
  g_autofree gchar *path = test_model_write (model);
  GstElement *element = gst_element_factory_make ("nninfer", NULL);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_object_set (element, "model", path, "device", "TEMPLATE", NULL);
  gst_element_set_bus (element, bus);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  assert_message (bus, GST_MESSAGE_ERROR, "8x0");
  gst_element_set_bus (element, NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  g_unlink (path);
}

/* Whose fault it is, in GStreamer's words: a file that is not there, bytes that are no
 * model. */
static void
a_model_that_does_not_open_fails_the_state_change_with_its_reason (void)
{
  g_autofree gchar *none = g_build_filename (g_get_tmp_dir (), "there", "is", "none.onnx", NULL);
  g_autofree gchar *junk = g_build_filename (g_get_tmp_dir (), "axon-errors-junk.onnx", NULL);
  const struct {
    const gchar *element, *model, *device;
    GQuark domain;
    gint code;
  } rows[] = {
    { "nnpreproc", none, NULL, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS },
    { "nninfer", none, "TEMPLATE", GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS },
    { "nnpreproc", junk, NULL, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT },
    { "nninfer", junk, "TEMPLATE", GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT },
  };
  g_assert_true (g_file_set_contents (junk, "junk", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstElement *element = gst_element_factory_make (rows[i].element, NULL);
    g_autoptr (GstBus) bus = gst_bus_new ();
    g_autoptr (GstMessage) message = NULL;
    g_autoptr (GError) error = NULL;
    g_object_set (element, "model", rows[i].model, NULL);
    if (rows[i].device != NULL)
      g_object_set (element, "device", rows[i].device, NULL);
    gst_element_set_bus (element, bus);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_assert_nonnull (message);
    gst_message_parse_error (message, &error, NULL);
    g_assert_error (error, rows[i].domain, rows[i].code);
    gst_element_set_bus (element, NULL);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_object_unref (element);
  }
  g_unlink (junk);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/errors/" #name, name)
  ADD (as_many_frames_as_max_errors_pass_and_the_next_stops_the_stream);
  ADD (a_frame_that_is_inferred_allows_as_many_errors_again);
  ADD (of_tensors_that_cannot_be_inferred_their_time_leaves);
  ADD (a_late_error_is_forgiven_like_another);
  ADD (a_region_that_cannot_be_inferred_has_no_result_and_the_others_have);
  ADD (a_model_of_pictures_without_rows_is_refused_before_there_are_caps);
  ADD (a_model_that_does_not_open_fails_the_state_change_with_its_reason);
  return g_test_run ();
}
