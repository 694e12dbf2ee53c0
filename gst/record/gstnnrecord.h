/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame's results as a line of JSON, with the fields of DL Streamer's gvametaconvert. */
#pragma once

#include <gst/nn/nn.h>

typedef struct {
  const gchar *source;                    /* name of the stream, or NULL */
  GstClockTime stream_time, running_time; /* of the frame, or GST_CLOCK_TIME_NONE */
  GstClockTime unix_time;                 /* nanoseconds since 1970, or GST_CLOCK_TIME_NONE */
  GstClockTime pts;
  gboolean tensor_data; /* masks and embeddings, too */
} GstNnRecordInfo;

gchar *gst_nn_record_new (GstNnResultMeta *meta, const GstNnRecordInfo *info);

/* The time of day that a source attached to a frame, as RTSP and cameras with a clock do. */
GstClockTime gst_nn_buffer_get_unix_time (GstBuffer *buffer);
