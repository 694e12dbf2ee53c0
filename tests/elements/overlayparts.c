/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nnoverlay draws besides boxes and masks, and what it hides. */
#include "overlayscene.h"

#include "overlay/gstnnmeter.h"
#include <math.h>

/* Golden: the middle of the left edge. */
static void
classes_have_the_same_colours_in_every_run (void)
{
  static const struct {
    gint class_id;
    const gchar *label;
    guint32 rgb;
  } cases[] = { { 0, "a", 0x009e73 },  { 1, NULL, 0xd55e00 },  { 6, "z", 0x0072b2 },
                { 8, "b", 0x753300 },  { 16, NULL, 0xf6f097 }, { 24, "c", 0x009e73 },
                { -1, NULL, 0x009e73 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = new_frame (FALSE);
    add_object (buffer, 40, 40, 60, 40, cases[i].class_id, cases[i].label);
    buffer = draw ("nnoverlay", buffer);
    g_assert_cmphex (pixel_of (buffer, 39, 60), ==, cases[i].rgb);
    gst_buffer_unref (buffer);
  }
}

/* Labels without numbers have a colour by their name, the same wherever it stands. */
static void
labels_without_numbers_have_colours_of_their_own (void)
{
  GstBuffer *buffer = new_frame (FALSE);
  guint32 cat, dog;
  add_object (buffer, 20, 20, 20, 20, -1, "cat");
  add_object (buffer, 60, 20, 20, 20, -1, "dog");
  add_object (buffer, 100, 20, 20, 20, -1, "cat");
  buffer = draw ("nnoverlay labels=false scores=false", buffer);
  cat = pixel_of (buffer, 19, 30);
  dog = pixel_of (buffer, 59, 30);
  g_assert_cmphex (cat, !=, dog);
  g_assert_cmphex (pixel_of (buffer, 99, 30), ==, cat);
  gst_buffer_unref (buffer);
}

static gdouble
luminance (guint32 rgb)
{
  gdouble sum = 0;
  static const gdouble weights[] = { .0722, .7152, .2126 };
  for (guint i = 0; i < 3; i++) {
    gdouble v = (rgb >> 8 * i & 255) / 255.;
    sum += weights[i] * (v <= .04045 ? v / 12.92 : pow ((v + .055) / 1.055, 2.4));
  }
  return sum;
}

/* WCAG asks for 4.5; the lightest and the darkest pixel of a caption are its ground and its ink. */
static void
captions_contrast_with_their_ground_in_every_colour (void)
{
  for (gint class_id = 0; class_id < 24; class_id++) {
    GstBuffer *buffer = new_frame (FALSE);
    gdouble least = 1, most = 0;
    GstNnObject *o = add_object (buffer, 40, 60, 90, 40, class_id, "HHHHHH");
    g_assert_nonnull (o);
    buffer = draw ("nnoverlay boxes=false scores=false text-size=24", buffer);
    for (gint y = 45; y < 55; y++)
      for (gint x = 45; x < 100; x++) {
        least = MIN (least, luminance (pixel_of (buffer, x, y)));
        most = MAX (most, luminance (pixel_of (buffer, x, y)));
      }
    if ((most + .05) / (least + .05) < 4.5)
      g_error ("class %d: contrast is %.1f", class_id, (most + .05) / (least + .05));
    gst_buffer_unref (buffer);
  }
}

/* Boxes at every corner, and one text that is longer than the frame: captions are whole, and they
 * are not on each other. */
static void
captions_stay_on_the_frame (void)
{
  static const gint corners[][2] = { { 0, 0 }, { 150, 0 }, { 0, 110 }, { 150, 110 } };
  for (guint i = 0; i < G_N_ELEMENTS (corners); i++) {
    GstBuffer *buffer = new_frame (FALSE);
    guint n;
    add_object (buffer, corners[i][0], corners[i][1], 10, 10, 0, "person");
    buffer = draw ("nnoverlay boxes=false scores=false", buffer);
    n = count_drawn (buffer, 0, 0, WIDTH, HEIGHT);
    g_assert_cmpuint (n, >, 300);
    gst_buffer_unref (buffer);
    buffer = new_frame (FALSE);
    add_object (buffer, 60, 50, 10, 10, 0, "person");
    buffer = draw ("nnoverlay boxes=false scores=false", buffer);
    g_assert_cmpuint (count_drawn (buffer, 0, 0, WIDTH, HEIGHT), ==, n);
    gst_buffer_unref (buffer);
  }
}

static void
captions_of_objects_at_one_place_are_beside_each_other (void)
{
  GstBuffer *buffer = new_frame (FALSE);
  guint one;
  add_object (buffer, 40, 40, 30, 30, 0, "person");
  buffer = draw ("nnoverlay boxes=false scores=false", buffer);
  one = count_drawn (buffer, 0, 0, WIDTH, HEIGHT);
  gst_buffer_unref (buffer);
  buffer = new_frame (FALSE);
  for (guint i = 0; i < 3; i++)
    add_object (buffer, 40, 40, 30, 30, 0, "person");
  buffer = draw ("nnoverlay boxes=false scores=false", buffer);
  g_assert_cmpuint (count_drawn (buffer, 0, 0, WIDTH, HEIGHT), ==, 3 * one);
  gst_buffer_unref (buffer);
}

/* A thing moves from left to right, a frame a tenth of a second. Its tail is as long as asked for,
 * and gone once it is not seen. */
static void
tails_show_where_tracks_were (void)
{
  GstHarness *h = gst_harness_new_parse ("nnoverlay boxes=false labels=false scores=false "
                                         "tracks=false tail-length=0.5");
  GstBuffer *out = NULL;
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *buffer = new_frame (FALSE);
    GstNnObject *o = add_object (buffer, i < 12 ? 10 * i : 0, 50, 10, 10, 0, NULL);
    GST_BUFFER_PTS (buffer) = i * GST_SECOND / 10;
    gst_nn_object_set_track (o, i < 12 ? 7 : 0, 1);
    out = gst_harness_push_and_pull (h, buffer);
    if (i == 11) {
      g_assert_cmpuint (count_drawn (out, 75, 50, 40, 10), >, 40);
      g_assert_cmpuint (count_drawn (out, 0, 0, 60, HEIGHT), ==, 0);
    }
    if (i == 19)
      g_assert_cmpuint (count_drawn (out, 0, 0, WIDTH, HEIGHT), ==, 0);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

/* A zone is closed, a line is not and has an arrow from its left to its right; captions count. */
static void
zones_and_lines_are_drawn_with_counts (void)
{
  static const gdouble zone[] = { .1, .2, .4, .2, .4, .8, .1, .8 }, line[] = { .6, .5, .9, .5 };
  GstBuffer *buffer = new_frame (FALSE);
  GstNnSceneMeta *scene = gst_buffer_add_nn_scene_meta (buffer);
  g_ptr_array_add (scene->shapes, gst_nn_shape_new ("door", TRUE, zone, 4, 3, 0));
  g_ptr_array_add (scene->shapes, gst_nn_shape_new ("gate", FALSE, line, 2, 5, 2));
  buffer = draw ("nnoverlay", buffer);
  g_assert_cmphex (pixel_of (buffer, 16, 60), ==, 0xf0e442);
  g_assert_cmphex (pixel_of (buffer, 40, 96), ==, 0xf0e442);
  g_assert_cmphex (pixel_of (buffer, 130, 60), ==, 0xcc79a7);
  g_assert_cmphex (pixel_of (buffer, 120, 68), ==, 0xcc79a7); /* to its right is down */
  g_assert_cmpuint (count_drawn (buffer, 16, 12, 30, 10), >, 100);
  gst_buffer_unref (buffer);
  buffer = new_frame (FALSE);
  g_ptr_array_add (gst_buffer_add_nn_scene_meta (buffer)->shapes,
                   gst_nn_shape_new ("door", TRUE, zone, 4, 3, 0));
  buffer = draw ("nnoverlay scene=false", buffer);
  g_assert_cmpuint (count_drawn (buffer, 0, 0, WIDTH, HEIGHT), ==, 0);
  gst_buffer_unref (buffer);
}

/* Where nothing was stays as it is. */
static void
a_heat_map_colours_only_where_objects_were (void)
{
  static const guint8 heat[] = { 0, 255 };
  g_autoptr (GBytes) values = g_bytes_new_static (heat, 2);
  GstBuffer *buffer = new_frame (FALSE);
  gst_buffer_add_nn_scene_meta (buffer)->heat_map =
      gst_nn_mask_new (GST_NN_MASK_COVERAGE, 2, 1, values, 0, 0, WIDTH, HEIGHT);
  buffer = draw ("nnoverlay mask-opacity=1", buffer);
  g_assert_cmpuint (count_drawn (buffer, 0, 0, WIDTH / 2, HEIGHT), ==, 0);
  g_assert_cmphex (pixel_of (buffer, 120, 60), ==, 0xfee838);
  gst_buffer_unref (buffer);
}

/* Colours of classes with their numbers; frames per second need a second to be known. */
static void
the_legend_counts_the_objects_of_each_class (void)
{
  GstBuffer *buffer = new_frame (FALSE);
  gboolean found[2] = { FALSE, FALSE };
  add_object (buffer, 60, 10, 20, 20, 0, "cat");
  add_object (buffer, 90, 10, 20, 20, 0, "cat");
  add_object (buffer, 60, 40, 20, 20, 1, "dog");
  buffer = draw ("nnoverlay legend=true boxes=false labels=false scores=false", buffer);
  for (gint y = 60; y < HEIGHT; y++)
    for (gint x = 0; x < 50; x++) {
      found[0] = found[0] || pixel_of (buffer, x, y) == 0x009e73;
      found[1] = found[1] || pixel_of (buffer, x, y) == 0xd55e00;
    }
  g_assert_true (found[0] && found[1]);
  g_assert_cmpuint (count_drawn (buffer, 60, 0, 100, 60), ==, 0);
  gst_buffer_unref (buffer);
}

/* Stripes of one column: nothing of them is left in the box, and all of them beside it. */
static void
hidden_objects_lose_their_details (gconstpointer data)
{
  GstBuffer *buffer = new_frame (TRUE);
  add_object (buffer, 40, 40, 64, 40, 0, "face");
  add_object (buffer, 0, 0, 20, 20, 1, "cat");
  buffer = draw (data, buffer);
  for (gint y = 40; y < 80; y++)
    for (gint x = 40; x < 104; x++) {
      guint a = pixel_of (buffer, x, y) & 255;
      g_assert_cmpint (ABS ((gint)a - (255 + GRAY) / 2), <=, 2);
    }
  g_assert_cmphex (pixel_of (buffer, 39, 60), ==, 0xffffff);
  g_assert_cmphex (pixel_of (buffer, 104, 60), ==, 0x202020);
  g_assert_cmphex (pixel_of (buffer, 11, 10), ==, 0xffffff);
  gst_buffer_unref (buffer);
}

/* Before and after: without results nothing is known of who is on the frame. */
static void
frames_without_results_are_hidden_only_where_asked_for (void)
{
  GstBuffer *buffer = draw ("nnoverlay pixelate=*", new_frame (TRUE));
  g_assert_cmphex (pixel_of (buffer, 81, 60), ==, 0xffffff);
  gst_buffer_unref (buffer);
  buffer = draw ("nnoverlay pixelate=* fail-closed=true", new_frame (TRUE));
  g_assert_cmphex (pixel_of (buffer, 81, 60), !=, 0xffffff);
  gst_buffer_unref (buffer);
  buffer = new_frame (TRUE);
  gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT); /* known: nobody is there */
  buffer = draw ("nnoverlay pixelate=* fail-closed=true", buffer);
  g_assert_cmphex (pixel_of (buffer, 81, 60), ==, 0xffffff);
  gst_buffer_unref (buffer);
}

/* Four frames after the first, in exactly a second. */
static void
the_rate_of_frames_is_told_when_a_second_is_over (void)
{
  GstNnMeter meter = { 0 };
  for (gint64 quarter = 0; quarter < 4; quarter++) {
    gst_nn_meter_add (&meter, (20 + quarter) * G_USEC_PER_SEC / 4, 12000);
    g_assert_cmpstr (meter.text, ==, "");
  }
  gst_nn_meter_add (&meter, 6 * G_USEC_PER_SEC, 16000);
  g_assert_cmpstr (meter.text, ==, "4.0 fps  13 ms");
}

static void
every_part_is_switched_while_playing (void)
{
  static const gchar *const parts[] = { "boxes", "labels",    "scores", "tracks",
                                        "masks", "keypoints", "scene" };
  static const gdouble line[] = { .1, .9, .2, .9 };
  static const guint8 covered[] = { 255 };
  g_autoptr (GBytes) values = g_bytes_new_static (covered, 1);
  GstHarness *h = gst_harness_new_parse ("nnoverlay tail-length=0");
  GstElement *overlay = gst_harness_find_element (h, "nnoverlay");
  guint before = G_MAXUINT;
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i <= G_N_ELEMENTS (parts); i++) {
    GstBuffer *buffer = new_frame (FALSE);
    GstNnObject *o = add_object (buffer, 40, 40, 30, 30, 0, "cat");
    g_autoptr (GstNnMask) mask =
        gst_nn_mask_new (GST_NN_MASK_COVERAGE, 1, 1, values, 50, 50, 20, 20);
    gst_nn_object_set_mask (o, mask);
    gst_nn_object_add_keypoint (o, 140, 20, 1);
    gst_nn_object_set_track (o, 3, 1);
    g_ptr_array_add (gst_buffer_add_nn_scene_meta (buffer)->shapes,
                     gst_nn_shape_new ("gate", FALSE, line, 2, 0, 0));
    buffer = gst_harness_push_and_pull (h, buffer);
    g_assert_cmpuint (count_drawn (buffer, 0, 0, WIDTH, HEIGHT), <, before);
    before = count_drawn (buffer, 0, 0, WIDTH, HEIGHT);
    gst_buffer_unref (buffer);
    if (i < G_N_ELEMENTS (parts))
      g_object_set (overlay, parts[i], FALSE, NULL);
  }
  g_assert_cmpuint (before, ==, 0);
  gst_object_unref (overlay);
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/overlayparts/" #name, name)
#define ADD_DATA(name, case, data)                                                                 \
  g_test_add_data_func ("/overlayparts/" #name "/" case, data, name)
  ADD (classes_have_the_same_colours_in_every_run);
  ADD (labels_without_numbers_have_colours_of_their_own);
  ADD (captions_contrast_with_their_ground_in_every_colour);
  ADD (captions_stay_on_the_frame);
  ADD (captions_of_objects_at_one_place_are_beside_each_other);
  ADD (tails_show_where_tracks_were);
  ADD (zones_and_lines_are_drawn_with_counts);
  ADD (a_heat_map_colours_only_where_objects_were);
  ADD (the_legend_counts_the_objects_of_each_class);
  ADD_DATA (hidden_objects_lose_their_details, "blur",
            "nnoverlay blur=cow,face boxes=false labels=false scores=false");
  ADD_DATA (hidden_objects_lose_their_details, "pixelate",
            "nnoverlay pixelate=0 boxes=false labels=false scores=false");
  ADD (frames_without_results_are_hidden_only_where_asked_for);
  ADD (the_rate_of_frames_is_told_when_a_second_is_over);
  ADD (every_part_is_switched_while_playing);
  return g_test_run ();
}
