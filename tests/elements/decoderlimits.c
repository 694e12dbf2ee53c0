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

/* How much two boxes share: the weaker one goes if that is more than allowed, and stays if not. */
static void
assert_shares (const GstNnDetection *a, const GstNnDetection *b, gdouble share)
{
  for (guint i = 0; i < 4; i++) {
    g_autoptr (GArray) objects = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
    gboolean less = i % 2 == 1;
    g_array_append_val (objects, *(i < 2 ? a : b));
    g_array_append_val (objects, *(i < 2 ? b : a));
    g_array_index (objects, GstNnDetection, 1).score = 0.5;
    gst_nn_suppress (objects, less ? share - 1e-3 : share + 1e-3, 9);
    g_assert_cmpuint (objects->len, ==, less ? 1 : 2);
  }
}

static void
upright_boxes_share_what_their_areas_have_in_common (void)
{
  static const struct {
    gdouble a[4], b[4], share;
  } cases[] = {
    { { 0, 0, 10, 10 }, { 5, 0, 10, 10 }, 50. / 150 },
    { { 0, 0, 10, 10 }, { 0, 6, 10, 10 }, 40. / 160 },
    { { 0, 0, 10, 10 }, { 2, 3, 4, 5 }, 20. / 100 },
    { { 10, 20, 8, 4 }, { 6, 18, 10, 5 }, 18. / 64 },
    { { 10, 20, 8, 4 }, { 10, 20, 8, 4 }, 1 },
    { { 0, 0, 10, 10 }, { 10, 0, 10, 10 }, 0 },
    { { 0, 0, 10, 10 }, { 0, 10, 10, 10 }, 0 },
    { { 0, 0, 10, 10 }, { 20, 20, 10, 10 }, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gdouble *p = cases[i].a, *q = cases[i].b;
    GstNnDetection a = { .x = p[0], .y = p[1], .width = p[2], .height = p[3], .score = 0.9 };
    GstNnDetection b = { .x = q[0], .y = q[1], .width = q[2], .height = q[3], .score = 0.9 };
    if (cases[i].share > 0)
      assert_shares (&a, &b, cases[i].share);
    b.class_id = 1; /* another class shares nothing */
    g_autoptr (GArray) objects = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
    g_array_append_val (objects, a);
    g_array_append_val (objects, b);
    gst_nn_suppress (objects, 0, 9);
    g_assert_cmpuint (objects->len, ==, 2);
  }
}

/* ProbIoU, computed from the Bhattacharyya distance in another language. */
static void
rotated_boxes_share_what_their_distributions_have_in_common (void)
{
  static const struct {
    gdouble a[5], b[5], share;
  } cases[] = {
    { { 100, 100, 80, 20, 0.5 }, { 106, 97, 70, 24, 0.6 }, 0.6586 },
    { { 100, 100, 40, 40, 0 }, { 110, 105, 60, 30, 1.2 }, 0.6071 },
    { { 50, 60, 30, 10, -0.4 }, { 52, 66, 20, 16, 0.9 }, 0.4016 },
    { { 0, 0, 20, 50, 0.3 }, { 8, 0, 24, 44, 0.1 }, 0.5663 },
    { { 0, 0, 20, 50, 0.3 }, { 0, 9, 24, 44, 2.1 }, 0.4696 },
    { { 200, 10, 90, 30, 2 }, { 190, 16, 60, 50, -1 }, 0.6099 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gdouble *p = cases[i].a, *q = cases[i].b;
    g_autoptr (GArray) objects = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
    GstNnDetection a = *gst_nn_add_rotated (objects, p, p[2], p[3], p[4], 0.9, 0);
    GstNnDetection b = *gst_nn_add_rotated (objects, q, q[2], q[3], q[4], 0.9, 0);
    assert_shares (&a, &b, cases[i].share);
  }
}

static void
what_is_no_box_is_no_candidate (void)
{
  static const struct {
    gdouble box[4], score;
    gdouble width, height; /* 0: none */
  } cases[] = {
    { { 1, 2, 3, 4 }, 0.5, 3, 4 },        { { NAN, 2, 3, 4 }, 0.5, 0, 0 },
    { { 1, INFINITY, 3, 4 }, 0.5, 0, 0 }, { { 1, 2, 0, 4 }, 0.5, 0, 0 },
    { { 1, 2, 3, 0 }, 0.5, 0, 0 },        { { 1, 2, -3, 4 }, 0.5, 0, 0 },
    { { 1, 2, NAN, 4 }, 0.5, 0, 0 },      { { 1, 2, 3, INFINITY }, 0.5, 0, 0 },
    { { 1, 2, 3, 4 }, NAN, 0, 0 },        { { 1, 2, 3, 4 }, -INFINITY, 0, 0 },
    { { -2e6, 2, 3e6, 4 }, 0.5, 2e6, 4 }, { { 1, -2e6, 3, 1e9 }, 0.5, 3, 2e6 },
    { { 2e6, 2, 3, 4 }, 0.5, 0, 0 },      { { 1, 2e6, 3, 4 }, 0.5, 0, 0 },
    { { -2e6, 2, 3, 4 }, 0.5, 0, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GArray) objects = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
    const gdouble *b = cases[i].box;
    const GstNnDetection *d =
        gst_nn_add_object (objects, b[0], b[1], b[2], b[3], cases[i].score, 7);
    g_assert_true ((d != NULL) == (cases[i].width > 0));
    g_assert_cmpuint (objects->len, ==, d != NULL);
    if (d == NULL)
      continue;
    g_assert_cmpfloat (d->width, ==, cases[i].width);
    g_assert_cmpfloat (d->height, ==, cases[i].height);
    g_assert_cmpint (d->class_id, ==, 7);
  }
}

static void
the_best_are_kept_and_of_equals_the_first (void)
{
  static const gdouble scores[] = { 0.3, 0.9, 0.3, 0.5, 0.9 };
  static const gint64 expected[] = { 1, 4, 3, 0, 2 };
  for (guint most = 0; most < 7; most++) {
    g_autoptr (GArray) objects = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
    for (guint i = 0; i < G_N_ELEMENTS (scores); i++) {
      GstNnDetection d = { .width = 1, .height = 1, .score = scores[i], .row = i };
      g_array_append_val (objects, d);
    }
    gst_nn_keep_best (objects, most);
    g_assert_cmpuint (objects->len, ==, MIN (most, 5));
    for (guint i = 0; i < objects->len; i++)
      g_assert_cmpint (g_array_index (objects, GstNnDetection, i).row, ==, expected[i]);
  }
}

/* What decoders ask of shapes: a row, a table, maps. */
static void
shapes_are_rows_tables_or_maps (void)
{
  static const struct {
    const gchar *shape;
    gint64 row, rows, columns, channels; /* 0: it is none */
  } cases[] = {
    { "7", 7, 0, 0, 0 },       { "1x7", 7, 1, 7, 0 },       { "7x1", 7, 7, 1, 0 },
    { "1x7x1", 7, 7, 1, 0 },   { "2x7", 0, 2, 7, 0 },       { "1x2x7", 0, 2, 7, 0 },
    { "2x1x7", 0, 0, 0, 0 },   { "1x1x2x7", 0, 2, 7, 1 },   { "1x3x2x7", 0, 0, 0, 3 },
    { "2x3x2x7", 0, 0, 0, 0 }, { "1x1x1x2x7", 0, 2, 7, 0 }, { "1x1x3x2x7", 0, 0, 0, 0 },
    { "1x0x2x7", 0, 0, 0, 0 }, { "1x3x0x7", 0, 0, 0, 0 },   { "1x3x2x0", 0, 0, 0, 0 },
    { "1x1x1x1", 1, 1, 1, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint64 rows = 0, columns = 0, channels = 0, dims[2];
    g_auto (Decoded) d = { 0 };
    decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 32, 32, 32, 32);
    decoded_fill (&d, cases[i].shape, NULL, 0, NULL, 0);
    g_assert_cmpint (gst_nn_count_row (&d.in, 0), ==, cases[i].row);
    g_assert_true (gst_nn_is_table (gst_nn_shape_at (&d.in, 0), &rows, &columns) ==
                   (cases[i].rows > 0));
    g_assert_cmpint (rows, ==, cases[i].rows);
    g_assert_cmpint (columns, ==, cases[i].columns);
    if (gst_nn_is_map (gst_nn_shape_at (&d.in, 0), &channels, &dims[0], &dims[1])) {
      g_assert_cmpint (channels, ==, cases[i].channels);
      g_assert_cmpint (dims[0], ==, 2 - (i == G_N_ELEMENTS (cases) - 1));
    } else {
      g_assert_cmpint (cases[i].channels, ==, 0);
    }
  }
}

static void
outputs_are_found_by_their_size_or_their_name (void)
{
  g_auto (Decoded) d = { 0 };
  decoded_init (&d, AXON_IMAGE_FIT_STRETCH, 32, 32, 32, 32);
  decoded_fill (&d, "1x5x4 1x9 1x7x4 1x9 1x8 3x3x3", "Boxes a b c Dets_2 d", 0, NULL, 0);
  g_assert_cmpint (gst_nn_longest_row (&d.in), ==, 1);
  g_assert_cmpint (gst_nn_find_table (&d.in, 0, 4), ==, 0);
  g_assert_cmpint (gst_nn_find_table (&d.in, 7, 4), ==, 2);
  g_assert_cmpint (gst_nn_find_table (&d.in, 6, 4), ==, -1);
  g_assert_cmpint (gst_nn_find_table (&d.in, 0, 5), ==, -1);
  g_assert_true (gst_nn_is_called (&d.in, 0, "box"));
  g_assert_true (gst_nn_is_called (&d.in, 4, "dets"));
  g_assert_false (gst_nn_is_called (&d.in, 1, "box"));
  g_assert_false (gst_nn_is_called (&d.in, 6, "box"));
  d.in.names = NULL;
  g_assert_false (gst_nn_is_called (&d.in, 0, "box"));
}

static void
scores_are_compared_summed_and_told_from_logits (void)
{
  static const gfloat logits[] = { 1, 3, -2, 3 },
                      shares[][2] = { { 0, 1 }, { -0.01f, 1 }, { 0, 1.01f } };
  gdouble top;
  g_assert_cmpint (gst_nn_best_class (logits, 4, 1), ==, 1);
  g_assert_cmpint (gst_nn_best_class (logits, 2, 2), ==, 0);
  g_assert_cmpint (gst_nn_best_class (logits, 1, 1), ==, 0);
  g_assert_cmpfloat_with_epsilon (gst_nn_softmax_sum (logits, 4, &top), exp (-2) + 1 + exp (-5) + 1,
                                  1e-9);
  g_assert_cmpfloat (top, ==, 3);
  g_assert_cmpfloat_with_epsilon (gst_nn_sigmoid (log (3)), 0.75, 1e-9);
  for (guint i = 0; i < 3; i++)
    g_assert_true (gst_nn_are_shares (shares[i], 2) == (i == 0));
  g_assert_cmpint (gst_nn_grid_cells (32, 24, 8), ==, 12);
  g_assert_cmpint (gst_nn_grid_cells (33, 25, 8), ==, 20);
  g_assert_cmpint (gst_nn_count_cells (64, 32), ==, 8 * 4 + 4 * 2 + 2 * 1);
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
  ADD (upright_boxes_share_what_their_areas_have_in_common);
  ADD (rotated_boxes_share_what_their_distributions_have_in_common);
  ADD (what_is_no_box_is_no_candidate);
  ADD (the_best_are_kept_and_of_equals_the_first);
  ADD (shapes_are_rows_tables_or_maps);
  ADD (outputs_are_found_by_their_size_or_their_name);
  ADD (scores_are_compared_summed_and_told_from_logits);
  return g_test_run ();
}
