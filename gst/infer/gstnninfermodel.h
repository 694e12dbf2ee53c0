/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What frames are inferred with: a model as the properties say, what describes it, and what it was
 * compiled for. A frame holds the one that it was bound for, so that another can take its place
 * meanwhile. Once compiled it does not change. */
#pragma once

#include "elements/gstnnmodelprops.h"

typedef enum {
  GST_NN_INFER_AS_CONFIGURED,
  GST_NN_INFER_LATENCY,
  GST_NN_INFER_THROUGHPUT
} GstNnInferGoal;

/* What comes. */
typedef struct {
  gboolean is_video, is_live;
  const GstCaps *caps; /* NULL: not known yet */
} GstNnStream;

typedef struct _GstNnInferShare GstNnInferShare; /* gstnninfershare.h */

typedef struct {
  gatomicrefcount ref_count;
  /* properties, as they were when it was made */
  gchar *path, *device, *extensions;
  gboolean device_is_set;
  guint nireq, max_memory, inference_timeout;
  GstStructure *config; /* or NULL */
  GstNnModelProps props;
  gchar *instance_id;     /* or NULL: shares nothing */
  GstNnInferShare *share; /* from opening on, if there is an id */
  /* opened */
  AxonModel *model;
  GstNnDescription *description;
  /* prepared */
  gboolean is_video;
  GstNnInferGoal goal;
  gint input_width, input_height; /* where it takes pictures; the least width where it is free */
  GHashTable *steps;              /* width -> AxonInferRequest, or NULL: see gstnninferwidth.h */
  AxonModel *graph; /* for tensors with their shapes; for video with the picture step, or
                     * with none: NULL where it is known to another, or compiled */
  /* compiled */
  AxonCompiledModel *compiled;
} GstNnInferModel;

GstNnInferModel *gst_nn_infer_model_new (void);
GstNnInferModel *gst_nn_infer_model_ref (GstNnInferModel *m);
void gst_nn_infer_model_unref (GstNnInferModel *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnInferModel, gst_nn_infer_model_unref)

/* Reads and describes it. */
gboolean gst_nn_infer_model_open (GstNnInferModel *m, GError **error);
/* What is opened, prepared for a stream. Sizes that the model leaves free get those of the caps. */
GstNnInferModel *gst_nn_infer_model_prepare (const GstNnInferModel *opened,
                                             const GstNnStream *stream, GError **error);
/* The graph that is compiled: it is built where another element did not leave its own. Once that is
 * done nobody needs it of video, and without weights, too, it is large. */
AxonModel *gst_nn_infer_model_ref_graph (const GstNnInferModel *m, GError **error);
void gst_nn_infer_model_forget_graph (GstNnInferModel *m);
/* TRUE if both were prepared for the same. */
gboolean gst_nn_infer_model_is_alike (const GstNnInferModel *a, const GstNnInferModel *b);
/* TRUE if it cannot be prepared before caps come. */
gboolean gst_nn_infer_model_needs_caps (const GstNnInferModel *m, gboolean is_video);
/* TRUE if it is run as it was compiled to a file. */
gboolean gst_nn_infer_model_is_imported (const GstNnInferModel *m);
/* other/tensors caps of what goes in, or comes out. */
GstCaps *gst_nn_infer_model_get_caps (const GstNnInferModel *m, gboolean outputs);

/* gstnninferhint.c */
GstNnInferGoal gst_nn_infer_model_choose_goal (const GstNnInferModel *m, gboolean is_live);
/* Frames that are inferred at once, at most. */
guint gst_nn_infer_model_count_held (const GstNnInferModel *m);
/* a{sv} of the device's properties, every value as text. */
GVariant *gst_nn_infer_model_dup_config (const GstNnInferModel *m);

/* gstnninfershare.c */
GstNnInferShare *gst_nn_infer_share_ref (GstNnInferShare *share);
void gst_nn_infer_share_unref (GstNnInferShare *share);
