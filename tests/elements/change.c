/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer on device MOCK: model, device and configuration changed while frames flow. */
#include "nninfer.h"

#include <glib/gstdio.h>
#include <string.h>

#define TENSORS "other/tensors,format=static,num_tensors=1,types=float32,framerate=30/1,dimensions="

/* A file of f32[1,3,h,w] -> Relu; -1 leaves a size free. */
static gchar *
relu_file (const gchar *folder, const gchar *name, gint64 height, gint64 width)
{
  AxonShape shape = AXON_SHAPE (1, 3, height, width);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *node = test_model_node (&t, "Relu", 1, x);
  g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
  gchar *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;
  axon_core_write_model (axon_core_get_default (), model, path, &error);
  g_assert_no_error (error);
  return path;
}

static GstHarness *
start (const gchar *model, const gchar *caps, GstBus **bus)
{
  GstElement *element = gst_element_factory_make ("nninfer", NULL);
  GstHarness *h;
  *bus = gst_bus_new ();
  gst_element_set_bus (element, *bus);
  g_object_set (element, "model", model, "device", "MOCK", "nireq", 2, NULL);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static void
stop (GstHarness *h, GstBus *bus)
{
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

static const gchar *
label_of (GstBuffer *buffer)
{
  GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (buffer);
  g_assert_nonnull (meta);
  return gst_nn_description_get_label (meta->description, 0);
}

/* Pushes frames until one was inferred with the label; every frame leaves, in order, inferred. */
static guint
push_until (GstHarness *h, guint first, const gchar *label)
{
  gboolean found = FALSE;
  while (!found) {
    GstBuffer *out = gst_harness_push_and_pull (h, frame (h, first));
    g_assert_nonnull (out);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, first * GST_SECOND / 30);
    first++;
    found = g_strcmp0 (label_of (out), label) == 0;
    gst_buffer_unref (out);
  }
  return first;
}

static void
frames_go_on_with_the_old_model_until_the_new_one_is_there (void)
{
  g_autofree gchar *ball = test_ball_model ();
  GstBus *bus;
  GstHarness *h = start (ball, CAPS, &bus);
  GstStructure *slow = gst_structure_new ("config", "MOCK_COMPILE_MS", G_TYPE_INT, 100, NULL);
  guint next = push_until (h, 0, "ball");
  g_object_set (h->element, "labels", "sun", "config", slow, NULL);
  gst_structure_free (slow);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, next++)));
  next = push_until (h, next, "sun");
  g_object_set (h->element, "labels", "moon", NULL);
  push_until (h, next, "moon");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  stop (h, bus);
}

static void
what_was_in_flight_is_described_by_the_model_that_saw_it (void)
{
  g_autofree gchar *ball = test_ball_model ();
  GstBus *bus;
  GstHarness *h = start (ball, CAPS, &bus);
  GstStructure *config = gst_structure_new ("config", "MOCK_LATENCY", G_TYPE_INT, 20, NULL);
  gboolean is_new = FALSE;
  guint n = 0;
  g_object_set (h->element, "config", config, NULL);
  gst_structure_free (config);
  g_object_set (h->element, "labels", "sun", NULL);
  while (!is_new) { /* once new, for ever new */
    gst_harness_push (h, frame (h, n));
    gst_harness_push (h, frame (h, n + 1));
    for (guint i = 0; i < 2; i++) {
      GstBuffer *out = gst_harness_pull (h);
      gboolean sun = g_str_equal (label_of (out), "sun");
      g_assert_cmpuint (GST_BUFFER_PTS (out), ==, (n + i) * GST_SECOND / 30);
      g_assert_true (sun || !is_new);
      is_new = sun;
      gst_buffer_unref (out);
    }
    n += 2;
  }
  stop (h, bus);
}

/* The warning that must come while frames go on as before. */
static gchar *
wait_for_warning (GstHarness *h, GstBus *bus, guint first)
{
  GstMessage *message;
  g_autoptr (GError) error = NULL;
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)) == NULL)
    gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, first++)));
  gst_message_parse_warning (message, &error, NULL);
  gst_message_unref (message);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame (h, first)));
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
  return g_strdup (error->message);
}

static void
what_cannot_be_is_a_warning_that_says_why (void)
{
  g_autofree gchar *ball = test_ball_model ();
  g_autofree gchar *path = NULL, *device = NULL, *key = NULL;
  GstBus *bus;
  GstHarness *h = start (ball, CAPS, &bus);
  GstStructure *wrong = gst_structure_new ("config", "NUM_STREAM", G_TYPE_INT, 2, NULL);
  push_until (h, 0, "ball");
  g_object_set (h->element, "model", "/nonexistent.onnx", NULL);
  path = wait_for_warning (h, bus, 100);
  g_assert_nonnull (strstr (path, "cannot be opened"));
  g_object_set (h->element, "model", ball, "device", "NOWHERE", NULL);
  device = wait_for_warning (h, bus, 200);
  g_assert_nonnull (strstr (device, "device \"NOWHERE\" is not available"));
  g_object_set (h->element, "device", "MOCK", "config", wrong, NULL);
  key = wait_for_warning (h, bus, 300);
  g_assert_nonnull (strstr (key, "did you mean \"NUM_STREAMS\""));
  g_object_set (h->element, "config", NULL, "labels", "sun", NULL);
  push_until (h, 400, "sun");
  gst_structure_free (wrong);
  stop (h, bus);
}

static GstBuffer *
tensor (GstHarness *h, gsize floats, guint i)
{
  GstBuffer *buffer = gst_harness_create_buffer (h, floats * 4);
  gst_buffer_memset (buffer, 0, 0, floats * 4);
  GST_BUFFER_PTS (buffer) = i * GST_SECOND / 30;
  return buffer;
}

static void
a_model_with_other_tensors_is_refused (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-change-XXXXXX", NULL);
  g_autofree gchar *small = relu_file (folder, "small.onnx", 8, 8);
  g_autofree gchar *large = relu_file (folder, "large.onnx", 16, 8);
  g_autoptr (GError) error = NULL;
  GstMessage *message;
  GstBus *bus;
  GstHarness *h = start (small, TENSORS "8:8:3:1", &bus);
  gst_buffer_unref (gst_harness_push_and_pull (h, tensor (h, 192, 0)));
  g_object_set (h->element, "model", large, NULL);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)) == NULL)
    gst_buffer_unref (gst_harness_push_and_pull (h, tensor (h, 192, 0)));
  gst_message_parse_warning (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "8:16:3:1"));
  g_assert_nonnull (strstr (error->message, "8:8:3:1"));
  gst_message_unref (message);
  stop (h, bus);
  g_remove (small);
  g_remove (large);
  g_rmdir (folder);
}

static void
sizes_that_a_model_leaves_free_are_those_of_the_tensors (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-change-XXXXXX", NULL);
  g_autofree gchar *model = relu_file (folder, "free.onnx", -1, -1);
  GstBus *bus;
  GstHarness *h = start (model, TENSORS "8:4:3", &bus);
  static const gint heights[] = { 4, 6, 4 };
  for (guint i = 0; i < G_N_ELEMENTS (heights); i++) {
    g_autofree gchar *caps = g_strdup_printf (TENSORS "8:%d:3", heights[i]);
    g_autofree gchar *dims = g_strdup_printf ("8:%d:3:1", heights[i]);
    gsize floats = 8 * 3 * (gsize)heights[i];
    g_autoptr (GstCaps) got = NULL;
    GstBuffer *out;
    gst_harness_set_src_caps_str (h, caps);
    out = gst_harness_push_and_pull (h, tensor (h, floats, i));
    g_assert_nonnull (out);
    g_assert_cmpuint (gst_buffer_get_size (out), ==, floats * 4);
    gst_buffer_unref (out);
    got = gst_pad_get_current_caps (h->sinkpad);
    g_assert_cmpstr (gst_structure_get_string (gst_caps_get_structure (got, 0), "dimensions"), ==,
                     dims);
  }
  stop (h, bus);
  g_remove (model);
  g_rmdir (folder);
}

static void
a_change_on_the_way_does_not_hold_up_new_caps_flushes_or_the_way_down (void)
{
  g_autofree gchar *ball = test_ball_model ();
  GstStructure *slow = gst_structure_new ("config", "MOCK_COMPILE_MS", G_TYPE_INT, 600000, NULL);
  GstBus *bus;
  GstHarness *h = start (ball, CAPS, &bus);
  GstSegment segment;
  push_until (h, 0, "ball");
  g_object_set (h->element, "config", slow, NULL);
  gst_structure_free (slow);
  push_until (h, 10, "ball");
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=48,framerate=25/1");
  push_until (h, 20, "ball");
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push_until (h, 30, "ball");
  stop (h, bus);
}

typedef struct {
  GstElement *element;
  const gchar *model;
  gint ends;
} Setter;

static gpointer
set_and_read (gpointer data)
{
  Setter *s = data;
  for (guint i = 0; !g_atomic_int_get (&s->ends); i++) {
    g_autofree gchar *device = NULL;
    GstStructure *config = gst_structure_new ("config", "MOCK_COMPILE_MS", G_TYPE_INT, i % 3, NULL);
    g_object_set (s->element, "model", s->model, "device", "MOCK", "config", config, "labels",
                  i % 2 ? "sun" : "moon", NULL);
    g_object_get (s->element, "device", &device, NULL);
    g_assert_cmpstr (device, ==, "MOCK");
    gst_structure_free (config);
    g_usleep (500);
  }
  return NULL;
}

/* What a compile reads is what was set when it began: under ThreadSanitizer, too. */
static void
properties_are_set_by_others_while_a_model_is_compiled (void)
{
  g_autofree gchar *ball = test_ball_model ();
  GstBus *bus;
  GstHarness *h = start (ball, CAPS, &bus);
  Setter setter = { .element = h->element, .model = ball };
  GThread *thread = g_thread_new ("setter", set_and_read, &setter);
  guint next = 0;
  for (guint i = 0; i < 5; i++) {
    next = push_until (h, next, "sun");
    next = push_until (h, next, "moon");
  }
  g_atomic_int_set (&setter.ends, TRUE);
  g_thread_join (thread);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR));
  stop (h, bus);
}

/* Requests end in their own time; nobody lets go of what they write to. */
static void
frames_that_are_inferred_outlive_a_downstream_that_fails (void)
{
  g_autofree gchar *ball = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "videotestsrc ! " CAPS " ! nninfer model=%s device=MOCK nireq=4 "
      "config=\"config,NUM_STREAMS=4,MOCK_LATENCY=20,MOCK_JITTER=20\" ! identity error-after=2 ! "
      "fakesink",
      ball);
  for (guint i = 0; i < 5; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstElement) pipeline = gst_parse_launch (launch, &error);
    g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
    GstMessage *message;
    g_assert_no_error (error);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_ERROR);
    g_assert_nonnull (message);
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/change/" #name, name)
  ADD (frames_go_on_with_the_old_model_until_the_new_one_is_there);
  ADD (what_was_in_flight_is_described_by_the_model_that_saw_it);
  ADD (what_cannot_be_is_a_warning_that_says_why);
  ADD (a_model_with_other_tensors_is_refused);
  ADD (sizes_that_a_model_leaves_free_are_those_of_the_tensors);
  ADD (a_change_on_the_way_does_not_hold_up_new_caps_flushes_or_the_way_down);
  ADD (properties_are_set_by_others_while_a_model_is_compiled);
  ADD (frames_that_are_inferred_outlive_a_downstream_that_fails);
  return g_test_run ();
}
