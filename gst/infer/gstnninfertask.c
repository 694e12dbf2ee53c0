/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's frames: the streaming thread binds them to requests and queues them; the source-pad
 * task attaches results to what is done and pushes it. */
#include "infer/gstnninfer.h"
#include "frame/gstnntensors.h"

#define GST_CAT_DEFAULT gst_nn_infer_debug

typedef struct {
  GstMemory *memory;
  GstMapInfo info;
} MappedMemory;

static void
mapped_memory_free (gpointer data)
{
  MappedMemory *m = data;
  gst_memory_unmap (m->memory, &m->info);
  gst_memory_unref (m->memory);
  g_free (m);
}

static gboolean
bind_tensors (GstNnInfer *self, GstNnSlot *slot, GError **error)
{
  guint n = axon_model_get_n_inputs (self->model);
  if (gst_buffer_n_memory (slot->buffer) != n) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("a buffer has %u memories, the model has %u inputs"),
                 gst_buffer_n_memory (slot->buffer), n);
    return FALSE;
  }
  slot->maps = g_ptr_array_new_with_free_func (mapped_memory_free);
  for (guint i = 0; i < n; i++) {
    MappedMemory *m = g_new0 (MappedMemory, 1);
    g_autoptr (AxonTensor) tensor = NULL;
    m->memory = gst_buffer_get_memory (slot->buffer, i);
    if (!gst_memory_map (m->memory, &m->info, GST_MAP_READ)) {
      gst_memory_unref (m->memory);
      g_free (m);
      g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("memory %u cannot be mapped"), i);
      return FALSE;
    }
    g_ptr_array_add (slot->maps, m);
    tensor = axon_tensor_new_wrapped (axon_model_get_input_dtype (self->model, i),
                                      axon_model_get_input_shape (self->model, i), m->info.data,
                                      m->info.size, NULL, NULL, error);
    if (tensor == NULL || !axon_infer_request_set_input_tensor (slot->request, i, tensor, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
bind_slot (GstNnInfer *self, GstNnSlot *slot, GError **error)
{
  return self->is_video
             ? gst_nn_frame_bind (&slot->frame, &self->video, slot->buffer, slot->request, 0, error)
             : bind_tensors (self, slot, error);
}

static gboolean
is_skipped (GstNnInfer *self)
{
  guint interval;
  GST_OBJECT_LOCK (self);
  interval = self->interval;
  GST_OBJECT_UNLOCK (self);
  return self->is_video && self->frame_count++ % interval != 0;
}

/* Streaming thread: an idle request, bound to the frame. */
static GstFlowReturn
prepare_slot (GstNnInfer *self, GstNnSlot *slot)
{
  g_autoptr (GError) error = NULL;
  gint64 begin = g_get_monotonic_time ();
  GstFlowReturn flow;
  if (self->patience != 0) {
    slot->request = gst_nn_infer_queue_try_request (self->queue, &flow);
    slot->deadline = g_get_monotonic_time () + (gint64)(self->patience / GST_USECOND);
  } else {
    slot->request = gst_nn_infer_queue_take_request (self->queue, &flow);
  }
  if (slot->request != NULL)
    gst_nn_infer_stats_time (self->stats, GST_NN_TIME_QUEUEING, g_get_monotonic_time () - begin);
  if (slot->request == NULL || bind_slot (self, slot, &error))
    return flow;
  gst_nn_infer_queue_give_request (self->queue, g_steal_pointer (&slot->request));
  gst_nn_post_error (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

GstFlowReturn
gst_nn_infer_chain (G_GNUC_UNUSED GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstNnInfer *self = GST_NN_INFER (parent);
  GstNnSlot *slot = gst_nn_slot_new (GST_NN_SLOT_FRAME);
  GstFlowReturn flow;
  slot->buffer = buffer;
  slot->pts = GST_BUFFER_PTS (buffer);
  gst_nn_infer_stats_count (self->stats, GST_NN_COUNT_FRAMES);
  gst_nn_sync_values (GST_ELEMENT (self), &self->segment, buffer);
  if (is_skipped (self)) {
    GST_LOG_OBJECT (self, "passes: %" GST_PTR_FORMAT, buffer);
    return gst_nn_infer_queue_push (self->queue, slot);
  }
  GST_LOG_OBJECT (self, "infers: %" GST_PTR_FORMAT, buffer);
  flow = prepare_slot (self, slot);
  if (flow == GST_FLOW_OK)
    return gst_nn_infer_queue_push (self->queue, slot);
  gst_nn_slot_free (slot);
  return flow;
}

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
  meta->pts = slot->pts;
  if (self->is_video) {
    gst_nn_frame_describe (&slot->frame, self->description->resize, self->input_width,
                           self->input_height, meta);
  } else if (carried != NULL) {
    meta->width = carried->width;
    meta->height = carried->height;
    meta->geometry = carried->geometry;
  }
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
    gst_nn_buffer_append_tensor (out, tensor);
  }
  attach_tensors (self, slot, out, gst_buffer_get_nn_tensor_meta (slot->buffer));
  g_clear_pointer (&slot->maps, g_ptr_array_unref);
  return out;
}

/* A first measurement, or one that differs by half, is news for the pipeline. */
static void
measure_latency (GstNnInfer *self, const GstNnSlot *slot)
{
  GstClockTime now = (GstClockTime)MAX (slot->ended - slot->started, 1) * GST_USECOND;
  gboolean news;
  gst_nn_infer_stats_time (self->stats, GST_NN_TIME_INFERENCE, slot->ended - slot->started);
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

static GstFlowReturn
refuse (GstNnInfer *self, GstNnSlot *slot)
{
  gst_nn_infer_queue_give_request (self->queue, g_steal_pointer (&slot->request));
  if (g_error_matches (slot->error, AXON_ERROR, AXON_ERROR_CANCELLED))
    return GST_FLOW_FLUSHING;
  gst_nn_post_error (GST_ELEMENT (self), slot->error);
  return GST_FLOW_ERROR;
}

/* Without a result of its own, but perhaps with that of an earlier frame. */
static GstFlowReturn
pass_frame (GstNnInfer *self, GstNnSlot *slot)
{
  GstNnSlot *late = gst_nn_infer_queue_take_late (self->queue);
  GstFlowReturn flow = GST_FLOW_OK;
  if (late != NULL) {
    if (late->error == NULL) {
      measure_latency (self, late);
      slot->buffer = gst_buffer_make_writable (slot->buffer);
      attach_tensors (self, late, slot->buffer, NULL);
      gst_nn_infer_stats_count (self->stats, GST_NN_COUNT_LATE);
    } else {
      flow = refuse (self, late);
    }
    if (late->request != NULL)
      gst_nn_infer_queue_give_request (self->queue, g_steal_pointer (&late->request));
    gst_nn_slot_free (late);
  }
  gst_nn_infer_stats_count (self->stats, GST_NN_COUNT_PASSED);
  return flow == GST_FLOW_OK ? gst_pad_push (self->srcpad, g_steal_pointer (&slot->buffer)) : flow;
}

static GstFlowReturn
process_frame (GstNnInfer *self, GstNnSlot *slot)
{
  GstBuffer *out;
  if (slot->request == NULL)
    return pass_frame (self, slot);
  if (slot->error == NULL) {
    measure_latency (self, slot);
    out = finish_buffer (self, slot);
    gst_nn_infer_stats_count (self->stats, GST_NN_COUNT_INFERRED);
    gst_nn_infer_queue_give_request (self->queue, g_steal_pointer (&slot->request));
    return gst_pad_push (self->srcpad, out);
  }
  return refuse (self, slot);
}

static void
tell_stats (GstNnInfer *self)
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
      gst_message_new_element (GST_OBJECT (self), gst_nn_infer_stats_get (self->stats)));
}

/* After an error or end of stream frames are dropped, but events still travel. */
static GstFlowReturn
process_slot (GstNnInfer *self, GstNnSlot *slot)
{
  GstFlowReturn flow = gst_nn_infer_queue_get_flow (self->queue);
  if (slot->kind == GST_NN_SLOT_QUERY) { /* who asks frees it */
    gst_nn_infer_queue_answer (self->queue, slot, gst_pad_peer_query (self->srcpad, slot->query));
    return flow;
  }
  if (slot->kind == GST_NN_SLOT_EVENT)
    gst_pad_push_event (self->srcpad, g_steal_pointer (&slot->event));
  else if (flow == GST_FLOW_OK)
    flow = process_frame (self, slot);
  else if (slot->request != NULL)
    gst_nn_infer_queue_give_request (self->queue, g_steal_pointer (&slot->request));
  gst_nn_slot_free (slot);
  return flow;
}

void
gst_nn_infer_task (gpointer user_data)
{
  GstNnInfer *self = user_data;
  GstNnSlot *slot = gst_nn_infer_queue_take (self->queue);
  GstFlowReturn flow;
  if (slot == NULL) {
    gst_pad_pause_task (self->srcpad);
    return;
  }
  flow = process_slot (self, slot);
  tell_stats (self);
  if (flow != GST_FLOW_OK)
    GST_DEBUG_OBJECT (self, "downstream says %s", gst_flow_get_name (flow));
  gst_nn_infer_queue_finish (self->queue, flow);
}
