/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame's results as one line: JSON with the fields of DL Streamer's gvametaconvert
 * (docs/record.schema.json), results as COCO's, or ONVIF's metadata. */
#pragma once

#include <gst/nn/nn.h>
#include <gst/video/video.h>

typedef struct {
  const gchar *source;                    /* name of the stream, or NULL */
  GstClockTime stream_time, running_time; /* of the frame, or GST_CLOCK_TIME_NONE */
  GstClockTime unix_time;                 /* nanoseconds since 1970, or GST_CLOCK_TIME_NONE */
  GstClockTime pts;
  guint64 frame;                /* its number, from 1 */
  gboolean tensor_data;         /* masks and embeddings, too */
  const GstNnSceneMeta *scene;  /* zones, lines and events, or NULL */
  const gchar *const *labels;   /* only objects with one of these, or NULL */
  const gchar *const *zones;    /* only objects in one of these, or NULL */
  const GstVideoFrame *picture; /* for thumbnails, or NULL */
  guint thumbnail_size;         /* their longer edge */
} GstNnRecordInfo;

/* The attribute by which nnanalytics says in which zone an object is. */
#define GST_NN_RECORD_ZONE "zone"

/* The zone; NULL: the attribute says something else. */
const gchar *gst_nn_record_zone (const GstNnAttribute *attribute);

/* The frame's scene, times and number. */
void gst_nn_record_info_fill (GstNnRecordInfo *info, const GstSegment *segment, GstBuffer *buffer,
                              guint64 frame);

/* Whether the user wants to hear of the object. */
gboolean gst_nn_record_wants (const GstNnRecordInfo *info, const GstNnObject *object);

/* @meta: or NULL */
typedef gchar *(*GstNnRecordFunc) (GstNnResultMeta *meta, const GstNnRecordInfo *info);
gchar *gst_nn_record_new (GstNnResultMeta *meta, const GstNnRecordInfo *info);
/* An array of COCO's results: image_id, category_id, bbox, score, keypoints. */
gchar *gst_nn_record_coco (GstNnResultMeta *meta, const GstNnRecordInfo *info);
/* A tt:MetadataStream in one line. */
gchar *gst_nn_record_onvif (GstNnResultMeta *meta, const GstNnRecordInfo *info);

/* The time of day that a source attached to a frame, as RTSP and cameras with a clock do. */
GstClockTime gst_nn_buffer_get_unix_time (GstBuffer *buffer);
