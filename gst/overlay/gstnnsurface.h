/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is drawn on: a frame, or a GstVideoOverlayComposition that others blend. */
#pragma once

#include "gstnncanvas.h"

typedef struct _GstNnSurface GstNnSurface;
struct _GstNnSurface {
  gint width, height; /* pixels */
  void (*fill) (GstNnSurface *surface, const GstNnPaint *paint, gint x, gint y, gint width,
                gint height);
  void (*line) (GstNnSurface *surface, const GstNnPaint *paint, gint thickness, gdouble x0,
                gdouble y0, gdouble x1, gdouble y1);
  void (*tint) (GstNnSurface *surface, const GstNnPaints *paints, guint opacity,
                const GstNnMask *mask);
  void (*text) (GstNnSurface *surface, const GstNnPaint *ground, const GstNnPaint *ink,
                const GstNnGlyphs *glyphs, gint x, gint y);
};

typedef struct {
  GstNnSurface surface;
  GstVideoFrame *frame; /* mapped for writing */
} GstNnFrameSurface;

void gst_nn_frame_surface_init (GstNnFrameSurface *surface, GstVideoFrame *frame);

typedef struct {
  GstNnSurface surface;
  GstVideoOverlayComposition *composition;
  GHashTable *pixels; /* colour -> GstBuffer, of one pixel each */
} GstNnLayers;

/* @pixels: of gst_nn_layers_pixels_new(), which may serve again */
void gst_nn_layers_init (GstNnLayers *layers, GHashTable *pixels, gint width, gint height);
GHashTable *gst_nn_layers_pixels_new (void);
/* Adds what was drawn to what @buffer has. */
void gst_nn_layers_attach (GstNnLayers *layers, GstBuffer *buffer);
