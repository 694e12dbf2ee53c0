/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What kernels of every device need to make a tensor of a frame, said once: where the samples of a
 * format lie, what a node wants, which pixels are read and how colours are converted. No state: any
 * thread. */
#pragma once

#include <axon/axonimage.h>
#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

/* Note on an axon.ImageToTensor: the name that its result had as an input of the model. */
#define AXON_INFO_PICTURE_INPUT "axon.picture-input"

typedef enum { AXON_IMAGE_YUV, AXON_IMAGE_RGB, AXON_IMAGE_GRAY } AxonImageKind;

/* Sample i of a row is at offset + i * step samples of its plane; pixel x has sample x >> shift_x
 * of row y >> shift_y. */
typedef struct {
  guint8 plane, offset, step, shift_x, shift_y;
} AxonImageComponent;

typedef struct {
  const gchar *name;
  AxonImageKind kind;
  guint n_planes;
  guint sample_bytes;              /* 1, or 2 */
  guint depth;                     /* bits of a sample that say something */
  guint low_bits;                  /* unused bits below them */
  AxonImageComponent component[3]; /* Y, U, V, or R, G, B, or three times the luma */
  gboolean big_endian;
} AxonImageFormatInfo;

/**
 * axon_image_format_get_info:
 * @format: a format
 *
 * Returns: (transfer none): where its samples lie
 *
 * Since: 1.0
 */
AXON_API const AxonImageFormatInfo *axon_image_format_get_info (AxonImageFormat format);

/* What an axon.ImageToTensor node says, read once. */
typedef struct {
  gint width, height, channels;
  gboolean nhwc, bgr;
  AxonImageFit fit;
  gdouble crop_fraction;
  AxonDType dtype;
  gfloat mean[4], scale[4]; /* (v - mean) * scale, per output channel */
  gfloat pad;
} AxonImageTarget;

/**
 * axon_image_target_init:
 * @target: what is filled
 * @node: an axon.ImageToTensor
 * @error: return location
 *
 * Reads what tensor a node makes of a picture. Fails with %AXON_ERROR_ARGUMENT.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_image_target_init (AxonImageTarget *target, const AxonNode *node,
                                          GError **error);

/* One run: tensor pixel (column, row) of the part that shows the picture lies at
 * origin + column * column_step + row * row_step, x first; pixels have their centres at integers.
 * Pixels before first and after last are not read: the nearest one is. */
typedef struct {
  const AxonImageFormatInfo *format;
  AxonImageGeometry geometry;
  gdouble origin[2], column_step[2], row_step[2];
  gint first[2], last[2];
  gboolean is_turned; /* else column_step[1] and row_step[0] are 0 */
} AxonImageSampling;

/**
 * axon_image_sampling_init:
 * @sampling: what is filled
 * @info: a checked description
 * @target: what tensor is made
 *
 * Says which pixels a run reads.
 *
 * Since: 1.0
 */
AXON_API void axon_image_sampling_init (AxonImageSampling *sampling, const AxonImageInfo *info,
                                        const AxonImageTarget *target);

/* Samples become R, G, B of 0 to 255: each is multiplied by unit; then, where the format is not
 * RGB, l = y * luma_scale + luma_offset and, of YUV with u and v less center, r = l + v_to_r * v,
 * g = l - u_to_g * u - v_to_g * v, b = l + u_to_b * u. */
typedef struct {
  gdouble unit, center;
  gdouble luma_scale, luma_offset;
  gdouble v_to_r, u_to_g, v_to_g, u_to_b;
} AxonImageColors;

/**
 * axon_image_colors_init:
 * @colors: what is filled
 * @info: a checked description
 *
 * Says how colours are converted.
 *
 * Since: 1.0
 */
AXON_API void axon_image_colors_init (AxonImageColors *colors, const AxonImageInfo *info);

G_END_DECLS
