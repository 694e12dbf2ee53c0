/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nndecode, nnoverlay, nnpublish and the metas: known outputs give known results. */
#include "axontest.h"

#include <gst/app/gstappsink.h>
#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>
#include <math.h>

static GstBuffer *
buffer_with_tensors (GstHarness *h, AxonTensor *a, AxonTensor *b, gint input_width,
                     gint input_height, gint width, gint height)
{
  GstBuffer *buffer = gst_harness_create_buffer (h, (gsize)(width * height * 3));
  GstNnTensorMeta *meta;
  AxonImageInfo info = {
    .format = AXON_IMAGE_FORMAT_RGB, .width = width, .height = height, .stride = { width * 3 }
  };
  gst_buffer_memset (buffer, 0, 0, (gsize)(width * height * 3));
  meta = gst_buffer_add_nn_tensor_meta (buffer);
  g_ptr_array_add (meta->tensors, axon_tensor_ref (a));
  if (b != NULL)
    g_ptr_array_add (meta->tensors, axon_tensor_ref (b));
  meta->width = width;
  meta->height = height;
  axon_image_geometry_init (&meta->geometry, &info, AXON_IMAGE_FIT_LETTERBOX, 1, input_width,
                            input_height);
  return buffer;
}

/* Three boxes: two that overlap in one class, one of another class in the same place. */
static void
assert_box (const GstNnObject *o, gdouble x, gdouble y, gdouble width, gdouble height)
{
  gdouble got[4];
  gst_nn_object_get_box (o, &got[0], &got[1], &got[2], &got[3]);
  g_assert_cmpfloat_with_epsilon (got[0], x, 1e-3);
  g_assert_cmpfloat_with_epsilon (got[1], y, 1e-3);
  g_assert_cmpfloat_with_epsilon (got[2], width, 1e-3);
  g_assert_cmpfloat_with_epsilon (got[3], height, 1e-3);
}

static void
overlaps_are_suppressed_within_a_class_and_the_letterbox_is_undone (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode threshold=0.5 labels=none,cat,dog");
  AxonShape bs = AXON_SHAPE (1, 3, 4), ss = AXON_SHAPE (1, 3, 3);
  /* input 100x100 of a 200x100 frame: rows 25 to 75 show the picture, at half size */
  g_autoptr (AxonTensor) boxes = test_tensor (
      &bs, (gfloat[]){ .2f, .35f, .4f, .55f, .21f, .35f, .4f, .55f, .2f, .35f, .4f, .55f });
  g_autoptr (AxonTensor) scores =
      test_tensor (&ss, (gfloat[]){ 0, .9f, 0, 0, .8f, 0, 0, .1f, .7f });
  GstNnResultMeta *meta;
  const GstNnObject *o;
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *out;
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=200,height=100,framerate=30/1");
  out = gst_harness_push_and_pull (h, buffer_with_tensors (h, boxes, scores, 100, 100, 200, 100));
  meta = gst_buffer_get_nn_result_meta (out);
  g_assert_nonnull (meta);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (meta), ==, 2);
  o = gst_nn_result_meta_get_object (meta, 0);
  g_assert_cmpstr (gst_nn_object_get_label (o), ==, "cat");
  g_assert_cmpfloat_with_epsilon (gst_nn_object_get_score (o), 0.9, 1e-6);
  assert_box (o, 40, 20, 40, 40);
  g_assert_cmpstr (gst_nn_object_get_label (gst_nn_result_meta_get_object (meta, 1)), ==, "dog");
  roi = gst_buffer_get_video_region_of_interest_meta (out);
  g_assert_nonnull (roi);
  g_assert_nonnull (gst_video_region_of_interest_meta_get_param (roi, "detection"));
  g_assert_null (gst_buffer_get_nn_tensor_meta (out)); /* keep-tensors is off */
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
the_threshold_changes_while_playing (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode threshold=0.5");
  AxonShape bs = AXON_SHAPE (1, 1, 4), ss = AXON_SHAPE (1, 1, 1);
  g_autoptr (AxonTensor) boxes = test_tensor (&bs, (gfloat[]){ .2f, .2f, .4f, .4f });
  g_autoptr (AxonTensor) scores = test_tensor (&ss, (gfloat[]){ .6f });
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
  for (guint i = 0; i < 2; i++) {
    GstBuffer *out =
        gst_harness_push_and_pull (h, buffer_with_tensors (h, boxes, scores, 64, 64, 64, 64));
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (gst_buffer_get_nn_result_meta (out)), ==,
                      1 - i);
    gst_buffer_unref (out);
    gst_harness_set (h, "nndecode", "threshold", 0.7, NULL);
  }
  gst_harness_teardown (h);
}

static void
logits_become_the_best_classes (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode threshold=0.01 labels=a,b,c");
  AxonShape s = AXON_SHAPE (1, 3);
  g_autoptr (AxonTensor) logits = test_tensor (&s, (gfloat[]){ 1, 3, 2 });
  const GstNnAttribute *best;
  const GstNnObject *frame;
  GstNnResultMeta *meta;
  GstBuffer *out;
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
  out = gst_harness_push_and_pull (h, buffer_with_tensors (h, logits, NULL, 64, 64, 64, 64));
  meta = gst_buffer_get_nn_result_meta (out);
  frame = gst_nn_result_meta_get_frame (meta);
  g_assert_cmpuint (gst_nn_object_get_n_attributes (frame), ==, 3);
  best = gst_nn_object_find_attribute (frame, "classification");
  g_assert_cmpint (gst_nn_attribute_get_class_id (best), ==, 1);
  g_assert_cmpstr (gst_nn_attribute_get_value (best), ==, "b");
  g_assert_cmpfloat_with_epsilon (gst_nn_attribute_get_score (best), 1 / (1 + exp (-1) + exp (-2)),
                                  1e-6);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* Without nnpreproc's geometry the frame had no size, and all boxes were dropped. */
static void
tensors_from_elsewhere_are_decoded_in_pixels_of_the_frame (void)
{
  static const struct {
    const gchar *caps;
    gdouble scale[2];
  } cases[] = {
    { "video/x-raw,format=RGB,width=64,height=32,framerate=30/1", { 64, 32 } },
    { "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=(string)8:8,framerate=30/1",
      { 1, 1 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = gst_harness_new_parse ("nndecode");
    AxonShape bs = AXON_SHAPE (1, 1, 4), ss = AXON_SHAPE (1, 1, 1);
    g_autoptr (AxonTensor) boxes = test_tensor (&bs, (gfloat[]){ .25f, .5f, .5f, .75f });
    g_autoptr (AxonTensor) scores = test_tensor (&ss, (gfloat[]){ .9f });
    GstBuffer *out;
    GstNnTensorMeta *meta;
    gst_harness_set_src_caps_str (h, cases[i].caps);
    out = gst_harness_create_buffer (h, 64 * 32 * 3);
    meta = gst_buffer_add_nn_tensor_meta (out);
    g_ptr_array_add (meta->tensors, axon_tensor_ref (boxes));
    g_ptr_array_add (meta->tensors, axon_tensor_ref (scores));
    out = gst_harness_push_and_pull (h, out);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (gst_buffer_get_nn_result_meta (out)), ==,
                      1);
    assert_box (gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (out), 0),
                .25 * cases[i].scale[0], .5 * cases[i].scale[1], .25 * cases[i].scale[0],
                .25 * cases[i].scale[1]);
    g_assert_true ((gst_buffer_get_video_region_of_interest_meta (out) != NULL) == (i == 0));
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}

/* [1,N,4+C] was taken for YOLOX's, whose objectness such rows do not have. */
static void
a_transposed_head_is_told_from_yolox_by_its_classes (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode labels=a,b");
  AxonShape s = AXON_SHAPE (1, 84, 6); /* 64x64: 64 + 16 + 4 cells */
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &s, NULL);
  gfloat *v = axon_tensor_get_data (t);
  GstBuffer *out;
  memset (v, 0, axon_tensor_get_n_bytes (t));
  memcpy (v + 5 * 6, (gfloat[]){ 20, 12, 8, 8, 0, 0.9f }, 6 * sizeof *v);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
  out = gst_harness_push_and_pull (h, buffer_with_tensors (h, t, NULL, 64, 64, 64, 64));
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (gst_buffer_get_nn_result_meta (out)), ==, 1);
  assert_box (gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (out), 0), 16, 8, 8, 8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* A model that counts what it found gives other shapes for each frame, of which one row might be
 * a classifier's. */
static void
a_decoder_stays_while_only_the_number_of_rows_changes (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode");
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
  for (gint64 rows = 4; rows-- > 0;) {
    AxonShape s = AXON_SHAPE (rows, 7);
    g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &s, NULL);
    gfloat *v = axon_tensor_get_data (t);
    GstBuffer *out;
    for (gint64 i = 0; i < rows; i++)
      memcpy (v + 7 * i, (gfloat[]){ 0, 1, 2, 9, 9, (gfloat)i, 0.9f }, 7 * sizeof *v);
    out = gst_harness_push_and_pull (h, buffer_with_tensors (h, t, NULL, 64, 64, 64, 64));
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (gst_buffer_get_nn_result_meta (out)), ==,
                      rows);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static void
add_result (GstBuffer *buffer)
{
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, 320, 240);
  GstNnObject *o = gst_nn_result_meta_add_object (meta, 0);
  gst_nn_object_set_box (o, 40, 60, 80, 100);
  gst_nn_object_set_class (o, 2, "cup", 0.75);
}

static void
results_survive_conversion_and_scaling (void)
{
  GstHarness *h = gst_harness_new_parse (
      "videoconvert ! capsfilter caps=video/x-raw,format=I420 ! videoscale ! "
      "capsfilter caps=video/x-raw,width=640,height=120");
  GstBuffer *in, *out;
  const GstNnObject *o;
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=320,height=240,framerate=30/1");
  in = gst_harness_create_buffer (h, 320 * 240 * 3);
  gst_buffer_memset (in, 0, 0, 320 * 240 * 3);
  add_result (in);
  out = gst_harness_push_and_pull (h, in);
  g_assert_nonnull (gst_buffer_get_nn_result_meta (out));
  o = gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (out), 0);
  assert_box (o, 80, 30, 160, 50);
  g_assert_cmpint (gst_buffer_get_nn_result_meta (out)->width, ==, 640);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

static void
results_lie_where_the_picture_lies_between_borders (void)
{
  static const struct {
    const gchar *caps;
    gdouble x, y, width, height;
  } cases[] = {
    { "width=640,height=240", 200, 60, 80, 100 },  /* left and right 160 */
    { "width=320,height=480", 40, 180, 80, 100 },  /* above and below 120 */
    { "width=640,height=480", 80, 120, 160, 200 }, /* none */
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *launch = g_strdup_printf (
        "videoscale ! capsfilter caps=video/x-raw,pixel-aspect-ratio=1/1,%s", cases[i].caps);
    GstHarness *h = gst_harness_new_parse (launch);
    GstBuffer *in, *out;
    gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=320,height=240,framerate=30/1,"
                                     "pixel-aspect-ratio=1/1");
    in = gst_harness_create_buffer (h, 320 * 240 * 3);
    gst_buffer_memset (in, 0, 0, 320 * 240 * 3);
    add_result (in);
    out = gst_harness_push_and_pull (h, in);
    assert_box (gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (out), 0), cases[i].x,
                cases[i].y, cases[i].width, cases[i].height);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}

static void
the_overlay_draws_the_box_in_every_format (void)
{
  static const gchar *const formats[] = { "NV12", "I420", "RGB", "BGR", "RGBx", "BGRA", "GRAY8" };
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstHarness *h = gst_harness_new ("nnoverlay");
    GstVideoInfo info;
    g_autofree gchar *caps =
        g_strdup_printf ("video/x-raw,format=%s,width=320,height=240,framerate=30/1", formats[i]);
    GstCaps *parsed = gst_caps_from_string (caps);
    GstBuffer *in, *out;
    GstMapInfo map;
    guint changed = 0;
    gst_video_info_from_caps (&info, parsed);
    gst_caps_unref (parsed);
    gst_harness_set_src_caps_str (h, caps);
    in = gst_harness_create_buffer (h, info.size);
    gst_buffer_memset (in, 0, 16, info.size);
    add_result (in);
    out = gst_harness_push_and_pull (h, in);
    gst_buffer_map (out, &map, GST_MAP_READ);
    for (gsize k = 0; k < map.size; k++)
      changed += map.data[k] != 16;
    gst_buffer_unmap (out, &map);
    g_assert_cmpuint (changed, >, 400);
    g_assert_cmpuint (changed, <, info.size / 2);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}

static gpointer
draw_many (gpointer data)
{
  GstHarness *h = data;
  for (guint i = 0; i < 150; i++) {
    GstBuffer *in = gst_harness_create_buffer (h, 320 * 240 * 3);
    gst_buffer_memset (in, 0, 16, 320 * 240 * 3);
    add_result (in);
    gst_nn_object_set_class (gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (in), 0),
                             2, "cup", i / 150.);
    gst_buffer_unref (gst_harness_push_and_pull (h, in));
  }
  return NULL;
}

/* Fonts that the streams share would break: pango's default font map is the creating thread's. */
static void
overlays_built_in_one_thread_draw_in_several (void)
{
  GstHarness *h[4];
  GThread *threads[4];
  for (guint round = 0; round < 8; round++) {
    for (guint i = 0; i < 4; i++) {
      g_autofree gchar *caps =
          g_strdup_printf ("video/x-raw,format=RGB,width=320,height=%u,framerate=30/1",
                           240 - 30 * ((i + round) % 8));
      h[i] = gst_harness_new ("nnoverlay");
      gst_harness_set_src_caps_str (h[i], caps);
    }
    for (guint i = 0; i < 4; i++)
      threads[i] = g_thread_new ("draw", draw_many, h[i]);
    for (guint i = 0; i < 4; i++)
      g_thread_join (threads[i]);
    for (guint i = 0; i < 4; i++)
      gst_harness_teardown (h[i]);
  }
}

/* Outputs that no decoder knows: one warning for each change of shapes, and the frames pass. */
static void
a_probe_that_fits_nothing_is_one_warning (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode");
  GstBus *bus = gst_bus_new ();
  AxonShape odd = AXON_SHAPE (1, 7, 11, 13), good = AXON_SHAPE (1, 3);
  g_autoptr (AxonTensor) unknown = axon_tensor_new (AXON_DTYPE_F32, &odd, NULL);
  g_autoptr (AxonTensor) known = test_tensor (&good, (gfloat[]){ 1, 9, 2 });
  AxonTensor *tensors[] = { unknown, unknown, known, known, unknown };
  guint warnings = 0;
  GstMessage *message;
  memset (axon_tensor_get_data (unknown), 0, axon_tensor_get_n_bytes (unknown));
  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++) {
    GstBuffer *out =
        gst_harness_push_and_pull (h, buffer_with_tensors (h, tensors[i], NULL, 64, 64, 64, 64));
    g_assert_nonnull (out);
    g_assert_true ((gst_buffer_get_nn_result_meta (out) != NULL) == (tensors[i] == known));
    gst_buffer_unref (out);
  }
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)) != NULL) {
    g_autoptr (GError) warning = NULL;
    gst_message_parse_warning (message, &warning, NULL);
    g_assert_nonnull (strstr (warning->message, "[1,7,11,13]"));
    g_assert_nonnull (strstr (warning->message, "64x64"));
    g_assert_nonnull (strstr (warning->message, "yolov8"));
    gst_message_unref (message);
    warnings++;
  }
  g_assert_cmpuint (warnings, ==, 2);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

/* They are converted into memory of the frame before; shapes may change. */
static void
halves_are_decoded_frame_by_frame (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode threshold=0.1 top-k=1");
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
  for (guint i = 0; i < 8; i++) {
    AxonShape s = AXON_SHAPE (1, i < 5 ? 3 : 4);
    g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F16, &s, NULL);
    guint best = i % 3;
    GstNnAttribute *a;
    GstBuffer *out;
    for (gsize k = 0; k < axon_tensor_get_numel (t); k++)
      axon_dtype_store (AXON_DTYPE_F16, axon_tensor_get_data (t), k, k == best ? 9 : 1);
    out = gst_harness_push_and_pull (h, buffer_with_tensors (h, t, NULL, 64, 64, 64, 64));
    a = gst_nn_object_get_attribute (
        gst_nn_result_meta_get_frame (gst_buffer_get_nn_result_meta (out)), 0);
    g_assert_nonnull (a);
    g_assert_cmpint (gst_nn_attribute_get_class_id (a), ==, best);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

static void
numbers_that_are_none_are_no_results (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode threshold=0.1");
  AxonShape s = AXON_SHAPE (1, 3), bs = AXON_SHAPE (1, 1, 4), ss = AXON_SHAPE (1, 1, 1);
  g_autoptr (AxonTensor) logits = test_tensor (&s, (gfloat[]){ NAN, NAN, NAN });
  g_autoptr (AxonTensor) boxes = test_tensor (&bs, (gfloat[]){ .2f, .2f, .4f, .4f });
  g_autoptr (AxonTensor) scores = test_tensor (&ss, (gfloat[]){ NAN });
  GstBuffer *out;
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
  out = gst_harness_push_and_pull (h, buffer_with_tensors (h, logits, NULL, 64, 64, 64, 64));
  g_assert_cmpuint (gst_nn_object_get_n_attributes (
                        gst_nn_result_meta_get_frame (gst_buffer_get_nn_result_meta (out))),
                    ==, 0);
  gst_buffer_unref (out);
  out = gst_harness_push_and_pull (h, buffer_with_tensors (h, boxes, scores, 64, 64, 64, 64));
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (gst_buffer_get_nn_result_meta (out)), ==, 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* Labels on the element do not hide which decoder the model's description names. */
static void
labels_of_the_element_leave_the_models_decoder (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode threshold=0.1 labels=a,b,c");
  AxonShape s = AXON_SHAPE (1, 3, 1, 1);
  g_autoptr (AxonTensor) logits = test_tensor (&s, (gfloat[]){ 1, 9, 2 });
  GstBus *bus = gst_bus_new ();
  GstNnTensorMeta *meta;
  GstBuffer *in;
  GstMessage *message;
  g_autoptr (GError) error = NULL;
  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
  in = buffer_with_tensors (h, logits, NULL, 64, 64, 64, 64);
  meta = gst_buffer_get_nn_tensor_meta (in);
  meta->description = gst_nn_description_new ();
  gst_nn_description_set (meta->description, "decoder", "yolox", NULL);
  g_assert_cmpint (gst_harness_push (h, in), ==, GST_FLOW_ERROR);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "decoder yolox cannot decode"));
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

typedef struct {
  guint buffers, objects;
  gdouble x, y, width, height;
} Found;

/* The ball of videotestsrc, through the whole chain; by video and by tensors. */
static Found
run_ball (const gchar *format, const gchar *chain)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *middle = g_strdup_printf (chain, model);
  g_autofree gchar *launch = g_strdup_printf ("videotestsrc num-buffers=5 pattern=ball ! "
                                              "video/x-raw,%s,width=320,height=240 ! %s ! nndecode "
                                              "! appsink name=sink sync=false",
                                              format, middle);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error);
  GstElement *sink;
  GstSample *sample;
  Found found = { 0 };
  g_assert_no_error (error);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 10 * GST_SECOND)) != NULL) {
    GstNnResultMeta *meta = gst_buffer_get_nn_result_meta (gst_sample_get_buffer (sample));
    found.buffers++;
    if (meta != NULL && gst_nn_result_meta_get_n_objects (meta) > 0) {
      const GstNnObject *o = gst_nn_result_meta_get_object (meta, 0);
      found.objects += gst_nn_result_meta_get_n_objects (meta);
      gst_nn_object_get_box (o, &found.x, &found.y, &found.width, &found.height);
    }
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return found;
}

static void
the_ball_is_found_in_every_format_on_every_path (void)
{
  static const gchar *const formats[] = { "format=NV12", "format=I420", "format=RGB",
                                          "format=BGR",  "format=RGBx", "format=RGBA",
                                          "format=BGRx", "format=BGRA", "format=GRAY8" };
  static const gchar *const chains[] = { "nninfer model=%s",
                                         "nnpreproc scale=<255> ! nninfer model=%s" };
  for (guint c = 0; c < G_N_ELEMENTS (chains); c++)
    for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
      Found f = run_ball (formats[i], chains[c]);
      g_assert_cmpuint (f.buffers, ==, 5);
      g_assert_cmpuint (f.objects, ==, 5);
      g_assert_cmpfloat_with_epsilon (f.width, 40, 8); /* radius 20 */
      g_assert_cmpfloat_with_epsilon (f.height, 40, 8);
    }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/results/" #name, name)
  ADD (overlaps_are_suppressed_within_a_class_and_the_letterbox_is_undone);
  ADD (the_threshold_changes_while_playing);
  ADD (logits_become_the_best_classes);
  ADD (tensors_from_elsewhere_are_decoded_in_pixels_of_the_frame);
  ADD (a_transposed_head_is_told_from_yolox_by_its_classes);
  ADD (a_decoder_stays_while_only_the_number_of_rows_changes);
  ADD (results_survive_conversion_and_scaling);
  ADD (results_lie_where_the_picture_lies_between_borders);
  ADD (the_overlay_draws_the_box_in_every_format);
  ADD (overlays_built_in_one_thread_draw_in_several);
  ADD (a_probe_that_fits_nothing_is_one_warning);
  ADD (halves_are_decoded_frame_by_frame);
  ADD (numbers_that_are_none_are_no_results);
  ADD (labels_of_the_element_leave_the_models_decoder);
  ADD (the_ball_is_found_in_every_format_on_every_path);
  return g_test_run ();
}
