/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Raw grids of the YOLO family, each cell with anchors: [1,A*(5+C),H,W], [1,H,W,A*(5+C)],
 * [1,A,H,W,5+C], [1,H,W,A,5+C] or [1,A,5+C,H,W]. */
#pragma once

#include "gstnndecoder.h"

typedef struct {
  const gfloat *anchors[4];  /* of so many grids: widths and heights in pixels, finest grid first */
  const gdouble *spreads[4]; /* of so many grids: how far centres reach, in cells, finest first */
  gboolean is_squared;       /* sizes are anchors times (2 sigmoid)^2, not exp */
} GstNnAnchorForm;

gboolean gst_nn_anchor_grids_fit (const GstNnDecodeInput *in, const GstNnAnchorForm *form);
void gst_nn_anchor_grids_decode (const GstNnDecodeInput *in, const GstNnAnchorForm *form,
                                 GArray *objects);

/* fits() and decode() of a decoder whose grids are of @form. */
#define GST_NN_DEFINE_ANCHORS_DECODER(form)                                                        \
  static gboolean fits (const GstNnDecodeInput *in)                                                \
  {                                                                                                \
    return gst_nn_anchor_grids_fit (in, &form);                                                    \
  }                                                                                                \
  static void decode (const GstNnDecodeInput *in, GArray *objects)                                 \
  {                                                                                                \
    gst_nn_anchor_grids_decode (in, &form, objects);                                               \
  }
