/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks are mostly areas: their rows are cut into runs of one colour. What covers an object has an
 * outline, which is found between the mask's values; of classes and steps each value is a
 * rectangle. */
#pragma once

#include "gstnnpalette.h"

/* Part of a row, in pixels of the frame. */
typedef struct {
  gdouble left, right;
  const GstNnPaint *paint;
} GstNnRun;

typedef struct {
  guint n; /* of the row that was cut last */
  GstNnRun *of;
  gboolean smooth;
  /* rows of the mask that are alike or, smooth, what is between the middles of two of them */
  guint n_bands;
  /* < private > */
  const GstNnPaints *paints;
  const guint8 *values;
  guint columns, rows, n_cells;
  guint *cells; /* columns through which, or behind which, the outline of a band goes */
  gdouble x, y, width, height;
} GstNnRuns;

/* Both must outlive the runs. */
void gst_nn_runs_init (GstNnRuns *runs, const GstNnMask *mask, const GstNnPaints *paints);
void gst_nn_runs_clear (GstNnRuns *runs);
void gst_nn_runs_get_band (const GstNnRuns *runs, guint band, gdouble *top, gdouble *bottom);
/* Cuts the band's rows or, smooth, finds where its outline is. */
void gst_nn_runs_enter (GstNnRuns *runs, guint band);
/* @y: in the band that was entered, in pixels of the frame */
void gst_nn_runs_cut_between (GstNnRuns *runs, guint band, gdouble y);
