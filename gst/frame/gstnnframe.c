/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnframe.h"

#include "config.h"
#include <glib/gi18n-lib.h>

static const struct {
  GstVideoFormat video;
  AxonImageFormat image;
} formats[] = {
  { GST_VIDEO_FORMAT_NV12, AXON_IMAGE_FORMAT_NV12 },
  { GST_VIDEO_FORMAT_I420, AXON_IMAGE_FORMAT_I420 },
  { GST_VIDEO_FORMAT_RGB, AXON_IMAGE_FORMAT_RGB },
  { GST_VIDEO_FORMAT_BGR, AXON_IMAGE_FORMAT_BGR },
  { GST_VIDEO_FORMAT_RGBx, AXON_IMAGE_FORMAT_RGBX },
  { GST_VIDEO_FORMAT_RGBA, AXON_IMAGE_FORMAT_RGBX },
  { GST_VIDEO_FORMAT_BGRx, AXON_IMAGE_FORMAT_BGRX },
  { GST_VIDEO_FORMAT_BGRA, AXON_IMAGE_FORMAT_BGRX },
  { GST_VIDEO_FORMAT_GRAY8, AXON_IMAGE_FORMAT_GRAY8 },
};

/* Colorimetry as the caps say; GStreamer fills in its default by size where they do not. */
static void
init_image_info (AxonImageInfo *info, const GstVideoInfo *video)
{
  gdouble kr = 0.299, kb = 0.114;
  guint i = 0;
  while (i + 1 < G_N_ELEMENTS (formats) && formats[i].video != GST_VIDEO_INFO_FORMAT (video))
    i++;
  gst_video_color_matrix_get_Kr_Kb (video->colorimetry.matrix, &kr, &kb);
  *info = (AxonImageInfo){ .format = formats[i].image,
                           .width = GST_VIDEO_INFO_WIDTH (video),
                           .height = GST_VIDEO_INFO_HEIGHT (video),
                           .kr_1e6 = (gint64)(kr * 1e6 + 0.5),
                           .kb_1e6 = (gint64)(kb * 1e6 + 0.5),
                           .full_range = video->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255 };
}

static gboolean
bind_bytes (AxonInferRequest *request, guint input, AxonDType dtype, gpointer data, gint64 numel,
            GError **error)
{
  AxonShape shape = { .rank = 1, .dims = { numel } };
  g_autoptr (AxonTensor) tensor = axon_tensor_new_wrapped (
      dtype, &shape, data, (gsize)numel * axon_dtype_get_size (dtype), NULL, NULL, error);
  return tensor != NULL && axon_infer_request_set_input_tensor (request, input, tensor, error);
}

/* The planes are used in place: keep @frame until the request is done, then unmap it. */
gboolean
gst_nn_frame_bind (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                   AxonInferRequest *request, guint first_input, GError **error)
{
  static guint8 none[1];
  guint n;
  if (!gst_video_frame_map (&frame->frame, video, buffer,
                            GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("the frame cannot be mapped: its buffer does not fit the caps"));
    return FALSE;
  }
  frame->mapped = TRUE;
  init_image_info (&frame->info, video);
  n = axon_image_format_get_n_planes ((AxonImageFormat)frame->info.format);
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    gint64 rows = p == 0 ? frame->info.height : (frame->info.height + 1) / 2;
    gint64 bytes = 1;
    if (p < n) {
      frame->info.stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE (&frame->frame, p);
      /* The last row ends with its last pixel, not with its stride. */
      bytes = frame->info.stride[p] * (rows - 1) +
              GST_VIDEO_FRAME_COMP_WIDTH (&frame->frame, p == 0 ? 0 : 1) *
                  GST_VIDEO_FRAME_COMP_PSTRIDE (&frame->frame, p == 0 ? 0 : 1);
    }
    if (!bind_bytes (request, first_input + 1 + p, AXON_DTYPE_U8,
                     p < n ? GST_VIDEO_FRAME_PLANE_DATA (&frame->frame, p) : none, bytes, error))
      return FALSE;
  }
  return bind_bytes (request, first_input, AXON_DTYPE_I64, &frame->info, AXON_IMAGE_INFO_NUMEL,
                     error);
}

void
gst_nn_frame_unmap (GstNnFrame *frame)
{
  if (frame->mapped)
    gst_video_frame_unmap (&frame->frame);
  frame->mapped = FALSE;
}

AxonPreprocess *
gst_nn_preprocess_new (const GstNnDescription *d)
{
  AxonPreprocess *pp = axon_preprocess_new ();
  axon_preprocess_set_color (pp, d->color);
  axon_preprocess_set_fit (pp, d->resize, d->pad_value);
  axon_preprocess_set_mean (pp, d->mean, d->n_mean);
  axon_preprocess_set_scale (pp, d->scale, d->n_scale);
  axon_preprocess_set_size (pp, d->width, d->height);
  return pp;
}
