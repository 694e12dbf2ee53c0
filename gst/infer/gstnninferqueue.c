/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnninferqueue.h"

#include "infer/gstnninfershare.h"

struct _GstNnInferQueue {
  GMutex lock;
  GCond changed;                /* any of the below */
  GQueue slots;                 /* lock: GstNnSlot */
  GQueue late;                  /* lock: GstNnSlot, whose frames have left */
  GPtrArray *idle;              /* lock: AxonInferRequest */
  GstNnInferModel *model;       /* lock: that idle requests are of; NULL: not yet */
  GstNnInferSeat *seat;         /* lock: among those who share the model; NULL: nobody does */
  gboolean failed;              /* lock: there will be none */
  guint in_flight;              /* lock: started and not done */
  guint frames, passing;        /* lock: frames in slots, and those without a request */
  guint64 bytes;                /* lock: of frames in slots */
  guint max_passing, max_bytes; /* lock; 0: any number */
  gboolean flushing;            /* lock */
  gboolean pushing;             /* lock: the task has a slot in hand */
  GstFlowReturn flow;           /* lock: what downstream said last */
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
  g_clear_pointer (&slot->turn, gst_nn_infer_seat_end_turn);
  g_clear_pointer (&slot->model, gst_nn_infer_model_unref);
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

/* What was there before is freed without the lock. */
static void
exchange (GstNnInferQueue *q, GstNnInferModel *model, GPtrArray *idle, GstNnInferSeat *seat)
{
  g_autoptr (GPtrArray) old = NULL;
  g_autoptr (GstNnInferModel) before = NULL;
  GstNnInferSeat *left;
  g_mutex_lock (&q->lock);
  old = q->idle;
  before = q->model;
  left = q->seat;
  q->idle = idle;
  q->model = model;
  q->seat = seat;
  q->failed = FALSE;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
  g_clear_pointer (&left, gst_nn_infer_seat_leave);
}

/* Another element's turn is over. */
static void
wake (gpointer user_data)
{
  GstNnInferQueue *q = user_data;
  g_mutex_lock (&q->lock);
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
}

void
gst_nn_infer_queue_open (GstNnInferQueue *q, GstNnInferModel *model, guint n_requests)
{
  GPtrArray *idle = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < n_requests; i++)
    g_ptr_array_add (idle, axon_compiled_model_create_infer_request (model->compiled));
  exchange (q, gst_nn_infer_model_ref (model), idle,
            model->share == NULL
                ? NULL
                : gst_nn_infer_turns_sit (gst_nn_infer_share_get_turns (model->share), n_requests,
                                          wake, q));
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
  GstNnSlot *late = gst_nn_infer_queue_take_late (q);
  if (late != NULL)
    gst_nn_slot_free (late);
  exchange (q, NULL, g_ptr_array_new_with_free_func (g_object_unref), NULL);
}

/* With the lock: what to tell the streaming thread. */
static GstFlowReturn
current_flow (const GstNnInferQueue *q)
{
  return q->flushing ? GST_FLOW_FLUSHING : q->failed ? GST_FLOW_ERROR : q->flow;
}

/* With the lock. FALSE: there is no request, or others have their turn. */
static gboolean
take_idle (GstNnInferQueue *q, GstNnSlot *slot, gboolean waits)
{
  if (q->idle->len == 0 || (q->seat != NULL && !gst_nn_infer_seat_take_turn (q->seat, waits)))
    return FALSE;
  slot->turn = q->seat;
  slot->request = g_ptr_array_steal_index_fast (q->idle, q->idle->len - 1);
  slot->model = gst_nn_infer_model_ref (q->model);
  return TRUE;
}

GstFlowReturn
gst_nn_infer_queue_take_request (GstNnInferQueue *q, GstNnSlot *slot, gboolean waits)
{
  GstFlowReturn flow;
  g_mutex_lock (&q->lock);
  while ((flow = current_flow (q)) == GST_FLOW_OK && !take_idle (q, slot, waits) && waits)
    g_cond_wait (&q->changed, &q->lock);
  if (slot->request == NULL && q->seat != NULL)
    gst_nn_infer_seat_give_up (q->seat);
  g_mutex_unlock (&q->lock);
  return flow;
}

/* With the lock. A request of a model that is no longer served goes with its slot. */
static void
take_back (GstNnInferQueue *q, GstNnSlot *slot)
{
  if (slot->request != NULL && slot->model == q->model)
    g_ptr_array_add (q->idle, g_steal_pointer (&slot->request));
}

void
gst_nn_infer_queue_give_request (GstNnInferQueue *q, GstNnSlot *slot)
{
  g_mutex_lock (&q->lock);
  take_back (q, slot);
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
  g_clear_object (&slot->request);
  g_clear_pointer (&slot->turn, gst_nn_infer_seat_end_turn);
}

/* Device thread: the request is done. */
static void
on_request_done (G_GNUC_UNUSED AxonInferRequest *request, const GError *error, gpointer user_data)
{
  GstNnSlot *slot = user_data;
  GstNnInferQueue *q = slot->queue;
  GstNnInferSeat *turn = g_steal_pointer (&slot->turn);
  g_mutex_lock (&q->lock);
  slot->ended = g_get_monotonic_time ();
  slot->error = error ? g_error_copy (error) : NULL;
  slot->done = TRUE;
  q->in_flight--;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
  g_clear_pointer (&turn, gst_nn_infer_seat_end_turn);
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
  while (is_full (q, slot) && current_flow (q) == GST_FLOW_OK)
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
  if (request != NULL) {
    slot->started = g_get_monotonic_time ();
    axon_infer_request_set_direct_callback (request, on_request_done, slot);
  }
  g_mutex_lock (&q->lock);
  appended = append (q, slot);
  g_mutex_unlock (&q->lock);
  if (!appended) {
    gst_nn_infer_queue_give_request (q, slot);
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
      gst_nn_infer_queue_give_request (q, newest);
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
    take_back (q, slot);
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

void
gst_nn_infer_queue_get_level (GstNnInferQueue *q, guint *frames, guint64 *bytes)
{
  g_mutex_lock (&q->lock);
  *frames = q->frames;
  *bytes = q->bytes;
  g_mutex_unlock (&q->lock);
}
