/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnninferqueue.h"

/* Frames that pass without inference hold no request, so something else must end their number. */
#define MAX_PASSING 32

struct _GstNnInferQueue {
  GMutex lock;
  GCond changed;               /* any of the below */
  GQueue slots;                /* lock: GstNnSlot */
  GQueue late;                 /* lock: GstNnSlot, whose frames have left */
  GPtrArray *idle;             /* lock: AxonInferRequest */
  AxonCompiledModel *compiled; /* lock; NULL: not yet */
  gboolean failed;             /* lock: there will be none */
  guint in_flight;             /* lock: started and not done */
  guint passing;               /* lock: frames in slots without a request */
  gboolean flushing;           /* lock */
  gboolean pushing;            /* lock: the task has a slot in hand */
  GstFlowReturn flow;          /* lock: what downstream said last */
};

GstNnSlot *
gst_nn_slot_new (GstNnSlotKind kind)
{
  GstNnSlot *slot = g_new0 (GstNnSlot, 1);
  slot->kind = kind;
  return slot;
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

GstNnInferQueue *
gst_nn_infer_queue_new (void)
{
  GstNnInferQueue *q = g_new0 (GstNnInferQueue, 1);
  g_mutex_init (&q->lock);
  g_cond_init (&q->changed);
  q->idle = g_ptr_array_new_with_free_func (g_object_unref);
  q->flushing = TRUE;
  return q;
}

void
gst_nn_infer_queue_free (GstNnInferQueue *q)
{
  g_assert (g_queue_is_empty (&q->slots));
  g_ptr_array_unref (q->idle);
  g_clear_object (&q->compiled);
  g_mutex_clear (&q->lock);
  g_cond_clear (&q->changed);
  g_free (q);
}

void
gst_nn_infer_queue_open (GstNnInferQueue *q, AxonCompiledModel *compiled, guint n_requests)
{
  g_mutex_lock (&q->lock);
  for (guint i = 0; i < n_requests; i++)
    g_ptr_array_add (q->idle, axon_compiled_model_create_infer_request (compiled));
  q->compiled = g_object_ref (compiled);
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
}

void
gst_nn_infer_queue_fail (GstNnInferQueue *q)
{
  g_mutex_lock (&q->lock);
  q->failed = TRUE;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
}

void
gst_nn_infer_queue_close (GstNnInferQueue *q)
{
  g_autoptr (GPtrArray) old = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  GstNnSlot *late = gst_nn_infer_queue_take_late (q);
  if (late != NULL)
    gst_nn_slot_free (late);
  g_mutex_lock (&q->lock);
  old = q->idle;
  q->idle = g_ptr_array_new_with_free_func (g_object_unref);
  compiled = g_steal_pointer (&q->compiled);
  q->failed = FALSE;
  g_mutex_unlock (&q->lock);
}

/* With the lock: what to tell the streaming thread. */
static GstFlowReturn
current_flow (const GstNnInferQueue *q)
{
  return q->flushing ? GST_FLOW_FLUSHING : q->failed ? GST_FLOW_ERROR : q->flow;
}

static AxonInferRequest *
get_request (GstNnInferQueue *q, gboolean waits, GstFlowReturn *flow)
{
  AxonInferRequest *request = NULL;
  g_mutex_lock (&q->lock);
  while ((*flow = current_flow (q)) == GST_FLOW_OK && waits &&
         (q->compiled == NULL || q->idle->len == 0))
    g_cond_wait (&q->changed, &q->lock);
  if (*flow == GST_FLOW_OK && q->idle->len > 0)
    request = g_ptr_array_steal_index_fast (q->idle, q->idle->len - 1);
  g_mutex_unlock (&q->lock);
  return request;
}

AxonInferRequest *
gst_nn_infer_queue_take_request (GstNnInferQueue *q, GstFlowReturn *flow)
{
  return get_request (q, TRUE, flow);
}

AxonInferRequest *
gst_nn_infer_queue_try_request (GstNnInferQueue *q, GstFlowReturn *flow)
{
  return get_request (q, FALSE, flow);
}

void
gst_nn_infer_queue_give_request (GstNnInferQueue *q, AxonInferRequest *request)
{
  g_mutex_lock (&q->lock);
  g_ptr_array_add (q->idle, request);
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
}

/* Device thread: the request is done. */
static void
on_request_done (G_GNUC_UNUSED AxonInferRequest *request, const GError *error, gpointer user_data)
{
  GstNnSlot *slot = user_data;
  GstNnInferQueue *q = slot->queue;
  g_mutex_lock (&q->lock);
  slot->ended = g_get_monotonic_time ();
  slot->error = error ? g_error_copy (error) : NULL;
  slot->done = TRUE;
  q->in_flight--;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
}

static void
start_request (GstNnInferQueue *q, AxonInferRequest *request, GstNnSlot *slot)
{
  g_autoptr (GError) error = NULL;
  /* The slot is queued: a failure to start is told from there, in its turn. */
  if (!axon_infer_request_start_async (request, &error))
    on_request_done (request, error, slot);
  if (gst_nn_infer_queue_get_flow (q) == GST_FLOW_FLUSHING)
    axon_infer_request_cancel (request);
}

/* With the lock: FALSE while flushing. */
static gboolean
append (GstNnInferQueue *q, GstNnSlot *slot)
{
  gboolean passes = slot->kind == GST_NN_SLOT_FRAME && slot->request == NULL;
  while (passes && q->passing >= MAX_PASSING && current_flow (q) == GST_FLOW_OK)
    g_cond_wait (&q->changed, &q->lock);
  if (q->flushing)
    return FALSE;
  slot->queue = q;
  slot->done = slot->request == NULL && slot->kind != GST_NN_SLOT_QUERY;
  q->in_flight += slot->request != NULL;
  q->passing += passes;
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
  if (request != NULL) {
    slot->started = g_get_monotonic_time ();
    axon_infer_request_set_direct_callback (request, on_request_done, slot);
  }
  g_mutex_lock (&q->lock);
  appended = append (q, slot);
  g_mutex_unlock (&q->lock);
  if (!appended) {
    if (slot->request != NULL)
      gst_nn_infer_queue_give_request (q, g_steal_pointer (&slot->request));
    gst_nn_slot_free (slot);
    return GST_FLOW_FLUSHING;
  }
  if (request != NULL)
    start_request (q, request, slot);
  return gst_nn_infer_queue_get_flow (q);
}

gboolean
gst_nn_infer_queue_ask (GstNnInferQueue *q, GstNnSlot *slot)
{
  gboolean answer = FALSE;
  g_mutex_lock (&q->lock);
  if (current_flow (q) == GST_FLOW_OK && append (q, slot)) {
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
  compiled = q->compiled ? g_object_ref (q->compiled) : NULL;
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
  return slot != NULL && (slot->kind != GST_NN_SLOT_FRAME || slot->done);
}

/* With the lock. */
static GstNnSlot *
pop (GstNnInferQueue *q)
{
  GstNnSlot *slot = g_queue_pop_head (&q->slots);
  if (slot != NULL && slot->kind == GST_NN_SLOT_FRAME && slot->request == NULL)
    q->passing--;
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
  GstNnSlot *slot = g_queue_pop_head (&q->slots), *frame = gst_nn_slot_new (GST_NN_SLOT_FRAME);
  frame->buffer = gst_buffer_ref (slot->buffer);
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
  g_mutex_unlock (&q->lock);
  return slot;
}

/* With the lock: the first of those that are done, or NULL. */
static GstNnSlot *
pop_late (GstNnInferQueue *q)
{
  for (GList *l = q->late.head; l != NULL; l = l->next) {
    GstNnSlot *slot = l->data;
    if (slot->done) {
      g_queue_delete_link (&q->late, l);
      return slot;
    }
  }
  return NULL;
}

GstNnSlot *
gst_nn_infer_queue_take_late (GstNnInferQueue *q)
{
  GstNnSlot *newest = NULL, *slot;
  for (;;) {
    g_mutex_lock (&q->lock);
    slot = pop_late (q);
    g_mutex_unlock (&q->lock);
    if (slot == NULL)
      return newest;
    if (newest != NULL) {
      gst_nn_infer_queue_give_request (q, g_steal_pointer (&newest->request));
      gst_nn_slot_free (newest);
    }
    newest = slot;
  }
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

static void
add_running (const GQueue *slots, GPtrArray *running)
{
  for (GList *l = slots->head; l != NULL; l = l->next) {
    GstNnSlot *slot = l->data;
    if (slot->request != NULL && !slot->done)
      g_ptr_array_add (running, g_object_ref (slot->request));
  }
}

static void
cancel_running (GstNnInferQueue *q)
{
  g_autoptr (GPtrArray) running = g_ptr_array_new_with_free_func (g_object_unref);
  g_mutex_lock (&q->lock);
  add_running (&q->slots, running);
  add_running (&q->late, running);
  g_mutex_unlock (&q->lock);
  for (guint i = 0; i < running->len; i++)
    axon_infer_request_cancel (g_ptr_array_index (running, i));
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
    cancel_running (q);
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
  while ((slot = pop (q)) != NULL || (slot = pop_late (q)) != NULL) {
    if (slot->kind == GST_NN_SLOT_QUERY) { /* who asked frees it */
      slot->done = TRUE;
      g_cond_broadcast (&q->changed);
      continue;
    }
    if (slot->request != NULL)
      g_ptr_array_add (q->idle, g_steal_pointer (&slot->request));
    g_mutex_unlock (&q->lock);
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
