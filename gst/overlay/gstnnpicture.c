/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnpicture.h"

#define AS_CAIRO (G_BYTE_ORDER == G_LITTLE_ENDIAN ? GST_VIDEO_FORMAT_BGRx : GST_VIDEO_FORMAT_xRGB)

static GstVideoFrame *
new_mapped (const GstVideoInfo *info)
{
  GstVideoFrame *picture = g_new0 (GstVideoFrame, 1);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  if (buffer != NULL && gst_video_frame_map (picture, info, buffer, GST_MAP_READWRITE))
    return picture;
  gst_clear_buffer (&buffer);
  g_free (picture);
  return NULL;
}

void
gst_nn_picture_free (GstVideoFrame *picture)
{
  GstBuffer *buffer = picture->buffer;
  gst_video_frame_unmap (picture);
  gst_buffer_unref (buffer);
  g_free (picture);
}

GstVideoFrame *
gst_nn_picture_new (guint width, guint height)
{
  GstVideoInfo info;
  gst_video_info_set_format (&info, AS_CAIRO, width, height);
  return new_mapped (&info);
}

GstVideoFrame *
gst_nn_picture_convert (const GstVideoFrame *picture, const GstVideoInfo *like)
{
  GstVideoInfo info, from = picture->info;
  GstVideoFrame *converted;
  GstVideoConverter *converter;
  gst_video_info_set_format (&info, GST_VIDEO_INFO_FORMAT (like),
                             (guint)GST_VIDEO_FRAME_WIDTH (picture),
                             (guint)GST_VIDEO_FRAME_HEIGHT (picture));
  info.colorimetry = like->colorimetry;
  info.chroma_site = like->chroma_site;
  converted = new_mapped (&info);
  converter = converted ? gst_video_converter_new (&from, &info, NULL) : NULL;
  if (converter != NULL) {
    gst_video_converter_frame (converter, picture, converted);
    gst_video_converter_free (converter);
  } else {
    g_clear_pointer (&converted, gst_nn_picture_free);
  }
  return converted;
}
