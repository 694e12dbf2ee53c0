/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The components of a frame, one by one, in every format whose components lie apart. */
#pragma once

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

/* A colour as the frame stores it. */
typedef struct {
  guint16 value[GST_VIDEO_MAX_COMPONENTS];
} GstNnColor;

/* One component of a frame: its samples lie @step bytes apart, each of @bytes bytes. */
typedef struct {
  guint8 *data;
  gint stride, step, bytes;
  gint width, height;
  guint x_shift, y_shift; /* how much coarser it is than the frame */
} GstNnPlane;

/* Of a coordinate of the frame that of a plane, rounded up. */
#define GST_NN_PLANE_COARSE(v, shift) (-((-(v)) >> (shift)))

gboolean gst_nn_plane_is_drawable (const GstVideoFormatInfo *format);
/* The list of the names of all formats that can be drawn into; initialised here. */
void gst_nn_plane_formats (GValue *list);
GstNnPlane gst_nn_plane_of (const GstVideoFrame *frame, guint component);
/* Of @n colours 0xRRGGBB; all 0 where the format cannot be drawn into. */
void gst_nn_plane_colors (const GstVideoInfo *info, const guint32 *rgb, guint n,
                          GstNnColor *colors);

/* The pixel of a coordinate, which may be anything. */
static inline gint
gst_nn_pixel (gdouble v)
{
  return (gint)fmin (fmax (floor (v), -G_MAXINT16), G_MAXINT16);
}

static inline guint8 *
gst_nn_plane_at (const GstNnPlane *p, gint x, gint y)
{
  return p->data + (gssize)y * p->stride + (gssize)x * p->step;
}

/* Samples of two bytes need not be aligned. */
static inline guint16
gst_nn_plane_get (const GstNnPlane *p, const guint8 *sample)
{
  guint16 value = *sample;
  if (p->bytes == 2)
    memcpy (&value, sample, 2);
  return value;
}

static inline void
gst_nn_plane_set (const GstNnPlane *p, guint8 *sample, guint16 value)
{
  if (p->bytes == 1)
    *sample = (guint8)value;
  else
    memcpy (sample, &value, 2);
}
