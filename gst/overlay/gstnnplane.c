/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnplane.h"

#include "gstnnpicture.h"

#define SAMPLE 16 /* the side of a picture of one colour */

/* GStreamer 1.22 says 1 for the second colour of formats whose samples have two bytes. */
static gint
offset_of (const GstVideoFormatInfo *format, guint component)
{
  static const GstVideoFormat pairs[] = { GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_P010_10BE,
                                          GST_VIDEO_FORMAT_P012_LE,   GST_VIDEO_FORMAT_P012_BE,
                                          GST_VIDEO_FORMAT_P016_LE,   GST_VIDEO_FORMAT_P016_BE };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (GST_VIDEO_FORMAT_INFO_FORMAT (format) == pairs[i])
      return component == 2 ? 2 : 0;
  return GST_VIDEO_FORMAT_INFO_POFFSET (format, component);
}

GstNnPlane
gst_nn_plane_of (const GstVideoFrame *frame, guint component)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  guint8 *plane =
      GST_VIDEO_FRAME_PLANE_DATA (frame, GST_VIDEO_FORMAT_INFO_PLANE (format, component));
  return (GstNnPlane){
    .data = plane + offset_of (format, component),
    .stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, component),
    .step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component),
    .bytes = GST_VIDEO_FORMAT_INFO_DEPTH (format, component) > 8 ? 2 : 1,
    .width = GST_VIDEO_FRAME_COMP_WIDTH (frame, component),
    .height = GST_VIDEO_FRAME_COMP_HEIGHT (frame, component),
    .x_shift = GST_VIDEO_FORMAT_INFO_W_SUB (format, component),
    .y_shift = GST_VIDEO_FORMAT_INFO_H_SUB (format, component),
  };
}

/* Of some packed formats it says 0 for all. */
static gboolean
lie_apart (const GstVideoFormatInfo *format, gint bytes)
{
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); c++)
    for (guint k = 0; k < c; k++)
      if (GST_VIDEO_FORMAT_INFO_PLANE (format, c) == GST_VIDEO_FORMAT_INFO_PLANE (format, k) &&
          ABS (offset_of (format, c) - offset_of (format, k)) < bytes)
        return FALSE;
  return TRUE;
}

gboolean
gst_nn_plane_is_drawable (const GstVideoFormatInfo *format)
{
  GstVideoFormatFlags cannot =
      GST_VIDEO_FORMAT_FLAG_COMPLEX | GST_VIDEO_FORMAT_FLAG_TILED | GST_VIDEO_FORMAT_FLAG_PALETTE;
  if ((GST_VIDEO_FORMAT_INFO_FLAGS (format) & cannot) != 0)
    return FALSE;
  if (!GST_VIDEO_FORMAT_INFO_IS_YUV (format) && !GST_VIDEO_FORMAT_INFO_IS_RGB (format) &&
      !GST_VIDEO_FORMAT_INFO_IS_GRAY (format))
    return FALSE;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); c++) {
    gint depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, c);
    gboolean one = depth == 8 && GST_VIDEO_FORMAT_INFO_SHIFT (format, c) == 0;
    gboolean two = depth > 8 && depth <= 16 && GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c) % 2 == 0 &&
                   GST_VIDEO_FORMAT_INFO_IS_LE (format) == (G_BYTE_ORDER == G_LITTLE_ENDIAN);
    if (GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c) <= 0 || (!one && !two) ||
        !lie_apart (format, one ? 1 : 2))
      return FALSE;
  }
  return TRUE;
}

void
gst_nn_plane_formats (GValue *list)
{
  guint n;
  const GstVideoFormat *formats = gst_video_formats_raw (&n);
  g_value_init (list, GST_TYPE_LIST);
  for (guint i = 0; i < n; i++)
    if (gst_nn_plane_is_drawable (gst_video_format_get_info (formats[i]))) {
      GValue name = G_VALUE_INIT;
      g_value_init (&name, G_TYPE_STRING);
      g_value_set_string (&name, gst_video_format_to_string (formats[i]));
      gst_value_list_append_and_take_value (list, &name);
    }
}

/* GStreamer converts them, side by side: of some formats the description does not tell where the
 * bits are. */
void
gst_nn_plane_colors (const GstVideoInfo *info, const guint32 *rgb, guint n, GstNnColor *colors)
{
  GstVideoFrame *drawn = NULL, *converted = NULL;
  if (gst_nn_plane_is_drawable (info->finfo))
    drawn = gst_nn_picture_new (n * SAMPLE, SAMPLE);
  memset (colors, 0, n * sizeof *colors);
  for (guint y = 0; drawn != NULL && y < SAMPLE; y++)
    for (guint x = 0; x < n * SAMPLE; x++)
      ((guint32 *)GST_VIDEO_FRAME_PLANE_DATA (drawn, 0))[y * n * SAMPLE + x] = rgb[x / SAMPLE];
  if (drawn != NULL)
    converted = gst_nn_picture_convert (drawn, info);
  for (guint c = 0; converted != NULL && c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    GstNnPlane p = gst_nn_plane_of (converted, c);
    for (guint i = 0; i < n; i++)
      colors[i].value[c] =
          gst_nn_plane_get (&p, gst_nn_plane_at (&p, (gint)(i * SAMPLE + SAMPLE / 2) >> p.x_shift,
                                                 (SAMPLE / 2) >> p.y_shift));
  }
  g_clear_pointer (&converted, gst_nn_picture_free);
  g_clear_pointer (&drawn, gst_nn_picture_free);
}
