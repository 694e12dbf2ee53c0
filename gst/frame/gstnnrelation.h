/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results for GStreamer's own elements, beside regions: GstAnalytics' relations from 1.24 on, with
 * masks from 1.26 on, where outputs of models are GstTensorMeta, too. Where GStreamer is older, all
 * of it does nothing. */
#pragma once

#include <gst/nn/nn.h>

#ifdef HAVE_GST_ANALYTICS
/* A detection, its classes and mask, and of what object of ours it is a part. */
void gst_nn_relation_add_object (GstBuffer *buffer, const GstNnObject *object);
/* Classes and mask that were said of an object, or (0) of the frame. */
void gst_nn_relation_add_said (GstBuffer *buffer, guint object_id, const GstNnObject *said);
/* Tracks of detections that have none yet. */
void gst_nn_relation_add_tracks (GstBuffer *buffer, GstNnResultMeta *result);
#else
#define gst_nn_relation_add_object(buffer, object) ((void)(object))
#define gst_nn_relation_add_said(buffer, object_id, said) ((void)(said))
#define gst_nn_relation_add_tracks(buffer, result) ((void)(result))
#endif

#ifdef HAVE_GST_TENSOR_META
void gst_nn_share_tensors (GstBuffer *buffer, const GstNnTensorMeta *meta);
/* Takes back what was shared last. */
void gst_nn_unshare_tensors (GstBuffer *buffer);
#else
#define gst_nn_share_tensors(buffer, meta) ((void)(meta))
#define gst_nn_unshare_tensors(buffer) ((void)(buffer))
#endif
