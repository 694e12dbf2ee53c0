/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drawing into a mapped frame, component by component, in every format whose components lie apart.
 * GStreamer's own blending unpacks whole lines of the frame for each row that it touches: ten boxes
 * on a frame of 1080 lines took it 80 ms. What is outside of the frame is left out. */
#pragma once

#include <gst/nn/nn.h>
#include <gst/video/video.h>

/* A colour as the frame stores it. */
typedef struct {
  guint16 value[GST_VIDEO_MAX_COMPONENTS];
} GstNnColor;

/* video/x-raw with all formats that can be drawn into. */
GstCaps *gst_nn_canvas_caps (void);
GstNnColor gst_nn_canvas_color (const GstVideoInfo *info, guint32 rgb);
void gst_nn_canvas_fill (GstVideoFrame *frame, const GstNnColor *color, gint x, gint y, gint width,
                         gint height);
/* The edges of a box, inside of it. */
void gst_nn_canvas_box (GstVideoFrame *frame, const GstNnColor *color, gint thickness, gint x,
                        gint y, gint width, gint height);
void gst_nn_canvas_line (GstVideoFrame *frame, const GstNnColor *color, gint thickness, gdouble x0,
                         gdouble y0, gdouble x1, gdouble y1);
/* Half the colour where the mask covers a pixel by half or more; @colors: of classes, from the
 * least number to the largest, else one. */
void gst_nn_canvas_tint (GstVideoFrame *frame, const GstNnColor *colors, guint n_colors,
                         const GstNnMask *mask);
/* @picture has the frame's format. */
void gst_nn_canvas_copy (GstVideoFrame *frame, const GstVideoFrame *picture, gint x, gint y);
