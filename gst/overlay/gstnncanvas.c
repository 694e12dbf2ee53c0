/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnncanvas.h"

#include "gstnnpicture.h"

#include <math.h>
#include <string.h>

/* One component of a frame: its samples lie @step bytes apart, each of @bytes bytes. */
typedef struct {
  guint8 *data;
  gint stride, step, bytes;
  gint width, height;
  guint x_shift, y_shift; /* how much coarser it is than the frame */
} Plane;

#define SAMPLE 16                               /* the side of a picture of one colour */
#define COARSE(v, shift) (-((-(v)) >> (shift))) /* rounded up */

/* GStreamer 1.22 says 1 for the second colour of formats whose samples have two bytes. */
static gint
offset_of (const GstVideoFormatInfo *format, guint component)
{
  static const GstVideoFormat pairs[] = { GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_P010_10BE,
                                          GST_VIDEO_FORMAT_P012_LE,   GST_VIDEO_FORMAT_P012_BE,
                                          GST_VIDEO_FORMAT_P016_LE,   GST_VIDEO_FORMAT_P016_BE };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (GST_VIDEO_FORMAT_INFO_FORMAT (format) == pairs[i])
      return component == 2 ? 2 : 0;
  return GST_VIDEO_FORMAT_INFO_POFFSET (format, component);
}

static Plane
plane_of (const GstVideoFrame *frame, guint component)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  guint8 *plane =
      GST_VIDEO_FRAME_PLANE_DATA (frame, GST_VIDEO_FORMAT_INFO_PLANE (format, component));
  return (Plane){
    .data = plane + offset_of (format, component),
    .stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, component),
    .step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component),
    .bytes = GST_VIDEO_FORMAT_INFO_DEPTH (format, component) > 8 ? 2 : 1,
    .width = GST_VIDEO_FRAME_COMP_WIDTH (frame, component),
    .height = GST_VIDEO_FRAME_COMP_HEIGHT (frame, component),
    .x_shift = GST_VIDEO_FORMAT_INFO_W_SUB (format, component),
    .y_shift = GST_VIDEO_FORMAT_INFO_H_SUB (format, component),
  };
}

/* Of some packed formats it says 0 for all. */
static gboolean
lie_apart (const GstVideoFormatInfo *format, gint bytes)
{
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); c++)
    for (guint k = 0; k < c; k++)
      if (GST_VIDEO_FORMAT_INFO_PLANE (format, c) == GST_VIDEO_FORMAT_INFO_PLANE (format, k) &&
          ABS (offset_of (format, c) - offset_of (format, k)) < bytes)
        return FALSE;
  return TRUE;
}

static gboolean
is_drawable (const GstVideoFormatInfo *format)
{
  GstVideoFormatFlags cannot =
      GST_VIDEO_FORMAT_FLAG_COMPLEX | GST_VIDEO_FORMAT_FLAG_TILED | GST_VIDEO_FORMAT_FLAG_PALETTE;
  if ((GST_VIDEO_FORMAT_INFO_FLAGS (format) & cannot) != 0)
    return FALSE;
  if (!GST_VIDEO_FORMAT_INFO_IS_YUV (format) && !GST_VIDEO_FORMAT_INFO_IS_RGB (format) &&
      !GST_VIDEO_FORMAT_INFO_IS_GRAY (format))
    return FALSE;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); c++) {
    gint depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, c);
    gboolean one = depth == 8 && GST_VIDEO_FORMAT_INFO_SHIFT (format, c) == 0;
    gboolean two = depth > 8 && depth <= 16 && GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c) % 2 == 0 &&
                   GST_VIDEO_FORMAT_INFO_IS_LE (format) == (G_BYTE_ORDER == G_LITTLE_ENDIAN);
    if (GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c) <= 0 || (!one && !two) ||
        !lie_apart (format, one ? 1 : 2))
      return FALSE;
  }
  return TRUE;
}

GstCaps *
gst_nn_canvas_caps (void)
{
  GValue list = G_VALUE_INIT;
  GstCaps *caps = gst_caps_new_empty_simple ("video/x-raw");
  guint n;
  const GstVideoFormat *formats = gst_video_formats_raw (&n);
  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < n; i++)
    if (is_drawable (gst_video_format_get_info (formats[i]))) {
      GValue name = G_VALUE_INIT;
      g_value_init (&name, G_TYPE_STRING);
      g_value_set_string (&name, gst_video_format_to_string (formats[i]));
      gst_value_list_append_and_take_value (&list, &name);
    }
  gst_caps_set_value (caps, "format", &list);
  g_value_unset (&list);
  gst_caps_set_simple (caps, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height", GST_TYPE_INT_RANGE,
                       1, G_MAXINT, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);
  return caps;
}

/* GStreamer converts it: of some formats the description does not tell where the bits are. */
GstNnColor
gst_nn_canvas_color (const GstVideoInfo *info, guint32 rgb)
{
  GstNnColor color = { { 0 } };
  GstVideoFrame *drawn = gst_nn_picture_new (SAMPLE, SAMPLE), *converted = NULL;
  for (guint y = 0; drawn != NULL && y < SAMPLE; y++)
    for (guint x = 0; x < SAMPLE; x++)
      ((guint32 *)GST_VIDEO_FRAME_PLANE_DATA (drawn, 0))[y * SAMPLE + x] = rgb;
  if (drawn != NULL)
    converted = gst_nn_picture_convert (drawn, info);
  for (guint c = 0; converted != NULL && c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    Plane p = plane_of (converted, c);
    color.value[c] = p.data[0];
    if (p.bytes == 2)
      memcpy (&color.value[c], p.data, 2);
  }
  g_clear_pointer (&converted, gst_nn_picture_free);
  g_clear_pointer (&drawn, gst_nn_picture_free);
  return color;
}

static void
fill_row (const Plane *p, gint x, gint y, gint width, guint16 value)
{
  guint8 *to = p->data + (gssize)y * p->stride + (gssize)x * p->step;
  if (p->bytes == 1 && p->step == 1) {
    memset (to, value, (gsize)width);
    return;
  }
  for (gint i = 0; i < width; i++, to += p->step)
    if (p->bytes == 1)
      *to = (guint8)value;
    else
      memcpy (to, &value, 2);
}

void
gst_nn_canvas_fill (GstVideoFrame *frame, const GstNnColor *color, gint x, gint y, gint width,
                    gint height)
{
  gint x0 = CLAMP (x, 0, GST_VIDEO_FRAME_WIDTH (frame));
  gint y0 = CLAMP (y, 0, GST_VIDEO_FRAME_HEIGHT (frame));
  gint x1 = CLAMP (x + width, x0, GST_VIDEO_FRAME_WIDTH (frame));
  gint y1 = CLAMP (y + height, y0, GST_VIDEO_FRAME_HEIGHT (frame));
  for (guint c = 0; x1 > x0 && c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    Plane p = plane_of (frame, c);
    for (gint row = y0 >> p.y_shift; row < COARSE (y1, p.y_shift); row++)
      fill_row (&p, x0 >> p.x_shift, row, COARSE (x1, p.x_shift) - (x0 >> p.x_shift),
                color->value[c]);
  }
}

void
gst_nn_canvas_box (GstVideoFrame *frame, const GstNnColor *color, gint thickness, gint x, gint y,
                   gint width, gint height)
{
  gint t = MIN (thickness, MIN (width, height));
  gst_nn_canvas_fill (frame, color, x, y, width, t);
  gst_nn_canvas_fill (frame, color, x, y + height - t, width, t);
  gst_nn_canvas_fill (frame, color, x, y, t, height);
  gst_nn_canvas_fill (frame, color, x + width - t, y, t, height);
}

/* The part of @from + t * @delta for t in *t0 to *t1 that lies between 0 and @limit. */
static void
clip (gdouble from, gdouble delta, gdouble limit, gdouble *t0, gdouble *t1)
{
  gdouble a = -from / delta, b = (limit - from) / delta;
  if (delta == 0 || !isfinite (a) || !isfinite (b)) {
    *t1 = from >= 0 && from < limit ? *t1 : -1;
    return;
  }
  *t0 = MAX (*t0, MIN (a, b));
  *t1 = MIN (*t1, MAX (a, b));
}

void
gst_nn_canvas_line (GstVideoFrame *frame, const GstNnColor *color, gint thickness, gdouble x0,
                    gdouble y0, gdouble x1, gdouble y1)
{
  gdouble t0 = 0, t1 = 1, dx = x1 - x0, dy = y1 - y0, n = ceil (MAX (fabs (dx), fabs (dy)));
  clip (x0, dx, GST_VIDEO_FRAME_WIDTH (frame), &t0, &t1);
  clip (y0, dy, GST_VIDEO_FRAME_HEIGHT (frame), &t0, &t1);
  if (!(t1 >= t0) || !isfinite (n))
    return;
  for (gdouble i = floor (t0 * n); i <= t1 * n; i++) {
    gdouble t = n > 0 ? i / n : 0;
    gst_nn_canvas_fill (frame, color, (gint)(x0 + t * dx) - thickness / 2,
                        (gint)(y0 + t * dy) - thickness / 2, thickness, thickness);
  }
}

static void
mix (guint8 *sample, gint bytes, guint16 value)
{
  guint16 v;
  if (bytes == 1) {
    *sample = (guint8)((*sample + value + 1) / 2);
    return;
  }
  memcpy (&v, sample, 2);
  v = (guint16)((v + value + 1) / 2);
  memcpy (sample, &v, 2);
}

/* The colour of a value of a mask; NULL: left as it is. The class 0 is the background. */
static const GstNnColor *
color_of (const GstNnColor *colors, guint n_colors, const GstNnMask *mask, gint value)
{
  if (gst_nn_mask_get_kind (mask) == GST_NN_MASK_COVERAGE)
    return value >= 128 ? &colors[0] : NULL;
  if (gst_nn_mask_get_kind (mask) == GST_NN_MASK_VALUES)
    return value >= 0 ? &colors[(guint)value * n_colors / 256] : NULL;
  return value > 0 ? &colors[(guint)value % n_colors] : NULL;
}

static void
tint_plane (const Plane *p, guint component, const GstNnColor *colors, guint n_colors,
            const GstNnMask *mask)
{
  gdouble x, y, width, height;
  gst_nn_mask_get_area (mask, &x, &y, &width, &height);
  gint x0 = CLAMP ((gint)x >> p->x_shift, 0, p->width);
  gint y0 = CLAMP ((gint)y >> p->y_shift, 0, p->height);
  gint x1 = CLAMP (COARSE ((gint)ceil (x + width), p->x_shift), x0, p->width);
  gint y1 = CLAMP (COARSE ((gint)ceil (y + height), p->y_shift), y0, p->height);
  for (gint row = y0; row < y1; row++)
    for (gint column = x0; column < x1; column++) {
      gint value =
          gst_nn_mask_get_value_at (mask, (column << p->x_shift) + 0.5, (row << p->y_shift) + 0.5);
      const GstNnColor *color = color_of (colors, n_colors, mask, value);
      if (color != NULL)
        mix (p->data + (gssize)row * p->stride + (gssize)column * p->step, p->bytes,
             color->value[component]);
    }
}

void
gst_nn_canvas_tint (GstVideoFrame *frame, const GstNnColor *colors, guint n_colors,
                    const GstNnMask *mask)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    Plane p = plane_of (frame, c);
    tint_plane (&p, c, colors, n_colors, mask);
  }
}

/* Samples of @from to @to, whose upper left one goes to (@x, @y). */
static void
copy_plane (const Plane *to, const Plane *from, gint x, gint y)
{
  gint x0 = MAX (0, -x), x1 = MIN (from->width, to->width - x);
  gint y0 = MAX (0, -y), y1 = MIN (from->height, to->height - y);
  for (gint row = y0; row < y1; row++) {
    const guint8 *s = from->data + (gssize)row * from->stride + (gssize)x0 * from->step;
    guint8 *d = to->data + (gssize)(y + row) * to->stride + (gssize)(x + x0) * to->step;
    for (gint i = x0; i < x1; i++, s += from->step, d += to->step)
      memcpy (d, s, (gsize)to->bytes);
  }
}

void
gst_nn_canvas_copy (GstVideoFrame *frame, const GstVideoFrame *picture, gint x, gint y)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    Plane to = plane_of (frame, c), from = plane_of (picture, c);
    copy_plane (&to, &from, x >> to.x_shift, y >> to.y_shift);
  }
}
