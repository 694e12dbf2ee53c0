/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the elements: frames as tensors, tensor caps, model properties, errors. */
#pragma once

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>
#include <gst/video/video.h>

#include <gst/nn/nn.h>

/* Video that elements take: what AxonImageFormat has. */
#define GST_NN_VIDEO_FORMATS "{ NV12, I420, RGB, BGR, RGBx, RGBA, BGRx, BGRA, GRAY8 }"
#define GST_NN_VIDEO_CAPS GST_VIDEO_CAPS_MAKE (GST_NN_VIDEO_FORMATS)
#define GST_NN_TENSOR_CAPS "other/tensors, format=(string)static"
/* For pads: open enough that base classes ask the peer. */
#define GST_NN_TENSOR_TEMPLATE                                                                     \
  GST_NN_TENSOR_CAPS ", num_tensors=(int)[1,256], framerate=(fraction)[0/1,2147483647/1]"

/* The graph of an ONNX file, or of a file that axon-compile wrote. */
AxonModel *gst_nn_load_model (const gchar *path, GError **error);
gboolean gst_nn_is_compiled_file (const gchar *path);
/* Libraries separated by commas, loaded once per process. */
gboolean gst_nn_load_extensions (const gchar *paths, GError **error);
/* Name -> affinity, from nnquery to nninfer. */
#define GST_NN_QUERY_CONTEXT "axon.nn.query"

/* A GError as element error, in one place. */
void gst_nn_post_error (GstElement *element, const GError *error);

/* A mapped frame bound to the four inputs of axon.ImageToTensor. */
typedef struct {
  GstVideoFrame frame;
  AxonImageInfo info;
  gboolean mapped;
} GstNnFrame;

gboolean gst_nn_frame_bind (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                            AxonInferRequest *request, guint first_input, GError **error);
void gst_nn_frame_unmap (GstNnFrame *frame);
void gst_nn_image_info_init (AxonImageInfo *info, const GstVideoInfo *video);

/* other/tensors: dimensions innermost first, as NNStreamer writes them. */
GstCaps *gst_nn_tensor_caps_new (guint n, const AxonDType *types, const AxonShape *shapes);
gboolean gst_nn_tensor_caps_parse (const GstCaps *caps, GArray *types, GArray *shapes,
                                   GError **error);
/* As numbers: trailing 1s do not count. */
gboolean gst_nn_tensor_caps_match (const GstCaps *caps, guint n, const AxonDType *types,
                                   const AxonShape *shapes, GError **error);

/* Properties that describe a model, on every element that needs them. They are kept as text. */
typedef struct {
  GHashTable *values; /* key -> text */
} GstNnModelProps;

#define GST_NN_MODEL_PROP_FIRST 100
void gst_nn_model_props_install (GObjectClass *klass);
void gst_nn_model_props_init (GstNnModelProps *props);
void gst_nn_model_props_clear (GstNnModelProps *props);
gboolean gst_nn_model_props_set (GstNnModelProps *props, guint id, const GValue *value);
gboolean gst_nn_model_props_get (const GstNnModelProps *props, guint id, GValue *value);
GstNnDescription *gst_nn_model_props_describe (const GstNnModelProps *props, const gchar *path,
                                               AxonModel *model, GError **error);
AxonPreprocess *gst_nn_preprocess_new (const GstNnDescription *description);
