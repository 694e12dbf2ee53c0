/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnthumbnail.h"

#include "config.h"

#ifdef HAVE_PIXBUF
#include <gdk-pixbuf/gdk-pixbuf.h>

#define QUALITY "80"

static GstVideoConverter *
converter_new (const GstVideoFrame *frame, const GstVideoInfo *to, const GstVideoRectangle *r)
{
  GstVideoInfo from = frame->info, info = *to;
  GstStructure *options = gst_structure_new (
      "options", GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT, r->x, GST_VIDEO_CONVERTER_OPT_SRC_Y,
      G_TYPE_INT, r->y, GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, r->w,
      GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, r->h, NULL);
  return gst_video_converter_new (&from, &info, options);
}

/* Inside of the frame, at even places: chroma is for two pixels. */
static gboolean
clip (const GstVideoFrame *frame, GstVideoRectangle *r, gdouble x, gdouble y, gdouble width,
      gdouble height)
{
  gdouble w = GST_VIDEO_FRAME_WIDTH (frame), h = GST_VIDEO_FRAME_HEIGHT (frame);
  r->x = (gint)CLAMP (x, 0, w) & ~1;
  r->y = (gint)CLAMP (y, 0, h) & ~1;
  r->w = (gint)CLAMP (x + width, 0, w) - r->x;
  r->h = (gint)CLAMP (y + height, 0, h) - r->y;
  return r->w > 0 && r->h > 0;
}

static gchar *
encode (const GstVideoFrame *picture)
{
  g_autoptr (GdkPixbuf) pixbuf = gdk_pixbuf_new_from_data (
      GST_VIDEO_FRAME_PLANE_DATA (picture, 0), GDK_COLORSPACE_RGB, FALSE, 8,
      GST_VIDEO_FRAME_WIDTH (picture), GST_VIDEO_FRAME_HEIGHT (picture),
      GST_VIDEO_FRAME_PLANE_STRIDE (picture, 0), NULL, NULL);
  g_autofree gchar *jpeg = NULL;
  gsize n;
  if (!gdk_pixbuf_save_to_buffer (pixbuf, &jpeg, &n, "jpeg", NULL, "quality", QUALITY, NULL))
    return NULL;
  return g_base64_encode ((const guchar *)jpeg, n);
}

gchar *
gst_nn_thumbnail_new (const GstVideoFrame *frame, guint edge, gdouble x, gdouble y, gdouble width,
                      gdouble height)
{
  GstVideoRectangle r;
  GstVideoInfo info;
  GstVideoFrame picture;
  GstVideoConverter *converter;
  g_autoptr (GstBuffer) buffer = NULL;
  gchar *text = NULL;
  gdouble factor;
  if (!clip (frame, &r, x, y, width, height))
    return NULL;
  factor = MIN (1, (gdouble)edge / MAX (r.w, r.h));
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, (guint)MAX (1, r.w * factor),
                             (guint)MAX (1, r.h * factor));
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  if (buffer == NULL || !gst_video_frame_map (&picture, &info, buffer, GST_MAP_READWRITE))
    return NULL;
  info.fps_n = frame->info.fps_n; /* a converter leaves times alone, and says so */
  info.fps_d = frame->info.fps_d;
  converter = converter_new (frame, &info, &r);
  if (converter != NULL) {
    gst_video_converter_frame (converter, frame, &picture);
    gst_video_converter_free (converter);
    text = encode (&picture);
  }
  gst_video_frame_unmap (&picture);
  return text;
}
#else
gchar *
gst_nn_thumbnail_new (G_GNUC_UNUSED const GstVideoFrame *frame, G_GNUC_UNUSED guint edge,
                      G_GNUC_UNUSED gdouble x, G_GNUC_UNUSED gdouble y, G_GNUC_UNUSED gdouble width,
                      G_GNUC_UNUSED gdouble height)
{
  return NULL;
}
#endif
