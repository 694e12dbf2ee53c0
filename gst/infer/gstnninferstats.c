/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nninfer measures, and whom it tells. */
#include "infer/gstnninfer.h"

#define GST_CAT_DEFAULT gst_nn_infer_debug

/* The picture step has no node in the model file. Rows are there only if the device measures. */
static void
measure_preprocessing (GstNnInfer *self, const GstNnSlot *slot)
{
  gdouble us = 0;
  guint n = axon_infer_request_get_n_profiling (slot->request);
  for (guint i = 0; i < n; i++) {
    const AxonProfilingInfo *info = axon_infer_request_get_profiling (slot->request, i);
    if (g_str_equal (info->node_type, "ImageToTensor"))
      us += info->real_time_us;
  }
  if (n > 0 && slot->model->is_video)
    gst_nn_stats_time (self->stats, GST_NN_TIME_PREPROCESSING, (gint64)(us + 0.5));
}

void
gst_nn_infer_note_inference (GstNnInfer *self, const GstNnSlot *slot)
{
  gst_nn_stats_time (self->stats, GST_NN_TIME_INFERENCE, slot->ended - slot->started);
  measure_preprocessing (self, slot);
  gst_nn_infer_note_success (self);
}

void
gst_nn_infer_note_latency (GstNnInfer *self, const GstNnSlot *slot)
{
  GstClockTime now = (GstClockTime)MAX (slot->ended - slot->started, 1) * GST_USECOND;
  gboolean news;
  GST_OBJECT_LOCK (self);
  news = self->latency == 0 || now > self->latency + self->latency / 2;
  if (news)
    self->latency = now;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self, "took %" GST_TIME_FORMAT, GST_TIME_ARGS (now));
  if (!news)
    return;
  GST_DEBUG_OBJECT (self, "latency is %" GST_TIME_FORMAT, GST_TIME_ARGS (now));
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

void
gst_nn_infer_forget_latency (GstNnInfer *self)
{
  GST_OBJECT_LOCK (self);
  self->latency = 0;
  GST_OBJECT_UNLOCK (self);
}

/* Beside what was counted, what there is now. */
GstStructure *
gst_nn_infer_make_stats (GstNnInfer *self)
{
  GstStructure *s = gst_nn_stats_get (self->stats);
  guint64 bytes, memory = 0;
  guint frames;
  gst_nn_infer_queue_get_level (self->queue, &frames, &bytes);
  GST_OBJECT_LOCK (self);
  if (self->prepared != NULL)
    memory = axon_model_get_memory (self->prepared->model);
  GST_OBJECT_UNLOCK (self);
  gst_structure_set (s, "queue-depth", G_TYPE_UINT, frames, "queue-bytes", G_TYPE_UINT64, bytes,
                     "memory", G_TYPE_UINT64, memory, NULL);
  return s;
}

void
gst_nn_infer_tell_stats (GstNnInfer *self)
{
  gint64 now = g_get_monotonic_time ();
  GstClockTime interval;
  GST_OBJECT_LOCK (self);
  interval = self->stats_interval;
  GST_OBJECT_UNLOCK (self);
  if (interval == 0 || (GstClockTime)(now - self->stats_told) * GST_USECOND < interval)
    return;
  self->stats_told = now;
  gst_element_post_message (
      GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), gst_nn_infer_make_stats (self)));
}
