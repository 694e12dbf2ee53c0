/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the queue's two files share: slots in order (gstnninferqueue.c), and the requests that some
 * of them have (gstnninferrequests.c). */
#pragma once

#include "infer/gstnninferqueue.h"

struct _GstNnInferQueue {
  GMutex lock;
  GCond changed;                /* any of the below */
  GQueue slots;                 /* lock: GstNnSlot */
  GQueue late;                  /* lock: GstNnSlot, whose frames have left */
  GstNnInferModel *model;       /* lock: that requests are of; NULL: not yet */
  GstNnInferSeat *seat;         /* lock: among those who share @model; NULL: not yet */
  guint n_held, most_held;      /* lock: requests of @model that slots have */
  gboolean failed;              /* lock: there will be none */
  guint in_flight;              /* lock: started and not done */
  guint frames, passing;        /* lock: frames in slots, and those without a request */
  guint64 bytes;                /* lock: of frames in slots */
  guint max_passing, max_bytes; /* lock; 0: any number */
  gboolean flushing;            /* lock */
  gboolean pushing;             /* lock: the task has a slot in hand */
  GstFlowReturn flow;           /* lock: what downstream said last */
};

/* With the lock: what to tell the streaming thread. */
static inline GstFlowReturn
gst_nn_infer_queue_peek_flow (const GstNnInferQueue *q)
{
  return q->flushing ? GST_FLOW_FLUSHING : q->failed ? GST_FLOW_ERROR : q->flow;
}

/* Starts the request of a slot that is queued, and may be gone as soon as it is done. */
void gst_nn_infer_queue_start_request (GstNnInferQueue *queue, AxonInferRequest *request,
                                       GstNnSlot *slot);
/* Before a slot is queued: it is told when its request is done. */
void gst_nn_infer_queue_watch_request (GstNnSlot *slot);
/* Cancels what runs. */
void gst_nn_infer_queue_cancel (GstNnInferQueue *queue);
/* With the lock: the first of those that are done, or NULL. */
GstNnSlot *gst_nn_infer_queue_pop_late (GstNnInferQueue *queue);
