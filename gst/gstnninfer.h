/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "gstnncommon.h"

G_BEGIN_DECLS

#define GST_TYPE_NN_INFER (gst_nn_infer_get_type ())
G_DECLARE_FINAL_TYPE (GstNnInfer, gst_nn_infer, GST, NN_INFER, GstElement)

/* What the source-pad task takes from the FIFO. */
typedef enum { GST_NN_SLOT_FRAME, GST_NN_SLOT_EVENT, GST_NN_SLOT_QUERY } GstNnSlotKind;

typedef struct {
  GstNnSlotKind kind;
  GstBuffer *buffer;         /* FRAME */
  AxonInferRequest *request; /* FRAME; NULL: passes without inference */
  GstNnFrame frame;          /* FRAME from video: mapped while the request runs */
  GPtrArray *maps;           /* FRAME from tensors: mapped memories */
  gboolean done;             /* lock */
  GError *error;             /* lock */
  GstEvent *event;           /* EVENT */
  GstQuery *query;           /* QUERY, answered by the task */
  gint64 started;
  GstNnInfer *owner;
} GstNnSlot;

struct _GstNnInfer {
  GstElement parent_instance;
  GstPad *sinkpad, *srcpad;

  /* properties, object lock */
  gchar *model_path, *device, *extensions;
  gboolean device_is_set;
  GstStructure *affinities; /* of the last context, or NULL */
  guint nireq, interval;
  GstStructure *config;
  GstNnModelProps props;

  /* set between NULL and READY, read by streaming threads */
  AxonModel *model;
  GstNnDescription *description;

  GMutex lock;
  GCond changed;               /* any of the below */
  GQueue fifo;                 /* lock: GstNnSlot */
  GPtrArray *idle;             /* lock: AxonInferRequest */
  guint in_flight;             /* lock: started and not done */
  gboolean flushing;           /* lock */
  gboolean pushing;            /* lock: the task works on a slot */
  GstFlowReturn flow;          /* lock: what downstream said last */
  AxonCompiledModel *compiled; /* lock */
  gboolean compile_failed;     /* lock */
  GstClockTime latency;        /* lock: measured, of one frame */
  GThread *worker;             /* state changes and caps only */
  GCancellable *cancellable;

  /* streaming thread only */
  gboolean is_video;
  GstVideoInfo video;
  AxonImageGeometry geometry;
  guint64 frame_count;
  gint compiled_width, compiled_height; /* for models with a free size */
};

/* gstnninfercompile.c */
gboolean gst_nn_infer_open (GstNnInfer *self);
void gst_nn_infer_close (GstNnInfer *self);
gboolean gst_nn_infer_start_compile (GstNnInfer *self, gboolean video, gint width, gint height);
void gst_nn_infer_stop_compile (GstNnInfer *self);
gboolean gst_nn_infer_has_free_size (GstNnInfer *self);
GstCaps *gst_nn_infer_model_caps (GstNnInfer *self, gboolean outputs);

/* gstnninferpads.c */
void gst_nn_infer_add_pad_templates (GstElementClass *klass);
void gst_nn_infer_add_pads (GstNnInfer *self);

/* gstnninfertask.c */
void gst_nn_infer_task (gpointer user_data);

/* gstnninferqueue.c */
GstFlowReturn gst_nn_infer_queue_buffer (GstNnInfer *self, GstBuffer *buffer);
gboolean gst_nn_infer_queue_event (GstNnInfer *self, GstEvent *event);
gboolean gst_nn_infer_queue_query (GstNnInfer *self, GstQuery *query);
void gst_nn_infer_set_flushing (GstNnInfer *self, gboolean flushing);
void gst_nn_infer_drain (GstNnInfer *self);
void gst_nn_infer_flush_batches (GstNnInfer *self);
void gst_nn_infer_drop_requests (GstNnInfer *self);
void gst_nn_infer_give_request (GstNnInfer *self, AxonInferRequest *request);
GstFlowReturn gst_nn_infer_get_flow (GstNnInfer *self);
void gst_nn_slot_free (GstNnSlot *slot);
G_END_DECLS
