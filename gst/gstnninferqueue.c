/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's middle: streaming thread -> FIFO -> source-pad task (gstnninfertask.c).
 *
 * Locks: self->lock guards what gstnninfer.h marks. It is never held while pushing, starting a
 * request or calling back, and no other lock is taken under it. */
#include "gstnninfer.h"

GST_DEBUG_CATEGORY_EXTERN (gst_nn_infer_debug);
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

void
gst_nn_slot_free (GstNnSlot *slot)
{
  gst_nn_frame_unmap (&slot->frame);
  g_clear_pointer (&slot->maps, g_ptr_array_unref);
  gst_clear_buffer (&slot->buffer);
  gst_clear_event (&slot->event);
  g_clear_error (&slot->error);
  g_clear_object (&slot->request);
  g_free (slot);
}

/* Device thread: the request is done. */
static void
on_request_done (G_GNUC_UNUSED AxonInferRequest *request, const GError *error, gpointer user_data)
{
  GstNnSlot *slot = user_data;
  GstNnInfer *self = slot->owner;
  g_mutex_lock (&self->lock);
  slot->done = TRUE;
  slot->error = error ? g_error_copy (error) : NULL;
  self->in_flight--;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Waits for the compiled model and an idle request: back-pressure. NULL: flushing or failed. */
static AxonInferRequest *
take_request (GstNnInfer *self, GstFlowReturn *flow)
{
  AxonInferRequest *request = NULL;
  g_mutex_lock (&self->lock);
  while (!self->flushing && !self->compile_failed && self->flow == GST_FLOW_OK &&
         (self->compiled == NULL || self->idle->len == 0))
    g_cond_wait (&self->changed, &self->lock);
  *flow = self->flushing ? GST_FLOW_FLUSHING : self->compile_failed ? GST_FLOW_ERROR : self->flow;
  if (*flow == GST_FLOW_OK)
    request = g_ptr_array_steal_index_fast (self->idle, self->idle->len - 1);
  g_mutex_unlock (&self->lock);
  return request;
}

void
gst_nn_infer_give_request (GstNnInfer *self, AxonInferRequest *request)
{
  g_mutex_lock (&self->lock);
  g_ptr_array_add (self->idle, request);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
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

/* FALSE while flushing: @slot is not taken. A slot with a request counts as in flight from here. */
static gboolean
push_slot (GstNnInfer *self, GstNnSlot *slot)
{
  gboolean flushing;
  g_mutex_lock (&self->lock);
  flushing = self->flushing;
  if (!flushing) {
    g_queue_push_tail (&self->fifo, slot);
    self->in_flight += slot->request != NULL;
    g_cond_broadcast (&self->changed);
  }
  g_mutex_unlock (&self->lock);
  return !flushing;
}

/* The slot is in the FIFO: a failure to start is told from there, in its turn. */
static void
start_slot (GstNnInfer *self, GstNnSlot *slot, AxonInferRequest *request)
{
  g_autoptr (GError) error = NULL;
  gboolean flushing;
  if (!axon_infer_request_start_async (request, &error))
    on_request_done (request, error, slot);
  g_mutex_lock (&self->lock);
  flushing = self->flushing;
  g_mutex_unlock (&self->lock);
  if (flushing)
    axon_infer_request_cancel (request);
}

/* Streaming thread: binds the frame to an idle request. */
static GstFlowReturn
prepare_slot (GstNnInfer *self, GstNnSlot *slot)
{
  g_autoptr (GError) error = NULL;
  GstFlowReturn flow;
  slot->request = take_request (self, &flow);
  if (slot->request == NULL)
    return flow;
  slot->started = g_get_monotonic_time ();
  axon_infer_request_set_direct_callback (slot->request, on_request_done, slot);
  if (bind_slot (self, slot, &error))
    return GST_FLOW_OK;
  gst_nn_post_error (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
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

GstFlowReturn
gst_nn_infer_get_flow (GstNnInfer *self)
{
  GstFlowReturn flow;
  g_mutex_lock (&self->lock);
  flow = self->flushing ? GST_FLOW_FLUSHING : self->flow;
  g_mutex_unlock (&self->lock);
  return flow;
}

/* Streaming thread. Takes @buffer over. */
GstFlowReturn
gst_nn_infer_queue_buffer (GstNnInfer *self, GstBuffer *buffer)
{
  GstNnSlot *slot = g_new0 (GstNnSlot, 1);
  g_autoptr (AxonInferRequest) request = NULL;
  GstFlowReturn flow = GST_FLOW_OK;
  slot->kind = GST_NN_SLOT_FRAME;
  slot->owner = self;
  slot->buffer = buffer;
  slot->done = is_skipped (self);
  if (!slot->done)
    flow = prepare_slot (self, slot);
  if (slot->request != NULL)
    request = g_object_ref (slot->request);
  if (flow != GST_FLOW_OK || !push_slot (self, slot)) {
    if (slot->request != NULL)
      gst_nn_infer_give_request (self, g_steal_pointer (&slot->request));
    gst_nn_slot_free (slot);
    return flow != GST_FLOW_OK ? flow : GST_FLOW_FLUSHING;
  }
  if (request != NULL)
    start_slot (self, slot, request);
  return gst_nn_infer_get_flow (self);
}

/* No more frames will come soon: a batching device shall not wait for them. */
void
gst_nn_infer_flush_batches (GstNnInfer *self)
{
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_mutex_lock (&self->lock);
  compiled = self->compiled ? g_object_ref (self->compiled) : NULL;
  g_mutex_unlock (&self->lock);
  if (compiled != NULL)
    axon_compiled_model_flush (compiled);
}

gboolean
gst_nn_infer_queue_event (GstNnInfer *self, GstEvent *event)
{
  GstNnSlot *slot = g_new0 (GstNnSlot, 1);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS || GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    gst_nn_infer_flush_batches (self);
  slot->kind = GST_NN_SLOT_EVENT;
  slot->event = event;
  slot->done = TRUE;
  slot->owner = self;
  if (push_slot (self, slot))
    return TRUE;
  gst_nn_slot_free (slot);
  return FALSE;
}

/* Serialized queries wait their turn, then for the task's answer. */
gboolean
gst_nn_infer_queue_query (GstNnInfer *self, GstQuery *query)
{
  GstNnSlot *slot = g_new0 (GstNnSlot, 1);
  gboolean answered = FALSE, result = FALSE;
  slot->kind = GST_NN_SLOT_QUERY;
  slot->query = query;
  slot->owner = self;
  g_mutex_lock (&self->lock);
  if (self->flushing || self->flow != GST_FLOW_OK) {
    g_mutex_unlock (&self->lock);
    gst_nn_slot_free (slot);
    return FALSE;
  }
  g_queue_push_tail (&self->fifo, slot);
  g_cond_broadcast (&self->changed);
  while (!slot->done && !self->flushing)
    g_cond_wait (&self->changed, &self->lock);
  answered = slot->done;
  result = slot->error == NULL && answered;
  if (!g_queue_remove (&self->fifo, slot) && !answered) {
    /* the task has it in hand: it is short, and a query must not be left dangling */
    while (!slot->done)
      g_cond_wait (&self->changed, &self->lock);
  }
  g_mutex_unlock (&self->lock);
  gst_nn_slot_free (slot);
  return result;
}

/* Waits until nothing runs, drops what is queued. Requests go back to the idle list. */
void
gst_nn_infer_drain (GstNnInfer *self)
{
  GstNnSlot *slot;
  g_mutex_lock (&self->lock);
  while (self->in_flight > 0 || self->pushing)
    g_cond_wait (&self->changed, &self->lock);
  while ((slot = g_queue_pop_head (&self->fifo)) != NULL) {
    if (slot->kind == GST_NN_SLOT_QUERY) { /* its caller frees it */
      slot->done = TRUE;
      slot->error = g_error_new_literal (AXON_ERROR, AXON_ERROR_CANCELLED, "flushing");
      g_cond_broadcast (&self->changed);
      continue;
    }
    if (slot->request != NULL)
      g_ptr_array_add (self->idle, g_steal_pointer (&slot->request));
    g_mutex_unlock (&self->lock);
    gst_nn_slot_free (slot);
    g_mutex_lock (&self->lock);
  }
  g_mutex_unlock (&self->lock);
}

static void
cancel_running (GstNnInfer *self)
{
  g_autoptr (GPtrArray) running = g_ptr_array_new_with_free_func (g_object_unref);
  g_mutex_lock (&self->lock);
  for (GList *l = self->fifo.head; l != NULL; l = l->next) {
    GstNnSlot *slot = l->data;
    if (slot->request != NULL && !slot->done)
      g_ptr_array_add (running, g_object_ref (slot->request));
  }
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < running->len; i++)
    axon_infer_request_cancel (g_ptr_array_index (running, i));
}

/* TRUE: everybody who waits leaves, what runs is cancelled. FALSE: starts afresh. */
void
gst_nn_infer_set_flushing (GstNnInfer *self, gboolean flushing)
{
  g_mutex_lock (&self->lock);
  self->flushing = flushing;
  if (!flushing)
    self->flow = GST_FLOW_OK;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  if (flushing)
    cancel_running (self);
}

/* Nothing runs and nothing is queued: forget requests of a compiled model. */
void
gst_nn_infer_drop_requests (GstNnInfer *self)
{
  g_autoptr (GPtrArray) old = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_mutex_lock (&self->lock);
  old = self->idle;
  self->idle = g_ptr_array_new_with_free_func (g_object_unref);
  compiled = g_steal_pointer (&self->compiled);
  self->compile_failed = FALSE;
  self->latency = 0;
  g_mutex_unlock (&self->lock);
}
