/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer, in six files: properties and states (elements/gstnninfer.c), the model
 * (gstnninfercompile.c), what it is compiled for (gstnninferhint.c), pads (gstnninferpads.c), the
 * streaming thread's frames and the source-pad task (gstnninfertask.c), and between the two threads
 * the queue (gstnninferqueue.h). */
#pragma once

#include "elements/gstnnelement.h"
#include "elements/gstnnmodelprops.h"
#include "infer/gstnninferqueue.h"
#include "infer/gstnninferstats.h"

G_BEGIN_DECLS

#define GST_TYPE_NN_INFER (gst_nn_infer_get_type ())
G_DECLARE_FINAL_TYPE (GstNnInfer, gst_nn_infer, GST, NN_INFER, GstElement)

typedef enum {
  GST_NN_INFER_AS_CONFIGURED,
  GST_NN_INFER_LATENCY,
  GST_NN_INFER_THROUGHPUT
} GstNnInferGoal;

/**
 * GstNnDropPolicy:
 * @GST_NN_DROP_AUTO: as the source is: newest where it is live, else none
 * @GST_NN_DROP_NONE: every frame is inferred, however long it waits
 * @GST_NN_DROP_NEWEST: no frame waits for longer than a frame lasts
 *
 * What happens to frames that come faster than they can be inferred.
 */
typedef enum { GST_NN_DROP_AUTO, GST_NN_DROP_NONE, GST_NN_DROP_NEWEST } GstNnDropPolicy;

struct _GstNnInfer {
  GstElement parent_instance;
  GstPad *sinkpad, *srcpad;

  /* properties, object lock */
  gchar *model_path, *device, *extensions;
  gboolean device_is_set;
  GstStructure *affinities; /* of the last context, or NULL */
  guint nireq, interval;
  GstNnDropPolicy drop_policy;
  GstClockTime stats_interval;
  GstStructure *config;
  GstNnModelProps props;

  /* set between NULL and READY, read by streaming threads */
  AxonModel *model;  /* object lock, for queries */
  gboolean is_stale; /* object lock: properties say another one by now */
  GstNnDescription *description;
  gboolean is_doubted; /* and what is not certain of it was said */

  GstNnInferQueue *queue;
  GstNnInferStats *stats;
  GstClockTime latency;  /* object lock: measured, of one frame */
  GstClockTime patience; /* object lock: how long a frame waits for its result; 0: until it comes */
  GThread *worker;       /* state changes and caps only */
  GCancellable *cancellable;

  /* streaming thread, while nothing is in flight; read by the task */
  gboolean is_video;
  GstNnInferGoal goal; /* what the model is compiled for */
  GstVideoInfo video;
  gint input_width, input_height; /* of the model, where it takes pictures */
  gint64 stats_told;              /* task: when the last message was posted */
  /* streaming thread only */
  GstSegment segment;
  guint64 frame_count;
  gint compiled_width, compiled_height; /* for models with a free size */
};

/* gstnninfercompile.c */
gboolean gst_nn_infer_open (GstNnInfer *self);
void gst_nn_infer_close (GstNnInfer *self);
gboolean gst_nn_infer_start_compile (GstNnInfer *self, gboolean video, gint width, gint height);
void gst_nn_infer_stop_compile (GstNnInfer *self);
void gst_nn_infer_forget_compiled (GstNnInfer *self);
gboolean gst_nn_infer_has_free_size (GstNnInfer *self);
AxonModel *gst_nn_infer_ref_model (GstNnInfer *self);
GstCaps *gst_nn_infer_model_caps (AxonModel *model, gboolean outputs);

/* gstnninferhint.c */
gboolean gst_nn_infer_takes_newest (GstNnInfer *self);
GstNnInferGoal gst_nn_infer_find_goal (GstNnInfer *self);
guint gst_nn_infer_count_held (GstNnInfer *self);
void gst_nn_infer_add_goal (GstNnInfer *self, GVariantBuilder *config);

/* gstnninferpads.c */
void gst_nn_infer_add_pad_templates (GstElementClass *klass);
void gst_nn_infer_add_pads (GstNnInfer *self);

/* gstnninfertask.c */
void gst_nn_infer_task (gpointer user_data);
GstFlowReturn gst_nn_infer_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer);
void gst_nn_infer_forget_latency (GstNnInfer *self);

GST_DEBUG_CATEGORY_EXTERN (gst_nn_infer_debug);

G_END_DECLS
