/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of results on a buffer, by itself. */
#include <gst/nn/nn.h>
#include <gst/video/video.h>
#include <math.h>

static GstNnObject *
add (GstNnResultMeta *meta, guint parent, const gchar *label)
{
  GstNnObject *o = gst_nn_result_meta_add_object (meta, parent);
  gst_nn_object_set_box (o, 10, 20, 30, 40);
  gst_nn_object_set_class (o, 1, label, 0.5);
  return o;
}

static void
several_models_add_to_one_tree_and_no_number_comes_twice (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstNnResultMeta *first = gst_buffer_add_nn_result_meta (buffer, 100, 50);
  GstNnResultMeta *second;
  guint car = gst_nn_object_get_id (add (first, 0, "car")), plate;
  second = gst_buffer_add_nn_result_meta (buffer, 100, 50);
  g_assert_true (first == second);
  plate = gst_nn_object_get_id (add (second, car, "plate"));
  g_assert_cmpuint (plate, !=, car);
  g_assert_cmpuint (gst_nn_object_get_parent_id (gst_nn_result_meta_find_object (second, plate)),
                    ==, car);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (first), ==, 2);
  g_assert_true (gst_nn_result_meta_find_object (first, 0) == gst_nn_result_meta_get_frame (first));
  g_assert_null (gst_nn_result_meta_find_object (first, 9));
}

static void
what_was_found_inside_goes_with_its_object (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, 100, 50);
  guint car = gst_nn_object_get_id (add (meta, 0, "car")), plate;
  guint dog = gst_nn_object_get_id (add (meta, 0, "dog"));
  plate = gst_nn_object_get_id (add (meta, car, "plate"));
  add (meta, plate, "letter");
  gst_nn_result_meta_remove_object (meta, 0);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (meta), ==, 4);
  gst_nn_result_meta_remove_object (meta, car);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (meta), ==, 1);
  g_assert_nonnull (gst_nn_result_meta_find_object (meta, dog));
  g_assert_cmpuint (gst_nn_object_get_id (add (meta, 0, "cat")), ==, 5);
}

/* Everything that an object can have. */
static void
fill (GstNnObject *o)
{
  static const gchar *const names[] = { "head", "foot", NULL };
  static const guint bones[] = { 0, 1 };
  static const gfloat vector[] = { 0.25f, -1 };
  static const guint8 grid[] = { 0, 255 };
  g_autoptr (GstNnSkeleton) skeleton = gst_nn_skeleton_new (names, bones, 2);
  g_autoptr (GBytes) values = g_bytes_new_static (grid, 2);
  g_autoptr (GstNnMask) mask = gst_nn_mask_new (GST_NN_MASK_COVERAGE, 2, 1, values, 10, 20, 30, 40);
  g_autoptr (GstNnAttribute) color = gst_nn_attribute_new ("colour", "red", 3, 0.75, "colours");
  gst_nn_object_set_rotated_box (o, 25, 40, 20, 10, G_PI / 2);
  gst_nn_object_set_origin (o, "finder", 7 * GST_SECOND);
  gst_nn_object_add_keypoint (o, 12, 24, 0.9);
  gst_nn_object_add_keypoint (o, 14, 28, 0.8);
  gst_nn_object_set_skeleton (o, skeleton);
  gst_nn_object_set_mask (o, mask);
  gst_nn_object_add_attribute (o, color);
  gst_nn_object_set_text (o, "AX 0N", 0.6);
  gst_nn_object_set_embedding (o, vector, 2);
  gst_nn_object_set_track (o, 99, 12);
}

/* @by: how much larger everything is */
static void
assert_filled (const GstNnObject *o, gdouble by)
{
  gdouble x, y, w, h, angle, score;
  gsize n;
  guint from, to;
  const gfloat *vector = gst_nn_object_get_embedding (o, &n);
  const GstNnAttribute *color = gst_nn_object_find_attribute (o, "colour");
  g_assert_true (gst_nn_object_get_rotated_box (o, &x, &y, &w, &h, &angle));
  g_assert_cmpfloat_with_epsilon (x, 25 * by, 1e-9);
  g_assert_cmpfloat_with_epsilon (w, 20 * by, 1e-9);
  g_assert_cmpfloat_with_epsilon (angle, G_PI / 2, 1e-9);
  gst_nn_object_get_box (o, &x, &y, &w, &h);
  g_assert_cmpfloat_with_epsilon (x, 20 * by, 1e-9);
  g_assert_cmpfloat_with_epsilon (h, 20 * by, 1e-9);
  g_assert_cmpstr (gst_nn_object_get_model_name (o), ==, "finder");
  g_assert_cmpuint (gst_nn_object_get_pts (o), ==, 7 * GST_SECOND);
  g_assert_true (gst_nn_object_get_keypoint (o, 1, &x, &y, &score));
  g_assert_cmpfloat_with_epsilon (x, 14 * by, 1e-9);
  g_assert_cmpfloat_with_epsilon (score, 0.8, 1e-9);
  g_assert_false (gst_nn_object_get_keypoint (o, 2, &x, &y, &score));
  g_assert_cmpstr (gst_nn_skeleton_get_name (gst_nn_object_get_skeleton (o), 1), ==, "foot");
  gst_nn_skeleton_get_bone (gst_nn_object_get_skeleton (o), 0, &from, &to);
  g_assert_cmpuint (to, ==, 1);
  g_assert_cmpint (gst_nn_mask_get_value_at (gst_nn_object_get_mask (o), 11 * by, 30 * by), ==, 0);
  g_assert_cmpint (gst_nn_mask_get_value_at (gst_nn_object_get_mask (o), 39 * by, 30 * by), ==,
                   255);
  g_assert_cmpint (gst_nn_mask_get_value_at (gst_nn_object_get_mask (o), 41 * by, 30 * by), ==, -1);
  g_assert_cmpstr (gst_nn_attribute_get_value (color), ==, "red");
  g_assert_cmpstr (gst_nn_attribute_get_model_name (color), ==, "colours");
  g_assert_cmpstr (gst_nn_object_get_text (o), ==, "AX 0N");
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpfloat (vector[1], ==, -1);
  g_assert_cmpuint (gst_nn_object_get_track_id (o), ==, 99);
  g_assert_cmpuint (gst_nn_object_get_track_age (o), ==, 12);
}

static void
a_copy_of_a_buffer_has_all_and_shares_nothing_that_changes (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GstBuffer) copy = NULL;
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, 100, 50), *copied;
  GstNnObject *o = add (meta, 0, "sign");
  fill (o);
  fill (gst_nn_result_meta_get_frame (meta));
  copy = gst_buffer_copy (buffer);
  copied = gst_buffer_get_nn_result_meta (copy);
  gst_nn_object_set_text (o, NULL, 0);
  gst_nn_object_add_keypoint (o, 0, 0, 0);
  gst_nn_object_set_class (o, 0, NULL, 0);
  g_clear_pointer (&buffer, gst_buffer_unref);
  assert_filled (gst_nn_result_meta_get_object (copied, 0), 1);
  g_assert_cmpstr (gst_nn_object_get_label (gst_nn_result_meta_get_object (copied, 0)), ==, "sign");
  g_assert_cmpstr (gst_nn_object_get_text (gst_nn_result_meta_get_frame (copied)), ==, "AX 0N");
}

static void
scaling_moves_all_that_has_a_place (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GstBuffer) large = gst_buffer_new ();
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, 100, 50), *scaled;
  GstVideoInfo from, to;
  GstVideoMetaTransform transform = { &from, &to };
  gst_video_info_set_format (&from, GST_VIDEO_FORMAT_RGB, 100, 50);
  gst_video_info_set_format (&to, GST_VIDEO_FORMAT_RGB, 300, 150);
  fill (add (meta, 0, "sign"));
  g_assert_true (GST_NN_RESULT_META_INFO->transform_func (
      large, (GstMeta *)meta, buffer, gst_video_meta_transform_scale_get_quark (), &transform));
  scaled = gst_buffer_get_nn_result_meta (large);
  g_assert_cmpint (scaled->width, ==, 300);
  assert_filled (gst_nn_result_meta_get_object (scaled, 0), 3);
}

static void
results_that_meet_on_one_buffer_are_numbered_on (void)
{
  g_autoptr (GstBuffer) a = gst_buffer_new ();
  g_autoptr (GstBuffer) b = gst_buffer_new ();
  GstNnResultMeta *first = gst_buffer_add_nn_result_meta (a, 100, 50);
  GstNnResultMeta *second = gst_buffer_add_nn_result_meta (b, 200, 100);
  GstMetaTransformCopy copy = { FALSE, 0, (gsize)-1 };
  gdouble x;
  add (first, 0, "car");
  add (second, gst_nn_object_get_id (add (second, 0, "face")), "eye");
  GST_NN_RESULT_META_INFO->transform_func (a, (GstMeta *)second, b, _gst_meta_transform_copy,
                                           &copy);
  g_assert_cmpuint (gst_nn_result_meta_get_n_objects (first), ==, 3);
  g_assert_cmpuint (gst_nn_object_get_id (gst_nn_result_meta_get_object (first, 2)), ==, 3);
  g_assert_cmpuint (gst_nn_object_get_parent_id (gst_nn_result_meta_get_object (first, 2)), ==, 2);
  gst_nn_object_get_box (gst_nn_result_meta_get_object (first, 2), &x, NULL, NULL, NULL);
  g_assert_cmpfloat (x, ==, 5); /* the frame is half as large here */
}

static void
an_object_outlives_its_buffer (void)
{
  GstBuffer *buffer = gst_buffer_new ();
  g_autoptr (GstNnObject) o =
      gst_nn_object_ref (add (gst_buffer_add_nn_result_meta (buffer, 100, 50), 0, "balloon"));
  gst_buffer_unref (buffer);
  g_assert_cmpstr (gst_nn_object_get_label (o), ==, "balloon");
}

static void
a_meta_is_empty_until_something_is_said (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, 100, 50);
  g_assert_true (gst_nn_result_meta_is_empty (meta));
  gst_nn_object_set_text (gst_nn_result_meta_get_frame (meta), "hello", 1);
  g_assert_false (gst_nn_result_meta_is_empty (meta));
}

#define ADD(name) g_test_add_func ("/result-tree/" #name, name)

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  ADD (several_models_add_to_one_tree_and_no_number_comes_twice);
  ADD (what_was_found_inside_goes_with_its_object);
  ADD (a_copy_of_a_buffer_has_all_and_shares_nothing_that_changes);
  ADD (scaling_moves_all_that_has_a_place);
  ADD (results_that_meet_on_one_buffer_are_numbered_on);
  ADD (an_object_outlives_its_buffer);
  ADD (a_meta_is_empty_until_something_is_said);
  return g_test_run ();
}
