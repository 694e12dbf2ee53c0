/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event.h"
#include "backend.h"

typedef enum { WAITING, SIGNALLED, FAILED } State;

typedef struct {
  EventFunc func;
  gpointer user_data;
} Waiter;

struct _Event {
  Object parent;
  gboolean own;
  GMutex lock;
  GCond changed;
  State state;     /* lock */
  GArray *waiters; /* lock: Waiter */
};

static void
event_free (gpointer data)
{
  Event *event = data;
  g_array_unref (event->waiters);
  g_cond_clear (&event->changed);
  g_mutex_clear (&event->lock);
  g_free (event);
}

Event *
event_new (gboolean own)
{
  Event *event = g_new0 (Event, 1);
  object_init (event, event_free);
  event->own = own;
  event->waiters = g_array_new (FALSE, FALSE, sizeof (Waiter));
  g_mutex_init (&event->lock);
  g_cond_init (&event->changed);
  return event;
}

gboolean
event_signal (Event *event, gboolean ok)
{
  g_autoptr (GArray) waiters = NULL;
  gboolean first;
  g_mutex_lock (&event->lock);
  first = event->state == WAITING;
  if (first) {
    event->state = ok ? SIGNALLED : FAILED;
    waiters = event->waiters;
    event->waiters = g_array_new (FALSE, FALSE, sizeof (Waiter));
    g_cond_broadcast (&event->changed);
  }
  g_mutex_unlock (&event->lock);
  for (guint i = 0; first && i < waiters->len; i++) {
    const Waiter *w = &g_array_index (waiters, Waiter, i);
    w->func (w->user_data, ok);
  }
  return first;
}

void
event_then (Event *event, EventFunc func, gpointer user_data)
{
  const Waiter waiter = { func, user_data };
  State state;
  g_mutex_lock (&event->lock);
  state = event->state;
  if (state == WAITING)
    g_array_append_val (event->waiters, waiter);
  g_mutex_unlock (&event->lock);
  if (state != WAITING)
    func (user_data, state == SIGNALLED);
}

onnxStatus
onnxInitEvent (onnxBackend backend, onnxEvent *event)
{
  Backend *b;
  Event *e;
  if (event == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  *event = NULL;
  b = handle_find (OBJECT_BACKEND, backend);
  if (b == NULL)
    return ONNXIFI_STATUS_INVALID_BACKEND;
  object_unref (b);
  e = event_new (FALSE);
  *event = handle_new (OBJECT_EVENT, e);
  object_unref (e);
  return ONNXIFI_STATUS_SUCCESS;
}

/* An event of a run is the run's to signal. */
onnxStatus
onnxSignalEvent (onnxEvent event)
{
  Event *e = handle_find (OBJECT_EVENT, event);
  onnxStatus status;
  if (e == NULL)
    return ONNXIFI_STATUS_INVALID_EVENT;
  status =
      !e->own && event_signal (e, TRUE) ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_INVALID_STATE;
  object_unref (e);
  return status;
}

onnxStatus
onnxGetEventState (onnxEvent event, onnxEventState *state)
{
  static const struct {
    onnxEventState state;
    onnxStatus status;
  } answers[] = {
    [WAITING] = { ONNXIFI_EVENT_STATE_NONSIGNALLED, ONNXIFI_STATUS_SUCCESS },
    [SIGNALLED] = { ONNXIFI_EVENT_STATE_SIGNALLED, ONNXIFI_STATUS_SUCCESS },
    [FAILED] = { ONNXIFI_EVENT_STATE_INVALID, ONNXIFI_STATUS_INTERNAL_ERROR },
  };
  Event *e;
  State now;
  if (state == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  *state = ONNXIFI_EVENT_STATE_INVALID;
  e = handle_find (OBJECT_EVENT, event);
  if (e == NULL)
    return ONNXIFI_STATUS_INVALID_EVENT;
  g_mutex_lock (&e->lock);
  now = e->state;
  g_mutex_unlock (&e->lock);
  object_unref (e);
  *state = answers[now].state;
  return answers[now].status;
}

onnxStatus
onnxWaitEvent (onnxEvent event)
{
  Event *e = handle_find (OBJECT_EVENT, event);
  gboolean ok;
  if (e == NULL)
    return ONNXIFI_STATUS_INVALID_EVENT;
  g_mutex_lock (&e->lock);
  while (e->state == WAITING)
    g_cond_wait (&e->changed, &e->lock);
  ok = e->state == SIGNALLED;
  g_mutex_unlock (&e->lock);
  object_unref (e);
  return ok ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_INTERNAL_ERROR;
}

/* What waits for an event that nobody can signal any more fails; a run signals its own later. */
onnxStatus
onnxReleaseEvent (onnxEvent event)
{
  Event *e = handle_take (OBJECT_EVENT, event);
  if (e == NULL)
    return ONNXIFI_STATUS_INVALID_EVENT;
  if (!e->own)
    event_signal (e, FALSE);
  object_unref (e);
  return ONNXIFI_STATUS_SUCCESS;
}
