/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GStreamer's own metas of results and tensors, which other elements read. */
#include "axontest.h"

#include <gst/analytics/analytics.h>
#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>

#define BALL TEST_SOURCE_ROOT "/pipelines/quickstart/ball.onnx"
#define VIDEO "video/x-raw,format=RGB,width=320,height=240,framerate=30/1"
#define FIND "nninfer model=" BALL " device=TEMPLATE drop-policy=none ! "

/* A frame of the ball. */
static GstBuffer *
shoot (const gchar *launch)
{
  g_autofree gchar *all = g_strdup_printf (
      "videotestsrc num-buffers=3 pattern=ball ! " VIDEO " ! %s ! fakesink name=sink", launch);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (all, &error);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *end;
  GstSample *last;
  GstBuffer *buffer;
  g_assert_no_error (error);
  g_object_set (sink, "enable-last-sample", TRUE, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  end = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_true (end != NULL && GST_MESSAGE_TYPE (end) == GST_MESSAGE_EOS);
  g_object_get (sink, "last-sample", &last, NULL);
  buffer = gst_buffer_ref (gst_sample_get_buffer (last));
  gst_sample_unref (last);
  gst_message_unref (end);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return buffer;
}

static void
an_object_is_a_detection (void)
{
  g_autoptr (GstBuffer) buffer = shoot (FIND "nndecode");
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  const GstNnObject *o = gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (buffer), 0);
  gpointer state = NULL;
  GstAnalyticsODMtd detection;
  gdouble box[4];
  gint place[4];
  gfloat score;
  g_assert_nonnull (meta);
  g_assert_true (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_od_mtd_get_mtd_type (), &detection));
  gst_nn_object_get_box (o, &box[0], &box[1], &box[2], &box[3]);
  g_assert_true (gst_analytics_od_mtd_get_location (&detection, &place[0], &place[1], &place[2],
                                                    &place[3], &score));
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (place[i], box[i], 0.51);
  g_assert_cmpfloat_with_epsilon (score, gst_nn_object_get_score (o), 1e-5);
  g_assert_cmpstr (g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&detection)), ==,
                   gst_nn_object_get_label (o));
}

static void
a_track_is_that_of_its_detection (void)
{
  g_autoptr (GstBuffer) buffer = shoot (FIND "nndecode ! nntrack");
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  const GstNnObject *o = gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (buffer), 0);
  gpointer state = NULL, related = NULL;
  GstAnalyticsODMtd detection;
  GstAnalyticsTrackingMtd track;
  GstClockTime first, last;
  gboolean lost;
  guint64 id;
  g_assert_cmpuint (gst_nn_object_get_track_id (o), !=, 0);
  g_assert_true (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_od_mtd_get_mtd_type (), &detection));
  g_assert_true (gst_analytics_relation_meta_get_direct_related (
      meta, detection.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      gst_analytics_tracking_mtd_get_mtd_type (), &related, &track));
  g_assert_true (gst_analytics_tracking_mtd_get_info (&track, &id, &first, &last, &lost));
  g_assert_cmpuint (id, ==, gst_nn_object_get_track_id (o));
  g_assert_cmpuint (last, ==, GST_BUFFER_PTS (buffer));
  g_assert_false (lost);
}

static void
classes_of_the_frame_are_said (void)
{
  GstHarness *h = gst_harness_new_parse ("nndecode threshold=0.1 labels=none,cat,dog");
  AxonShape shape = AXON_SHAPE (1, 3);
  g_autoptr (AxonTensor) logits = test_tensor (&shape, (gfloat[]){ 0, 9, 1 });
  GstBuffer *in, *out;
  GstNnTensorMeta *tensors;
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsClsMtd classes;
  gpointer state = NULL;
  gst_harness_set_src_caps_str (h, VIDEO);
  in = gst_harness_create_buffer (h, 320 * 240 * 3);
  tensors = gst_buffer_add_nn_tensor_meta (in);
  g_ptr_array_add (tensors->tensors, axon_tensor_ref (logits));
  tensors->width = 320;
  tensors->height = 240;
  out = gst_harness_push_and_pull (h, in);
  meta = gst_buffer_get_analytics_relation_meta (out);
  g_assert_nonnull (meta);
  g_assert_true (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_cls_mtd_get_mtd_type (), &classes));
  g_assert_cmpstr (g_quark_to_string (gst_analytics_cls_mtd_get_quark (&classes, 0)), ==, "cat");
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

#define FRAME 320
#define SIDE 32

typedef struct {
  AxonShape shape;
  gfloat *values;
} Output;

/* Outputs of a model that saw object @object_id, or (0) the whole, of a frame. */
static void
add_outputs (GstBuffer *buffer, guint object_id, const Output *outputs, guint n)
{
  AxonImageInfo info = {
    .format = AXON_IMAGE_FORMAT_RGB, .width = FRAME, .height = FRAME, .stride = { FRAME * 3 }
  };
  GstNnTensorMeta *meta = gst_buffer_add_nn_tensor_meta (buffer);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (meta->tensors, test_tensor (&outputs[i].shape, outputs[i].values));
  meta->width = meta->height = FRAME;
  meta->object_id = object_id;
  axon_image_geometry_init (&meta->geometry, &info, AXON_IMAGE_FIT_STRETCH, 1, SIDE, SIDE);
}

static GstBuffer *
decode (const gchar *decoder, GstBuffer *buffer)
{
  g_autofree gchar *launch = g_strdup_printf ("nndecode threshold=0.5 %s", decoder);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=320,height=320,framerate=30/1");
  buffer = gst_harness_push_and_pull (h, buffer);
  gst_harness_teardown (h);
  g_assert_nonnull (buffer);
  return buffer;
}

static gboolean
next_detection (GstBuffer *buffer, gpointer *state, GstAnalyticsODMtd *detection)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  g_assert_nonnull (meta);
  return gst_analytics_relation_meta_iterate (meta, state, gst_analytics_od_mtd_get_mtd_type (),
                                              detection);
}

#define CELLS 21 /* of grids of 4x4, 2x2 and 1 */

/* Both turn clockwise, in radians, about the middle. */
static void
a_rotated_box_is_an_oriented_detection (void)
{
  static const gfloat row[6] = { 15, 16, 6, 2, 0.9f, 0.5f }; /* the last is the angle */
  gfloat values[6 * CELLS] = { 0 };
  const Output output = { AXON_SHAPE (1, 6, CELLS), values };
  GstBuffer *buffer = gst_buffer_new ();
  GstAnalyticsODMtd detection;
  gpointer state = NULL;
  gint x, y, width, height;
  gfloat angle, score;
  for (guint i = 0; i < 6; i++)
    values[i * CELLS + 7] = row[i];
  add_outputs (buffer, 0, &output, 1);
  buffer = decode ("decoder=yolov8-obb labels=ship", buffer);
  g_assert_true (next_detection (buffer, &state, &detection));
  g_assert_true (gst_analytics_od_mtd_get_oriented_location (&detection, &x, &y, &width, &height,
                                                             &angle, &score));
  g_assert_cmpint (x, ==, 150 - 60 / 2);
  g_assert_cmpint (y, ==, 160 - 20 / 2);
  g_assert_cmpint (width, ==, 60);
  g_assert_cmpint (height, ==, 20);
  g_assert_cmpfloat_with_epsilon (angle, 0.5, 1e-5);
  g_assert_cmpfloat_with_epsilon (score, 0.9, 1e-5);
  gst_buffer_unref (buffer);
}

/* The first, and only, of the buffer lies where @ours does, and has its values; of an object 1
 * where more than half of a pixel is covered. */
static void
assert_segmentation (GstBuffer *buffer, const GstNnMask *ours, gboolean is_cover,
                     GstAnalyticsSegmentationMtd *segmentation)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  gsize n = (gsize)gst_nn_mask_get_columns (ours) * gst_nn_mask_get_rows (ours), index;
  const guint8 *values = g_bytes_get_data (gst_nn_mask_get_values (ours), NULL);
  gdouble area[4];
  gint x, y;
  guint width, height;
  gpointer state = NULL;
  const GstVideoMeta *video;
  GstBuffer *picture;
  GstMapInfo map;
  g_assert_nonnull (meta);
  g_assert_true (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_segmentation_mtd_get_mtd_type (), segmentation));
  picture = gst_analytics_segmentation_mtd_get_mask (segmentation, &x, &y, &width, &height);
  gst_nn_mask_get_area (ours, &area[0], &area[1], &area[2], &area[3]);
  g_assert_cmpfloat_with_epsilon (x, area[0], 0.51);
  g_assert_cmpfloat_with_epsilon (y, area[1], 0.51);
  g_assert_cmpfloat_with_epsilon (width, area[2], 0.51);
  g_assert_cmpfloat_with_epsilon (height, area[3], 0.51);
  video = gst_buffer_get_video_meta (picture);
  g_assert_cmpint (video->format, ==, GST_VIDEO_FORMAT_GRAY8);
  g_assert_cmpuint (video->width, ==, gst_nn_mask_get_columns (ours));
  g_assert_cmpuint (video->height, ==, gst_nn_mask_get_rows (ours));
  g_assert_true (gst_buffer_map (picture, &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, n);
  for (gsize i = 0; i < n; i++) {
    g_assert_cmpint (map.data[i], ==, is_cover ? values[i] >= 128 : values[i]);
    g_assert_true (
        gst_analytics_segmentation_mtd_get_region_index (segmentation, &index, map.data[i]));
  }
  gst_buffer_unmap (picture, &map);
  gst_buffer_unref (picture);
}

static void
classes_of_pixels_are_a_segmentation (void)
{
  gfloat values[3 * 16] = { 0 };
  const Output output = { AXON_SHAPE (1, 3, 4, 4), values };
  GstBuffer *buffer = gst_buffer_new (), *copy;
  GstAnalyticsSegmentationMtd segmentation;
  const GstNnMask *mask;
  for (guint i = 0; i < 16; i++)
    values[(i % 4 == 3 ? 2 : i / 8) * 16 + i] = 7;
  add_outputs (buffer, 0, &output, 1);
  buffer = decode ("decoder=segmentation", buffer);
  mask = gst_nn_object_get_mask (
      gst_nn_result_meta_get_frame (gst_buffer_get_nn_result_meta (buffer)));
  g_assert_nonnull (mask);
  assert_segmentation (buffer, mask, FALSE, &segmentation);
  g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_count (&segmentation), ==, 3);
  copy = gst_buffer_copy (buffer); /* as behind a tee: the picture outlives the first */
  gst_buffer_unref (buffer);
  mask =
      gst_nn_object_get_mask (gst_nn_result_meta_get_frame (gst_buffer_get_nn_result_meta (copy)));
  assert_segmentation (copy, mask, FALSE, &segmentation);
  gst_buffer_unref (copy);
}

/* Weights 3 and -2 of two maps: the first is 1, the second 3 on the right, which is not covered. */
static void
a_mask_of_an_object_is_related_to_its_detection (void)
{
  static const gfloat row[7] = { 16, 16, 16, 16, 0.9f, 3, -2 };
  gfloat values[7 * CELLS] = { 0 }, maps[2 * 64];
  const Output outputs[] = { { AXON_SHAPE (1, 7, CELLS), values },
                             { AXON_SHAPE (1, 2, 8, 8), maps } };
  GstBuffer *buffer = gst_buffer_new ();
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsSegmentationMtd segmentation, related;
  GstAnalyticsODMtd detection;
  const GstNnMask *mask;
  gpointer state = NULL, next = NULL;
  for (guint i = 0; i < 7; i++)
    values[i * CELLS + 3] = row[i];
  for (guint i = 0; i < 64; i++) {
    maps[i] = 1;
    maps[64 + i] = i % 8 >= 4 ? 3 : 0;
  }
  add_outputs (buffer, 0, outputs, 2);
  buffer = decode ("decoder=yolov8-seg labels=cat", buffer);
  mask = gst_nn_object_get_mask (
      gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (buffer), 0));
  g_assert_nonnull (mask);
  assert_segmentation (buffer, mask, TRUE, &segmentation);
  g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_count (&segmentation), ==, 2);
  g_assert_true (next_detection (buffer, &state, &detection));
  meta = gst_buffer_get_analytics_relation_meta (buffer);
  g_assert_true (gst_analytics_relation_meta_get_direct_related (
      meta, detection.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      gst_analytics_segmentation_mtd_get_mtd_type (), &next, &related));
  g_assert_cmpuint (related.id, ==, segmentation.id);
  gst_buffer_unref (buffer);
}

static void
what_is_found_inside_of_an_object_is_part_of_its_detection (void)
{
  gfloat box[4] = { .25f, .25f, .75f, .75f }, score = 0.9f;
  const Output outputs[] = { { AXON_SHAPE (1, 1, 4), box }, { AXON_SHAPE (1, 1, 1), &score } };
  GstBuffer *buffer = gst_buffer_new ();
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsODMtd whole, part;
  const GstNnObject *object;
  gpointer state = NULL;
  add_outputs (buffer, 0, outputs, 2);
  buffer = decode ("", buffer);
  object = gst_nn_result_meta_get_object (gst_buffer_get_nn_result_meta (buffer), 0);
  add_outputs (buffer, gst_nn_object_get_id (object), outputs, 2);
  buffer = decode ("", buffer);
  g_assert_true (next_detection (buffer, &state, &whole));
  g_assert_true (next_detection (buffer, &state, &part));
  meta = gst_buffer_get_analytics_relation_meta (buffer);
  g_assert_cmpint (gst_analytics_relation_meta_get_relation (meta, part.id, whole.id), ==,
                   GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  g_assert_cmpint (gst_analytics_relation_meta_get_relation (meta, whole.id, part.id), ==,
                   GST_ANALYTICS_REL_TYPE_CONTAIN);
  g_assert_false (next_detection (buffer, &state, &part));
  gst_buffer_unref (buffer);
}

static void
outputs_are_tensors_until_they_are_decoded (void)
{
  g_autoptr (GstBuffer) raw = shoot (FIND "identity");
  g_autoptr (GstBuffer) decoded = shoot (FIND "nndecode");
  GstTensorMeta *theirs = gst_buffer_get_tensor_meta (raw);
  const GstNnTensorMeta *ours = gst_buffer_get_nn_tensor_meta (raw);
  g_assert_nonnull (theirs);
  g_assert_cmpuint (theirs->num_tensors, ==, ours->tensors->len);
  for (guint i = 0; i < ours->tensors->len; i++) {
    const GstTensor *t = gst_tensor_meta_get (theirs, i);
    AxonTensor *tensor = g_ptr_array_index (ours->tensors, i);
    g_assert_cmpstr (g_quark_to_string (t->id), ==, ours->names[i]);
    g_assert_cmpint ((gint)t->num_dims, ==, axon_tensor_get_shape (tensor)->rank);
    g_assert_cmpuint (gst_buffer_get_size (t->data), ==, axon_tensor_get_n_bytes (tensor));
    g_assert_cmpint (gst_buffer_memcmp (t->data, 0, axon_tensor_get_data (tensor),
                                        axon_tensor_get_n_bytes (tensor)),
                     ==, 0);
  }
  g_assert_null (gst_buffer_get_tensor_meta (decoded));
}

static void
tensors_of_another_element_stay (void)
{
  GstHarness *h = gst_harness_new_parse (FIND "nndecode");
  GstBuffer *buffer, *data = gst_buffer_new_allocate (NULL, 4, NULL);
  gsize dims[] = { 1 };
  GstTensor **theirs = g_new (GstTensor *, 1);
  GstTensorMeta *meta;
  guint n = 0;
  gpointer state = NULL;
  theirs[0] =
      gst_tensor_new_simple (g_quark_from_static_string ("theirs"), GST_TENSOR_DATA_TYPE_FLOAT32,
                             data, GST_TENSOR_DIM_ORDER_ROW_MAJOR, 1, dims);
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, VIDEO);
  buffer = gst_harness_create_buffer (h, 320 * 240 * 3);
  gst_buffer_memset (buffer, 0, 0, 320 * 240 * 3);
  gst_tensor_meta_set (gst_buffer_add_tensor_meta (buffer), 1, theirs);
  buffer = gst_harness_push_and_pull (h, buffer);
  while ((meta = (GstTensorMeta *)gst_buffer_iterate_meta_filtered (buffer, &state,
                                                                    GST_TENSOR_META_API_TYPE))) {
    g_assert_cmpuint (meta->num_tensors, ==, 1);
    g_assert_cmpstr (g_quark_to_string (gst_tensor_meta_get (meta, 0)->id), ==, "theirs");
    n++;
  }
  g_assert_cmpuint (n, ==, 1);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

#define ADD(name) g_test_add_func ("/relations/" #name, name)

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  ADD (an_object_is_a_detection);
  ADD (a_track_is_that_of_its_detection);
  ADD (classes_of_the_frame_are_said);
  ADD (a_rotated_box_is_an_oriented_detection);
  ADD (classes_of_pixels_are_a_segmentation);
  ADD (a_mask_of_an_object_is_related_to_its_detection);
  ADD (what_is_found_inside_of_an_object_is_part_of_its_detection);
  ADD (outputs_are_tensors_until_they_are_decoded);
  ADD (tensors_of_another_element_stay);
  return g_test_run ();
}
