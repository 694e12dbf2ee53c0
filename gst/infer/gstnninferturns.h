/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of the elements that share a model starts a request next. Each may always have one that
 * runs, so none waits for another that is paused or slow; together they run as many as one would
 * alone, in equal parts among those that have something to do.
 *
 * Any thread. A seat's lock is taken under no other one; the table's under a queue's. */
#pragma once

#include <glib.h>

typedef struct _GstNnInferTurns GstNnInferTurns;
typedef struct _GstNnInferSeat GstNnInferSeat;
typedef void (*GstNnInferWakeFunc) (gpointer user_data);

GstNnInferTurns *gst_nn_infer_turns_new (void);
void gst_nn_infer_turns_unref (GstNnInferTurns *turns);

/* An element that would run @limit requests alone. @wake is called when it waits for a turn that
 * there may be now, with no lock held but its seat's. */
GstNnInferSeat *gst_nn_infer_turns_sit (GstNnInferTurns *turns, guint limit,
                                        GstNnInferWakeFunc wake, gpointer user_data);
/* @wake is called no more. What runs still counts until it is done. */
void gst_nn_infer_seat_leave (GstNnInferSeat *seat);

/* Takes a turn; or FALSE: @waits for the next one. The turn keeps the seat. */
gboolean gst_nn_infer_seat_take_turn (GstNnInferSeat *seat, gboolean waits);
/* It waits no longer. */
void gst_nn_infer_seat_give_up (GstNnInferSeat *seat);
void gst_nn_infer_seat_end_turn (GstNnInferSeat *seat);
