/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nnoverlay leaves to others to blend, and what it draws itself then. */
#include "overlayscene.h"

#include <math.h>

#define FEATURE "video/x-raw(memory:SystemMemory,meta:GstVideoOverlayComposition)"

static GstHarness *
new_harness_that_blends (const gchar *launch)
{
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_sink_caps_str (h, FEATURE ";video/x-raw");
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

#define COLUMNS 12 /* more than are looked at at once */
#define ROWS 5

/* How much the mask says to cover at a place of it, blended from its four neighbours. */
static gdouble
covered_at (const guint8 *values, gdouble x, gdouble y)
{
  gdouble u = CLAMP (x - .5, 0, COLUMNS - 1), v = CLAMP (y - .5, 0, ROWS - 1);
  guint c = MIN ((guint)u, COLUMNS - 2), r = MIN ((guint)v, ROWS - 2);
  const guint8 *a = values + r * COLUMNS + c, *b = a + COLUMNS;
  return (1 - (v - r)) * ((1 - (u - c)) * a[0] + (u - c) * a[1]) +
         (v - r) * ((1 - (u - c)) * b[0] + (u - c) * b[1]);
}

/* Golden: the middle of each pixel, but those on the outline. */
static void
a_mask_has_an_outline_between_its_values (void)
{
  for (guint round = 0; round < 20; round++) {
    GstBuffer *buffer = new_frame (FALSE);
    GstNnObject *o = add_object (buffer, 10, 10, 130, 90, 1, NULL);
    guint8 values[COLUMNS * ROWS];
    g_autoptr (GBytes) bytes = NULL;
    g_autoptr (GstNnMask) mask = NULL;
    for (guint i = 0; i < COLUMNS * ROWS; i++) /* areas, and noise */
      values[i] = (guint8)(i % COLUMNS < 7 && round % 2 ? 0 : g_test_rand_int_range (0, 256));
    bytes = g_bytes_new_static (values, sizeof values);
    mask = gst_nn_mask_new (GST_NN_MASK_COVERAGE, COLUMNS, ROWS, bytes, 10, 10, 130, 90);
    gst_nn_object_set_mask (o, mask);
    buffer = draw ("nnoverlay boxes=false labels=false scores=false", buffer);
    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < WIDTH; x++) {
        gdouble u = (x + .5 - 10) / 130 * COLUMNS, v = (y + .5 - 10) / 90 * ROWS;
        gboolean is_in = u > 0 && u < COLUMNS && v > 0 && v < ROWS;
        gdouble covered = is_in ? covered_at (values, u, v) : 0;
        if (fabs (covered - 127.5) > 1e-6)
          g_assert_cmpuint (count_drawn (buffer, x, y, 1, 1), ==, covered > 127.5);
      }
    gst_buffer_unref (buffer);
  }
}

/* What GStreamer blends is what is drawn in place, but for its scaling of masks. */
static void
a_composition_shows_what_is_drawn_in_place (void)
{
  static const gdouble line[] = { .1, .9, .6, .7 };
  GstHarness *h = new_harness_that_blends ("nnoverlay");
  GstBuffer *buffers[2], *attached;
  GstVideoOverlayCompositionMeta *meta;
  GstVideoFrame frame;
  GstVideoInfo info;
  guint differ = 0;
  for (guint i = 0; i < 2; i++) {
    buffers[i] = new_frame (FALSE);
    gst_nn_object_set_rotated_box (add_object (buffers[i], 0, 0, 1, 1, 2, "cat"), 80, 60, 50, 30,
                                   .5);
    add_object (buffers[i], -20, 70, 60, 40, 1, "dog");
    g_ptr_array_add (gst_buffer_add_nn_scene_meta (buffers[i])->shapes,
                     gst_nn_shape_new ("gate", FALSE, line, 2, 0, 0));
  }
  buffers[0] = draw ("nnoverlay", buffers[0]);
  attached = gst_harness_push_and_pull (h, buffers[1]);
  g_assert_cmpuint (count_drawn (attached, 0, 0, WIDTH, HEIGHT), ==, 0);
  meta = gst_buffer_get_video_overlay_composition_meta (attached);
  g_assert_nonnull (meta);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT);
  gst_video_frame_map (&frame, &info, attached, GST_MAP_READWRITE);
  g_assert_true (gst_video_overlay_composition_blend (meta->overlay, &frame));
  gst_video_frame_unmap (&frame);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++) {
      guint32 a = pixel_of (buffers[0], x, y), b = pixel_of (attached, x, y);
      for (guint shift = 0; shift < 24; shift += 8)
        differ += ABS ((gint)(a >> shift & 255) - (gint)(b >> shift & 255)) > 3;
    }
  g_assert_cmpuint (count_drawn (attached, 0, 0, WIDTH, HEIGHT), >, 500);
  g_assert_cmpuint (differ, ==, 0);
  gst_buffer_unref (buffers[0]);
  gst_buffer_unref (attached);
  gst_harness_teardown (h);
}

static void
masks_are_attached_with_as_many_pixels_as_they_have (void)
{
  static const guint8 classes[] = { 0, 1 };
  g_autoptr (GBytes) values = g_bytes_new_static (classes, 2);
  g_autoptr (GstNnMask) mask =
      gst_nn_mask_new (GST_NN_MASK_CLASSES, 2, 1, values, 0, 0, WIDTH, HEIGHT);
  GstHarness *h = new_harness_that_blends ("nnoverlay");
  GstBuffer *buffer = new_frame (FALSE), *pixels;
  GstVideoOverlayRectangle *r;
  guint32 words[2];
  gint x, y;
  guint width, height;
  gst_nn_object_set_mask (
      gst_nn_result_meta_get_frame (gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT)), mask);
  buffer = gst_harness_push_and_pull (h, buffer);
  r = gst_video_overlay_composition_get_rectangle (
      gst_buffer_get_video_overlay_composition_meta (buffer)->overlay, 0);
  g_assert_true (gst_video_overlay_rectangle_get_render_rectangle (r, &x, &y, &width, &height));
  g_assert_true (x == 0 && y == 0 && width == WIDTH && height == HEIGHT);
  pixels =
      gst_video_overlay_rectangle_get_pixels_unscaled_raw (r, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  gst_buffer_extract (pixels, 0, words, sizeof words);
  g_assert_cmphex (words[0], ==, 0);
  g_assert_cmphex (words[1], ==, 0x80d55e00);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

static void
who_takes_anything_gets_frames_that_are_drawn_into (void)
{
  static const gchar *const launches[] = { "nnoverlay", "nnoverlay composition=false" };
  for (guint i = 0; i < G_N_ELEMENTS (launches); i++) {
    GstHarness *h =
        i == 0 ? gst_harness_new_parse (launches[i]) : new_harness_that_blends (launches[i]);
    GstBuffer *buffer = new_frame (FALSE);
    gst_harness_set_src_caps_str (h, CAPS);
    add_object (buffer, 40, 40, 60, 40, 0, NULL);
    buffer = gst_harness_push_and_pull (h, buffer);
    g_assert_null (gst_buffer_get_video_overlay_composition_meta (buffer));
    g_assert_cmphex (pixel_of (buffer, 39, 60), ==, 0x009e73);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

/* And what was attached before stays. */
static void
what_is_hidden_is_hidden_in_the_frame_where_the_rest_is_attached (void)
{
  GstHarness *h = gst_harness_new_parse ("nnoverlay blur=face");
  GstBuffer *buffer = new_frame (TRUE);
  GstBuffer *pixel = gst_buffer_new_allocate (NULL, 4, NULL);
  GstVideoOverlayRectangle *r;
  GstVideoOverlayComposition *before;
  gst_harness_set_sink_caps_str (h, FEATURE);
  gst_harness_set_src_caps_str (h, FEATURE ",format=RGB,width=160,height=120,framerate=30/1");
  gst_buffer_memset (pixel, 0, 255, 4);
  gst_buffer_add_video_meta (pixel, GST_VIDEO_FRAME_FLAG_NONE,
                             GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, 1, 1);
  r = gst_video_overlay_rectangle_new_raw (pixel, 0, 0, 1, 1, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  before = gst_video_overlay_composition_new (r);
  gst_buffer_add_video_overlay_composition_meta (buffer, before);
  add_object (buffer, 40, 40, 64, 40, 0, "face");
  buffer = gst_harness_push_and_pull (h, buffer);
  g_assert_cmphex (pixel_of (buffer, 71, 60), !=, 0xffffff);
  g_assert_cmpuint (gst_video_overlay_composition_n_rectangles (
                        gst_buffer_get_video_overlay_composition_meta (buffer)->overlay),
                    >, 4);
  gst_buffer_unref (buffer);
  gst_video_overlay_composition_unref (before);
  gst_video_overlay_rectangle_unref (r);
  gst_buffer_unref (pixel);
  gst_harness_teardown (h);
}

/* v210 cannot be drawn into: it goes through with what is attached, and is not negotiated where
 * nobody blends. */
static void
frames_that_cannot_be_drawn_into_pass_where_others_blend (void)
{
  static const gchar *caps = "video/x-raw,format=v210,width=160,height=120,framerate=30/1";
  GstHarness *h = gst_harness_new_parse ("nnoverlay");
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 512 * HEIGHT, NULL);
  gst_buffer_memset (buffer, 0, 0, 512 * HEIGHT);
  gst_harness_set_sink_caps_str (h, FEATURE);
  gst_harness_set_src_caps_str (h, caps);
  add_object (buffer, 40, 40, 60, 40, 0, NULL);
  buffer = gst_harness_push_and_pull (h, buffer);
  g_assert_nonnull (gst_buffer_get_video_overlay_composition_meta (buffer));
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  h = gst_harness_new_parse ("nnoverlay");
  gst_harness_set_sink_caps_str (h, "video/x-raw");
  gst_harness_set_src_caps_str (h, caps);
  buffer = gst_buffer_new_allocate (NULL, 512 * HEIGHT, NULL);
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_NOT_NEGOTIATED);
  gst_harness_teardown (h);
}

/* Whatever comes is drawn, or left out, in place and attached, and hidden. */
static void
numbers_that_are_no_places_are_left_out (gconstpointer data)
{
  static const gdouble odd[] = { NAN, INFINITY, -INFINITY, 1e30, -1e30, 1e9, -1, 0, 50 };
  static const guint8 covered[] = { 255, 0, 255, 255 };
  const guint n = G_N_ELEMENTS (odd);
  g_autoptr (GBytes) values = g_bytes_new_static (covered, 4);
  GstHarness *h = data ? new_harness_that_blends ("nnoverlay blur=a pixelate=b legend=true")
                       : gst_harness_new_parse ("nnoverlay blur=a pixelate=b legend=true");
  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < n * n; i++) {
    GstBuffer *buffer = new_frame (FALSE);
    gdouble a = odd[i % n], b = odd[i / n];
    gdouble shape[] = { a, b, b, a };
    GstNnObject *o = add_object (buffer, a, b, b, a, (gint)i * 10000000, i % 2 ? "a" : "b");
    g_autoptr (GstNnMask) mask = gst_nn_mask_new (GST_NN_MASK_COVERAGE, 2, 2, values, a, b, b, a);
    gst_nn_object_set_mask (o, mask);
    gst_nn_object_add_keypoint (o, a, b, 1);
    gst_nn_object_set_track (o, i / 2, 1);
    gst_nn_object_set_text (o, "\xff\xfe longer than any frame of this size can show at once", a);
    gst_nn_object_set_rotated_box (add_object (buffer, 0, 0, 0, 0, -5, NULL), a, b, a, b, a);
    g_ptr_array_add (gst_buffer_add_nn_scene_meta (buffer)->shapes,
                     gst_nn_shape_new ("gate", i % 3, shape, 2, 0, 0));
    buffer = gst_harness_push_and_pull (h, buffer);
    g_assert_nonnull (buffer);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/overlayblend/" #name, name)
#define ADD_DATA(name, case, data)                                                                 \
  g_test_add_data_func ("/overlayblend/" #name "/" case, data, name)
  ADD (a_composition_shows_what_is_drawn_in_place);
  ADD (a_mask_has_an_outline_between_its_values);
  ADD (masks_are_attached_with_as_many_pixels_as_they_have);
  ADD (who_takes_anything_gets_frames_that_are_drawn_into);
  ADD (what_is_hidden_is_hidden_in_the_frame_where_the_rest_is_attached);
  ADD (frames_that_cannot_be_drawn_into_pass_where_others_blend);
  ADD_DATA (numbers_that_are_no_places_are_left_out, "in_place", NULL);
  ADD_DATA (numbers_that_are_no_places_are_left_out, "attached", "");
  return g_test_run ();
}
