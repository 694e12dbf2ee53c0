/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnninferturns.h"

struct _GstNnInferTurns {
  gatomicrefcount ref_count;
  GMutex lock;
  GPtrArray *seats; /* lock: those that did not leave */
  guint n_running;  /* lock: of all */
};

struct _GstNnInferSeat {
  gatomicrefcount ref_count;
  GstNnInferTurns *turns;
  guint limit;
  guint n_running; /* turns' lock */
  gboolean waits;  /* turns' lock */
  GMutex lock;
  GstNnInferWakeFunc wake; /* lock; NULL: it left */
  gpointer user_data;
};

GstNnInferTurns *
gst_nn_infer_turns_new (void)
{
  GstNnInferTurns *t = g_new0 (GstNnInferTurns, 1);
  g_atomic_ref_count_init (&t->ref_count);
  g_mutex_init (&t->lock);
  t->seats = g_ptr_array_new ();
  return t;
}

void
gst_nn_infer_turns_unref (GstNnInferTurns *t)
{
  if (!g_atomic_ref_count_dec (&t->ref_count))
    return;
  g_ptr_array_unref (t->seats);
  g_mutex_clear (&t->lock);
  g_free (t);
}

static GstNnInferSeat *
seat_ref (GstNnInferSeat *seat)
{
  g_atomic_ref_count_inc (&seat->ref_count);
  return seat;
}

static void
seat_unref (gpointer data)
{
  GstNnInferSeat *seat = data;
  if (!g_atomic_ref_count_dec (&seat->ref_count))
    return;
  gst_nn_infer_turns_unref (seat->turns);
  g_mutex_clear (&seat->lock);
  g_free (seat);
}

GstNnInferSeat *
gst_nn_infer_turns_sit (GstNnInferTurns *t, guint limit, GstNnInferWakeFunc wake,
                        gpointer user_data)
{
  GstNnInferSeat *seat = g_new0 (GstNnInferSeat, 1);
  g_atomic_ref_count_init (&seat->ref_count);
  g_mutex_init (&seat->lock);
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
    if (!seat->waits)
      continue;
    if (waiting == NULL)
      waiting = g_ptr_array_new_with_free_func (seat_unref);
    g_ptr_array_add (waiting, seat_ref (seat));
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
  GPtrArray *waiting;
  g_mutex_lock (&seat->lock);
  seat->wake = NULL;
  g_mutex_unlock (&seat->lock);
  g_mutex_lock (&t->lock);
  g_ptr_array_remove_fast (t->seats, seat);
  waiting = list_waiting (t); /* their parts are larger now */
  g_mutex_unlock (&t->lock);
  wake_all (waiting);
  seat_unref (seat);
}

/* With the turns' lock. What others do not want is nobody's part. */
static gboolean
has_turn (GstNnInferSeat *seat)
{
  GstNnInferTurns *t = seat->turns;
  gboolean others_wait = FALSE;
  guint n_busy = 1;
  if (seat->n_running == 0)
    return TRUE;
  for (guint i = 0; i < t->seats->len; i++) {
    const GstNnInferSeat *other = g_ptr_array_index (t->seats, i);
    others_wait |= other != seat && other->waits;
    n_busy += other != seat && (other->n_running > 0 || other->waits);
  }
  return t->n_running < seat->limit &&
         (!others_wait || seat->n_running < (seat->limit + n_busy - 1) / n_busy);
}

gboolean
gst_nn_infer_seat_take_turn (GstNnInferSeat *seat, gboolean waits)
{
  GstNnInferTurns *t = seat->turns;
  gboolean taken;
  g_mutex_lock (&t->lock);
  taken = has_turn (seat);
  seat->waits = waits && !taken;
  if (taken) {
    seat->n_running++;
    t->n_running++;
    seat_ref (seat);
  }
  g_mutex_unlock (&t->lock);
  return taken;
}

void
gst_nn_infer_seat_give_up (GstNnInferSeat *seat)
{
  g_mutex_lock (&seat->turns->lock);
  seat->waits = FALSE;
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
  seat_unref (seat);
}
