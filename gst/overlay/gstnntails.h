/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where tracks were, for as long as their tails reach back.
 * Threads: one at a time. */
#pragma once

#include <glib.h>

#define GST_NN_TAIL_POINTS 64

typedef struct {
  guint n; /* points, the oldest first, and times in ns */
  gdouble x[GST_NN_TAIL_POINTS], y[GST_NN_TAIL_POINTS];
  guint64 time[GST_NN_TAIL_POINTS];
} GstNnTail;

typedef struct _GstNnTails GstNnTails;

GstNnTails *gst_nn_tails_new (void);
void gst_nn_tails_free (GstNnTails *tails);
/* Before the tracks of a frame: forgets all that is older than @length, or everything where time
 * ran backwards. */
void gst_nn_tails_begin (GstNnTails *tails, guint64 time, guint64 length);
/* Where a track is now; returns its tail until the next call, NULL where there are too many. */
const GstNnTail *gst_nn_tails_add (GstNnTails *tails, guint64 track, gdouble x, gdouble y);
