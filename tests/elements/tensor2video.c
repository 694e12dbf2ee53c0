/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nntensor2video: pictures that models draw, as frames. */
#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

/* A frame of @format with one output of a model, into whose input it was stretched. */
static GstBuffer *
frame_with (GstHarness *h, const gchar *format, gint width, gint height, AxonTensor *tensor)
{
  g_autofree gchar *text = g_strdup_printf (
      "video/x-raw,format=%s,width=%d,height=%d,framerate=25/2", format, width, height);
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  GstVideoInfo info;
  GstBuffer *buffer;
  GstNnTensorMeta *meta;
  AxonImageInfo image = {
    .format = AXON_IMAGE_FORMAT_GRAY8, .width = width, .height = height, .stride = { width }
  };
  g_assert_true (gst_video_info_from_caps (&info, caps));
  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (buffer, 0, 128, info.size);
  GST_BUFFER_PTS (buffer) = 7 * GST_MSECOND;
  if (tensor == NULL)
    return buffer;
  meta = gst_buffer_add_nn_tensor_meta (buffer);
  g_ptr_array_add (meta->tensors, axon_tensor_ref (tensor));
  meta->width = width;
  meta->height = height;
  axon_image_geometry_init (&meta->geometry, &image, AXON_IMAGE_FIT_STRETCH, 1, 4, 4);
  return buffer;
}

static void
assert_frame (GstHarness *h, GstBuffer *out, GstVideoFormat format, gint width, gint height,
              const guint8 *pixels, gsize n)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->sinkpad);
  GstVideoFrame frame;
  GstVideoInfo info;
  g_assert_nonnull (out);
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_cmpint (GST_VIDEO_INFO_FORMAT (&info), ==, format);
  g_assert_cmpint (GST_VIDEO_INFO_WIDTH (&info), ==, width);
  g_assert_cmpint (GST_VIDEO_INFO_HEIGHT (&info), ==, height);
  g_assert_true (gst_video_frame_map (&frame, &info, out, GST_MAP_READ));
  g_assert_cmpmem (GST_VIDEO_FRAME_PLANE_DATA (&frame, 0), n, pixels, n);
  gst_video_frame_unmap (&frame);
}

static const struct {
  const gchar *name, *launch;
  gint64 dims[4];
  gfloat values[12];
  GstVideoFormat format;
  guint8 pixels[8]; /* of the first row */
  gsize n;
} pictures[] = {
  { "planes_from_0_to_1",
    "nntensor2video range=unit",
    { 1, 3, 2, 2 },
    { 0, 1, 0, 0, .5f, 2, 0, 0, 1, -1, 0, 0 },
    GST_VIDEO_FORMAT_RGB,
    { 0, 128, 255, 255, 255, 0 },
    6 },
  { "channels_last_from_0_to_255",
    "nntensor2video range=byte",
    { 1, 2, 2, 3 },
    { 0, 10, 20, 30, 300, NAN },
    GST_VIDEO_FORMAT_RGB,
    { 0, 10, 20, 30, 255, 0 },
    6 },
  { "planes_around_0",
    "nntensor2video range=signed",
    { 1, 3, 2, 2 },
    { -1, 1, 0, 0, 0, -2, 0, 0, 1, 0, 0, 0 },
    GST_VIDEO_FORMAT_RGB,
    { 0, 128, 255, 255, 0, 128 },
    6 },
  { "one_channel",
    "nntensor2video keep-chroma=false",
    { 1, 1, 2, 2 },
    { 0, 1, .5f, 0 },
    GST_VIDEO_FORMAT_GRAY8,
    { 0, 255 },
    2 },
  { "luma_of_a_colour_frame", /* 16 to 235 */
    "nntensor2video",
    { 1, 1, 2, 2 },
    { 0, 1, .5f, 0 },
    GST_VIDEO_FORMAT_I420,
    { 16, 235 },
    2 },
};

static void
a_picture_becomes_a_frame (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  GstHarness *h = gst_harness_new_parse (pictures[i].launch);
  AxonShape shape = { .rank = 4 };
  g_autoptr (AxonTensor) t = NULL;
  g_autoptr (GstCaps) caps = NULL;
  GstVideoInfo info;
  GstBuffer *out;
  memcpy (shape.dims, pictures[i].dims, sizeof pictures[i].dims);
  t = test_tensor (&shape, pictures[i].values);
  out = gst_harness_push_and_pull (h, frame_with (h, "I420", 8, 4, t));
  assert_frame (h, out, pictures[i].format, 2, 2, pictures[i].pixels, pictures[i].n);
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 7 * GST_MSECOND);
  caps = gst_pad_get_current_caps (h->sinkpad);
  gst_video_info_from_caps (&info, caps);
  g_assert_cmpint (info.fps_n, ==, 25);
  g_assert_cmpint (info.fps_d, ==, 2);
  g_assert_cmpint (info.par_n, ==, 2); /* 8 x 4, squeezed to a square */
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* The frame's chroma is 90 and 200 everywhere. */
static void
luma_keeps_the_colours_of_its_frame (void)
{
  GstHarness *h = gst_harness_new_parse ("nntensor2video range=unit");
  AxonShape shape = AXON_SHAPE (1, 1, 6, 6);
  g_autoptr (AxonTensor) t = test_random (&shape, 1);
  g_autoptr (GstCaps) caps = NULL;
  GstBuffer *in = frame_with (h, "I420", 8, 8, t), *out;
  GstVideoFrame frame;
  GstVideoInfo info;
  gst_buffer_memset (in, 64, 90, 16);
  gst_buffer_memset (in, 80, 200, 16);
  out = gst_harness_push_and_pull (h, in);
  caps = gst_pad_get_current_caps (h->sinkpad);
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_true (gst_video_frame_map (&frame, &info, out, GST_MAP_READ));
  for (gint r = 0; r < 3; r++)
    for (gint c = 0; c < 3; c++) {
      gsize at = (gsize)(r * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 1) + c);
      g_assert_cmpint (((guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&frame, 1))[at], ==, 90);
      g_assert_cmpint (((guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&frame, 2))[at], ==, 200);
    }
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* Without a range: mean and scale of the input are undone, in its order of colours. */
static void
numbers_are_those_of_the_models_input (void)
{
  GstHarness *h = gst_harness_new_parse ("nntensor2video");
  AxonShape shape = AXON_SHAPE (1, 3, 2, 2);
  g_autoptr (AxonTensor) t =
      test_tensor (&shape, (gfloat[]){ -1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0 });
  static const guint8 expected[] = { 0, 100, 250, 100, 100, 150 };
  GstBuffer *in = frame_with (h, "RGB", 4, 4, t), *out;
  GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (in);
  meta->description = gst_nn_description_new ();
  gst_nn_description_set (meta->description, "mean", "100,100,150", NULL);
  gst_nn_description_set (meta->description, "scale", "100", NULL);
  gst_nn_description_set (meta->description, "color", "bgr", NULL);
  out = gst_harness_push_and_pull (h, in);
  assert_frame (h, out, GST_VIDEO_FORMAT_BGR, 2, 2, expected, sizeof expected);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* Numbers of the input, which was scaled, mean nothing there. */
static void
a_matte_is_white_where_the_person_is (void)
{
  static const guint8 expected[] = { 0, 255, 191, 64 };
  static const gint64 n_channels[] = { 2, 1 };
  for (guint i = 0; i < G_N_ELEMENTS (n_channels); i++) {
    GstHarness *h = gst_harness_new_parse ("nntensor2video");
    AxonShape shape = AXON_SHAPE (1, n_channels[i], 2, 4);
    gfloat values[] = { 1, 0, .25f, .75f, 0, 0, 0, 0, 0, 1, .75f, .25f, 1, 1, 1, 1 };
    g_autoptr (AxonTensor) t = test_tensor (&shape, values + (n_channels[i] == 1 ? 8 : 0));
    GstBuffer *in = frame_with (h, "I420", 8, 4, t), *out;
    GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (in);
    meta->description = gst_nn_description_new ();
    gst_nn_description_set (meta->description, "mean", "100", NULL);
    gst_nn_description_set (meta->description, "scale", "16000", NULL);
    gst_nn_description_set (meta->description, "decoder", "matte", NULL);
    out = gst_harness_push_and_pull (h, in);
    assert_frame (h, out, GST_VIDEO_FORMAT_GRAY8, 4, 2, expected, sizeof expected);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}

/* Rows 1 and 2 of 4 show the frame; the output is twice as large. */
static void
bars_of_a_letterbox_are_left_out_and_results_are_scaled (void)
{
  GstHarness *h = gst_harness_new_parse ("nntensor2video range=byte keep-chroma=false");
  AxonShape shape = AXON_SHAPE (1, 1, 8, 8);
  AxonImageInfo image = {
    .format = AXON_IMAGE_FORMAT_GRAY8, .width = 16, .height = 8, .stride = { 16 }
  };
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  static const guint8 expected[] = { 20, 20, 20, 20, 20, 20, 20, 20 };
  gdouble x, y, width, height;
  GstNnResultMeta *results;
  GstBuffer *in, *out;
  for (guint i = 0; i < 64; i++)
    ((gfloat *)axon_tensor_get_data (t))[i] = (gfloat)(10 * (i / 8));
  in = frame_with (h, "RGB", 16, 8, t);
  axon_image_geometry_init (&gst_buffer_get_nn_tensor_meta (in)->geometry, &image,
                            AXON_IMAGE_FIT_LETTERBOX, 1, 4, 4);
  results = gst_buffer_add_nn_result_meta (in, 16, 8);
  gst_nn_object_set_box (gst_nn_result_meta_add_object (results, 0), 4, 4, 8, 2);
  out = gst_harness_push_and_pull (h, in);
  assert_frame (h, out, GST_VIDEO_FORMAT_GRAY8, 8, 4, expected, sizeof expected);
  results = gst_buffer_get_nn_result_meta (out);
  g_assert_nonnull (results);
  gst_nn_object_get_box (gst_nn_result_meta_get_object (results, 0), &x, &y, &width, &height);
  g_assert_true (x == 2 && y == 2 && width == 4 && height == 1);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
bytes_of_a_tensor_stream_are_a_picture (void)
{
  GstHarness *h = gst_harness_new_parse ("nntensor2video");
  static const guint8 pixels[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
  GstBuffer *in = gst_buffer_new_memdup (pixels, sizeof pixels), *out;
  gst_harness_set_src_caps_str (h, "other/tensors,format=static,num_tensors=1,types=uint8,"
                                   "dimensions=3:2:2:1,framerate=30/1");
  out = gst_harness_push_and_pull (h, in);
  assert_frame (h, out, GST_VIDEO_FORMAT_RGB, 2, 2, pixels, 6);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
a_frame_without_outputs_repeats_the_last_picture (void)
{
  GstHarness *h = gst_harness_new_parse ("nntensor2video keep-chroma=false");
  AxonShape shape = AXON_SHAPE (1, 1, 2, 2);
  g_autoptr (AxonTensor) t = test_tensor (&shape, (gfloat[]){ 1, 0, 0, 0 });
  static const guint8 expected[] = { 255, 0 };
  GstBus *bus = gst_bus_new ();
  GstBuffer *in, *out;
  GstFlowReturn flow;
  GstMessage *message;
  gst_element_set_bus (h->element, bus);
  flow = gst_harness_push (h, frame_with (h, "RGB", 4, 4, NULL));
  g_assert_cmpint (flow, ==, GST_FLOW_OK);
  g_assert_cmpuint (gst_harness_buffers_received (h), ==, 0);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  g_assert_nonnull (message);
  gst_message_unref (message);
  gst_buffer_unref (gst_harness_push_and_pull (h, frame_with (h, "RGB", 4, 4, t)));
  in = frame_with (h, "RGB", 4, 4, NULL);
  GST_BUFFER_PTS (in) = GST_SECOND;
  out = gst_harness_push_and_pull (h, in);
  assert_frame (h, out, GST_VIDEO_FORMAT_GRAY8, 2, 2, expected, 2);
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, GST_SECOND);
  gst_buffer_unref (out);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

static void
frames_without_outputs_are_told_once_in_each_run (void)
{
  GstHarness *h = gst_harness_new_parse ("nntensor2video");
  GstBus *bus = gst_bus_new ();
  gst_element_set_bus (h->element, bus);
  for (guint run = 0; run < 2; run++) {
    guint told = 0;
    GstMessage *message;
    for (guint i = 0; i < 2; i++)
      gst_harness_push (h, frame_with (h, "RGB", 4, 4, NULL));
    while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)) != NULL) {
      gst_message_unref (message);
      told++;
    }
    g_assert_cmpuint (told, ==, 1);
    gst_element_set_state (h->element, GST_STATE_READY);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

static void
the_size_changes_with_the_tensor (void)
{
  GstHarness *h = gst_harness_new_parse ("nntensor2video keep-chroma=false");
  for (gint64 size = 2; size < 5; size++) {
    AxonShape shape = AXON_SHAPE (1, 1, size, size + 1);
    g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
    static const guint8 black[3] = { 0 };
    GstBuffer *out;
    memset (axon_tensor_get_data (t), 0, axon_tensor_get_n_bytes (t));
    out = gst_harness_push_and_pull (h, frame_with (h, "RGB", 4, 4, t));
    assert_frame (h, out, GST_VIDEO_FORMAT_GRAY8, (gint)size + 1, (gint)size, black, 3);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

/* A segment that came before there were caps arrives after them; a flush leaves nothing behind. */
static void
events_keep_their_order_through_flushes (void)
{
  GstHarness *h = gst_harness_new_parse ("nntensor2video keep-chroma=false");
  static const GstEventType order[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT,
                                        GST_EVENT_TAG };
  AxonShape shape = AXON_SHAPE (1, 1, 2, 2);
  g_autoptr (AxonTensor) t = test_tensor (&shape, (gfloat[]){ 1, 0, 0, 0 });
  GstBuffer *in = frame_with (h, "RGB", 4, 4, t);
  GstSegment segment;
  GstEvent *event;
  gst_harness_push_event (h, gst_event_new_tag (gst_tag_list_new_empty ()));
  gst_buffer_unref (gst_harness_push_and_pull (h, in));
  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    event = gst_harness_pull_event (h);
    g_assert_cmpstr (GST_EVENT_TYPE_NAME (event), ==, gst_event_type_get_name (order[i]));
    gst_event_unref (event);
  }
  in = frame_with (h, "RGB", 4, 4, t);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = 3;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_buffer_unref (gst_harness_push_and_pull (h, in));
  event = gst_pad_get_sticky_event (h->sinkpad, GST_EVENT_SEGMENT, 0);
  gst_event_copy_segment (event, &segment);
  g_assert_cmpuint (segment.base, ==, 3);
  gst_event_unref (event);
  gst_harness_teardown (h);
}

static void
outputs_that_are_no_picture_are_an_error (void)
{
  static const gint64 shapes[][4] = {
    { 1, 2, 4, 4 }, { 1, 3, 1, 4 }, { 1, 0, 4, 4 }, { 2, 3, 4, 4 }, { 1, 5, 5, 5 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    GstHarness *h = gst_harness_new_parse ("nntensor2video");
    GstBus *bus = gst_bus_new ();
    AxonShape shape = { .rank = 4 };
    g_autoptr (AxonTensor) t = NULL;
    g_autoptr (GError) error = NULL;
    GstFlowReturn flow;
    GstMessage *message;
    memcpy (shape.dims, shapes[i], sizeof shapes[i]);
    t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
    gst_element_set_bus (h->element, bus);
    flow = gst_harness_push (h, frame_with (h, "RGB", 4, 4, t));
    g_assert_cmpint (flow, ==, GST_FLOW_ERROR);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_assert_nonnull (message);
    gst_message_parse_error (message, &error, NULL);
    g_assert_nonnull (strstr (error->message, "no output is a picture"));
    gst_message_unref (message);
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
  }
}

static void
tensors_without_dimensions_say_what_is_missing (void)
{
  GstHarness *h = gst_harness_new ("nntensor2video");
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "other/tensors,format=static,num_tensors=1,framerate=30/1");
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "expected types and dimensions"));
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/tensor2video/" #name, name)
  ADD (luma_keeps_the_colours_of_its_frame);
  ADD (numbers_are_those_of_the_models_input);
  ADD (a_matte_is_white_where_the_person_is);
  ADD (bars_of_a_letterbox_are_left_out_and_results_are_scaled);
  ADD (bytes_of_a_tensor_stream_are_a_picture);
  ADD (a_frame_without_outputs_repeats_the_last_picture);
  ADD (frames_without_outputs_are_told_once_in_each_run);
  ADD (the_size_changes_with_the_tensor);
  ADD (events_keep_their_order_through_flushes);
  ADD (outputs_that_are_no_picture_are_an_error);
  ADD (tensors_without_dimensions_say_what_is_missing);
  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/tensor2video/a_picture_becomes_a_frame/%s", pictures[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), a_picture_becomes_a_frame);
  }
  return g_test_run ();
}
