/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue's requests: which model they are of, who has one, and what runs. */
#include "gstnninferqueue-private.h"

#include "infer/gstnninfershare.h"

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
  g_clear_pointer (&slot->seat, gst_nn_infer_seat_unref);
  g_clear_pointer (&slot->model, gst_nn_infer_model_unref);
  g_free (slot);
}

/* What was there before is freed without the lock. */
static void
exchange (GstNnInferQueue *q, GstNnInferModel *model, GstNnInferSeat *seat, guint most)
{
  g_autoptr (GstNnInferModel) before = NULL;
  GstNnInferSeat *left;
  g_mutex_lock (&q->lock);
  before = q->model;
  left = q->seat;
  q->model = model;
  q->seat = seat;
  q->n_held = 0;
  q->most_held = most;
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
  GstNnInferTurns *own = model->share ? NULL : gst_nn_infer_turns_new ();
  GstNnInferTurns *turns = own ? own : gst_nn_infer_share_get_turns (model->share);
  exchange (q, gst_nn_infer_model_ref (model),
            gst_nn_infer_turns_sit (turns, model->compiled, n_requests, wake, q), n_requests);
  g_clear_pointer (&own, gst_nn_infer_turns_unref);
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
  exchange (q, NULL, NULL, 0);
}

static gboolean
has_result (GstNnInferQueue *q)
{
  const GstNnSlot *head = g_queue_peek_head (&q->slots);
  return head != NULL && head->request != NULL && head->done;
}

/* Who does not wait for a turn would never have one where others always do. */
static GstNnInferNeed
need_of (GstNnInferQueue *q, gboolean waits)
{
  return waits && (q->pushing || has_result (q)) ? GST_NN_INFER_NEED_MORE : GST_NN_INFER_NEED_NEXT;
}

/* With the lock. What downstream does not fetch waits with its outputs in memory; where others
 * share the model, one such result is enough. */
static gboolean
is_ahead (GstNnInferQueue *q)
{
  return q->pushing && has_result (q) && gst_nn_infer_seat_has_company (q->seat);
}

/* With the lock. FALSE: there is no model, it has its requests, or others have their turn. */
static gboolean
take_turn (GstNnInferQueue *q, GstNnSlot *slot, gboolean waits)
{
  if (q->seat == NULL)
    return FALSE;
  if (q->n_held >= q->most_held || (waits && is_ahead (q))) {
    gst_nn_infer_seat_give_up (q->seat);
    return FALSE;
  }
  if (!gst_nn_infer_seat_take_turn (q->seat, need_of (q, waits), waits))
    return FALSE;
  q->n_held++;
  slot->turn = q->seat;
  slot->seat = gst_nn_infer_seat_ref (q->seat);
  slot->model = gst_nn_infer_model_ref (q->model);
  return TRUE;
}

GstFlowReturn
gst_nn_infer_queue_take_request (GstNnInferQueue *q, GstNnSlot *slot, gboolean waits)
{
  GstFlowReturn flow;
  g_mutex_lock (&q->lock);
  while ((flow = gst_nn_infer_queue_peek_flow (q)) == GST_FLOW_OK && !take_turn (q, slot, waits) &&
         waits)
    g_cond_wait (&q->changed, &q->lock);
  if (slot->turn == NULL && q->seat != NULL)
    gst_nn_infer_seat_give_up (q->seat);
  g_mutex_unlock (&q->lock);
  if (slot->turn != NULL)
    slot->request = gst_nn_infer_seat_take_request (slot->seat);
  return flow;
}

/* A request of a model that is no longer served is nobody's: its seat was left. */
void
gst_nn_infer_queue_give_request (GstNnInferQueue *q, GstNnSlot *slot)
{
  AxonInferRequest *request = g_steal_pointer (&slot->request);
  gboolean is_cancelled;
  g_mutex_lock (&q->lock);
  if (request != NULL && slot->model == q->model)
    q->n_held--;
  is_cancelled = slot->is_cancelled;
  g_cond_broadcast (&q->changed);
  g_mutex_unlock (&q->lock);
  g_clear_pointer (&slot->turn, gst_nn_infer_seat_end_turn);
  if (request != NULL && !is_cancelled)
    gst_nn_infer_seat_give_request (slot->seat, request);
  else
    g_clear_object (&request);
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

void
gst_nn_infer_queue_watch_request (GstNnSlot *slot)
{
  slot->started = g_get_monotonic_time ();
  axon_infer_request_set_direct_callback (slot->request, on_request_done, slot);
}

void
gst_nn_infer_queue_start_request (GstNnInferQueue *q, AxonInferRequest *request, GstNnSlot *slot)
{
  g_autoptr (GError) error = NULL;
  /* The slot is queued: a failure to start is told from there, in its turn. */
  if (!axon_infer_request_start_async (request, &error))
    on_request_done (request, error, slot);
  if (gst_nn_infer_queue_get_flow (q) == GST_FLOW_FLUSHING)
    gst_nn_infer_queue_cancel (q);
}

/* With the lock: the first of those that are done, or NULL. */
GstNnSlot *
gst_nn_infer_queue_pop_late (GstNnInferQueue *q)
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
    slot = gst_nn_infer_queue_pop_late (q);
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

/* With the lock. Before the request hears of it another could have it, so it goes to nobody. */
static void
add_running (const GQueue *slots, GPtrArray *running)
{
  for (GList *l = slots->head; l != NULL; l = l->next) {
    GstNnSlot *slot = l->data;
    if (slot->request == NULL || slot->done)
      continue;
    slot->is_cancelled = TRUE;
    g_ptr_array_add (running, g_object_ref (slot->request));
  }
}

void
gst_nn_infer_queue_cancel (GstNnInferQueue *q)
{
  g_autoptr (GPtrArray) running = g_ptr_array_new_with_free_func (g_object_unref);
  g_mutex_lock (&q->lock);
  add_running (&q->slots, running);
  add_running (&q->late, running);
  g_mutex_unlock (&q->lock);
  for (guint i = 0; i < running->len; i++)
    axon_infer_request_cancel (g_ptr_array_index (running, i));
}
