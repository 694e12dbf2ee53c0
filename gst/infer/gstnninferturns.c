/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnninferturns.h"

struct _GstNnInferTurns {
  gatomicrefcount ref_count;
  GMutex lock;
  GPtrArray *seats; /* lock: those that did not leave */
  GArray *idle;     /* lock: Idle, given back last at the end */
  guint n_running;  /* lock: of all */
};

typedef struct {
  gconstpointer compiled; /* that it is of */
  AxonInferRequest *request;
} Idle;

struct _GstNnInferSeat {
  gatomicrefcount ref_count;
  GstNnInferTurns *turns;
  AxonCompiledModel *compiled;
  guint limit;
  gboolean has_left;    /* turns' lock */
  guint n_running;      /* turns' lock */
  GstNnInferNeed waits; /* turns' lock: for what */
  GMutex lock;
  GstNnInferWakeFunc wake; /* lock; NULL: it left */
  gpointer user_data;
};

static void
idle_clear (gpointer data)
{
  g_object_unref (((Idle *)data)->request);
}

static GArray *
idle_new (void)
{
  GArray *idle = g_array_new (FALSE, FALSE, sizeof (Idle));
  g_array_set_clear_func (idle, idle_clear);
  return idle;
}

GstNnInferTurns *
gst_nn_infer_turns_new (void)
{
  GstNnInferTurns *t = g_new0 (GstNnInferTurns, 1);
  g_atomic_ref_count_init (&t->ref_count);
  g_mutex_init (&t->lock);
  t->seats = g_ptr_array_new ();
  t->idle = idle_new ();
  return t;
}

void
gst_nn_infer_turns_unref (GstNnInferTurns *t)
{
  if (!g_atomic_ref_count_dec (&t->ref_count))
    return;
  g_ptr_array_unref (t->seats);
  g_array_unref (t->idle);
  g_mutex_clear (&t->lock);
  g_free (t);
}

GstNnInferSeat *
gst_nn_infer_seat_ref (GstNnInferSeat *seat)
{
  g_atomic_ref_count_inc (&seat->ref_count);
  return seat;
}

void
gst_nn_infer_seat_unref (GstNnInferSeat *seat)
{
  if (!g_atomic_ref_count_dec (&seat->ref_count))
    return;
  g_object_unref (seat->compiled);
  gst_nn_infer_turns_unref (seat->turns);
  g_mutex_clear (&seat->lock);
  g_free (seat);
}

GstNnInferSeat *
gst_nn_infer_turns_sit (GstNnInferTurns *t, AxonCompiledModel *compiled, guint limit,
                        GstNnInferWakeFunc wake, gpointer user_data)
{
  GstNnInferSeat *seat = g_new0 (GstNnInferSeat, 1);
  g_atomic_ref_count_init (&seat->ref_count);
  g_mutex_init (&seat->lock);
  seat->compiled = g_object_ref (compiled);
  seat->limit = limit;
  seat->wake = wake;
  seat->user_data = user_data;
  seat->turns = t;
  g_atomic_ref_count_inc (&t->ref_count);
  g_mutex_lock (&t->lock);
  g_ptr_array_add (t->seats, seat);
  g_mutex_unlock (&t->lock);
  return seat;
}

/* With the turns' lock: those who wait, to be woken without it. */
static GPtrArray *
list_waiting (GstNnInferTurns *t)
{
  GPtrArray *waiting = NULL;
  for (guint i = 0; i < t->seats->len; i++) {
    GstNnInferSeat *seat = g_ptr_array_index (t->seats, i);
    if (seat->waits == GST_NN_INFER_NEED_NONE)
      continue;
    if (waiting == NULL)
      waiting = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_nn_infer_seat_unref);
    g_ptr_array_add (waiting, gst_nn_infer_seat_ref (seat));
  }
  return waiting;
}

static void
wake_all (GPtrArray *waiting)
{
  for (guint i = 0; waiting != NULL && i < waiting->len; i++) {
    GstNnInferSeat *seat = g_ptr_array_index (waiting, i);
    g_mutex_lock (&seat->lock);
    if (seat->wake != NULL)
      seat->wake (seat->user_data);
    g_mutex_unlock (&seat->lock);
  }
  g_clear_pointer (&waiting, g_ptr_array_unref);
}

void
gst_nn_infer_seat_leave (GstNnInferSeat *seat)
{
  GstNnInferTurns *t = seat->turns;
  g_autoptr (GArray) idle = NULL;
  GPtrArray *waiting;
  g_mutex_lock (&seat->lock);
  seat->wake = NULL;
  g_mutex_unlock (&seat->lock);
  g_mutex_lock (&t->lock);
  g_ptr_array_remove_fast (t->seats, seat);
  seat->has_left = TRUE;
  idle = t->idle;
  t->idle = idle_new ();
  waiting = list_waiting (t); /* their parts are larger now */
  g_mutex_unlock (&t->lock);
  wake_all (waiting);
  gst_nn_infer_seat_unref (seat);
}

/* With the turns' lock. What others do not want is nobody's part. */
static gboolean
has_turn (GstNnInferSeat *seat, GstNnInferNeed need)
{
  GstNnInferTurns *t = seat->turns;
  gboolean others_wait = FALSE;
  guint n_busy = 1;
  if (seat->n_running == 0 && need != GST_NN_INFER_NEED_MORE)
    return TRUE;
  for (guint i = 0; i < t->seats->len; i++) {
    const GstNnInferSeat *other = g_ptr_array_index (t->seats, i);
    gboolean waits = other != seat && other->waits == GST_NN_INFER_NEED_NEXT;
    others_wait |= waits;
    n_busy += other != seat && (other->n_running > 0 || waits);
  }
  return t->n_running < seat->limit &&
         (!others_wait || (need != GST_NN_INFER_NEED_MORE &&
                           seat->n_running < (seat->limit + n_busy - 1) / n_busy));
}

gboolean
gst_nn_infer_seat_take_turn (GstNnInferSeat *seat, GstNnInferNeed need, gboolean waits)
{
  GstNnInferTurns *t = seat->turns;
  gboolean taken;
  g_mutex_lock (&t->lock);
  taken = has_turn (seat, need);
  seat->waits = waits && !taken ? need : GST_NN_INFER_NEED_NONE;
  if (taken) {
    seat->n_running++;
    t->n_running++;
    gst_nn_infer_seat_ref (seat);
  }
  g_mutex_unlock (&t->lock);
  return taken;
}

void
gst_nn_infer_seat_give_up (GstNnInferSeat *seat)
{
  g_mutex_lock (&seat->turns->lock);
  seat->waits = GST_NN_INFER_NEED_NONE;
  g_mutex_unlock (&seat->turns->lock);
}

void
gst_nn_infer_seat_end_turn (GstNnInferSeat *seat)
{
  GstNnInferTurns *t = seat->turns;
  GPtrArray *waiting;
  g_mutex_lock (&t->lock);
  seat->n_running--;
  t->n_running--;
  waiting = list_waiting (t);
  g_mutex_unlock (&t->lock);
  wake_all (waiting);
  gst_nn_infer_seat_unref (seat);
}

gboolean
gst_nn_infer_seat_has_company (GstNnInferSeat *seat)
{
  gboolean has;
  g_mutex_lock (&seat->turns->lock);
  has = seat->turns->seats->len > 1;
  g_mutex_unlock (&seat->turns->lock);
  return has;
}

/* With the turns' lock: the one whose outputs were used last, or NULL. */
static AxonInferRequest *
steal_idle (GArray *idle, gconstpointer compiled)
{
  for (guint i = idle->len; i-- > 0;) {
    Idle *entry = &g_array_index (idle, Idle, i);
    AxonInferRequest *request;
    if (entry->compiled != compiled)
      continue;
    request = g_object_ref (entry->request);
    g_array_remove_index (idle, i);
    return request;
  }
  return NULL;
}

AxonInferRequest *
gst_nn_infer_seat_take_request (GstNnInferSeat *seat)
{
  AxonInferRequest *request;
  g_mutex_lock (&seat->turns->lock);
  request = steal_idle (seat->turns->idle, seat->compiled);
  g_mutex_unlock (&seat->turns->lock);
  return request ? request : axon_compiled_model_create_infer_request (seat->compiled);
}

void
gst_nn_infer_seat_give_request (GstNnInferSeat *seat, AxonInferRequest *request)
{
  Idle entry = { seat->compiled, request };
  AxonInferRequest *oldest = NULL;
  GArray *idle;
  g_mutex_lock (&seat->turns->lock);
  idle = seat->turns->idle;
  if (seat->has_left) {
    oldest = request;
  } else {
    g_array_append_val (idle, entry);
    if (idle->len > seat->limit) {
      oldest = g_object_ref (g_array_index (idle, Idle, 0).request);
      g_array_remove_index (idle, 0);
    }
  }
  g_mutex_unlock (&seat->turns->lock);
  g_clear_object (&oldest); /* without the lock */
}
