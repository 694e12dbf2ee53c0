/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.ImageToTensor: a video frame becomes the tensor a model wants, in one pass.
 *
 * Inputs: info (AxonImageInfo as i64), then one u8 vector per plane. Bilinear with pixel centres at
 * half coordinates; chroma is taken from the nearest sample (w/2, h/2) of each luma tap; YUV is
 * converted after interpolation and clipped to 0..255; then (value - mean) * scale. */
#include "ops-private.h"
#include <axon/axonimage.h>

#include <math.h>
#include <string.h>

/* planes, bytes per pixel in plane 0, offsets of R, G, B there, height divisor of planes 1 and 2 */
static const struct {
  guint n_planes, pixel_stride, rgb[3];
} formats[] = {
  [AXON_IMAGE_FORMAT_NV12] = { 2, 1, { 0 } },
  [AXON_IMAGE_FORMAT_I420] = { 3, 1, { 0 } },
  [AXON_IMAGE_FORMAT_RGB] = { 1, 3, { 0, 1, 2 } },
  [AXON_IMAGE_FORMAT_BGR] = { 1, 3, { 2, 1, 0 } },
  [AXON_IMAGE_FORMAT_RGBX] = { 1, 4, { 0, 1, 2 } },
  [AXON_IMAGE_FORMAT_BGRX] = { 1, 4, { 2, 1, 0 } },
  [AXON_IMAGE_FORMAT_GRAY8] = { 1, 1, { 0, 0, 0 } },
};

/**
 * axon_image_format_get_n_planes:
 * @format: a format
 *
 * Returns: the number of planes
 *
 * Since: 1.0
 */
guint
axon_image_format_get_n_planes (AxonImageFormat format)
{
  return formats[format].n_planes;
}

/**
 * axon_image_format_get_pixel_stride:
 * @format: a format
 *
 * Returns: bytes from one pixel to the next in plane 0
 *
 * Since: 1.0
 */
guint
axon_image_format_get_pixel_stride (AxonImageFormat format)
{
  return formats[format].pixel_stride;
}

/**
 * axon_image_info_check:
 * @info: a description
 * @plane_bytes: (array fixed-size=3): bytes that each plane has
 * @error: return location
 *
 * Returns: %TRUE if every pixel of the description lies within its plane
 *
 * Since: 1.0
 */
gboolean
axon_image_info_check (const AxonImageInfo *info, const gsize *plane_bytes, GError **error)
{
  if (info->format < 0 || info->format >= (gint64)G_N_ELEMENTS (formats) || info->width < 1 ||
      info->height < 1 || info->width > G_MAXINT16 || info->height > G_MAXINT16)
    FAIL (ARGUMENT, "image: format %d, size %dx%d", (int)info->format, (int)info->width,
          (int)info->height);
  for (guint p = 0; p < formats[info->format].n_planes; p++) {
    gint64 width = p == 0 ? info->width * formats[info->format].pixel_stride
                   : info->format == AXON_IMAGE_FORMAT_NV12 ? (info->width + 1) / 2 * 2
                                                            : (info->width + 1) / 2;
    gint64 rows = p == 0 ? info->height : (info->height + 1) / 2;
    if (info->stride[p] < width || info->stride[p] > G_MAXINT32 ||
        (guint64)(info->stride[p] * (rows - 1) + width) > plane_bytes[p])
      FAIL (ARGUMENT, "image: plane %u has %" G_GSIZE_FORMAT " bytes, too few for %dx%d", p,
            plane_bytes[p], (int)info->width, (int)info->height);
  }
  if (info->crop_width != 0 || info->crop_height != 0)
    if (info->crop_x < 0 || info->crop_y < 0 || info->crop_width < 1 || info->crop_height < 1 ||
        info->crop_x > info->width - info->crop_width ||
        info->crop_y > info->height - info->crop_height)
      FAIL (ARGUMENT, "image: the crop region lies outside the frame");
  return TRUE;
}

/**
 * axon_image_geometry_init:
 * @geometry: (out caller-allocates): the result
 * @info: a checked description
 * @fit: what happens to the aspect ratio
 * @width: tensor width
 * @height: tensor height
 *
 * Since: 1.0
 */
void
axon_image_geometry_init (AxonImageGeometry *geometry, const AxonImageInfo *info, AxonImageFit fit,
                          gint width, gint height)
{
  gdouble cw = (gdouble)(info->crop_width ? info->crop_width : info->width);
  gdouble ch = (gdouble)(info->crop_height ? info->crop_height : info->height);
  AxonImageGeometry g = { .x = (gdouble)info->crop_x,
                          .y = (gdouble)info->crop_y,
                          .dst_width = width,
                          .dst_height = height,
                          .width = width,
                          .height = height };
  if (fit == AXON_IMAGE_FIT_CROP) {
    gdouble ratio = fmin (cw / width, ch / height);
    g.x += (cw - width * ratio) / 2;
    g.y += (ch - height * ratio) / 2;
    cw = width * ratio;
    ch = height * ratio;
  } else if (fit != AXON_IMAGE_FIT_STRETCH) {
    gdouble ratio = fmin (width / cw, height / ch);
    g.dst_width = CLAMP ((gint)(cw * ratio + 0.5), 1, width);
    g.dst_height = CLAMP ((gint)(ch * ratio + 0.5), 1, height);
    if (fit == AXON_IMAGE_FIT_LETTERBOX) {
      g.dst_x = (width - g.dst_width) / 2;
      g.dst_y = (height - g.dst_height) / 2;
    }
  }
  g.scale_x = cw / g.dst_width;
  g.scale_y = ch / g.dst_height;
  *geometry = g;
}

gboolean
axon_image_target_init (AxonImageTarget *t, const AxonNode *node, GError **error)
{
  const gchar *color = axon_node_get_string (node, "color");
  guint n_mean, n_scale;
  const gfloat *mean = axon_node_get_floats (node, "mean", &n_mean);
  const gfloat *scale = axon_node_get_floats (node, "scale", &n_scale);
  *t = (AxonImageTarget){ .width = (gint)axon_node_get_int (node, "width"),
                          .height = (gint)axon_node_get_int (node, "height"),
                          .channels = g_str_equal (color, "gray") ? 1 : 3,
                          .nhwc = g_str_equal (axon_node_get_string (node, "layout"), "nhwc"),
                          .bgr = g_str_equal (color, "bgr"),
                          .fit = (AxonImageFit)axon_node_get_int (node, "fit"),
                          .dtype = (AxonDType)axon_node_get_int (node, "dtype"),
                          .pad = (gfloat)axon_node_get_float (node, "pad_value") };
  if (t->width < 1 || t->height < 1 || t->width > 16384 || t->height > 16384)
    FAIL (ARGUMENT, "target size %dx%d is out of range", t->width, t->height);
  if (axon_dtype_get_size (t->dtype) == 0)
    FAIL (ARGUMENT, "target type %d", (int)t->dtype);
  if ((n_mean > 1 && n_mean != (guint)t->channels) ||
      (n_scale > 1 && n_scale != (guint)t->channels))
    FAIL (ARGUMENT, "mean has %u and scale %u values for %d channels", n_mean, n_scale,
          t->channels);
  for (gint c = 0; c < t->channels; c++) {
    t->mean[c] = n_mean == 0 ? 0 : mean[n_mean > 1 ? c : 0];
    t->scale[c] = n_scale == 0 ? 1 : 1 / scale[n_scale > 1 ? c : 0];
    if (!isfinite (t->scale[c]))
      FAIL (ARGUMENT, "scale is 0");
  }
  return TRUE;
}

static gboolean
infer_image (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonImageTarget t;
  if (in[0].dtype != AXON_DTYPE_I64)
    FAIL (ARGUMENT, "info must be i64");
  if (!axon_image_target_init (&t, node, error))
    return FALSE;
  out[0].dtype = t.dtype;
  out[0].shape = t.nhwc ? AXON_SHAPE (1, t.height, t.width, t.channels)
                        : AXON_SHAPE (1, t.channels, t.height, t.width);
  return TRUE;
}

/* Plane values (Y, U, V or R, G, B) of one source pixel. */
static void
fetch (const AxonImageInfo *info, const guint8 *const *planes, gint64 x, gint64 y, gdouble *v)
{
  const guint8 *p = planes[0] + y * info->stride[0] + x * formats[info->format].pixel_stride;
  if (info->format == AXON_IMAGE_FORMAT_NV12) {
    const guint8 *uv = planes[1] + y / 2 * info->stride[1] + x / 2 * 2;
    v[0] = p[0];
    v[1] = uv[0];
    v[2] = uv[1];
  } else if (info->format == AXON_IMAGE_FORMAT_I420) {
    v[0] = p[0];
    v[1] = planes[1][y / 2 * info->stride[1] + x / 2];
    v[2] = planes[2][y / 2 * info->stride[2] + x / 2];
  } else {
    for (gint c = 0; c < 3; c++)
      v[c] = p[formats[info->format].rgb[c]];
  }
}

static void
yuv_to_rgb (const AxonImageInfo *info, gdouble *v)
{
  gdouble kr = (gdouble)info->kr_1e6 / 1e6, kb = (gdouble)info->kb_1e6 / 1e6, kg = 1 - kr - kb;
  gdouble y = info->full_range ? v[0] : (v[0] - 16) * 255 / 219;
  gdouble c = info->full_range ? 1 : 255. / 224;
  gdouble u = (v[1] - 128) * c, w = (v[2] - 128) * c;
  v[0] = y + 2 * (1 - kr) * w;
  v[1] = y - 2 * kb * (1 - kb) / kg * u - 2 * kr * (1 - kr) / kg * w;
  v[2] = y + 2 * (1 - kb) * u;
}

static void
sample (const AxonImageInfo *info, const guint8 *const *planes, gdouble x, gdouble y, gdouble *v)
{
  gint64 x0 = (gint64)floor (x), y0 = (gint64)floor (y);
  gdouble fx = x - (gdouble)x0, fy = y - (gdouble)y0, tap[3];
  v[0] = v[1] = v[2] = 0;
  for (gint i = 0; i < 4; i++) {
    gint64 px = CLAMP (x0 + (i & 1), 0, info->width - 1);
    gint64 py = CLAMP (y0 + (i >> 1), 0, info->height - 1);
    gdouble weight = (i & 1 ? fx : 1 - fx) * (i >> 1 ? fy : 1 - fy);
    fetch (info, planes, px, py, tap);
    for (gint c = 0; c < 3; c++)
      v[c] += weight * tap[c];
  }
  if (info->format == AXON_IMAGE_FORMAT_NV12 || info->format == AXON_IMAGE_FORMAT_I420)
    yuv_to_rgb (info, v);
  for (gint c = 0; c < 3; c++)
    v[c] = CLAMP (v[c], 0, 255);
}

static void
to_channels (const AxonImageTarget *t, gdouble *v)
{
  if (t->channels == 1) {
    v[0] = 0.299 * v[0] + 0.587 * v[1] + 0.114 * v[2];
  } else if (t->bgr) {
    gdouble r = v[0];
    v[0] = v[2];
    v[2] = r;
  }
}

static gboolean
eval_image (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const guint8 *planes[AXON_IMAGE_MAX_PLANES];
  gsize bytes[AXON_IMAGE_MAX_PLANES];
  AxonImageInfo info;
  AxonImageTarget t;
  AxonImageGeometry g;
  if (axon_tensor_get_numel (in[0]) != (gsize)AXON_IMAGE_INFO_NUMEL)
    FAIL (ARGUMENT, "info must have %d elements", (int)AXON_IMAGE_INFO_NUMEL);
  memcpy (&info, axon_tensor_get_data (in[0]), sizeof info);
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    planes[p] = axon_tensor_get_data (in[1 + p]);
    bytes[p] = axon_tensor_get_n_bytes (in[1 + p]);
  }
  if (!axon_image_info_check (&info, bytes, error) || !axon_image_target_init (&t, node, error))
    return FALSE;
  axon_image_geometry_init (&g, &info, t.fit, t.width, t.height);
  for (gint y = 0; y < t.height; y++)
    for (gint x = 0; x < t.width; x++) {
      gdouble v[3] = { (gdouble)t.pad, (gdouble)t.pad, (gdouble)t.pad };
      if (x >= g.dst_x && x < g.dst_x + g.dst_width && y >= g.dst_y && y < g.dst_y + g.dst_height) {
        sample (&info, planes, g.x + (x - g.dst_x + 0.5) * g.scale_x - 0.5,
                g.y + (y - g.dst_y + 0.5) * g.scale_y - 0.5, v);
        to_channels (&t, v);
      }
      for (gint c = 0; c < t.channels; c++) {
        gsize at = t.nhwc ? (gsize)((y * t.width + x) * t.channels + c)
                          : (gsize)((c * t.height + y) * t.width + x);
        gdouble value = (v[c] - (gdouble)t.mean[c]) * (gdouble)t.scale[c];
        axon_dtype_store (t.dtype, axon_tensor_get_data (out[0]), at,
                          axon_dtype_is_float (t.dtype) ? value : floor (value + 0.5));
      }
    }
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "ImageToTensor",
      .domain = AXON_DOMAIN_AXON,
      .since = 1,
      .inputs = { 4, 4 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPE_BIT (AXON_DTYPE_I64),
      .same_type_inputs = 1,
      .attrs = ATTRS (REQUIRED ("width", AXON_ATTR_INT), REQUIRED ("height", AXON_ATTR_INT),
                      ATTR_S ("color", "rgb"), ATTR_S ("layout", "nchw"), ATTR_I ("fit", 0),
                      ATTR_I ("dtype", AXON_DTYPE_F32), ATTR_FLOATS ("mean"), ATTR_FLOATS ("scale"),
                      ATTR_F ("pad_value", 0)),
      .infer = infer_image,
      .eval = eval_image,
      .flags = AXON_OP_ANY_INPUT_SIZE,
  },
};

DEFINE_FAMILY (image, rows)
