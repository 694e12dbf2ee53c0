/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of the elements that share a model starts a request next. Each may always have one that
 * runs for what downstream waits for, so none waits for another that is paused or slow; together
 * they run as many as one would alone, in equal parts among those that have something to do. Who
 * shares with nobody sits alone.
 *
 * Idle requests are everybody's, as many as one element would have alone: each keeps the outputs of
 * its last run, which may be larger than the model. They go when somebody leaves, since a request
 * holds what was compiled.
 *
 * Any thread. A seat's lock is taken under no other one; the table's under a queue's. */
#pragma once

#include <axon/axon.h>

typedef struct _GstNnInferTurns GstNnInferTurns;
typedef struct _GstNnInferSeat GstNnInferSeat;
typedef void (*GstNnInferWakeFunc) (gpointer user_data);

GstNnInferTurns *gst_nn_infer_turns_new (void);
void gst_nn_infer_turns_unref (GstNnInferTurns *turns);

/* An element that would run @limit requests of @compiled alone. @wake is called when it waits for a
 * turn that there may be now, with no lock held but its seat's. */
GstNnInferSeat *gst_nn_infer_turns_sit (GstNnInferTurns *turns, AxonCompiledModel *compiled,
                                        guint limit, GstNnInferWakeFunc wake, gpointer user_data);
GstNnInferSeat *gst_nn_infer_seat_ref (GstNnInferSeat *seat);
void gst_nn_infer_seat_unref (GstNnInferSeat *seat);
/* @wake is called no more. What runs still counts until it is done. */
void gst_nn_infer_seat_leave (GstNnInferSeat *seat);

/* What a turn is for: the result that downstream can have next, or one more while it has one still.
 * That gives way to everybody's next ones: results and frames that lie about are memory. */
typedef enum {
  GST_NN_INFER_NEED_NONE,
  GST_NN_INFER_NEED_NEXT,
  GST_NN_INFER_NEED_MORE
} GstNnInferNeed;

/* Takes a turn; or FALSE: @waits for the next one. The turn keeps the seat. */
gboolean gst_nn_infer_seat_take_turn (GstNnInferSeat *seat, GstNnInferNeed need, gboolean waits);
/* It waits no longer. */
void gst_nn_infer_seat_give_up (GstNnInferSeat *seat);
void gst_nn_infer_seat_end_turn (GstNnInferSeat *seat);
/* TRUE if others sit there, too. */
gboolean gst_nn_infer_seat_has_company (GstNnInferSeat *seat);

/* An idle request, or a new one. */
AxonInferRequest *gst_nn_infer_seat_take_request (GstNnInferSeat *seat);
/* Takes over @request, which does not run and which nobody will cancel any more. */
void gst_nn_infer_seat_give_request (GstNnInferSeat *seat, AxonInferRequest *request);
