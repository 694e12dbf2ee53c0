/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's source-pad task: takes what is done from the FIFO, attaches results, pushes. */
#include "gstnninfer.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nn_infer_debug);
#define GST_CAT_DEFAULT gst_nn_infer_debug

static void
attach_tensors (GstNnInfer *self, GstNnSlot *slot, GstBuffer *buffer, GstNnTensorMeta *carried)
{
  GstNnTensorMeta *meta = gst_buffer_add_nn_tensor_meta (buffer);
  guint n = axon_model_get_n_outputs (self->model);
  meta->names = g_new0 (gchar *, n + 1);
  for (guint i = 0; i < n; i++) {
    g_ptr_array_add (meta->tensors, axon_infer_request_get_output_tensor (slot->request, i));
    meta->names[i] = g_strdup (axon_model_get_output_name (self->model, i));
  }
  meta->description = gst_nn_description_ref (self->description);
  if (self->is_video) {
    meta->width = (gint)slot->frame.info.width;
    meta->height = (gint)slot->frame.info.height;
    axon_image_geometry_init (&meta->geometry, &slot->frame.info, self->description->resize,
                              self->geometry.width, self->geometry.height);
  } else if (carried != NULL) {
    meta->width = carried->width;
    meta->height = carried->height;
    meta->geometry = carried->geometry;
  }
}

static void
append_output (GstBuffer *buffer, AxonTensor *tensor)
{
  gsize n = axon_tensor_get_n_bytes (tensor);
  gst_buffer_append_memory (buffer, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY,
                                                            axon_tensor_get_data (tensor), n, 0, n,
                                                            axon_tensor_ref (tensor),
                                                            (GDestroyNotify)axon_tensor_unref));
}

/* The buffer that leaves: the frame itself with results attached, or a buffer of output tensors. */
static GstBuffer *
finish_buffer (GstNnInfer *self, GstNnSlot *slot)
{
  GstBuffer *out;
  if (self->is_video) {
    gst_nn_frame_unmap (&slot->frame);
    out = gst_buffer_make_writable (g_steal_pointer (&slot->buffer));
    attach_tensors (self, slot, out, NULL);
    return out;
  }
  out = gst_buffer_new ();
  gst_buffer_copy_into (out, slot->buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0,
                        -1);
  for (guint i = 0; i < axon_model_get_n_outputs (self->model); i++) {
    g_autoptr (AxonTensor) tensor = axon_infer_request_get_output_tensor (slot->request, i);
    append_output (out, tensor);
  }
  attach_tensors (self, slot, out, gst_buffer_get_nn_tensor_meta (slot->buffer));
  g_clear_pointer (&slot->maps, g_ptr_array_unref);
  return out;
}

/* A first measurement, or one that differs by half, is news for the pipeline. */
static void
measure_latency (GstNnInfer *self, const GstNnSlot *slot)
{
  GstClockTime now = (GstClockTime)(g_get_monotonic_time () - slot->started) * GST_USECOND;
  gboolean news;
  g_mutex_lock (&self->lock);
  news = self->latency == 0 || now > self->latency + self->latency / 2;
  if (news)
    self->latency = now;
  g_mutex_unlock (&self->lock);
  if (news)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static GstFlowReturn
process_frame (GstNnInfer *self, GstNnSlot *slot)
{
  GstBuffer *out;
  if (slot->request == NULL)
    return gst_pad_push (self->srcpad, g_steal_pointer (&slot->buffer));
  if (slot->error != NULL) {
    gboolean cancelled = g_error_matches (slot->error, AXON_ERROR, AXON_ERROR_CANCELLED);
    gst_nn_infer_give_request (self, g_steal_pointer (&slot->request));
    if (cancelled)
      return GST_FLOW_FLUSHING;
    gst_nn_post_error (GST_ELEMENT (self), slot->error);
    return GST_FLOW_ERROR;
  }
  measure_latency (self, slot);
  out = finish_buffer (self, slot);
  gst_nn_infer_give_request (self, g_steal_pointer (&slot->request));
  return gst_pad_push (self->srcpad, out);
}

static void
process_query (GstNnInfer *self, GstNnSlot *slot)
{
  gboolean ok = gst_pad_peer_query (self->srcpad, slot->query);
  g_mutex_lock (&self->lock);
  if (!ok)
    slot->error = g_error_new_literal (AXON_ERROR, AXON_ERROR_ARGUMENT, "not answered");
  slot->done = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* The head of the FIFO once it is done; NULL while flushing. */
static GstNnSlot *
take_head (GstNnInfer *self)
{
  GstNnSlot *slot = NULL;
  g_mutex_lock (&self->lock);
  while (!self->flushing && ((slot = g_queue_peek_head (&self->fifo)) == NULL ||
                             (slot->kind == GST_NN_SLOT_FRAME && !slot->done)))
    g_cond_wait (&self->changed, &self->lock);
  slot = self->flushing ? NULL : g_queue_pop_head (&self->fifo);
  self->pushing = slot != NULL;
  g_mutex_unlock (&self->lock);
  return slot;
}

/* The slot is dealt with; @flow is what downstream said. */
static void
finish_slot (GstNnInfer *self, GstFlowReturn flow)
{
  g_mutex_lock (&self->lock);
  self->pushing = FALSE;
  if (flow != GST_FLOW_OK)
    self->flow = flow;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* After an error or end of stream frames are dropped, but events still travel. */
static GstFlowReturn
process_slot (GstNnInfer *self, GstNnSlot *slot)
{
  GstFlowReturn flow = gst_nn_infer_get_flow (self);
  if (slot->kind == GST_NN_SLOT_QUERY) {
    process_query (self, slot);
    return flow;
  }
  if (slot->kind == GST_NN_SLOT_FRAME) {
    if (flow == GST_FLOW_OK)
      flow = process_frame (self, slot);
    else if (slot->request != NULL)
      gst_nn_infer_give_request (self, g_steal_pointer (&slot->request));
  } else {
    gst_pad_push_event (self->srcpad, g_steal_pointer (&slot->event));
  }
  gst_nn_slot_free (slot);
  return flow;
}

void
gst_nn_infer_task (gpointer user_data)
{
  GstNnInfer *self = user_data;
  GstNnSlot *slot = take_head (self);
  GstFlowReturn flow;
  if (slot == NULL) {
    gst_pad_pause_task (self->srcpad);
    return;
  }
  flow = process_slot (self, slot);
  if (flow != GST_FLOW_OK)
    GST_DEBUG_OBJECT (self, "downstream says %s", gst_flow_get_name (flow));
  finish_slot (self, flow);
}
