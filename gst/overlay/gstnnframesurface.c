/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnsurface.h"

static GstVideoFrame *
frame_of (GstNnSurface *surface)
{
  return ((GstNnFrameSurface *)surface)->frame;
}

static void
fill (GstNnSurface *surface, const GstNnPaint *paint, gint x, gint y, gint width, gint height)
{
  gst_nn_canvas_fill (frame_of (surface), &paint->color, x, y, width, height);
}

static void
line (GstNnSurface *surface, const GstNnPaint *paint, gint thickness, gdouble x0, gdouble y0,
      gdouble x1, gdouble y1)
{
  gst_nn_canvas_line (frame_of (surface), &paint->color, thickness, x0, y0, x1, y1);
}

static void
tint (GstNnSurface *surface, const GstNnPaints *paints, guint opacity, const GstNnMask *mask)
{
  gst_nn_canvas_tint (frame_of (surface), paints, opacity, mask);
}

static void
text (GstNnSurface *surface, const GstNnPaint *ground, const GstNnPaint *ink,
      const GstNnGlyphs *glyphs, gint x, gint y)
{
  gst_nn_canvas_text (frame_of (surface), &ground->color, &ink->color, glyphs, x, y);
}

void
gst_nn_frame_surface_init (GstNnFrameSurface *surface, GstVideoFrame *frame)
{
  surface->surface = (GstNnSurface){ .width = GST_VIDEO_FRAME_WIDTH (frame),
                                     .height = GST_VIDEO_FRAME_HEIGHT (frame),
                                     .fill = fill,
                                     .line = line,
                                     .tint = tint,
                                     .text = text };
  surface->frame = frame;
}
