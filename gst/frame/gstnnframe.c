/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnframe.h"
#include "caps/gstnncaps.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

#define ROW(video, image) { GST_VIDEO_FORMAT_##video, AXON_IMAGE_FORMAT_##image },
static const struct {
  GstVideoFormat video;
  AxonImageFormat image;
} formats[] = { GST_NN_VIDEO_FORMAT_TABLE (ROW, ROW) };
#undef ROW

gboolean
gst_nn_video_set_caps (GstVideoInfo *video, GstElement *element, const GstCaps *caps,
                       GError **error)
{
  gboolean was_interlaced = video->finfo != NULL && GST_VIDEO_INFO_IS_INTERLACED (video);
  GstVideoInterlaceMode mode;
  g_autofree gchar *text = gst_caps_to_string (caps);
  if (!gst_video_info_from_caps (video, caps)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("caps %s are no video"), text);
    return FALSE;
  }
  mode = GST_VIDEO_INFO_INTERLACE_MODE (video);
  if (mode == GST_VIDEO_INTERLACE_MODE_FIELDS || mode == GST_VIDEO_INTERLACE_MODE_ALTERNATE) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("caps %s: fields are no pictures; ask the source for whole frames with "
                    "\"video/x-raw,interlace-mode=interleaved\", and insert deinterlace"),
                 text);
    return FALSE;
  }
  if (GST_VIDEO_INFO_IS_INTERLACED (video) && !was_interlaced)
    GST_ELEMENT_WARNING (element, STREAM, FORMAT,
                         (_ ("The frames are interlaced: both fields are taken as one picture. "
                             "Insert deinterlace before this element where things move.")),
                         ("%s", text));
  return TRUE;
}

/* Whose frames cannot always be mapped, and what copies them into memory that can. */
static const struct {
  const gchar *memory, *element;
} copiers[] = {
  { "VAMemory", "vapostproc" },
  { "dmabuf", "vapostproc, v4l2convert or glupload ! gldownload" },
  { "GstVaapiVideoMemory", "vaapipostproc" },
  { "GLMemory", "gldownload" },
  { "GLMemoryPBO", "gldownload" },
  { "GLMemoryEGL", "gldownload" },
  { "gst.cuda.memory", "cudadownload" },
  { "D3D11Memory", "d3d11download" },
  { "D3D12Memory", "d3d12download" },
  { "VulkanImage", "vulkandownload" },
  { "GstMfxVideoMemory", "msdkvpp" },
};

static void
set_map_error (GstBuffer *buffer, GError **error)
{
  GstMemory *memory = gst_buffer_n_memory (buffer) > 0 ? gst_buffer_peek_memory (buffer, 0) : NULL;
  const gchar *type = memory && memory->allocator ? memory->allocator->mem_type : NULL;
  const gchar *element = "nvvidconv, nvvideoconvert or videoconvert";
  if (memory == NULL || type == NULL || g_str_equal (type, GST_ALLOCATOR_SYSMEM)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("the frame cannot be mapped: its buffer does not fit the caps"));
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (copiers); i++)
    if (g_str_equal (type, copiers[i].memory))
      element = copiers[i].element;
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_MEMORY,
      _ ("a frame in memory of type %s cannot be mapped: insert an element before this one "
         "that copies it into system memory, such as %s"),
      type, element);
}

/* Colorimetry as the caps say; GStreamer fills in its default by size where they do not. */
static void
set_format (GstNnFrame *frame, const GstVideoInfo *video)
{
  const GstVideoColorimetry *color = &video->colorimetry;
  gdouble kr = 0.299, kb = 0.114;
  guint i = 0;
  while (i + 1 < G_N_ELEMENTS (formats) && formats[i].video != GST_VIDEO_INFO_FORMAT (video))
    i++;
  gst_video_color_matrix_get_Kr_Kb (color->matrix, &kr, &kb);
  frame->info = (AxonImageInfo){ .format = formats[i].image,
                                 .width = GST_VIDEO_FRAME_WIDTH (&frame->frame),
                                 .height = GST_VIDEO_FRAME_HEIGHT (&frame->frame),
                                 .kr_1e6 = (gint64)(kr * 1e6 + 0.5),
                                 .kb_1e6 = (gint64)(kb * 1e6 + 0.5),
                                 .full_range = color->range == GST_VIDEO_COLOR_RANGE_0_255 };
  for (guint p = 0; p < MIN (GST_VIDEO_FRAME_N_PLANES (&frame->frame), AXON_IMAGE_MAX_PLANES); p++)
    frame->info.stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE (&frame->frame, p);
}

/* Caps are of the cropped size, as videocrop makes them, or of the whole, as some decoders do. */
static void
set_visible (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  AxonImageInfo *info = &frame->info;
  gint width = GST_VIDEO_INFO_WIDTH (video), height = GST_VIDEO_INFO_HEIGHT (video);
  frame->width = width;
  frame->height = height;
  frame->x = frame->y = 0;
  if (crop != NULL && (gint)crop->width == width && (gint)crop->height == height) {
    frame->x = (gint)crop->x;
    frame->y = (gint)crop->y;
  }
  info->crop_width = width;
  info->crop_height = height;
  if (crop != NULL) {
    info->crop_x = crop->x;
    info->crop_y = crop->y;
    info->crop_width = crop->width;
    info->crop_height = crop->height;
  }
}

gboolean
gst_nn_frame_map (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer, GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  gint width = GST_VIDEO_INFO_WIDTH (video), height = GST_VIDEO_INFO_HEIGHT (video);
  if (meta != NULL && (meta->format != GST_VIDEO_INFO_FORMAT (video) ||
                       meta->width < (guint)width || meta->height < (guint)height)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("the frame is %s of %ux%u, the caps say %s of %dx%d"),
                 gst_video_format_to_string (meta->format), meta->width, meta->height,
                 gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (video)), width, height);
    return FALSE;
  }
  memset (&frame->frame, 0, sizeof frame->frame);
  if (!gst_video_frame_map (&frame->frame, video, buffer,
                            GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    set_map_error (buffer, error);
    return FALSE;
  }
  frame->mapped = TRUE;
  set_format (frame, video);
  set_visible (frame, video, buffer);
  return TRUE;
}

/* Bytes that @plane has, as far as the mapping tells; @size where the memory maps in its own way.
 */
static gsize
count_bytes (const GstVideoFrame *frame, guint plane, gsize size)
{
  const guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (frame, plane);
  const GstMapInfo *map = &frame->map[frame->meta ? plane : 0];
  if (map->data == NULL || data < map->data || data > map->data + map->size)
    return size;
  return MIN (size, (gsize)(map->data + map->size - data));
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

gboolean
gst_nn_frame_bind_region (const GstNnFrame *frame, AxonImageInfo *info, AxonInferRequest *request,
                          guint first_input, GError **error)
{
  static guint8 none[1];
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    gsize size = axon_image_info_get_plane_size (info, p), bytes = 0;
    if (size > 0)
      bytes = count_bytes (&frame->frame, p, size);
    if (!bind_bytes (request, first_input + 1 + p, AXON_DTYPE_U8,
                     bytes > 0 ? GST_VIDEO_FRAME_PLANE_DATA (&frame->frame, p) : none,
                     (gint64)MAX (bytes, 1), error))
      return FALSE;
  }
  return bind_bytes (request, first_input, AXON_DTYPE_I64, info, AXON_IMAGE_INFO_NUMEL, error);
}

gboolean
gst_nn_frame_bind (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                   AxonInferRequest *request, guint first_input, GError **error)
{
  return gst_nn_frame_map (frame, video, buffer, error) &&
         gst_nn_frame_bind_region (frame, &frame->info, request, first_input, error);
}

void
gst_nn_frame_describe (const GstNnFrame *frame, const GstNnDescription *d, gint width, gint height,
                       GstNnTensorMeta *meta)
{
  meta->width = frame->width;
  meta->height = frame->height;
  axon_image_geometry_init (&meta->geometry, &frame->info, d->resize, d->crop_fraction, width,
                            height);
  meta->geometry.x -= frame->x;
  meta->geometry.y -= frame->y;
}

void
gst_nn_frame_unmap (GstNnFrame *frame)
{
  if (frame->mapped)
    gst_video_frame_unmap (&frame->frame);
  frame->mapped = FALSE;
}

gint
gst_nn_frame_choose_size (gint side, gint other, gint given)
{
  gint64 size = given > 0 && other > 0 ? (gint64)side * given / other : side;
  return (gint)CLAMP ((size + 16) / 32 * 32, 32, 16384);
}

AxonPreprocess *
gst_nn_preprocess_new (const GstNnDescription *d)
{
  AxonPreprocess *pp = axon_preprocess_new ();
  axon_preprocess_set_color (pp, d->color);
  axon_preprocess_set_fit (pp, d->resize, d->pad_value);
  axon_preprocess_set_crop_fraction (pp, d->crop_fraction);
  axon_preprocess_set_mean (pp, d->mean, d->n_mean);
  axon_preprocess_set_scale (pp, d->scale, d->n_scale);
  axon_preprocess_set_size (pp, d->width, d->height);
  return pp;
}
