/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.ImageToTensor: a video frame becomes the tensor a model wants, in one pass.
 *
 * Inputs: info (AxonImageInfo as i64), then one u8 vector per plane. Bilinear with pixel centres at
 * half coordinates; chroma is taken from the sample that covers each luma tap; YUV is converted
 * after interpolation and clipped to 0..255; then (value - mean) * scale. */
#include "ops-private.h"
#include <axon/plugin/axonframe.h>

#include <math.h>
#include <string.h>

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
                          .crop_fraction = (gdouble)axon_node_get_float (node, "crop_fraction"),
                          .dtype = (AxonDType)axon_node_get_int (node, "dtype"),
                          .pad = (gfloat)axon_node_get_float (node, "pad_value") };
  if (t->width < 1 || t->height < 1 || t->width > 16384 || t->height > 16384)
    FAIL (ARGUMENT, "target size %dx%d is out of range", t->width, t->height);
  if (!(t->crop_fraction > 0 && t->crop_fraction <= 1))
    FAIL (ARGUMENT, "crop_fraction is %g, expected above 0, up to 1", t->crop_fraction);
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

static guint
read_sample (const AxonImageFormatInfo *f, const guint8 *p)
{
  if (f->sample_bytes == 1)
    return p[0];
  return f->big_endian ? p[0] * 256u + p[1] : p[1] * 256u + p[0];
}

/* The components of one pixel of the frame. */
static void
fetch (const AxonImageInfo *info, const guint8 *const *planes, gint64 x, gint64 y, gdouble *v)
{
  const AxonImageFormatInfo *f = axon_image_format_get_info ((AxonImageFormat)info->format);
  for (gint i = 0; i < 3; i++) {
    const AxonImageComponent *c = &f->component[i];
    gint64 at = c->offset + (x >> c->shift_x) * c->step;
    const guint8 *row = planes[c->plane] + (y >> c->shift_y) * info->stride[c->plane];
    v[i] = read_sample (f, row + at * f->sample_bytes);
  }
}

static void
to_rgb (AxonImageKind kind, const AxonImageColors *c, gdouble *v)
{
  gdouble l = v[0] * c->unit * c->luma_scale + c->luma_offset;
  gdouble u = v[1] * c->unit - c->center, w = v[2] * c->unit - c->center;
  if (kind == AXON_IMAGE_YUV) {
    v[0] = l + c->v_to_r * w;
    v[1] = l - c->u_to_g * u - c->v_to_g * w;
    v[2] = l + c->u_to_b * u;
  }
  for (gint i = 0; i < 3; i++) {
    if (kind != AXON_IMAGE_YUV)
      v[i] = kind == AXON_IMAGE_GRAY ? l : v[i] * c->unit;
    v[i] = CLAMP (v[i], 0, 255);
  }
}

static void
sample (const AxonImageInfo *info, const AxonImageSampling *s, const AxonImageColors *colors,
        const guint8 *const *planes, gint column, gint row, gdouble *v)
{
  gdouble x = s->origin[0] + column * s->column_step[0] + row * s->row_step[0];
  gdouble y = s->origin[1] + column * s->column_step[1] + row * s->row_step[1];
  gdouble x0 = floor (x), y0 = floor (y), tap[3];
  v[0] = v[1] = v[2] = 0;
  for (gint i = 0; i < 4; i++) {
    gdouble px = CLAMP (x0 + (i & 1), s->first[0], s->last[0]);
    gdouble py = CLAMP (y0 + (i >> 1), s->first[1], s->last[1]);
    gdouble weight = (i & 1 ? x - x0 : 1 - x + x0) * (i >> 1 ? y - y0 : 1 - y + y0);
    fetch (info, planes, (gint64)px, (gint64)py, tap);
    for (gint c = 0; c < 3; c++)
      v[c] += weight * tap[c];
  }
  to_rgb (s->format->kind, colors, v);
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
  AxonImageSampling s;
  AxonImageColors colors;
  const AxonImageGeometry *g = &s.geometry;
  if (axon_tensor_get_numel (in[0]) != (gsize)AXON_IMAGE_INFO_NUMEL)
    FAIL (ARGUMENT, "info must have %d elements", (int)AXON_IMAGE_INFO_NUMEL);
  memcpy (&info, axon_tensor_get_data (in[0]), sizeof info);
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    planes[p] = axon_tensor_get_data (in[1 + p]);
    bytes[p] = axon_tensor_get_n_bytes (in[1 + p]);
  }
  if (!axon_image_info_check (&info, bytes, error) || !axon_image_target_init (&t, node, error))
    return FALSE;
  axon_image_sampling_init (&s, &info, &t);
  axon_image_colors_init (&colors, &info);
  for (gint y = 0; y < t.height; y++)
    for (gint x = 0; x < t.width; x++) {
      gdouble v[3] = { (gdouble)t.pad, (gdouble)t.pad, (gdouble)t.pad };
      if (x >= g->dst_x && x < g->dst_x + g->dst_width && y >= g->dst_y &&
          y < g->dst_y + g->dst_height) {
        sample (&info, &s, &colors, planes, x - g->dst_x, y - g->dst_y, v);
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
                      ATTR_F ("pad_value", 0), ATTR_F ("crop_fraction", 1)),
      .infer = infer_image,
      .eval = eval_image,
      .flags = AXON_OP_ANY_INPUT_SIZE,
  },
};

DEFINE_FAMILY (image, rows)
