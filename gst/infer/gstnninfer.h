/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer, by files: properties and states (elements/gstnninfer.c), what frames are inferred with
 * (gstnninfermodel.h), compiling it and changing it (gstnninfercompile.c), pads (gstnninferpads.c),
 * frames that come too fast (gstnninferlive.c) or fail (gstnninfererrors.c), what is measured
 * (gstnninferstats.c), the streaming thread's frames and the source-pad task (gstnninfertask.c),
 * and between the two threads the queue (gstnninferqueue.h). */
#pragma once

#include "elements/gstnnelement.h"
#include "infer/gstnninfermodel.h"
#include "infer/gstnninferqueue.h"
#include "infer/gstnninferregion.h"
#include "elements/gstnnstats.h"

G_BEGIN_DECLS

#define GST_TYPE_NN_INFER (gst_nn_infer_get_type ())
G_DECLARE_FINAL_TYPE (GstNnInfer, gst_nn_infer, GST, NN_INFER, GstElement)

/**
 * GstNnDropPolicy:
 * @GST_NN_DROP_AUTO: newest where the source is live, else every frame is inferred but those that
 *   sinks say are too late
 * @GST_NN_DROP_NONE: every frame is inferred, however long it waits
 * @GST_NN_DROP_NEWEST: no frame waits for longer than a frame lasts
 *
 * What happens to frames that come faster than they can be inferred.
 */
typedef enum { GST_NN_DROP_AUTO, GST_NN_DROP_NONE, GST_NN_DROP_NEWEST } GstNnDropPolicy;

/* What is counted and measured, by the names that gstnninfer.c gives. */
typedef enum {
  GST_NN_COUNT_FRAMES,   /* came in */
  GST_NN_COUNT_INFERRED, /* left with their own result */
  GST_NN_COUNT_LATE,     /* results that left with a later frame */
  GST_NN_COUNT_PASSED,   /* left without a result of their own */
  GST_NN_COUNT_DROPPED,  /* not inferred, because sinks said that they are too late */
  GST_NN_COUNT_FAILED,   /* could not be inferred */
} GstNnCount;

typedef enum {
  GST_NN_TIME_QUEUEING,      /* until a request was there */
  GST_NN_TIME_PREPROCESSING, /* the picture step, where the device measures: PERF_COUNT=YES */
  GST_NN_TIME_INFERENCE,     /* from its start to its end, with what the device does around it */
  GST_NN_TIME_TOTAL,         /* from when a frame came to when it left */
} GstNnTime;

struct _GstNnInfer {
  GstElement parent_instance;
  GstPad *sinkpad, *srcpad;

  /* properties, object lock */
  gchar *model_path, *device, *extensions, *instance_id;
  gboolean device_is_set;
  GstStructure *affinities; /* of the last context, or NULL */
  guint nireq, interval, max_memory, inference_timeout, max_errors;
  GstNnDropPolicy drop_policy;
  GstClockTime max_latency;
  GstClockTime stats_interval;
  guint max_size_buffers, max_size_bytes;
  GstStructure *config;
  GstNnModelProps props;
  GstNnRegionProps region_props;

  GstNnInferModel *opened;    /* object lock: what was read last, from READY on */
  gboolean is_stale;          /* object lock: properties say another one by now */
  gboolean patience_is_stale; /* object lock */
  GstClockTime latency;       /* object lock: measured, of one frame */
  GstClockTime patience; /* object lock: how long a frame waits for its result; 0: until it comes */
  GstClockTime earliest; /* object lock: running time before which sinks show nothing, or NONE */
  GstClockTime last_inferred; /* running time, or NONE */
  gdouble proportion;         /* object lock: of the last QoS event */

  GstNnInferQueue *queue;
  GstNnStats *stats;
  GstNnInferRegions regions;
  /* state changes and streaming thread, never both */
  GThread *worker;
  GCancellable *cancellable;
  gint is_compiling;         /* atomic: the worker is not done */
  gboolean is_change;        /* what the worker does began while frames flowed */
  GstNnInferModel *prepared; /* object lock: what was compiled last, or is being compiled */
  gchar *assumed_for;        /* the model that was last said to have no description */
  GstNnStream stream;        /* what comes */
  GstCaps *caps;             /* of @stream */

  /* streaming thread, while nothing is in flight; read by the task */
  GstVideoInfo video;
  gint64 stats_told; /* task: when the last message was posted */
  guint n_errors;    /* task: since a frame was inferred */
  /* streaming thread only */
  GstCaps *refused; /* the last caps, if an error was posted about them */
  GstSegment segment;
  guint64 frame_count;
};

/* gstnninfercompile.c */
gboolean gst_nn_infer_open (GstNnInfer *self);
void gst_nn_infer_close (GstNnInfer *self);
gboolean gst_nn_infer_set_stream (GstNnInfer *self, gboolean is_video, GstCaps *caps);
void gst_nn_infer_stop_compile (GstNnInfer *self);
void gst_nn_infer_forget_compiled (GstNnInfer *self);
void gst_nn_infer_change_model (GstNnInfer *self);
GstNnInferModel *gst_nn_infer_ref_opened (GstNnInfer *self);

/* gstnninferlive.c */
gboolean gst_nn_infer_is_live (GstNnInfer *self);
void gst_nn_infer_choose_patience (GstNnInfer *self);
void gst_nn_infer_note_qos (GstNnInfer *self, GstEvent *event);
void gst_nn_infer_forget_qos (GstNnInfer *self);
gboolean gst_nn_infer_is_too_late (GstNnInfer *self, GstBuffer *buffer);

/* gstnninfererrors.c, for the task */
/* TRUE if the stream goes on although the inference failed: max-errors. */
gboolean gst_nn_infer_forgives (GstNnInfer *self, const GError *error);
void gst_nn_infer_note_success (GstNnInfer *self);

/* gstnninferpads.c */
void gst_nn_infer_add_pad_templates (GstElementClass *klass);
void gst_nn_infer_add_pads (GstNnInfer *self);

/* gstnninferstats.c, all but the last two for the task */
/* A frame was inferred, whether its result leaves with it or with another. */
void gst_nn_infer_note_inference (GstNnInfer *self, const GstNnSlot *slot);
/* A first measurement, or one that differs by half, is news for the pipeline. */
void gst_nn_infer_note_latency (GstNnInfer *self, const GstNnSlot *slot);
void gst_nn_infer_tell_stats (GstNnInfer *self);
void gst_nn_infer_forget_latency (GstNnInfer *self);
GstStructure *gst_nn_infer_make_stats (GstNnInfer *self);

/* gstnninfertask.c */
void gst_nn_infer_task (gpointer user_data);
GstFlowReturn gst_nn_infer_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer);

GST_DEBUG_CATEGORY_EXTERN (gst_nn_infer_debug);

G_END_DECLS
