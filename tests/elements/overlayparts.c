/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nnoverlay draws besides boxes and masks, what it hides, and what it leaves to others. */
#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>
#include <math.h>

#define WIDTH 160
#define HEIGHT 120
#define GRAY 32
#define CAPS "video/x-raw,format=RGB,width=160,height=120,framerate=30/1"
#define FEATURE "video/x-raw(memory:SystemMemory,meta:GstVideoOverlayComposition)"

/* A dark gray frame; @is_striped: every second column is white. */
static GstBuffer *
new_frame (gboolean is_striped)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3, NULL);
  GstMapInfo map;
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = is_striped && i / 3 % 2 ? 255 : GRAY;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static GstNnObject *
add_object (GstBuffer *buffer, gdouble x, gdouble y, gdouble width, gdouble height, gint class_id,
            const gchar *label)
{
  GstNnObject *o =
      gst_nn_result_meta_add_object (gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT), 0);
  gst_nn_object_set_box (o, x, y, width, height);
  gst_nn_object_set_class (o, class_id, label, 0.5);
  return o;
}

static guint32
pixel_of (GstBuffer *buffer, gint x, gint y)
{
  guint8 p[3];
  gst_buffer_extract (buffer, (gsize)(y * WIDTH + x) * 3, p, 3);
  return (guint32)p[0] << 16 | (guint32)p[1] << 8 | p[2];
}

/* Pixels of an area that are not as they were. */
static guint
count_drawn (GstBuffer *buffer, gint x, gint y, gint width, gint height)
{
  guint n = 0;
  for (gint v = y; v < y + height; v++)
    for (gint u = x; u < x + width; u++)
      n += pixel_of (buffer, u, v) != (GRAY << 16 | GRAY << 8 | GRAY);
  return n;
}

/* Takes @buffer. */
static GstBuffer *
draw (const gchar *launch, GstBuffer *buffer)
{
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (h, CAPS);
  buffer = gst_harness_push_and_pull (h, buffer);
  g_assert_nonnull (buffer);
  gst_harness_teardown (h);
  return buffer;
}

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
    for (gint x = 40; x < 103; x++) {
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
  ADD (every_part_is_switched_while_playing);
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
