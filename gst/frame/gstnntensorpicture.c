/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnntensorpicture.h"

static gdouble
number_at (const gfloat *values, guint n, guint channel, gdouble otherwise)
{
  return n == 0 ? otherwise : (gdouble)values[MIN (channel, n - 1)];
}

/* Without a range the output is taken for what the input is: what mean and scale did is undone;
 * opacity is from 0 to 1. */
static void
choose_numbers (GstNnTensorPicture *p, AxonDType dtype, const GstNnDescription *d,
                GstNnPictureRange range)
{
  static const gdouble numbers[][2] = { [GST_NN_PICTURE_RANGE_UNIT] = { 255, 0 },
                                        [GST_NN_PICTURE_RANGE_BYTE] = { 1, 0 },
                                        [GST_NN_PICTURE_RANGE_SIGNED] = { 127.5, 127.5 } };
  gboolean undo = FALSE;
  if (range == GST_NN_PICTURE_RANGE_AUTO && dtype == AXON_DTYPE_U8)
    range = GST_NN_PICTURE_RANGE_BYTE;
  else if (range == GST_NN_PICTURE_RANGE_AUTO && (d == NULL || p->is_matte))
    range = GST_NN_PICTURE_RANGE_UNIT;
  else
    undo = range == GST_NN_PICTURE_RANGE_AUTO;
  for (guint c = 0; c < G_N_ELEMENTS (p->scale); c++) {
    p->scale[c] = undo ? number_at (d->scale, d->n_scale, c, 1) : numbers[range][0];
    p->offset[c] = undo ? number_at (d->mean, d->n_mean, c, 0) : numbers[range][1];
  }
}

/* What shows the frame of the input shows it in the output, too. */
static void
leave_out_bars (GstNnTensorPicture *p, const AxonImageGeometry *g)
{
  gint64 right, below;
  p->column = p->row = 0;
  p->width = (gint)p->map.columns;
  p->height = (gint)p->map.rows;
  if (g == NULL || g->width <= 0 || g->height <= 0 || g->dst_width <= 0 || g->dst_height <= 0)
    return;
  p->column = CLAMP (g->dst_x * p->map.columns / g->width, 0, p->map.columns - 1);
  p->row = CLAMP (g->dst_y * p->map.rows / g->height, 0, p->map.rows - 1);
  right = (g->dst_x + g->dst_width) * p->map.columns / g->width;
  below = (g->dst_y + g->dst_height) * p->map.rows / g->height;
  p->width = (gint)CLAMP (right - p->column, 1, p->map.columns - p->column);
  p->height = (gint)CLAMP (below - p->row, 1, p->map.rows - p->row);
}

static gboolean
is_picture (const GstNnMap *map, gboolean is_matte)
{
  gint64 n = map->channels;
  return map->rows > 1 && map->columns > 1 && map->rows <= G_MAXINT16 &&
         map->columns <= G_MAXINT16 &&
         (n == 1 || n == 3 || n == 4 || (n == 2 && is_matte && gst_nn_map_has_shares (map)));
}

gboolean
gst_nn_tensor_picture_init (GstNnTensorPicture *picture, GPtrArray *tensors,
                            const GstNnTensorMeta *meta, GstNnPictureRange range)
{
  const GstNnDescription *d = meta != NULL ? meta->description : NULL;
  *picture = (GstNnTensorPicture){ .is_matte = d != NULL && g_strcmp0 (d->decoder, "matte") == 0 };
  for (guint i = 0; i < tensors->len; i++) {
    AxonTensor *tensor = g_ptr_array_index (tensors, i);
    g_autoptr (AxonTensor) floats = axon_tensor_convert (tensor, AXON_DTYPE_F32, NULL);
    g_autoptr (GPtrArray) one = g_ptr_array_new ();
    GstNnDecodeInput in = { .tensors = one,
                            .n_labels = picture->is_matte ? 2 : 3, /* the likeliest channels */
                            .width = meta ? meta->geometry.width : 0,
                            .height = meta ? meta->geometry.height : 0 };
    if (floats == NULL)
      continue;
    g_ptr_array_add (one, floats);
    if (!gst_nn_map_init (&picture->map, &in, 0) || !is_picture (&picture->map, picture->is_matte))
      continue;
    picture->tensor = g_steal_pointer (&floats);
    if (picture->map.channels == 2)
      picture->map.values += picture->map.channel_step;
    picture->channels = picture->map.channels == 2 ? 1 : (gint)picture->map.channels;
    picture->is_bgr = d != NULL && g_str_equal (d->color, "bgr");
    choose_numbers (picture, axon_tensor_get_dtype (tensor), d, range);
    leave_out_bars (picture, meta ? &meta->geometry : NULL);
    return TRUE;
  }
  return FALSE;
}

void
gst_nn_tensor_picture_clear (GstNnTensorPicture *picture)
{
  g_clear_pointer (&picture->tensor, axon_tensor_unref);
}

static GstVideoFormat
get_format (const GstNnTensorPicture *p)
{
  if (p->channels == 1)
    return GST_VIDEO_FORMAT_GRAY8;
  if (p->channels == 4)
    return p->is_bgr ? GST_VIDEO_FORMAT_BGRA : GST_VIDEO_FORMAT_RGBA;
  return p->is_bgr ? GST_VIDEO_FORMAT_BGR : GST_VIDEO_FORMAT_RGB;
}

static gboolean
is_known (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_FORMAT (info) != GST_VIDEO_FORMAT_UNKNOWN;
}

/* Pixels as wide as the picture was squeezed; what rounding does to a size does not count. */
static void
choose_aspect (const GstVideoInfo *from, const AxonImageGeometry *g, GstVideoInfo *info)
{
  gdouble width = g->scale_x * g->dst_width / GST_VIDEO_INFO_WIDTH (info);
  gdouble height = g->scale_y * g->dst_height / GST_VIDEO_INFO_HEIGHT (info);
  gdouble ratio = width / height;
  if (!(ratio > 0.01 && ratio < 100) || (ratio > 0.98 && ratio < 1.02))
    ratio = 1;
  gst_util_double_to_fraction (ratio * GST_VIDEO_INFO_PAR_N (from) / GST_VIDEO_INFO_PAR_D (from),
                               &info->par_n, &info->par_d);
}

GstVideoInfo
gst_nn_tensor_picture_describe (const GstNnTensorPicture *p, const GstVideoInfo *from,
                                const AxonImageGeometry *geometry, gboolean keep_chroma)
{
  GstVideoFormat format = get_format (p);
  GstVideoInfo info;
  if (format == GST_VIDEO_FORMAT_GRAY8 && keep_chroma && !p->is_matte && is_known (from) &&
      !GST_VIDEO_INFO_IS_GRAY (from))
    format = GST_VIDEO_FORMAT_I420;
  gst_video_info_set_format (&info, format, (guint)p->width, (guint)p->height);
  if (format == GST_VIDEO_FORMAT_I420 && GST_VIDEO_INFO_IS_YUV (from))
    info.colorimetry = from->colorimetry;
  else if (format == GST_VIDEO_FORMAT_I420) /* grey is made of RGB with these weights */
    gst_video_colorimetry_from_string (&info.colorimetry, GST_VIDEO_COLORIMETRY_BT601);
  if (is_known (from) && geometry != NULL && geometry->width > 0)
    choose_aspect (from, geometry, &info);
  return info;
}

void
gst_nn_tensor_picture_write (const GstNnTensorPicture *p, GstVideoFrame *frame)
{
  gboolean is_video_range = GST_VIDEO_INFO_IS_YUV (&frame->info) &&
                            frame->info.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255;
  gdouble low = is_video_range ? 16 : 0, stretch = is_video_range ? 219. / 255 : 1;
  for (gint r = 0; r < p->height; r++) {
    guint8 *row = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA (frame, 0) +
                  (gsize)r * (gsize)GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
    for (gint k = 0; k < p->channels; k++) {
      guint8 *to = row + k;
      for (gint c = 0; c < p->width; c++, to += p->channels) {
        gdouble v =
            gst_nn_map_at (&p->map, k, p->row + r, p->column + c) * p->scale[k] + p->offset[k];
        v = v > 0 ? MIN (v, 255) : 0; /* NaN is not above 0 */
        *to = (guint8)(low + v * stretch + 0.5);
      }
    }
  }
}
