/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an element did, in numbers: counts, and percentiles of times. Any thread. */
#pragma once

#include <gst/gst.h>

typedef struct _GstNnStats GstNnStats;

/* @counts and @times: their names, ended by NULL; numbers below are indices of them. */
GstNnStats *gst_nn_stats_new (const gchar *name, const gchar *const *counts,
                              const gchar *const *times);
void gst_nn_stats_free (GstNnStats *stats);
void gst_nn_stats_reset (GstNnStats *stats);
void gst_nn_stats_count (GstNnStats *stats, guint what);
guint64 gst_nn_stats_get_count (GstNnStats *stats, guint what);
void gst_nn_stats_time (GstNnStats *stats, guint what, gint64 microseconds);
/* Counts, and of each time the median, 95th and 99th percentile of the last frames. */
GstStructure *gst_nn_stats_get (GstNnStats *stats);
