/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The colours that are drawn with: the same from run to run, and told apart by the colour-blind. */
#pragma once

#include "gstnnplane.h"

#include <gst/nn/nn.h>

#define GST_NN_PALETTE_CLASSES 24
#define GST_NN_PALETTE_STEPS 16

typedef struct {
  guint32 rgb;
  GstNnColor color; /* as the frames store it */
  gboolean is_dark; /* white is read better on it than black */
} GstNnPaint;

/* Of the values of a mask; NULL: left as it is. */
typedef struct {
  const GstNnPaint *of[256];
  gboolean of_coverage; /* one for all from 128 on: what lies between values can be told */
} GstNnPaints;

typedef struct {
  GstNnPaint classes[GST_NN_PALETTE_CLASSES];
  GstNnPaint steps[GST_NN_PALETTE_STEPS]; /* of numbers, which are lighter the larger they are */
  GstNnPaint black, white;
} GstNnPalette;

void gst_nn_palette_init (GstNnPalette *palette, const GstVideoInfo *info);
/* By number, or where there is none by @label, which may be NULL. */
const GstNnPaint *gst_nn_palette_get (const GstNnPalette *palette, gint class_id,
                                      const gchar *label);
/* What is read on it. */
const GstNnPaint *gst_nn_palette_ink (const GstNnPalette *palette, const GstNnPaint *ground);

/* What masks are drawn with. @paint: of what is covered by half or more; of values, 0 is
 * the least, and where @from_zero is FALSE nothing. */
void gst_nn_paints_of_coverage (GstNnPaints *paints, const GstNnPaint *paint);
void gst_nn_paints_of_classes (GstNnPaints *paints, const GstNnPalette *palette);
void gst_nn_paints_of_values (GstNnPaints *paints, const GstNnPalette *palette, gboolean from_zero);
