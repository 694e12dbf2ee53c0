/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the samples of each picture format lie: one row says all about a format. */
#include "ops-private.h"
#include <axon/plugin/axonframe.h>

#include <math.h>

#define MAX_SIZE G_MAXINT16
#define MAX_REGION 1e6 /* pixels: positions stay exact in 32.32 fixed point */

/* plane, offset, step, shift_x, shift_y */
#define PACKED(r, g, b, step)                                                                      \
  {                                                                                                \
    { 0, r, step, 0, 0 }, { 0, g, step, 0, 0 },                                                    \
    {                                                                                              \
      0, b, step, 0, 0                                                                             \
    }                                                                                              \
  }
#define PLANES(a, b, c, x, y)                                                                      \
  {                                                                                                \
    { a, 0, 1, 0, 0 }, { b, 0, 1, x, y },                                                          \
    {                                                                                              \
      c, 0, 1, x, y                                                                                \
    }                                                                                              \
  }
#define PAIRS(u, v, x, y)                                                                          \
  {                                                                                                \
    { 0, 0, 1, 0, 0 }, { 1, u, 2, x, y },                                                          \
    {                                                                                              \
      1, v, 2, x, y                                                                                \
    }                                                                                              \
  }
#define MACRO_PIXEL(l, u, v)                                                                       \
  {                                                                                                \
    { 0, l, 2, 0, 0 }, { 0, u, 4, 1, 0 },                                                          \
    {                                                                                              \
      0, v, 4, 1, 0                                                                                \
    }                                                                                              \
  }

#define ROW(name, kind, ...) [AXON_IMAGE_FORMAT_##name] = { #name, AXON_IMAGE_##kind, __VA_ARGS__ }

/* name, kind, planes, bytes of a sample, depth, bits below, components, big endian */
static const AxonImageFormatInfo formats[] = {
  ROW (NV12, YUV, 2, 1, 8, 0, PAIRS (0, 1, 1, 1)),
  ROW (I420, YUV, 3, 1, 8, 0, PLANES (0, 1, 2, 1, 1)),
  ROW (RGB, RGB, 1, 1, 8, 0, PACKED (0, 1, 2, 3)),
  ROW (BGR, RGB, 1, 1, 8, 0, PACKED (2, 1, 0, 3)),
  ROW (RGBX, RGB, 1, 1, 8, 0, PACKED (0, 1, 2, 4)),
  ROW (BGRX, RGB, 1, 1, 8, 0, PACKED (2, 1, 0, 4)),
  ROW (GRAY8, GRAY, 1, 1, 8, 0, PACKED (0, 0, 0, 1)),
  ROW (XRGB, RGB, 1, 1, 8, 0, PACKED (1, 2, 3, 4)),
  ROW (XBGR, RGB, 1, 1, 8, 0, PACKED (3, 2, 1, 4)),
  ROW (GBR, RGB, 3, 1, 8, 0, PLANES (2, 0, 1, 0, 0)),
  ROW (RGBP, RGB, 3, 1, 8, 0, PLANES (0, 1, 2, 0, 0)),
  ROW (BGRP, RGB, 3, 1, 8, 0, PLANES (2, 1, 0, 0, 0)),
  ROW (GRAY16_LE, GRAY, 1, 2, 16, 0, PACKED (0, 0, 0, 1)),
  ROW (GRAY16_BE, GRAY, 1, 2, 16, 0, PACKED (0, 0, 0, 1), TRUE),
  ROW (YV12, YUV, 3, 1, 8, 0, PLANES (0, 2, 1, 1, 1)),
  ROW (NV21, YUV, 2, 1, 8, 0, PAIRS (1, 0, 1, 1)),
  ROW (NV16, YUV, 2, 1, 8, 0, PAIRS (0, 1, 1, 0)),
  ROW (NV61, YUV, 2, 1, 8, 0, PAIRS (1, 0, 1, 0)),
  ROW (NV24, YUV, 2, 1, 8, 0, PAIRS (0, 1, 0, 0)),
  ROW (Y41B, YUV, 3, 1, 8, 0, PLANES (0, 1, 2, 2, 0)),
  ROW (Y42B, YUV, 3, 1, 8, 0, PLANES (0, 1, 2, 1, 0)),
  ROW (Y444, YUV, 3, 1, 8, 0, PLANES (0, 1, 2, 0, 0)),
  ROW (YUY2, YUV, 1, 1, 8, 0, MACRO_PIXEL (0, 1, 3)),
  ROW (UYVY, YUV, 1, 1, 8, 0, MACRO_PIXEL (1, 0, 2)),
  ROW (YVYU, YUV, 1, 1, 8, 0, MACRO_PIXEL (0, 3, 1)),
  ROW (VYUY, YUV, 1, 1, 8, 0, MACRO_PIXEL (1, 2, 0)),
  ROW (AYUV, YUV, 1, 1, 8, 0, PACKED (1, 2, 3, 4)),
  ROW (VUYX, YUV, 1, 1, 8, 0, PACKED (2, 1, 0, 4)),
  ROW (P010, YUV, 2, 2, 10, 6, PAIRS (0, 1, 1, 1)),
  ROW (P012, YUV, 2, 2, 12, 4, PAIRS (0, 1, 1, 1)),
  ROW (P016, YUV, 2, 2, 16, 0, PAIRS (0, 1, 1, 1)),
  ROW (Y210, YUV, 1, 2, 10, 6, MACRO_PIXEL (0, 1, 3)),
  ROW (I420_10, YUV, 3, 2, 10, 0, PLANES (0, 1, 2, 1, 1)),
  ROW (I420_12, YUV, 3, 2, 12, 0, PLANES (0, 1, 2, 1, 1)),
  ROW (I422_10, YUV, 3, 2, 10, 0, PLANES (0, 1, 2, 1, 0)),
  ROW (I422_12, YUV, 3, 2, 12, 0, PLANES (0, 1, 2, 1, 0)),
  ROW (Y444_10, YUV, 3, 2, 10, 0, PLANES (0, 1, 2, 0, 0)),
  ROW (Y444_12, YUV, 3, 2, 12, 0, PLANES (0, 1, 2, 0, 0)),
  ROW (GBR_10, RGB, 3, 2, 10, 0, PLANES (2, 0, 1, 0, 0)),
};

const AxonImageFormatInfo *
axon_image_format_get_info (AxonImageFormat format)
{
  return &formats[format];
}

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

/* Bytes of a row of @plane up to its last sample, and its rows. */
static gint64
measure_plane (const AxonImageInfo *info, guint plane, gint64 *rows)
{
  const AxonImageFormatInfo *f = &formats[info->format];
  gint64 samples = 0;
  *rows = 0;
  for (guint i = 0; i < G_N_ELEMENTS (f->component); i++) {
    const AxonImageComponent *c = &f->component[i];
    if (c->plane != plane)
      continue;
    samples = MAX (samples, c->offset + ((info->width - 1) >> c->shift_x) * c->step + 1);
    *rows = ((info->height - 1) >> c->shift_y) + 1;
  }
  return samples * f->sample_bytes;
}

static gboolean
has_known_shape (const AxonImageInfo *info)
{
  return info->format >= 0 && info->format < (gint64)G_N_ELEMENTS (formats) && info->width >= 1 &&
         info->height >= 1 && info->width <= MAX_SIZE && info->height <= MAX_SIZE;
}

/**
 * axon_image_info_get_plane_size:
 * @info: a description, with strides
 * @plane: index
 *
 * A plane ends with its last sample, not with its last stride.
 *
 * Returns: bytes that the plane must have; 0 where the format or size is none
 *
 * Since: 1.0
 */
gsize
axon_image_info_get_plane_size (const AxonImageInfo *info, guint plane)
{
  gint64 rows, row;
  if (!has_known_shape (info) || plane >= formats[info->format].n_planes)
    return 0;
  row = measure_plane (info, plane, &rows);
  return (gsize)(info->stride[plane] * (rows - 1) + row);
}

static gboolean
check_region (const AxonImageInfo *info, GError **error)
{
  gdouble w = info->crop_width, h = info->crop_height;
  gboolean all = !(w < 0 || w > 0) && !(h < 0 || h > 0), fine;
  fine = isfinite (info->angle) && fabs (info->angle) < MAX_REGION;
  if (!all)
    fine = fine && w > 0 && h > 0 && w <= MAX_REGION && h <= MAX_REGION &&
           fabs (info->crop_x) <= MAX_REGION && fabs (info->crop_y) <= MAX_REGION;
  if (fine && !all && !(info->angle < 0 || info->angle > 0))
    fine = info->crop_x < (gdouble)info->width && info->crop_y < (gdouble)info->height &&
           info->crop_x + w > 0 && info->crop_y + h > 0;
  if (!fine)
    FAIL (ARGUMENT, "image: the region %gx%g at %g,%g, turned by %g, is none of a picture of %dx%d",
          w, h, info->crop_x, info->crop_y, info->angle, (gint)info->width, (gint)info->height);
  return TRUE;
}

/**
 * axon_image_info_check:
 * @info: a description
 * @plane_bytes: (array fixed-size=3): bytes that each plane has
 * @error: return location
 *
 * Returns: %TRUE if every pixel of the description lies within its plane, and the region in numbers
 *
 * Since: 1.0
 */
gboolean
axon_image_info_check (const AxonImageInfo *info, const gsize *plane_bytes, GError **error)
{
  if (!has_known_shape (info))
    FAIL (ARGUMENT,
          "image: format %" G_GINT64_FORMAT ", size %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
          ": expected a format of AxonImageFormat and 1 to %d pixels",
          info->format, info->width, info->height, MAX_SIZE);
  for (guint p = 0; p < formats[info->format].n_planes; p++) {
    gint64 rows, row = measure_plane (info, p, &rows), stride = info->stride[p];
    if (stride < row || stride > G_MAXINT32 ||
        (guint64)(stride * (rows - 1) + row) > plane_bytes[p])
      FAIL (ARGUMENT,
            "image: plane %u has %" G_GSIZE_FORMAT " bytes and a stride of %" G_GINT64_FORMAT
            ", too few for %dx%d %s",
            p, plane_bytes[p], stride, (gint)info->width, (gint)info->height,
            formats[info->format].name);
  }
  return check_region (info, error);
}

void
axon_image_colors_init (AxonImageColors *colors, const AxonImageInfo *info)
{
  const AxonImageFormatInfo *f = &formats[info->format];
  gdouble kr = (gdouble)info->kr_1e6 / 1e6, kb = (gdouble)info->kb_1e6 / 1e6, kg = 1 - kr - kb;
  gboolean full = f->kind == AXON_IMAGE_RGB || info->full_range;
  gdouble top = ldexp (1, (gint)f->depth), step = full ? 255 / (top - 1) : 256 / top;
  gdouble chroma = full ? 1 : 255. / 224, luma = full ? 1 : 255. / 219;
  *colors = (AxonImageColors){ .unit = ldexp (step, -(gint)f->low_bits),
                               .center = top / 2 * step,
                               .luma_scale = luma,
                               .luma_offset = full ? 0 : -16 * luma,
                               .v_to_r = 2 * (1 - kr) * chroma,
                               .u_to_g = 2 * kb * (1 - kb) / kg * chroma,
                               .v_to_g = 2 * kr * (1 - kr) / kg * chroma,
                               .u_to_b = 2 * (1 - kb) * chroma };
}
