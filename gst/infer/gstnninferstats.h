/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nninfer did, in numbers. Any thread. */
#pragma once

#include <gst/gst.h>

typedef enum {
  GST_NN_COUNT_FRAMES,   /* came in */
  GST_NN_COUNT_INFERRED, /* left with their own result */
  GST_NN_COUNT_LATE,     /* results that left with a later frame */
  GST_NN_COUNT_PASSED,   /* left without a result of their own */
  GST_NN_COUNT_DROPPED,  /* not inferred, because sinks said that they are too late */
  GST_NN_N_COUNTS
} GstNnCount;

typedef enum {
  GST_NN_TIME_QUEUEING,      /* until a request was there */
  GST_NN_TIME_PREPROCESSING, /* the picture step, where the device measures: PERF_COUNT=YES */
  GST_NN_TIME_INFERENCE,     /* from its start to its end, with what the device does around it */
  GST_NN_TIME_TOTAL,         /* from when a frame came to when it left */
  GST_NN_N_TIMES
} GstNnTime;

typedef struct _GstNnInferStats GstNnInferStats;

GstNnInferStats *gst_nn_infer_stats_new (void);
void gst_nn_infer_stats_free (GstNnInferStats *stats);
void gst_nn_infer_stats_reset (GstNnInferStats *stats);
void gst_nn_infer_stats_count (GstNnInferStats *stats, GstNnCount what);
guint64 gst_nn_infer_stats_get_count (GstNnInferStats *stats, GstNnCount what);
void gst_nn_infer_stats_time (GstNnInferStats *stats, GstNnTime what, gint64 microseconds);
/* Counts, and of each time the median, 95th and 99th percentile of the last frames. */
GstStructure *gst_nn_infer_stats_get (GstNnInferStats *stats);
