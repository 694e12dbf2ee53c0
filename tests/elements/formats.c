/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames of every format, wherever their planes lie, become what videoconvertscale makes of them.
 */
#include "preprocess.h"
#include <math.h>
#include <string.h>

/* A smooth picture, so that chroma between its samples is the same however it is found. */
static void
paint (GstVideoFrame *frame)
{
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++)
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (frame); x++) {
      guint8 *p = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA (frame, 0) +
                  y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0) + x * 3;
      p[0] = (guint8)(128 + 90 * sin (x / 60. + y / 90.));
      p[1] = (guint8)(120 + 80 * cos (x / 70. - y / 50.));
      p[2] = (guint8)(140 + 70 * sin (x / 80. + y / 70. + 1));
    }
}

/* Planes far apart; rows of odd lengths at odd addresses, or as GStreamer's own loops need them. */
static GstBuffer *
new_buffer (const GstVideoInfo *info, gboolean odd)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, at = odd ? 5 : 0;
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  GstBuffer *buffer;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    offset[p] = at;
    stride[p] = GST_VIDEO_INFO_PLANE_STRIDE (info, p) + (odd ? 11 + (gint)p : 64);
    at += (gsize)(stride[p] * GST_VIDEO_INFO_HEIGHT (info)) + (odd ? 3 : 0);
  }
  buffer = gst_buffer_new_allocate (NULL, at, NULL);
  gst_buffer_memset (buffer, 0, 0xaa, at);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  (guint)GST_VIDEO_INFO_WIDTH (info),
                                  (guint)GST_VIDEO_INFO_HEIGHT (info),
                                  GST_VIDEO_INFO_N_PLANES (info), offset, stride);
  return buffer;
}

/* What videoconvertscale runs, with its bilinear method. Into 16 bits: its loops for 8 bits are up
 * to four levels off. */
static void
convert (GstBuffer *from, const GstVideoInfo *from_info, GstBuffer *to, const GstVideoInfo *to_info)
{
  GstVideoFrame in, out;
  GstVideoConverter *converter = gst_video_converter_new (
      (GstVideoInfo *)from_info, (GstVideoInfo *)to_info,
      gst_structure_new ("options", GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD,
                         GST_TYPE_VIDEO_RESAMPLER_METHOD, GST_VIDEO_RESAMPLER_METHOD_LINEAR,
                         GST_VIDEO_RESAMPLER_OPT_MAX_TAPS, G_TYPE_INT, 2,
                         GST_VIDEO_CONVERTER_OPT_DITHER_METHOD, GST_TYPE_VIDEO_DITHER_METHOD,
                         GST_VIDEO_DITHER_NONE, NULL));
  g_assert_nonnull (converter);
  g_assert_true (gst_video_frame_map (&in, from_info, from, GST_MAP_READ));
  g_assert_true (gst_video_frame_map (&out, to_info, to, GST_MAP_WRITE));
  gst_video_converter_frame (converter, &in, &out);
  gst_video_frame_unmap (&in);
  gst_video_frame_unmap (&out);
  gst_video_converter_free (converter);
}

static GstBuffer *
new_picture (GstVideoFormat format, gint width, gint height, GstVideoInfo *info)
{
  GstVideoInfo rgb;
  GstVideoFrame frame;
  GstBuffer *made;
  g_autoptr (GstBuffer) painted = NULL;
  gst_video_info_set_format (&rgb, GST_VIDEO_FORMAT_RGB, (guint)width, (guint)height);
  gst_video_info_set_format (info, format, (guint)width, (guint)height);
  painted = new_buffer (&rgb, FALSE);
  g_assert_true (gst_video_frame_map (&frame, &rgb, painted, GST_MAP_WRITE));
  paint (&frame);
  gst_video_frame_unmap (&frame);
  made = new_buffer (info, FALSE);
  convert (painted, &rgb, made, info);
  return made;
}

typedef struct {
  gdouble largest, mean;
} Difference;

/* Planes of floats against packed 16 bits. */
static Difference
compare (GstBuffer *tensor, GstBuffer *picture, const GstVideoInfo *info)
{
  gint w = GST_VIDEO_INFO_WIDTH (info), h = GST_VIDEO_INFO_HEIGHT (info), n = w * h * 3;
  Difference d = { 0 };
  GstVideoFrame frame;
  GstMapInfo map;
  g_assert_true (gst_buffer_map (tensor, &map, GST_MAP_READ));
  g_assert_true (gst_video_frame_map (&frame, info, picture, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, (gsize)n * sizeof (gfloat));
  for (gint i = 0; i < n; i++) {
    const guint8 *row = (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
                        i / w % h * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    guint16 expected = ((const guint16 *)(gconstpointer)row)[i % w * 4 + 1 + i / (w * h)];
    gdouble got = (gdouble)((const gfloat *)(gconstpointer)map.data)[i];
    d.largest = MAX (d.largest, fabs (got - expected / 257.));
    d.mean += fabs (got - expected / 257.) / n;
  }
  gst_video_frame_unmap (&frame);
  gst_buffer_unmap (tensor, &map);
  return d;
}

/* The same pixels elsewhere: whole rows, for gst_video_frame_copy () forgets chroma of a last odd
 * column. */
static GstBuffer *
move (GstBuffer *buffer, const GstVideoInfo *info)
{
  GstBuffer *moved = new_buffer (info, TRUE);
  GstVideoFrame from, to;
  g_assert_true (gst_video_frame_map (&from, info, buffer, GST_MAP_READ));
  g_assert_true (gst_video_frame_map (&to, info, moved, GST_MAP_WRITE));
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, p); y++)
      memcpy ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&to, p) +
                  y * GST_VIDEO_FRAME_PLANE_STRIDE (&to, p),
              (guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&from, p) +
                  y * GST_VIDEO_FRAME_PLANE_STRIDE (&from, p),
              (gsize)GST_VIDEO_INFO_PLANE_STRIDE (info, p));
  gst_video_frame_unmap (&from);
  gst_video_frame_unmap (&to);
  return moved;
}

static gint
chroma_width (GstVideoFormat format)
{
  return 1 << GST_VIDEO_FORMAT_INFO_W_SUB (gst_video_format_get_info (format), 1);
}

/* The rest is rounding, and chroma that is not interpolated before it is scaled. GStreamer 1.22
 * swaps chroma of the last odd column of two formats. */
static void
every_format_becomes_what_videoconvertscale_makes_of_it (gconstpointer data)
{
  static const gint sizes[][4] = {
    { 161, 121, 161, 121 }, { 161, 121, 79, 60 }, { 162, 122, 240, 200 }, { 163, 122, 320, 240 }
  };
  GstVideoFormat format = (GstVideoFormat)GPOINTER_TO_INT (data);
  gboolean swaps = format == GST_VIDEO_FORMAT_VYUY || format == GST_VIDEO_FORMAT_NV61;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gint *s = sizes[i];
    GstVideoInfo info, wanted;
    g_autoptr (GstBuffer) in = new_picture (format, swaps ? s[0] & ~1 : s[0], s[1], &info);
    g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
    g_autofree gchar *text = gst_caps_to_string (caps);
    g_autofree gchar *launch = g_strdup_printf ("nnpreproc width=%d height=%d", s[2], s[3]);
    g_autoptr (GstBuffer) expected = NULL, got = NULL;
    Difference d;
    gst_video_info_set_format (&wanted, GST_VIDEO_FORMAT_ARGB64, (guint)s[2], (guint)s[3]);
    expected = new_buffer (&wanted, FALSE);
    convert (in, &info, expected, &wanted);
    got = preprocess (launch, text, move (in, &info));
    d = compare (got, expected, &wanted);
    g_test_message ("%s %dx%d to %dx%d: largest %.2f, mean %.2f",
                    gst_video_format_to_string (format), GST_VIDEO_INFO_WIDTH (&info), s[1], s[2],
                    s[3], d.largest, d.mean);
    g_assert_cmpfloat (d.largest, <=, 2.0 + chroma_width (format));
    g_assert_cmpfloat (d.mean, <=, 1.2);
  }
}

static void
same_floats (GstBuffer *a, GstBuffer *b)
{
  GstMapInfo x, y;
  g_assert_true (gst_buffer_map (a, &x, GST_MAP_READ));
  g_assert_true (gst_buffer_map (b, &y, GST_MAP_READ));
  g_assert_cmpmem (x.data, x.size, y.data, y.size);
  gst_buffer_unmap (a, &x);
  gst_buffer_unmap (b, &y);
}

/* Pixels @x to @x + 32, @y to @y + 24 of a picture. */
static GstBuffer *
cut_out (GstBuffer *buffer, const GstVideoInfo *info, gint x, gint y)
{
  GstBuffer *cut = gst_buffer_new_allocate (NULL, 32 * 24 * 3, NULL);
  GstVideoFrame frame;
  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (gint row = 0; row < 24; row++)
    gst_buffer_fill (cut, (gsize)row * 96,
                     (guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
                         (y + row) * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + 3 * x,
                     96);
  gst_video_frame_unmap (&frame);
  return cut;
}

/* As videocrop leaves it, with caps of what is visible, and as decoders may, with those of all. */
static void
a_cropped_frame_is_read_where_it_is_visible (void)
{
  static const gchar *const caps[] = { "video/x-raw,format=RGB,width=32,height=24,framerate=30/1",
                                       "video/x-raw,format=RGB,width=64,height=48,framerate=30/1" };
  const gchar *launch = "nnpreproc width=16 height=12";
  GstVideoInfo info;
  g_autoptr (GstBuffer) whole = new_picture (GST_VIDEO_FORMAT_RGB, 64, 48, &info);
  g_autoptr (GstBuffer) expected = preprocess (launch, caps[0], cut_out (whole, &info, 7, 5));
  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    GstBuffer *cropped = gst_buffer_copy (whole);
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (cropped);
    g_autoptr (GstBuffer) got = NULL;
    const GstNnTensorMeta *meta;
    crop->x = 7;
    crop->y = 5;
    crop->width = 32;
    crop->height = 24;
    got = preprocess (launch, caps[i], cropped);
    same_floats (got, expected);
    meta = gst_buffer_get_nn_tensor_meta (got);
    g_assert_cmpint (meta->width, ==, i ? 64 : 32);
    g_assert_cmpint (meta->height, ==, i ? 48 : 24);
    g_assert_cmpfloat (meta->geometry.x, ==, i ? 7 : 0);
    g_assert_cmpfloat (meta->geometry.y, ==, i ? 5 : 0);
  }
}

int
main (int argc, char **argv)
{
  g_autoptr (GstElementFactory) factory = NULL;
  g_autoptr (GstCaps) caps = NULL;
  const GValue *formats;
  g_setenv ("ORC_CODE", "backup", TRUE); /* its own code for Arm is further off than we may be */
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  factory = gst_element_factory_find ("nnpreproc");
  for (const GList *l = gst_element_factory_get_static_pad_templates (factory); l; l = l->next)
    if (((GstStaticPadTemplate *)l->data)->direction == GST_PAD_SINK)
      caps = gst_static_pad_template_get_caps (l->data);
  formats = gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");
  for (guint i = 0; i < gst_value_list_get_size (formats); i++) {
    const gchar *name = g_value_get_string (gst_value_list_get_value (formats, i));
    g_autofree gchar *path = g_strdup_printf (
        "/formats/every_format_becomes_what_videoconvertscale_makes_of_it/%s", name);
    g_test_add_data_func (path, GINT_TO_POINTER (gst_video_format_from_string (name)),
                          every_format_becomes_what_videoconvertscale_makes_of_it);
  }
  g_test_add_func ("/formats/a_cropped_frame_is_read_where_it_is_visible",
                   a_cropped_frame_is_read_where_it_is_visible);
  return g_test_run ();
}
