/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GStreamer's own metas of results and tensors, which other elements read. */
#include "axontest.h"

#include <gst/analytics/analytics.h>
#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>

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

#define ADD(name) g_test_add_func ("/relations/" #name, name)

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  ADD (an_object_is_a_detection);
  ADD (a_track_is_that_of_its_detection);
  ADD (classes_of_the_frame_are_said);
  ADD (outputs_are_tensors_until_they_are_decoded);
  return g_test_run ();
}
