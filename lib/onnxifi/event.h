/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events: one-shot, and what waits for them without a thread. */
#pragma once

#include "object.h"
#include <axon/onnxifi.h>

typedef struct _Event Event;

/* @ok FALSE: what the event stands for failed, or can never come. */
typedef void (*EventFunc) (gpointer user_data, gboolean ok);

/* @own: a run signals it, and not the caller (transfer full). */
Event *event_new (gboolean own);
/* FALSE: it was signalled already. Calls what waits, in this thread. */
gboolean event_signal (Event *event, gboolean ok);
/* Calls @func when the event is signalled; at once where it is. */
void event_then (Event *event, EventFunc func, gpointer user_data);
