/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's frames: the streaming thread binds them to requests and queues them; the source-pad
 * task attaches results to what is done and pushes it. */
#include "infer/gstnninfer.h"
#include "infer/gstnninferwidth.h"
#include "frame/gstnnrelation.h"
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
bind_tensors (GstNnSlot *slot, GError **error)
{
  AxonModel *model = slot->model->graph;
  guint n = axon_model_get_n_inputs (model);
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
    tensor = axon_tensor_new_wrapped (axon_model_get_input_dtype (model, i),
                                      axon_model_get_input_shape (model, i), m->info.data,
                                      m->info.size, NULL, NULL, error);
    if (tensor == NULL || !axon_infer_request_set_input_tensor (slot->request, i, tensor, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
bind_slot (GstNnInfer *self, GstNnSlot *slot, GError **error)
{
  if (!slot->model->is_video)
    return bind_tensors (slot, error);
  if (!gst_nn_frame_map (&slot->frame, &self->video, slot->buffer, error))
    return FALSE;
  if (slot->kind == GST_NN_SLOT_PART)
    gst_nn_infer_region_apply (slot);
  if (slot->model->steps != NULL)
    return gst_nn_infer_width_bind (slot, error);
  return gst_nn_frame_bind_region (&slot->frame, &slot->frame.info, slot->request, 0, error);
}

/* TRUE if it shall not be inferred: there is nothing in it, it is not its turn, or nobody will show
 * it. */
static gboolean
is_skipped (GstNnInfer *self, GstBuffer *buffer)
{
  guint interval;
  GST_OBJECT_LOCK (self);
  interval = self->stream.is_video ? self->interval : 1;
  GST_OBJECT_UNLOCK (self);
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) ||
         self->frame_count++ % interval != 0 || gst_nn_infer_is_too_late (self, buffer);
}

/* Streaming thread: properties that were set since the last frame. */
static void
follow_properties (GstNnInfer *self, GstBuffer *buffer)
{
  gboolean patience_is_stale;
  gst_nn_sync_values (GST_ELEMENT (self), &self->segment, buffer);
  gst_nn_infer_change_model (self);
  GST_OBJECT_LOCK (self);
  patience_is_stale = self->patience_is_stale;
  GST_OBJECT_UNLOCK (self);
  if (patience_is_stale)
    gst_nn_infer_choose_patience (self);
}

/* Streaming thread: an idle request, bound to the frame. */
static GstFlowReturn
prepare_slot (GstNnInfer *self, GstNnSlot *slot)
{
  g_autoptr (GError) error = NULL;
  gint64 begin = g_get_monotonic_time (), taken;
  gboolean waits = self->patience == 0;
  GstFlowReturn flow = gst_nn_infer_queue_take_request (self->queue, slot, waits);
  taken = g_get_monotonic_time ();
  if (!waits)
    slot->deadline = taken + (gint64)(self->patience / GST_USECOND);
  if (slot->request == NULL)
    return flow;
  gst_nn_stats_time (self->stats, GST_NN_TIME_QUEUEING, taken - begin);
  if (bind_slot (self, slot, &error))
    return flow;
  gst_nn_infer_queue_give_request (self->queue, slot);
  gst_nn_post_error (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

/* Frames pass as they are; of tensors nothing but their time can leave. */
static GstFlowReturn
skip (GstNnInfer *self, GstNnSlot *slot)
{
  GST_LOG_OBJECT (self, "passes: %" GST_PTR_FORMAT, slot->buffer);
  if (!self->stream.is_video) {
    slot->kind = GST_NN_SLOT_EVENT;
    slot->event = gst_event_new_gap (slot->pts, GST_BUFFER_DURATION (slot->buffer));
    gst_clear_buffer (&slot->buffer);
  }
  return gst_nn_infer_queue_push (self->queue, slot);
}

static GstNnSlot *
part_of (const GstNnSlot *frame, const GstNnRegion *region)
{
  GstNnSlot *part = gst_nn_slot_new (GST_NN_SLOT_PART);
  part->buffer = gst_buffer_ref (frame->buffer);
  part->pts = frame->pts;
  part->came = frame->came;
  part->frame_id = frame->frame_id;
  part->region = *region;
  return part;
}

/* The parts of the frame that are to be inferred; where nobody waits, as many as can be now. */
static GstFlowReturn
push_parts (GstNnInfer *self, GstNnSlot *slot)
{
  GstFlowReturn flow = GST_FLOW_OK;
  const GArray *regions;
  GST_OBJECT_LOCK (self);
  regions =
      gst_nn_infer_regions_choose (&self->regions, &self->region_props, slot->buffer, &self->video);
  GST_OBJECT_UNLOCK (self);
  slot->frame_id = self->frame_count;
  for (guint i = 0; flow == GST_FLOW_OK && i < regions->len; i++) {
    const GstNnRegion *region = &g_array_index (regions, GstNnRegion, i);
    GstNnSlot *part = part_of (slot, region);
    flow = prepare_slot (self, part);
    part->deadline = 0; /* the frame waits for what was begun */
    if (part->request == NULL) {
      gst_nn_slot_free (part);
      break;
    }
    gst_nn_infer_regions_note (&self->regions, region);
    flow = gst_nn_infer_queue_push (self->queue, part);
  }
  return flow;
}

static gboolean
is_cut (GstNnInfer *self)
{
  gboolean cut;
  GST_OBJECT_LOCK (self);
  cut = self->stream.is_video && gst_nn_region_props_cut (&self->region_props);
  GST_OBJECT_UNLOCK (self);
  return cut;
}

GstFlowReturn
gst_nn_infer_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstNnInfer *self = GST_NN_INFER (parent);
  GstNnSlot *slot = gst_nn_slot_new (GST_NN_SLOT_FRAME);
  GstFlowReturn flow = GST_FLOW_NOT_NEGOTIATED;
  slot->buffer = buffer;
  slot->pts = GST_BUFFER_PTS (buffer);
  slot->came = g_get_monotonic_time ();
  gst_nn_stats_count (self->stats, GST_NN_COUNT_FRAMES);
  follow_properties (self, buffer);
  if (is_skipped (self, buffer))
    return skip (self, slot);
  GST_LOG_OBJECT (self, "infers: %" GST_PTR_FORMAT, buffer);
  if (self->caps != NULL)
    flow = is_cut (self) ? push_parts (self, slot) : prepare_slot (self, slot);
  else
    gst_nn_takes_caps (GST_ELEMENT (self), pad, NULL);
  if (flow == GST_FLOW_OK)
    return gst_nn_infer_queue_push (self->queue, slot);
  gst_nn_slot_free (slot);
  return flow;
}

static void
attach_tensors (GstNnSlot *slot, GstBuffer *buffer, GstNnTensorMeta *carried)
{
  GstNnTensorMeta *meta = gst_buffer_add_nn_tensor_meta (buffer);
  const GstNnInferModel *m = slot->model;
  guint n = axon_model_get_n_outputs (m->model);
  meta->names = g_new0 (gchar *, n + 1);
  for (guint i = 0; i < n; i++) {
    g_ptr_array_add (meta->tensors, axon_infer_request_get_output_tensor (slot->request, i));
    meta->names[i] = g_strdup (axon_model_get_output_name (m->model, i));
  }
  meta->description = gst_nn_description_ref (m->description);
  meta->pts = slot->pts;
  meta->object_id = slot->region.object_id;
  if (m->is_video) {
    gst_nn_frame_describe (&slot->frame, m->description, slot->width ? slot->width : m->input_width,
                           m->input_height, meta);
    if (slot->kind == GST_NN_SLOT_FRAME)
      gst_nn_share_tensors (buffer, meta);
  } else if (carried != NULL) {
    meta->width = carried->width;
    meta->height = carried->height;
    meta->geometry = carried->geometry;
  }
}

/* The buffer that leaves: the frame itself with results attached, or a buffer of output tensors. */
static GstBuffer *
finish_buffer (GstNnSlot *slot)
{
  GstBuffer *out;
  if (slot->model->is_video) {
    gst_nn_frame_unmap (&slot->frame);
    out = gst_buffer_make_writable (g_steal_pointer (&slot->buffer));
    attach_tensors (slot, out, NULL);
    return out;
  }
  out = gst_buffer_new ();
  gst_buffer_copy_into (out, slot->buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0,
                        -1);
  for (guint i = 0; i < axon_model_get_n_outputs (slot->model->model); i++) {
    g_autoptr (AxonTensor) tensor = axon_infer_request_get_output_tensor (slot->request, i);
    gst_nn_buffer_append_tensor (out, tensor);
  }
  attach_tensors (slot, out, gst_buffer_get_nn_tensor_meta (slot->buffer));
  g_clear_pointer (&slot->maps, g_ptr_array_unref);
  return out;
}

static GstFlowReturn
push (GstNnInfer *self, const GstNnSlot *slot, GstBuffer *buffer)
{
  GstFlowReturn flow;
  gst_nn_stats_time (self->stats, GST_NN_TIME_TOTAL, g_get_monotonic_time () - slot->came);
  flow = gst_pad_push (self->srcpad, buffer);
  if (flow == GST_FLOW_NOT_NEGOTIATED)
    gst_nn_post_refused_caps (GST_ELEMENT (self), self->srcpad);
  return flow;
}

static GstFlowReturn
refuse (GstNnInfer *self, GstNnSlot *slot)
{
  gst_nn_infer_queue_give_request (self->queue, slot);
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
      gst_nn_infer_note_inference (self, late);
      gst_nn_infer_note_latency (self, late);
      slot->buffer = gst_buffer_make_writable (slot->buffer);
      attach_tensors (late, slot->buffer, NULL);
      gst_nn_stats_count (self->stats, GST_NN_COUNT_LATE);
    } else if (!gst_nn_infer_forgives (self, late->error)) {
      flow = refuse (self, late);
    }
    gst_nn_infer_queue_give_request (self->queue, late);
    gst_nn_slot_free (late);
  }
  gst_nn_stats_count (self->stats, GST_NN_COUNT_PASSED);
  return flow == GST_FLOW_OK ? push (self, slot, g_steal_pointer (&slot->buffer)) : flow;
}

/* What a part gave waits for the frame. */
static GstFlowReturn
process_part (GstNnInfer *self, GstNnSlot *slot)
{
  if (slot->error != NULL && !gst_nn_infer_forgives (self, slot->error))
    return refuse (self, slot);
  gst_nn_frame_unmap (&slot->frame);
  if (slot->error == NULL) {
    gst_nn_infer_note_inference (self, slot);
    attach_tensors (slot, gst_nn_infer_regions_keep (&self->regions, slot), NULL);
  }
  gst_nn_infer_queue_give_request (self->queue, slot);
  return GST_FLOW_OK;
}

/* Frames pass as they came; of tensors nothing but their time can leave. */
static GstFlowReturn
process_failed (GstNnInfer *self, GstNnSlot *slot)
{
  if (!gst_nn_infer_forgives (self, slot->error))
    return refuse (self, slot);
  gst_nn_infer_queue_give_request (self->queue, slot);
  gst_nn_stats_count (self->stats, GST_NN_COUNT_PASSED);
  gst_nn_frame_unmap (&slot->frame);
  if (slot->model->is_video)
    return push (self, slot, g_steal_pointer (&slot->buffer));
  gst_pad_push_event (self->srcpad,
                      gst_event_new_gap (slot->pts, GST_BUFFER_DURATION (slot->buffer)));
  return GST_FLOW_OK;
}

static GstFlowReturn
process_frame (GstNnInfer *self, GstNnSlot *slot)
{
  GstBuffer *out;
  if (slot->request == NULL && gst_nn_infer_regions_attach (&self->regions, slot)) {
    gst_nn_infer_note_latency (self, slot);
    gst_nn_stats_count (self->stats, GST_NN_COUNT_INFERRED);
    return push (self, slot, g_steal_pointer (&slot->buffer));
  }
  if (slot->request == NULL)
    return pass_frame (self, slot);
  if (slot->error == NULL) {
    gst_nn_infer_note_inference (self, slot);
    gst_nn_infer_note_latency (self, slot);
    out = finish_buffer (slot);
    gst_nn_stats_count (self->stats, GST_NN_COUNT_INFERRED);
    gst_nn_infer_queue_give_request (self->queue, slot);
    return push (self, slot, out);
  }
  return process_failed (self, slot);
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
    flow = (slot->kind == GST_NN_SLOT_PART ? process_part : process_frame) (self, slot);
  else
    gst_nn_infer_queue_give_request (self->queue, slot);
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
  gst_nn_infer_tell_stats (self);
  if (flow != GST_FLOW_OK)
    GST_DEBUG_OBJECT (self, "downstream says %s", gst_flow_get_name (flow));
  gst_nn_infer_queue_finish (self->queue, flow);
}
