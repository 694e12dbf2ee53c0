/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drawing into a mapped frame, component by component, in every format whose components lie apart.
 * GStreamer's own blending unpacks whole lines of the frame for each row that it touches: ten boxes
 * on a frame of 1080 lines took it 80 ms. What is outside of the frame is left out. */
#pragma once

#include "gstnnpalette.h"

/* How much of each pixel a text covers, 0 to 255, row by row. */
typedef struct {
  guint8 *coverage;
  gint width, height;
} GstNnGlyphs;

void gst_nn_canvas_fill (GstVideoFrame *frame, const GstNnColor *color, gint x, gint y, gint width,
                         gint height);
void gst_nn_canvas_line (GstVideoFrame *frame, const GstNnColor *color, gint thickness, gdouble x0,
                         gdouble y0, gdouble x1, gdouble y1);
/* The part of the line from (x0, y0) to (x1, y1) that lies on the frame or @margin beside it;
 * FALSE: none. */
gboolean gst_nn_canvas_clip (gdouble width, gdouble height, gdouble margin, gdouble *x0,
                             gdouble *y0, gdouble *x1, gdouble *y1);
/* @paints: of the values of the mask; NULL: left as it is; @opacity: of 256 */
void gst_nn_canvas_tint (GstVideoFrame *frame, const GstNnPaints *paints, guint opacity,
                         const GstNnMask *mask);
/* @ink on @ground. */
void gst_nn_canvas_text (GstVideoFrame *frame, const GstNnColor *ground, const GstNnColor *ink,
                         const GstNnGlyphs *glyphs, gint x, gint y);
/* Takes details out of an area: its longer side is cut into @cells squares, and nothing remains but
 * their means, which are filled in (@smooth: blended from one to the next). */
void gst_nn_canvas_hide (GstVideoFrame *frame, gint x, gint y, gint width, gint height, guint cells,
                         gboolean smooth);
