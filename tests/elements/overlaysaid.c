/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is drawn into frames of many formats, a number for each component; and what nnoverlay draws
 * of objects, but for texts, which depend on fonts. What they are now differs from overlaysaid.txt
 * where somebody has looked at it, only. */
#include "overlayscene.h"

#include "overlay/gstnncanvas.h"
#include "overlay/gstnnplane.h"
#include <math.h>
#include <string.h>

static const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_RGB,       GST_VIDEO_FORMAT_BGRx,  GST_VIDEO_FORMAT_I420,
  GST_VIDEO_FORMAT_NV12,      GST_VIDEO_FORMAT_YUY2,  GST_VIDEO_FORMAT_Y41B,
  GST_VIDEO_FORMAT_AYUV,      GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420_10LE,
  GST_VIDEO_FORMAT_P010_10LE,
};

static const gint sizes[][2] = { { 64, 48 }, { 37, 23 } };

/* Slopes and a chequered pattern. */
static void
fill_frame (GstVideoFrame *frame)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    GstNnPlane p = gst_nn_plane_of (frame, c);
    for (gint y = 0; y < p.height; y++)
      for (gint x = 0; x < p.width; x++)
        gst_nn_plane_set (
            &p, gst_nn_plane_at (&p, x, y),
            (guint16)((x * 5 + y * 3 + (x / 4 + y / 4) % 2 * 90 + 20 * (gint)c) % 256));
  }
}

static void
append_sums (GString *text, const gchar *what, GstVideoFrame *frame)
{
  g_string_append_printf (text, " %s", what);
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    GstNnPlane p = gst_nn_plane_of (frame, c);
    guint64 sum = 0;
    for (gint y = 0; y < p.height; y++)
      for (gint x = 0; x < p.width; x++)
        sum += gst_nn_plane_get (&p, gst_nn_plane_at (&p, x, y)) * (guint64)(1 + (x + 3 * y) % 11);
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, sum);
  }
  fill_frame (frame);
}

static const GstNnColor ink = { { 200, 90, 40, 255 } }, ground = { { 10, 250, 120, 0 } };

static void
describe_shapes (GString *text, GstVideoFrame *frame)
{
  static const gint places[][4] = { { 3, 5, 20, 11 }, { -4, -3, 9, 8 }, { 30, 17, 99, 99 },
                                    { 8, 8, 0, 4 },   { 36, 22, 1, 1 }, { 0, 0, 37, 1 },
                                    { -9, 3, 9, 3 },  { 11, 2, 1, 19 } };
  static const gdouble lines[][4] = { { 2, 3, 30, 18 },   { 10.5, -4, 10.5, 60 },
                                      { -5, 9, 90, 9 },   { 33, 20, 5, 2 },
                                      { 7, 7, 7, 7 },     { -9, -9, -2, 30 },
                                      { 1, 22, 36.5, 0 }, { 0, 40, 70, 41 } };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    const gint *p = places[i];
    gst_nn_canvas_fill (frame, &ink, p[0], p[1], p[2], p[3]);
    append_sums (text, "fill", frame);
    for (guint smooth = 0; smooth < 2; smooth++) {
      gst_nn_canvas_hide (frame, p[0], p[1], p[2], p[3], 3 + 2 * smooth, smooth == 1);
      append_sums (text, smooth ? "blur" : "squares", frame);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    const gdouble *l = lines[i];
    gst_nn_canvas_line (frame, &ink, 1 + (gint)i % 4, l[0], l[1], l[2], l[3]);
    append_sums (text, "line", frame);
  }
}

static void
describe_text (GString *text, GstVideoFrame *frame)
{
  static const gint places[][2] = { { 2, 3 }, { -3, -2 }, { 31, 19 }, { 5, 20 }, { 80, 3 } };
  guint8 coverage[9 * 7];
  GstNnGlyphs glyphs = { coverage, 9, 7 };
  for (guint i = 0; i < sizeof coverage; i++)
    coverage[i] = (guint8)(i * 37 % 256);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    gst_nn_canvas_text (frame, &ground, &ink, &glyphs, places[i][0], places[i][1]);
    append_sums (text, "text", frame);
  }
}

/* Of two classes, in areas that lie on the frame and beside it, in more and less detail. */
static void
describe_tints (GString *text, GstVideoFrame *frame)
{
  static const gdouble areas[][4] = {
    { 0, 0, 37, 23 },   { 4.5, 3, 11, 17.5 }, { -6, -5, 30, 20 },
    { 30, 15, 40, 40 }, { 9, 9, 2, 1 },       { 50, 50, 0.2, 0.2 }
  };
  guint8 values[12 * 5];
  g_autoptr (GBytes) bytes = NULL;
  GstNnPaint paints[2] = { { .color = ink }, { .color = ground } };
  GstNnPaints of = { { NULL } };
  for (guint i = 0; i < sizeof values; i++)
    values[i] = (guint8)(i * i % 3);
  bytes = g_bytes_new (values, sizeof values);
  of.of[1] = &paints[0];
  of.of[2] = &paints[1];
  for (guint i = 0; i < G_N_ELEMENTS (areas); i++) {
    const gdouble *a = areas[i];
    g_autoptr (GstNnMask) mask = gst_nn_mask_new (GST_NN_MASK_CLASSES, i % 2 ? 12 : 5,
                                                  i % 2 ? 5 : 12, bytes, a[0], a[1], a[2], a[3]);
    gst_nn_canvas_tint (frame, &of, 60 * (i + 1) % 257, mask);
    append_sums (text, "tint", frame);
  }
  for (guint i = 0; i < 2; i++) { /* one class, in runs that are long */
    g_autoptr (GBytes) one = g_bytes_new (values, 1);
    g_autoptr (GstNnMask) mask =
        gst_nn_mask_new (GST_NN_MASK_CLASSES, 1, 1, one, 2.5 * i, 1, 99, 99);
    of.of[0] = &paints[i];
    gst_nn_canvas_tint (frame, &of, 100 + 156 * i, mask);
    append_sums (text, "tint", frame);
  }
}

static void
describe_canvas (GString *text, GstVideoFormat format, gint width, gint height)
{
  g_autoptr (GstBuffer) buffer = NULL;
  GstVideoInfo info;
  GstVideoFrame frame;
  gst_video_info_set_format (&info, format, (guint)width, (guint)height);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (buffer, 0, 0, info.size);
  g_assert_true (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READWRITE));
  fill_frame (&frame);
  g_string_append_printf (text, "%s %dx%d", gst_video_format_to_string (format), width, height);
  append_sums (text, "plain", &frame);
  describe_shapes (text, &frame);
  describe_text (text, &frame);
  describe_tints (text, &frame);
  g_string_append_c (text, '\n');
  gst_video_frame_unmap (&frame);
}

static GstNnMask *
mask_of (GstNnMaskKind kind, gdouble x, gdouble y)
{
  guint8 values[8 * 6];
  g_autoptr (GBytes) bytes = NULL;
  for (guint i = 0; i < sizeof values; i++)
    values[i] = (guint8)(kind == GST_NN_MASK_CLASSES ? i % 5 : i * 53 % 256);
  bytes = g_bytes_new (values, sizeof values);
  return gst_nn_mask_new (kind, 8, 6, bytes, x, y, 40, 33);
}

/* Objects within the frame and across its edges; their tracks go on from frame to frame. */
static GstBuffer *
scene_at (guint i)
{
  static const gchar *const labels[] = { "cat", "dog", NULL };
  GstBuffer *buffer = new_frame (i % 2 == 1);
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT);
  GST_BUFFER_PTS (buffer) = i * GST_SECOND / 5;
  for (guint k = 0; k < 5; k++) {
    GstNnObject *o = gst_nn_result_meta_add_object (meta, 0);
    gst_nn_object_set_box (o, 37.0 * k - 20 + 4 * i, 21.0 * k - 9 + 3 * i, 18 + 9 * k, 30);
    gst_nn_object_set_class (o, (gint)k * 3, labels[k % 3], 0.3 + 0.15 * k);
    gst_nn_object_set_track (o, 1 + k, i);
    for (guint p = 0; k == 2 && p < 4; p++)
      gst_nn_object_add_keypoint (o, 60 + 9 * p, 40 + 13 * (p % 3), 0.2 + 0.2 * p);
    if (k == 3)
      gst_nn_object_set_rotated_box (o, 90, 70, 44, 25, 0.4 + 0.1 * i);
    if (k == 1 || k == 4) {
      g_autoptr (GstNnMask) mask =
          mask_of (k == 1 ? GST_NN_MASK_COVERAGE : GST_NN_MASK_CLASSES, 12 * k, 18 * k);
      gst_nn_object_set_mask (o, mask);
    }
  }
  gst_buffer_add_nn_scene_meta (buffer)->heat_map = mask_of (GST_NN_MASK_VALUES, 100, 5);
  return buffer;
}

static const gchar *const settings[] = {
  "boxes=true",
  "thickness=5 keypoints=false masks=false",
  "boxes=false mask-opacity=0.25",
  "boxes=false masks=false tail-length=0.5",
  "boxes=false masks=false scene=false tail-length=3 thickness=4",
  "boxes=false masks=false keypoints=false blur=cat,6",
  "boxes=false masks=false keypoints=false scene=false pixelate=*",
};

static void
describe_element (GString *text, const gchar *setting)
{
  g_autofree gchar *launch =
      g_strdup_printf ("nnoverlay labels=false scores=false legend=false tracks=false %s", setting);
  GstHarness *h = gst_harness_new_parse (launch);
  GstVideoInfo info;
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT);
  gst_harness_set_src_caps_str (h, CAPS);
  g_string_append_printf (text, "%s", setting);
  for (guint i = 0; i < 5; i++) {
    g_autoptr (GstBuffer) buffer = gst_harness_push_and_pull (h, scene_at (i));
    GstVideoFrame frame;
    g_assert_true (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READWRITE));
    append_sums (text, "frame", &frame);
    gst_video_frame_unmap (&frame);
  }
  g_string_append_c (text, '\n');
  gst_harness_teardown (h);
}

/* What is attached for others to blend: where, and a number for its pixels. */
static void
append_rectangles (GString *text, GstBuffer *buffer)
{
  GstVideoOverlayComposition *all = gst_buffer_get_video_overlay_composition_meta (buffer)->overlay;
  for (guint i = 0; i < gst_video_overlay_composition_n_rectangles (all); i++) {
    GstVideoOverlayRectangle *r = gst_video_overlay_composition_get_rectangle (all, i);
    GstBuffer *pixels =
        gst_video_overlay_rectangle_get_pixels_unscaled_raw (r, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
    guint64 sum = 0;
    gint x, y;
    guint width, height;
    GstMapInfo map;
    gst_video_overlay_rectangle_get_render_rectangle (r, &x, &y, &width, &height);
    g_assert_true (gst_buffer_map (pixels, &map, GST_MAP_READ));
    for (gsize k = 0; k < map.size; k++)
      sum += map.data[k] * (guint64)(1 + k % 11);
    gst_buffer_unmap (pixels, &map);
    g_string_append_printf (text, " %d,%d %ux%u %" G_GUINT64_FORMAT, x, y, width, height, sum);
  }
}

static void
describe_composition (GString *text)
{
  GstHarness *h = gst_harness_new_parse ("nnoverlay labels=false scores=false tracks=false");
  gst_harness_set_sink_caps_str (
      h, "video/x-raw(memory:SystemMemory,meta:GstVideoOverlayComposition);video/x-raw");
  gst_harness_set_src_caps_str (h, CAPS);
  g_string_append (text, "attached");
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstBuffer) buffer = gst_harness_push_and_pull (h, scene_at (i));
    append_rectangles (text, buffer);
  }
  g_string_append_c (text, '\n');
  gst_harness_teardown (h);
}

static void
frames_are_drawn_as_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      describe_canvas (text, formats[f], sizes[s][0], sizes[s][1]);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    describe_element (text, settings[i]);
  describe_composition (text);
  test_assert_approved ("elements/overlaysaid.txt", text->str);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/overlaysaid/frames_are_drawn_as_somebody_has_looked_at",
                   frames_are_drawn_as_somebody_has_looked_at);
  return g_test_run ();
}
