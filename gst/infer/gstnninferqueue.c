/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnninferqueue-private.h"

GstNnInferQueue *
gst_nn_infer_queue_new (void)
{
  GstNnInferQueue *q = g_new0 (GstNnInferQueue, 1);
  g_mutex_init (&q->lock);
  g_cond_init (&q->changed);
  q->flushing = TRUE;
  return q;
}

void
gst_nn_infer_queue_free (GstNnInferQueue *q)
{
  g_assert (g_queue_is_empty (&q->slots));
  g_clear_pointer (&q->seat, gst_nn_infer_seat_leave);
  g_clear_pointer (&q->model, gst_nn_infer_model_unref);
  g_mutex_clear (&q->lock);
  g_cond_clear (&q->changed);
  g_free (q);
}

void
gst_nn_infer_queue_set_limits (GstNnInferQueue *q, guint frames, guint bytes)
{
  g_mutex_lock (&q->lock);
  q->max_passing = frames;
  q->max_bytes = bytes;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
}

/* With the lock. */
static gboolean
is_full (const GstNnInferQueue *q, const GstNnSlot *slot)
{
  return slot->kind == GST_NN_SLOT_FRAME && q->frames > 0 &&
         ((slot->request == NULL && q->max_passing > 0 && q->passing >= q->max_passing) ||
          (q->max_bytes > 0 && q->bytes + slot->size > q->max_bytes));
}

/* With the lock: @slot comes, or goes. */
static void
count (GstNnInferQueue *q, const GstNnSlot *slot, gint by)
{
  if (slot->kind != GST_NN_SLOT_FRAME)
    return;
  q->frames += (guint)by;
  q->passing += slot->request == NULL ? (guint)by : 0;
  q->bytes += (guint64)((gint64)slot->size * by);
}

/* With the lock: FALSE while flushing. */
static gboolean
append (GstNnInferQueue *q, GstNnSlot *slot)
{
  slot->size = slot->buffer ? gst_buffer_get_size (slot->buffer) : 0;
  while (is_full (q, slot) && gst_nn_infer_queue_peek_flow (q) == GST_FLOW_OK)
    g_cond_wait (&q->changed, &q->lock);
  if (q->flushing)
    return FALSE;
  slot->queue = q;
  slot->done = slot->request == NULL && slot->kind != GST_NN_SLOT_QUERY;
  q->in_flight += slot->request != NULL;
  count (q, slot, 1);
  g_queue_push_tail (&q->slots, slot);
  g_cond_broadcast (&q->changed);
  return TRUE;
}

/* From append() on the slot may be gone as soon as its request is done. */
GstFlowReturn
gst_nn_infer_queue_push (GstNnInferQueue *q, GstNnSlot *slot)
{
  g_autoptr (AxonInferRequest) request = slot->request ? g_object_ref (slot->request) : NULL;
  gboolean appended;
  if (request != NULL)
    gst_nn_infer_queue_watch_request (slot);
  g_mutex_lock (&q->lock);
  appended = append (q, slot);
  g_mutex_unlock (&q->lock);
  if (!appended) {
    gst_nn_infer_queue_give_request (q, slot);
    gst_nn_slot_free (slot);
    return GST_FLOW_FLUSHING;
  }
  if (request != NULL)
    gst_nn_infer_queue_start_request (q, request, slot);
  return gst_nn_infer_queue_get_flow (q);
}

gboolean
gst_nn_infer_queue_ask (GstNnInferQueue *q, GstNnSlot *slot)
{
  gboolean answer = FALSE;
  g_mutex_lock (&q->lock);
  if (gst_nn_infer_queue_peek_flow (q) == GST_FLOW_OK && append (q, slot)) {
    while (!slot->done && !q->flushing)
      g_cond_wait (&q->changed, &q->lock);
    /* Where the task has it in hand it is short, and a query must not be left dangling. */
    while (!slot->done && !g_queue_remove (&q->slots, slot))
      g_cond_wait (&q->changed, &q->lock);
    answer = slot->done && slot->answer;
  }
  g_mutex_unlock (&q->lock);
  gst_nn_slot_free (slot);
  return answer;
}

void
gst_nn_infer_queue_answer (GstNnInferQueue *q, GstNnSlot *slot, gboolean answer)
{
  g_mutex_lock (&q->lock);
  slot->answer = answer;
  slot->done = TRUE;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
}

void
gst_nn_infer_queue_flush_batches (GstNnInferQueue *q)
{
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_mutex_lock (&q->lock);
  compiled = q->model ? g_object_ref (q->model->compiled) : NULL;
  g_mutex_unlock (&q->lock);
  if (compiled != NULL)
    axon_compiled_model_flush (compiled);
}

void
gst_nn_infer_queue_wait_empty (GstNnInferQueue *q)
{
  gst_nn_infer_queue_flush_batches (q);
  g_mutex_lock (&q->lock);
  while (!q->flushing && q->flow == GST_FLOW_OK &&
         (q->pushing || q->in_flight > 0 || !g_queue_is_empty (&q->slots)))
    g_cond_wait (&q->changed, &q->lock);
  g_mutex_unlock (&q->lock);
}

static gboolean
head_is_ready (GstNnInferQueue *q)
{
  const GstNnSlot *slot = g_queue_peek_head (&q->slots);
  return slot != NULL && (slot->request == NULL || slot->done);
}

/* With the lock. */
static GstNnSlot *
pop (GstNnInferQueue *q)
{
  GstNnSlot *slot = g_queue_pop_head (&q->slots);
  if (slot != NULL)
    count (q, slot, -1);
  return slot;
}

static gboolean
head_is_overdue (GstNnInferQueue *q)
{
  const GstNnSlot *slot = g_queue_peek_head (&q->slots);
  return slot != NULL && slot->deadline != 0 && g_get_monotonic_time () >= slot->deadline;
}

/* With the lock: waits for a change, or until the head's time is up. */
static void
wait_for_head (GstNnInferQueue *q)
{
  const GstNnSlot *slot = g_queue_peek_head (&q->slots);
  if (slot != NULL && slot->deadline != 0)
    g_cond_wait_until (&q->changed, &q->lock, slot->deadline);
  else
    g_cond_wait (&q->changed, &q->lock);
}

/* With the lock: the head's frame alone; its request goes on. */
static GstNnSlot *
leave_request_behind (GstNnInferQueue *q)
{
  GstNnSlot *slot = pop (q), *frame = gst_nn_slot_new (GST_NN_SLOT_FRAME);
  frame->buffer = gst_buffer_ref (slot->buffer);
  frame->came = slot->came;
  g_queue_push_tail (&q->late, slot);
  return frame;
}

GstNnSlot *
gst_nn_infer_queue_take (GstNnInferQueue *q)
{
  GstNnSlot *slot;
  g_mutex_lock (&q->lock);
  while (!q->flushing && !head_is_ready (q) && !head_is_overdue (q))
    wait_for_head (q);
  slot = q->flushing ? NULL : head_is_ready (q) ? pop (q) : leave_request_behind (q);
  q->pushing = slot != NULL;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
  return slot;
}

void
gst_nn_infer_queue_finish (GstNnInferQueue *q, GstFlowReturn flow)
{
  g_mutex_lock (&q->lock);
  q->pushing = FALSE;
  if (flow != GST_FLOW_OK)
    q->flow = flow;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
}

void
gst_nn_infer_queue_set_flushing (GstNnInferQueue *q, gboolean flushing)
{
  g_mutex_lock (&q->lock);
  q->flushing = flushing;
  if (!flushing)
    q->flow = GST_FLOW_OK;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
  if (flushing)
    gst_nn_infer_queue_cancel (q);
}

void
gst_nn_infer_queue_relink (GstNnInferQueue *q)
{
  g_mutex_lock (&q->lock);
  if (q->flow == GST_FLOW_NOT_LINKED)
    q->flow = GST_FLOW_OK;
  g_mutex_unlock (&q->lock);
}

void
gst_nn_infer_queue_drain (GstNnInferQueue *q)
{
  GstNnSlot *slot;
  g_mutex_lock (&q->lock);
  while (q->in_flight > 0 || q->pushing)
    g_cond_wait (&q->changed, &q->lock);
  while ((slot = pop (q)) != NULL || (slot = gst_nn_infer_queue_pop_late (q)) != NULL) {
    if (slot->kind == GST_NN_SLOT_QUERY) { /* who asked frees it */
      slot->done = TRUE;
      g_cond_broadcast (&q->changed);
      continue;
    }
    g_mutex_unlock (&q->lock);
    gst_nn_infer_queue_give_request (q, slot);
    gst_nn_slot_free (slot);
    g_mutex_lock (&q->lock);
  }
  g_mutex_unlock (&q->lock);
}

GstFlowReturn
gst_nn_infer_queue_get_flow (GstNnInferQueue *q)
{
  GstFlowReturn flow;
  g_mutex_lock (&q->lock);
  flow = q->flushing ? GST_FLOW_FLUSHING : q->flow;
  g_mutex_unlock (&q->lock);
  return flow;
}

void
gst_nn_infer_queue_get_level (GstNnInferQueue *q, guint *frames, guint64 *bytes)
{
  g_mutex_lock (&q->lock);
  *frames = q->frames;
  *bytes = q->bytes;
  g_mutex_unlock (&q->lock);
}
