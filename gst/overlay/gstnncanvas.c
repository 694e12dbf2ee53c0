/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnncanvas.h"

#include <math.h>

/* @n samples from @to on. */
static void
fill_row (const GstNnPlane *p, guint8 *to, gint n, guint16 value)
{
  if (n > 0 && p->bytes == 1 && p->step == 1) {
    memset (to, value, (gsize)n);
    return;
  }
  for (gint i = 0; i < n; i++, to += p->step)
    gst_nn_plane_set (p, to, value);
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
    GstNnPlane p = gst_nn_plane_of (frame, c);
    gint left = x0 >> p.x_shift, right = GST_NN_PLANE_COARSE (x1, p.x_shift);
    for (gint row = y0 >> p.y_shift; row < GST_NN_PLANE_COARSE (y1, p.y_shift); row++)
      fill_row (&p, gst_nn_plane_at (&p, left, row), right - left, color->value[c]);
  }
}

/* The part of @from + t * @delta for t in *t0 to *t1 that lies between @least and @largest. */
static void
clip (gdouble from, gdouble delta, gdouble least, gdouble largest, gdouble *t0, gdouble *t1)
{
  gdouble a = (least - from) / delta, b = (largest - from) / delta;
  if (delta == 0 || !isfinite (a) || !isfinite (b)) {
    *t1 = from >= least && from <= largest ? *t1 : -1;
    return;
  }
  *t0 = MAX (*t0, MIN (a, b));
  *t1 = MIN (*t1, MAX (a, b));
}

gboolean
gst_nn_canvas_clip (gdouble width, gdouble height, gdouble margin, gdouble *x0, gdouble *y0,
                    gdouble *x1, gdouble *y1)
{
  gdouble t0 = 0, t1 = 1, x = *x0, y = *y0, dx = *x1 - x, dy = *y1 - y;
  clip (x, dx, -margin, width + margin, &t0, &t1);
  clip (y, dy, -margin, height + margin, &t0, &t1);
  if (!(t1 >= t0) || !isfinite (dx) || !isfinite (dy))
    return FALSE;
  *x0 = x + t0 * dx;
  *y0 = y + t0 * dy;
  *x1 = x + t1 * dx;
  *y1 = y + t1 * dy;
  return TRUE;
}

typedef struct {
  gdouble x, y;
} Point;

/* From where to where a convex shape of four corners reaches between two heights. */
static gboolean
reach (const Point *corners, gdouble top, gdouble bottom, gdouble *left, gdouble *right)
{
  *left = G_MAXDOUBLE;
  *right = -G_MAXDOUBLE;
  for (guint i = 0; i < 4; i++) {
    const Point *a = &corners[i], *b = &corners[(i + 1) % 4];
    gdouble dy = b->y - a->y, t0 = 0, t1 = 1, from, to;
    if (MAX (a->y, b->y) < top || MIN (a->y, b->y) > bottom)
      continue;
    if (dy != 0) {
      t0 = CLAMP ((top - a->y) / dy, 0, 1);
      t1 = CLAMP ((bottom - a->y) / dy, 0, 1);
    }
    from = a->x + t0 * (b->x - a->x);
    to = a->x + t1 * (b->x - a->x);
    *left = MIN (*left, MIN (from, to));
    *right = MAX (*right, MAX (from, to));
  }
  return *right >= *left;
}

/* Rows of the frame's fineness are asked at their middle, coarser ones wherever they are touched:
 * colours are rather too wide than missing. */
static void
fill_corners (const GstNnPlane *p, guint16 value, const Point *corners)
{
  gdouble size = 1 << p->y_shift, middle = p->y_shift ? 0 : .5;
  gdouble top = G_MAXDOUBLE, bottom = -G_MAXDOUBLE, left, right;
  gint first, last;
  for (guint i = 0; i < 4; i++) {
    top = MIN (top, corners[i].y);
    bottom = MAX (bottom, corners[i].y);
  }
  first = (gint)CLAMP (floor (top / size), 0, p->height);
  last = (gint)CLAMP (ceil (bottom / size), first, p->height);
  for (gint row = first; row < last; row++)
    if (reach (corners, (row + middle) * size, (row + 1 - middle) * size, &left, &right)) {
      gdouble finer = 1 << p->x_shift;
      gint from = (gint)CLAMP (floor (left / finer + middle), 0, p->width);
      gint to = (gint)CLAMP (ceil (right / finer - middle), from, p->width);
      fill_row (p, gst_nn_plane_at (p, from, row), to - from, value);
    }
}

void
gst_nn_canvas_line (GstVideoFrame *frame, const GstNnColor *color, gint thickness, gdouble x0,
                    gdouble y0, gdouble x1, gdouble y1)
{
  gdouble half = thickness / 2., length, u, v;
  Point corners[4];
  if (!gst_nn_canvas_clip (GST_VIDEO_FRAME_WIDTH (frame), GST_VIDEO_FRAME_HEIGHT (frame), thickness,
                           &x0, &y0, &x1, &y1))
    return;
  length = hypot (x1 - x0, y1 - y0);
  u = length > 0 ? (x1 - x0) / length * half : half;
  v = length > 0 ? (y1 - y0) / length * half : 0;
  corners[0] = (Point){ x0 - u - v, y0 - v + u };
  corners[1] = (Point){ x0 - u + v, y0 - v - u };
  corners[2] = (Point){ x1 + u + v, y1 + v - u };
  corners[3] = (Point){ x1 + u - v, y1 + v + u };
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    GstNnPlane p = gst_nn_plane_of (frame, c);
    fill_corners (&p, color->value[c], corners);
  }
}

/* The mean of what lies on the sample (@x, @y) of a plane, which begins at (@left, @top) of it. */
static guint
cover (const GstNnGlyphs *g, gint x, gint y, guint x_shift, guint y_shift)
{
  guint sum = 0, n = 0;
  for (gint v = y << y_shift; v < MIN ((y + 1) << y_shift, g->height); v++)
    for (gint u = x << x_shift; u < MIN ((x + 1) << x_shift, g->width); u++, n++)
      sum += g->coverage[v * g->width + u];
  return n ? sum / n : 0;
}

/* Of a part of a row of the plane, which begins at @from of the text. */
static void
put_text (const GstNnPlane *p, guint8 *d, const GstNnGlyphs *g, gint row, gint from, gint to,
          const guint16 *shades)
{
  const guint8 *covered = g->coverage + (gssize)row * g->width;
  if (p->x_shift + p->y_shift > 0)
    for (gint i = from; i < to; i++, d += p->step)
      gst_nn_plane_set (p, d, shades[cover (g, i, row, p->x_shift, p->y_shift)]);
  else if (p->bytes == 1)
    for (gint i = from; i < to; i++, d += p->step)
      *d = (guint8)shades[covered[i]];
  else
    for (gint i = from; i < to; i++, d += p->step)
      gst_nn_plane_set (p, d, shades[covered[i]]);
}

void
gst_nn_canvas_text (GstVideoFrame *frame, const GstNnColor *ground, const GstNnColor *ink,
                    const GstNnGlyphs *glyphs, gint x, gint y)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    GstNnPlane p = gst_nn_plane_of (frame, c);
    gint left = x >> p.x_shift, top = y >> p.y_shift, delta = ink->value[c] - ground->value[c];
    gint x0 = MAX (0, -left), y0 = MAX (0, -top);
    gint x1 = MIN (GST_NN_PLANE_COARSE (glyphs->width, p.x_shift), p.width - left);
    gint y1 = MIN (GST_NN_PLANE_COARSE (glyphs->height, p.y_shift), p.height - top);
    guint16 shades[256];
    for (gint i = 0; i < 256; i++)
      shades[i] = (guint16)(ground->value[c] + delta * i / 255);
    for (gint row = y0; row < y1 && x0 < x1; row++)
      put_text (&p, gst_nn_plane_at (&p, left + x0, top + row), glyphs, row, x0, x1, shades);
  }
}
