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
 *
 * Formats of pictures that a model may be fed with.
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
} AxonImageFormat;

/**
 * AxonImageFit:
 * @AXON_IMAGE_FIT_STRETCH: the region fills the tensor; the aspect ratio may change
 * @AXON_IMAGE_FIT_LETTERBOX: aspect ratio kept, bars on both sides
 * @AXON_IMAGE_FIT_TOP_LEFT: aspect ratio kept, bars right or below
 * @AXON_IMAGE_FIT_CROP: aspect ratio kept, the largest centred part of the region fills the tensor
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
 * @format: how pixels lie in memory
 * @width: pixels
 * @height: pixels
 * @stride: bytes from one row to the next, per plane
 * @crop_x: left edge of the region to use
 * @crop_y: top edge of the region
 * @crop_width: width of the region; 0: all
 * @crop_height: height of the region; 0: all
 * @kr_1e6: YUV formats: luma weight of red times 1e6 (BT.601 299000, BT.709 212600)
 * @kb_1e6: YUV formats: luma weight of blue times 1e6 (BT.601 114000, BT.709 72200)
 * @full_range: YUV formats: 0 for luma 16 to 235, 1 for 0 to 255
 *
 * What a frame is. It travels as an i64 tensor beside the planes, so a change of caps or region
 * never compiles anything again.
 *
 * Since: 1.0
 */
typedef struct {
  gint64 format;
  gint64 width, height;
  gint64 stride[AXON_IMAGE_MAX_PLANES];
  gint64 crop_x, crop_y, crop_width, crop_height;
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
 *
 * Where the picture lies in the tensor: picture = region + (tensor - dst) * scale.
 *
 * Since: 1.0
 */
typedef struct {
  gdouble x, y;
  gdouble scale_x, scale_y;
  gint dst_x, dst_y, dst_width, dst_height;
  gint width, height;
} AxonImageGeometry;

AXON_API guint axon_image_format_get_n_planes (AxonImageFormat format);
AXON_API guint axon_image_format_get_pixel_stride (AxonImageFormat format);
AXON_API gboolean axon_image_info_check (const AxonImageInfo *info, const gsize *plane_bytes,
                                         GError **error);
AXON_API void axon_image_geometry_init (AxonImageGeometry *geometry, const AxonImageInfo *info,
                                        AxonImageFit fit, gint width, gint height);

G_END_DECLS
