/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib-object.h>

#include <axon/axonapi.h>

G_BEGIN_DECLS

/**
 * AxonImageFormat:
 * @AXON_IMAGE_FORMAT_NV12: Y plane, interleaved UV plane at half size
 * @AXON_IMAGE_FORMAT_I420: Y, U and V planes, U and V at half size
 * @AXON_IMAGE_FORMAT_RGB: packed R, G, B bytes
 * @AXON_IMAGE_FORMAT_BGR: packed B, G, R bytes
 * @AXON_IMAGE_FORMAT_RGBX: packed R, G, B and an ignored byte
 * @AXON_IMAGE_FORMAT_BGRX: packed B, G, R and an ignored byte
 * @AXON_IMAGE_FORMAT_GRAY8: one byte of luma
 * @AXON_IMAGE_FORMAT_XRGB: packed: an ignored byte, then R, G, B
 * @AXON_IMAGE_FORMAT_XBGR: packed: an ignored byte, then B, G, R
 * @AXON_IMAGE_FORMAT_GBR: G, B and R planes
 * @AXON_IMAGE_FORMAT_RGBP: R, G and B planes
 * @AXON_IMAGE_FORMAT_BGRP: B, G and R planes
 * @AXON_IMAGE_FORMAT_GRAY16_LE: 16 bits of luma, little endian
 * @AXON_IMAGE_FORMAT_GRAY16_BE: 16 bits of luma, big endian
 * @AXON_IMAGE_FORMAT_YV12: Y, V and U planes, U and V at half size
 * @AXON_IMAGE_FORMAT_NV21: Y plane, interleaved VU plane at half size
 * @AXON_IMAGE_FORMAT_NV16: Y plane, interleaved UV plane at half width
 * @AXON_IMAGE_FORMAT_NV61: Y plane, interleaved VU plane at half width
 * @AXON_IMAGE_FORMAT_NV24: Y plane, interleaved UV plane at full size
 * @AXON_IMAGE_FORMAT_Y41B: Y, U and V planes, U and V at a quarter of the width
 * @AXON_IMAGE_FORMAT_Y42B: Y, U and V planes, U and V at half width
 * @AXON_IMAGE_FORMAT_Y444: Y, U and V planes at full size
 * @AXON_IMAGE_FORMAT_YUY2: packed Y, U, Y, V bytes for two pixels
 * @AXON_IMAGE_FORMAT_UYVY: packed U, Y, V, Y bytes for two pixels
 * @AXON_IMAGE_FORMAT_YVYU: packed Y, V, Y, U bytes for two pixels
 * @AXON_IMAGE_FORMAT_VYUY: packed V, Y, U, Y bytes for two pixels
 * @AXON_IMAGE_FORMAT_AYUV: packed: an ignored byte, then Y, U, V
 * @AXON_IMAGE_FORMAT_VUYX: packed V, U, Y and an ignored byte
 * @AXON_IMAGE_FORMAT_P010: as NV12, the upper 10 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_P012: as NV12, the upper 12 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_P016: as NV12, 16 bits, little endian
 * @AXON_IMAGE_FORMAT_Y210: as YUY2, the upper 10 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_I420_10: as I420, the lower 10 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_I420_12: as I420, the lower 12 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_I422_10: as Y42B, the lower 10 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_I422_12: as Y42B, the lower 12 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_Y444_10: as Y444, the lower 10 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_Y444_12: as Y444, the lower 12 bits of 16, little endian
 * @AXON_IMAGE_FORMAT_GBR_10: as GBR, the lower 10 bits of 16, little endian
 *
 * Formats of pictures that a model may be fed with. Where chroma is at half size or width, odd
 * sizes are rounded up.
 *
 * Since: 1.0
 */
typedef enum {
  AXON_IMAGE_FORMAT_NV12,
  AXON_IMAGE_FORMAT_I420,
  AXON_IMAGE_FORMAT_RGB,
  AXON_IMAGE_FORMAT_BGR,
  AXON_IMAGE_FORMAT_RGBX,
  AXON_IMAGE_FORMAT_BGRX,
  AXON_IMAGE_FORMAT_GRAY8,
  AXON_IMAGE_FORMAT_XRGB,
  AXON_IMAGE_FORMAT_XBGR,
  AXON_IMAGE_FORMAT_GBR,
  AXON_IMAGE_FORMAT_RGBP,
  AXON_IMAGE_FORMAT_BGRP,
  AXON_IMAGE_FORMAT_GRAY16_LE,
  AXON_IMAGE_FORMAT_GRAY16_BE,
  AXON_IMAGE_FORMAT_YV12,
  AXON_IMAGE_FORMAT_NV21,
  AXON_IMAGE_FORMAT_NV16,
  AXON_IMAGE_FORMAT_NV61,
  AXON_IMAGE_FORMAT_NV24,
  AXON_IMAGE_FORMAT_Y41B,
  AXON_IMAGE_FORMAT_Y42B,
  AXON_IMAGE_FORMAT_Y444,
  AXON_IMAGE_FORMAT_YUY2,
  AXON_IMAGE_FORMAT_UYVY,
  AXON_IMAGE_FORMAT_YVYU,
  AXON_IMAGE_FORMAT_VYUY,
  AXON_IMAGE_FORMAT_AYUV,
  AXON_IMAGE_FORMAT_VUYX,
  AXON_IMAGE_FORMAT_P010,
  AXON_IMAGE_FORMAT_P012,
  AXON_IMAGE_FORMAT_P016,
  AXON_IMAGE_FORMAT_Y210,
  AXON_IMAGE_FORMAT_I420_10,
  AXON_IMAGE_FORMAT_I420_12,
  AXON_IMAGE_FORMAT_I422_10,
  AXON_IMAGE_FORMAT_I422_12,
  AXON_IMAGE_FORMAT_Y444_10,
  AXON_IMAGE_FORMAT_Y444_12,
  AXON_IMAGE_FORMAT_GBR_10,
} AxonImageFormat;

/**
 * AxonImageFit:
 * @AXON_IMAGE_FIT_STRETCH: the region fills the tensor; the aspect ratio may change
 * @AXON_IMAGE_FIT_LETTERBOX: aspect ratio kept, bars on both sides
 * @AXON_IMAGE_FIT_TOP_LEFT: aspect ratio kept, bars right or below
 * @AXON_IMAGE_FIT_CROP: aspect ratio kept, the largest centred part of the region, or a fraction of
 *   it, fills the tensor
 *
 * How a picture region becomes a tensor of another aspect ratio.
 *
 * Since: 1.0
 */
typedef enum {
  AXON_IMAGE_FIT_STRETCH,
  AXON_IMAGE_FIT_LETTERBOX,
  AXON_IMAGE_FIT_TOP_LEFT,
  AXON_IMAGE_FIT_CROP,
} AxonImageFit;

/**
 * AXON_IMAGE_MAX_PLANES:
 *
 * The most planes that a picture has.
 *
 * Since: 1.0
 */
#define AXON_IMAGE_MAX_PLANES 3

/**
 * AxonImageInfo:
 * @format: how pixels lie in memory, an #AxonImageFormat
 * @width: pixels
 * @height: pixels
 * @stride: bytes from one row to the next, per plane
 * @crop_x: left edge of the region to use, pixels
 * @crop_y: top edge of the region, pixels
 * @crop_width: width of the region, pixels; 0: all
 * @crop_height: height of the region, pixels; 0: all
 * @angle: radians that the region is turned clockwise around its centre; 0: upright
 * @kr_1e6: YUV formats: luma weight of red times 1e6 (BT.601 299000, BT.709 212600)
 * @kb_1e6: YUV formats: luma weight of blue times 1e6 (BT.601 114000, BT.709 72200)
 * @full_range: YUV and gray formats: 0 for luma 16 to 235, 1 for 0 to 255 (of 8 bits). RGB is
 *   always full
 *
 * What a frame is, and which region of it to use. It travels as an i64 tensor beside the planes
 * (each field is a word of it, the doubles by their bits), so a change of caps or region never
 * compiles or allocates anything again: change the fields between two runs.
 *
 * A region may have fractions of pixels and may reach out of the picture, whose edge is then
 * repeated. An upright region is resized as if it were cut out first: pixels around it do not shine
 * in.
 *
 * Since: 1.0
 */
typedef struct {
  gint64 format;
  gint64 width, height;
  gint64 stride[AXON_IMAGE_MAX_PLANES];
  gdouble crop_x, crop_y, crop_width, crop_height;
  gdouble angle;
  gint64 kr_1e6, kb_1e6;
  gint64 full_range;
} AxonImageInfo;

#define AXON_IMAGE_INFO_NUMEL ((gint64)(sizeof (AxonImageInfo) / sizeof (gint64)))

/**
 * AxonImageGeometry:
 * @x: left edge of the region in the picture, pixels
 * @y: top edge of the region in the picture, pixels
 * @scale_x: picture pixels per tensor pixel, horizontally
 * @scale_y: picture pixels per tensor pixel, vertically
 * @dst_x: first tensor column that shows the picture
 * @dst_y: first tensor row that shows the picture
 * @dst_width: tensor columns that show the picture
 * @dst_height: tensor rows that show the picture
 * @width: tensor width
 * @height: tensor height
 * @angle: radians that the region is turned clockwise around its centre
 *
 * Where the picture lies in the tensor: picture = region + (tensor - dst) * scale, then turned by
 * @angle around the centre of the region. axon_image_geometry_to_picture() computes it.
 *
 * Since: 1.0
 */
typedef struct {
  gdouble x, y;
  gdouble scale_x, scale_y;
  gint dst_x, dst_y, dst_width, dst_height;
  gint width, height;
  gdouble angle;
} AxonImageGeometry;

AXON_API guint axon_image_format_get_n_planes (AxonImageFormat format);
AXON_API gsize axon_image_info_get_plane_size (const AxonImageInfo *info, guint plane);
AXON_API gboolean axon_image_info_check (const AxonImageInfo *info, const gsize *plane_bytes,
                                         GError **error);
AXON_API void axon_image_geometry_init (AxonImageGeometry *geometry, const AxonImageInfo *info,
                                        AxonImageFit fit, gdouble crop_fraction, gint width,
                                        gint height);
AXON_API void axon_image_geometry_to_picture (const AxonImageGeometry *geometry, gdouble *x,
                                              gdouble *y);

G_END_DECLS
