/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where decoders' forms end: outputs that nearly fit, and settings that change what they mean. */
#include "decoders.h"

#include <math.h>

static gboolean
fits (const gchar *decoder, const gchar *shapes)
{
  g_auto (Decoded) d = { 0 };
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 192, 256, 192, 256);
  decoded_fill (&d, shapes, NULL, 0, NULL, 0);
  return gst_nn_decoder_find (decoder)->fits (&d.in);
}

static void
joints_along_both_axes_are_two_tables (void)
{
  g_assert_true (fits ("simcc", "1x17x384 1x17x512"));
  g_assert_false (fits ("simcc", "1x17x384 1x16x512"));
  g_assert_false (fits ("simcc", "1x17x384 1x17x2x512"));
  g_assert_false (fits ("simcc", "1x2x17x384 1x17x512"));
}

static void
a_pose_has_at_least_one_joint (void)
{
  g_assert_true (fits ("yolov8-pose", "1x8x1008"));
  g_assert_false (fits ("yolov8-pose", "1x5x1008"));
}

/* Of the query: 2 as a logit is 0.88, and as a score more than any. */
static void
scores_that_are_said_to_be_some_are_no_logits (void)
{
  static const gchar *const activations[] = { NULL, "sigmoid", "none" };
  static const gdouble expected[] = { 0.549834, 0.549834, 0.2 };
  for (guint i = 0; i < G_N_ELEMENTS (activations); i++) {
    const DecodedSpan spans[] = { { 0, 30, 1, 1, 3, { 0.2f, -9, -9 } },
                                  { 1, 40, 1, 1, 4, { 0.5f, 0.5f, 0.2f, 0.2f } } };
    const GstNnObject *o;
    g_auto (Decoded) d = { 0 };
    decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 100, 100, 100, 100);
    decoded_fill (&d, "1x300x3 1x300x4", NULL, -9, spans, G_N_ELEMENTS (spans));
    d.in.activation = activations[i];
    d.in.threshold = 0.1;
    decoded_run (&d, gst_nn_decoder_find ("rtdetr"), 0.45, 100);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 1);
    o = gst_nn_result_meta_get_object (d.result, 0);
    g_assert_cmpfloat (fabs (gst_nn_object_get_score (o) - expected[i]), <, 1e-5);
  }
}

/* Beyond the frame, but not by as much as pixels are. */
static void
a_box_of_fractions_may_end_at_two (void)
{
  const DecodedSpan spans[] = { { 0, 0, 1, 1, 4, { 0, 0, 2, 1 } },
                                { 2, 0, 1, 1, 1, { 0.7f } },
                                { 3, 0, 1, 1, 1, { 1 } } };
  gdouble x, y, width, height;
  g_auto (Decoded) d = { 0 };
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 640, 320, 640, 320);
  decoded_fill (&d, "1x10x4 1x10 1x10 1", NULL, 0, spans, G_N_ELEMENTS (spans));
  decoded_run (&d, gst_nn_decoder_find ("detections"), 0.45, 100);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d.result), ==, 1);
  gst_nn_object_get_box (gst_nn_result_meta_get_object (d.result, 0), &x, &y, &width, &height);
  g_assert_cmpfloat (fabs (width - 640), <, 1e-6);
  g_assert_cmpfloat (fabs (height - 320), <, 1e-6);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/decoderlimits/" #name, name)
  ADD (joints_along_both_axes_are_two_tables);
  ADD (a_pose_has_at_least_one_joint);
  ADD (scores_that_are_said_to_be_some_are_no_logits);
  ADD (a_box_of_fractions_may_end_at_two);
  return g_test_run ();
}
