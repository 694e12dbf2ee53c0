/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's middle: what came in order leaves in order, while requests end in any.
 *
 *   streaming thread   take_request -> bind -> push -> start
 *   device threads     done
 *   source-pad task    take -> push downstream -> finish
 *
 * A frame with a deadline leaves then, whether its request is done or not; its result comes late
 * and leaves with a later frame.
 *
 * Not a GstDataQueue: the task waits until the head is done, not until it is there, and flushing
 * must find what runs to cancel it; GstDataQueue shows neither.
 *
 * One lock, inside; never held while a request is started, cancelled or freed, nor while anything
 * is pushed. Under it only that of the turns is taken. */
#pragma once

#include "frame/gstnnframe.h"
#include "infer/gstnninfermodel.h"
#include "infer/gstnninferturns.h"
#include "infer/gstnnregionprops.h"

typedef struct _GstNnInferQueue GstNnInferQueue;

/* What the source-pad task takes from the queue. */
typedef enum {
  GST_NN_SLOT_FRAME,
  GST_NN_SLOT_PART, /* of a frame, whose own slot comes behind its parts and has no request */
  GST_NN_SLOT_EVENT,
  GST_NN_SLOT_QUERY
} GstNnSlotKind;

typedef struct {
  GstNnSlotKind kind;
  GstNnInferQueue *queue;
  GstBuffer *buffer;         /* FRAME, PART */
  GstClockTime pts;          /* FRAME, PART */
  guint64 frame_id;          /* FRAME, PART: the same for a frame and its parts */
  GstNnRegion region;        /* PART */
  gsize size;                /* FRAME: bytes of @buffer */
  AxonInferRequest *request; /* FRAME; NULL: passes without inference */
  GstNnInferModel *model;    /* FRAME: that of @request */
  GstNnInferSeat *turn;      /* FRAME: until @request is done */
  GstNnInferSeat *seat;      /* FRAME: where @request goes back to */
  GstNnFrame frame;          /* FRAME from video: mapped while the request runs */
  gint width;                /* FRAME from video: of its picture; 0: as all of @model */
  GPtrArray *maps;           /* FRAME from tensors: mapped memories */
  GstEvent *event;           /* EVENT */
  GstQuery *query;           /* QUERY, answered by the task */
  gboolean done;             /* lock */
  gboolean is_cancelled;     /* lock: FRAME: @request may hear of it when it is done */
  gboolean answer;           /* lock: QUERY */
  GError *error;             /* lock: FRAME; read by the task once it is done */
  gint64 came;               /* FRAME: microseconds */
  gint64 started, ended;     /* microseconds; ended: as error */
  gint64 deadline;           /* FRAME: g_get_monotonic_time () at which it leaves; 0: none */
} GstNnSlot;

GstNnSlot *gst_nn_slot_new (GstNnSlotKind kind);
void gst_nn_slot_free (GstNnSlot *slot);

GstNnInferQueue *gst_nn_infer_queue_new (void);
void gst_nn_infer_queue_free (GstNnInferQueue *queue);

/* The most that is queued: frames beside those that have requests, and bytes of all frames; 0: any
 * number. One frame always may be. */
void gst_nn_infer_queue_set_limits (GstNnInferQueue *queue, guint frames, guint bytes);

/* Requests of @model serve the frames from now on, and those of the one before serve no more; or
 * none will come: it failed. */
void gst_nn_infer_queue_open (GstNnInferQueue *queue, GstNnInferModel *model, guint n_requests);
void gst_nn_infer_queue_fail (GstNnInferQueue *queue);
/* Nothing runs and nothing is queued: forgets them. */
void gst_nn_infer_queue_close (GstNnInferQueue *queue);

/* Streaming thread. Gives @slot a request. Waits for the compiled model and for a turn: back-
 * pressure; or does not, and @slot may have none after all. */
GstFlowReturn gst_nn_infer_queue_take_request (GstNnInferQueue *queue, GstNnSlot *slot,
                                               gboolean waits);
/* Takes it back. */
void gst_nn_infer_queue_give_request (GstNnInferQueue *queue, GstNnSlot *slot);
/* Takes @slot over; starts its request if it has one. Waits while the queue is full. */
GstFlowReturn gst_nn_infer_queue_push (GstNnInferQueue *queue, GstNnSlot *slot);
/* Takes @slot over, waits for its turn and the task's answer. */
gboolean gst_nn_infer_queue_ask (GstNnInferQueue *queue, GstNnSlot *slot);
/* No more frames will come soon: a batching device shall not wait for them. */
void gst_nn_infer_queue_flush_batches (GstNnInferQueue *queue);
/* Waits until everything before has left, or will not. */
void gst_nn_infer_queue_wait_empty (GstNnInferQueue *queue);

/* Source-pad task. The head once it is done, NULL while flushing. Until it is finished it counts as
 * being pushed. */
GstNnSlot *gst_nn_infer_queue_take (GstNnInferQueue *queue);
/* The newest result whose frame has left without it; older ones are dropped. NULL: none. */
GstNnSlot *gst_nn_infer_queue_take_late (GstNnInferQueue *queue);
void gst_nn_infer_queue_answer (GstNnInferQueue *queue, GstNnSlot *slot, gboolean answer);
void gst_nn_infer_queue_finish (GstNnInferQueue *queue, GstFlowReturn flow);

/* TRUE: everybody who waits leaves, what runs is cancelled. FALSE: starts afresh. */
void gst_nn_infer_queue_set_flushing (GstNnInferQueue *queue, gboolean flushing);
/* Waits until nothing runs, drops what is queued. */
void gst_nn_infer_queue_drain (GstNnInferQueue *queue);
/* There is a peer again: forgets that there was none. */
void gst_nn_infer_queue_relink (GstNnInferQueue *queue);
/* What downstream said last, or FLUSHING. */
GstFlowReturn gst_nn_infer_queue_get_flow (GstNnInferQueue *queue);
/* How much waits. */
void gst_nn_infer_queue_get_level (GstNnInferQueue *queue, guint *frames, guint64 *bytes);
