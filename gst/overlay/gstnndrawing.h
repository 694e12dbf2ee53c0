/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What models said of a frame, as lines, areas and texts on a surface.
 * Threads: one at a time. */
#pragma once

#include "gstnncaptions.h"
#include "gstnnsurface.h"
#include "gstnntails.h"

/* What is drawn, and how. */
typedef struct {
  gboolean boxes, labels, scores, tracks, keypoints, masks, scene, legend;
  guint thickness, text_size; /* pixels; 0: by the frame's size */
  gdouble mask_opacity;       /* 0 to 1 */
  gdouble tail_length;        /* seconds */
} GstNnStyle;

typedef struct {
  GstNnSurface *surface;
  const GstNnPalette *palette;
  GstNnCaptions *captions;
  GstNnTails *tails;
  const GstNnStyle *style;
  gint thickness;
} GstNnDrawing;

/* In pixels, of frames of @height lines. */
guint gst_nn_style_get_thickness (const GstNnStyle *style, gint height);
guint gst_nn_style_get_text_size (const GstNnStyle *style, gint height);

/* @meta, @scene: may be NULL; @time: of the frame, in ns; @rate: said in the legend */
void gst_nn_drawing_run (const GstNnDrawing *drawing, GstNnResultMeta *meta,
                         const GstNnSceneMeta *scene, GstClockTime time, const gchar *rate);
