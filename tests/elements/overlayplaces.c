/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pixels nnoverlay draws, all of them: places whose numbers cannot stand for each other. */
#include "overlayscene.h"

#include <math.h>

#define ONLY "nnoverlay labels=false scores=false tracks=false "

static gboolean
is_drawn (GstBuffer *buffer, gint x, gint y)
{
  return count_drawn (buffer, x, y, 1, 1) > 0;
}

/* Left, top, and where it ends. */
typedef struct {
  gint left, top, right, bottom;
} Area;

static gboolean
is_in (const Area *area, gint x, gint y)
{
  return x >= area->left && x < area->right && y >= area->top && y < area->bottom;
}

/* All pixels of @outer but those of @inner. Takes @buffer. */
static void
assert_drawn (GstBuffer *buffer, const Area *outer, const Area *inner)
{
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      if (is_drawn (buffer, x, y) != (is_in (outer, x, y) && !is_in (inner, x, y)))
        g_error ("(%d, %d) is %06x", x, y, pixel_of (buffer, x, y));
  gst_buffer_unref (buffer);
}

/* Inside of the frame, and over each of its corners. */
static void
edges_lie_around_the_box_and_nowhere_else (void)
{
  static const struct {
    gdouble x, y, width, height;
    Area inner;
  } cases[] = { { 40.3, 30.6, 50.5, 20.2, { 40, 30, 91, 51 } },
                { -5, -4, 25, 34, { -5, -4, 20, 30 } },
                { 130, 100, 60, 70, { 130, 100, 190, 170 } } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Area *in = &cases[i].inner;
    GstBuffer *buffer = new_frame (FALSE);
    add_object (buffer, cases[i].x, cases[i].y, cases[i].width, cases[i].height, 0, "cat");
    assert_drawn (draw (ONLY "thickness=3", buffer),
                  &(Area){ in->left - 3, in->top - 3, in->right + 3, in->bottom + 3 }, in);
  }
}

/* The second one is too unsure; those of a mesh are half as large. */
static void
keypoints_are_squares_around_their_places (void)
{
  static const Area nothing = { 0, 0, 0, 0 };
  for (guint n = 2; n <= 101; n += 99) {
    GstBuffer *buffer = new_frame (FALSE);
    GstNnObject *o = add_object (buffer, 10, 10, 5, 5, 0, "cat");
    gint half = n > 100 ? 2 : 4;
    gst_nn_object_add_keypoint (o, 50.7, 70.2, 0.3);
    for (guint i = 1; i < n; i++)
      gst_nn_object_add_keypoint (o, 90, 30, 0.29);
    assert_drawn (draw (ONLY "boxes=false thickness=4", buffer),
                  &(Area){ 50 - half, 70 - half, 50 + half, 70 + half }, &nothing);
  }
}

/* Those of a mesh have one colour. */
static void
each_keypoint_has_a_square_and_a_colour (void)
{
  static const guint32 colours[] = { 0x009e73, 0xd55e00 };
  for (guint n = 2; n <= 102; n += 100) {
    GstBuffer *buffer = new_frame (FALSE);
    GstNnObject *o = add_object (buffer, 10, 10, 5, 5, 3, "cat");
    for (guint i = 0; i < n; i++)
      gst_nn_object_add_keypoint (o, i % 2 ? 90 : 50, i % 2 ? 30 : 70, 1);
    buffer = draw (ONLY "boxes=false", buffer);
    g_assert_cmphex (pixel_of (buffer, 50, 70), ==, colours[0]);
    g_assert_cmphex (pixel_of (buffer, 90, 30), ==, colours[n == 2]);
    gst_buffer_unref (buffer);
  }
}

/* Of 70x30 around (80, 60), turned by 0.4: pixels are measured along its own sides. */
static void
turned_boxes_have_four_edges_around_their_middle (void)
{
  GstBuffer *buffer = new_frame (FALSE);
  gst_nn_object_set_rotated_box (add_object (buffer, 40, 30, 80, 60, 0, "cat"), 80, 60, 70, 30,
                                 0.4);
  buffer = draw (ONLY "thickness=4", buffer);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++) {
      gdouble dx = x + .5 - 80, dy = y + .5 - 60;
      gdouble u = fabs (dx * cos (0.4) + dy * sin (0.4)) - 35;
      gdouble v = fabs (dy * cos (0.4) - dx * sin (0.4)) - 15;
      if ((fabs (u) < 1.25 && v < 0) || (fabs (v) < 1.25 && u < 0))
        g_assert_true (is_drawn (buffer, x, y));
      if (MAX (u, v) > 2.75 || MAX (u, v) < -2.75)
        g_assert_false (is_drawn (buffer, x, y));
    }
  gst_buffer_unref (buffer);
}

/* From (40, 30) to (80, 90): it points at (50, 66.7), where its two barbs begin. */
static void
the_arrow_of_a_slanted_line_points_to_its_right (void)
{
  static const gdouble line[] = { .25, .25, .5, .75 };
  static const gint drawn[][2] = { { 65, 56 }, { 54, 63 }, { 54, 67 },
                                   { 50, 62 }, { 44, 36 }, { 76, 84 } };
  static const gint free_of_it[][2] = { { 65, 52 }, { 69, 57 }, { 73, 51 },
                                        { 47, 68 }, { 36, 24 }, { 84, 96 } };
  GstBuffer *buffer = new_frame (FALSE);
  g_ptr_array_add (gst_buffer_add_nn_scene_meta (buffer)->shapes,
                   gst_nn_shape_new ("gate", FALSE, line, 2, 0, 0));
  buffer = draw (ONLY "thickness=2", buffer);
  for (guint i = 0; i < G_N_ELEMENTS (drawn); i++) {
    g_assert_cmphex (pixel_of (buffer, drawn[i][0], drawn[i][1]), ==, 0xf0e442);
    g_assert_false (is_drawn (buffer, free_of_it[i][0], free_of_it[i][1]));
  }
  gst_buffer_unref (buffer);
}

/* Of a person with two bones: the second is red. Its far end is on the frame, or far beside it. */
static void
bones_lie_between_their_joints (void)
{
  static const guint bones[] = { 0, 0, 0, 1 };
  static const gdouble ends[][2] = { { 110, 95 }, { 430, 395 }, { -50, -55 } };
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_autoptr (GstNnSkeleton) skeleton = gst_nn_skeleton_new (NULL, bones, 4);
    GstBuffer *buffer = new_frame (FALSE);
    GstNnObject *o = add_object (buffer, 10, 10, 5, 5, 0, "cat");
    gdouble dx = ends[i][0] - 30, dy = ends[i][1] - 20, length = hypot (dx, dy);
    gst_nn_object_add_keypoint (o, 30, 20, 1);
    gst_nn_object_add_keypoint (o, ends[i][0], ends[i][1], 1);
    gst_nn_object_set_skeleton (o, skeleton);
    buffer = draw (ONLY "boxes=false thickness=6", buffer);
    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < WIDTH; x++) {
        gdouble along = ((x + .5 - 30) * dx + (y + .5 - 20) * dy) / length;
        gdouble beside = fabs ((x + .5 - 30) * dy - (y + .5 - 20) * dx) / length;
        gboolean between = along > 12 && along < length - 12;
        if (between && beside < 2.25)
          g_assert_cmphex (pixel_of (buffer, x, y), ==, 0xd55e00);
        if ((between && beside > 3.75) || beside > 10 || along < -10 || along > length + 10)
          g_assert_false (is_drawn (buffer, x, y));
      }
    gst_buffer_unref (buffer);
  }
}

/* Who has no second joint that is sure enough has no bone. */
static void
bones_of_unsure_joints_are_left_out (void)
{
  static const guint bones[] = { 0, 1 };
  static const gdouble scores[][2] = { { 1, 0.29 }, { 0.29, 1 }, { 0.3, 0.3 } };
  for (guint i = 0; i < G_N_ELEMENTS (scores); i++) {
    g_autoptr (GstNnSkeleton) skeleton = gst_nn_skeleton_new (NULL, bones, 2);
    GstBuffer *buffer = new_frame (FALSE);
    GstNnObject *o = add_object (buffer, 10, 10, 5, 5, 0, "cat");
    gst_nn_object_add_keypoint (o, 30, 60, scores[i][0]);
    gst_nn_object_add_keypoint (o, 110, 60, scores[i][1]);
    gst_nn_object_set_skeleton (o, skeleton);
    buffer = draw (ONLY "boxes=false thickness=4", buffer);
    g_assert_cmpuint (count_drawn (buffer, 60, 50, 20, 20), ==, i == 2 ? 20 * 4 : 0);
    g_assert_cmpuint (count_drawn (buffer, 60, 58, 20, 4), ==, i == 2 ? 20 * 4 : 0);
    gst_buffer_unref (buffer);
  }
}

/* From left to right, then down: the older part is two thirds as thick. */
static void
tails_follow_the_middle_of_the_box_and_grow_thin (void)
{
  static const gint middles[][2] = { { 20, 30 }, { 60, 30 }, { 60, 90 } };
  GstHarness *h = gst_harness_new_parse (ONLY "boxes=false tail-length=5 thickness=6");
  GstBuffer *out = NULL;
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < G_N_ELEMENTS (middles); i++) {
    GstBuffer *buffer = new_frame (FALSE);
    gst_nn_object_set_track (
        add_object (buffer, middles[i][0] - 5, middles[i][1] - 8, 10, 16, 0, NULL), 7, 1);
    GST_BUFFER_PTS (buffer) = i * GST_SECOND;
    g_clear_pointer (&out, gst_buffer_unref);
    out = gst_harness_push_and_pull (h, buffer);
  }
  for (gint i = 0; i < HEIGHT; i++) {
    g_assert_true (is_drawn (out, 40, i) == (i >= 28 && i < 32));
    g_assert_true (is_drawn (out, i, 60) == (i >= 57 && i < 63));
  }
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

/* Each in the colour of its class, one below the other. */
static void
all_classes_of_the_frame_are_written (void)
{
  GstBuffer *buffer = new_frame (FALSE);
  GstNnObject *frame =
      gst_nn_result_meta_get_frame (gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT));
  gint last[2] = { -1, -1 };
  for (gint i = 0; i < 2; i++) {
    g_autoptr (GstNnAttribute) a =
        gst_nn_attribute_new ("classification", i ? "dog" : "cat", i, 0.5, NULL);
    gst_nn_object_add_attribute (frame, a);
  }
  buffer = draw ("nnoverlay text-size=12", buffer);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < 40; x++)
      for (guint i = 0; i < 2; i++)
        if (pixel_of (buffer, x, y) == (i ? 0xd55e00 : 0x009e73))
          last[i] = y;
  g_assert_cmpint (last[0], >, 10);
  g_assert_cmpint (last[1], >, last[0] + 10);
  gst_buffer_unref (buffer);
}

/* Half of the colour of the class, which is 0xd55e00, over the gray. */
static void
a_mask_tints_its_own_area (void)
{
  static const guint8 covered[] = { 255 };
  static const Area area = { 40, 30, 90, 50 }, nothing = { 0, 0, 0, 0 };
  g_autoptr (GBytes) values = g_bytes_new_static (covered, 1);
  for (gdouble off = 0; off < 0.6; off += 0.5) { /* pixels whose middles are on its edges, too */
    g_autoptr (GstNnMask) mask =
        gst_nn_mask_new (GST_NN_MASK_COVERAGE, 1, 1, values, 40 + off, 30 + off, 50, 20);
    GstBuffer *buffer = new_frame (FALSE);
    gst_nn_object_set_mask (add_object (buffer, 5, 5, 5, 5, 1, "dog"), mask);
    buffer = draw (ONLY "boxes=false mask-opacity=0.5", buffer);
    g_assert_cmphex (pixel_of (buffer, 60, 40), ==, 0x7a3f10);
    assert_drawn (buffer, &area, &nothing);
  }
}

static guint8
pattern (gint x, gint y)
{
  return (guint8)(x * 7 + y * 13);
}

/* A box of 42x23 has squares of 6x6, the lowest of 6x5: each is its mean. */
static void
what_is_pixelated_is_the_mean_of_its_square (void)
{
  static const Area box = { 24, 17, 66, 40 };
  GstBuffer *buffer = new_frame (FALSE);
  GstMapInfo map;
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gint i = 0; i < WIDTH * HEIGHT * 3; i++)
    map.data[i] = pattern (i / 3 % WIDTH, i / 3 / WIDTH);
  gst_buffer_unmap (buffer, &map);
  add_object (buffer, 24, 17, 42, 23, 0, "face");
  buffer = draw (ONLY "boxes=false pixelate=face", buffer);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++) {
      gint left = x - (x - box.left) % 6, top = y - (y - box.top) % 6, sum = 0;
      gint bottom = MIN (top + 6, box.bottom);
      for (gint v = top; v < bottom; v++)
        for (gint u = left; u < left + 6; u++)
          sum += pattern (u, v);
      g_assert_cmpuint (pixel_of (buffer, x, y) & 255, ==,
                        is_in (&box, x, y) ? (guint)(sum / (6 * (bottom - top))) : pattern (x, y));
    }
  gst_buffer_unref (buffer);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/overlayplaces/" #name, name)
  ADD (edges_lie_around_the_box_and_nowhere_else);
  ADD (keypoints_are_squares_around_their_places);
  ADD (each_keypoint_has_a_square_and_a_colour);
  ADD (turned_boxes_have_four_edges_around_their_middle);
  ADD (the_arrow_of_a_slanted_line_points_to_its_right);
  ADD (bones_lie_between_their_joints);
  ADD (bones_of_unsure_joints_are_left_out);
  ADD (tails_follow_the_middle_of_the_box_and_grow_thin);
  ADD (all_classes_of_the_frame_are_written);
  ADD (a_mask_tints_its_own_area);
  ADD (what_is_pixelated_is_the_mean_of_its_square);
  return g_test_run ();
}
