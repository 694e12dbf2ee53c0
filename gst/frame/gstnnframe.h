/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Video frames as a model's inputs. */
#pragma once

#include <axon/axon.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>

/* A mapped frame bound to the four inputs of axon.ImageToTensor. */
typedef struct {
  GstVideoFrame frame;
  AxonImageInfo info;
  gboolean mapped;
} GstNnFrame;

gboolean gst_nn_frame_bind (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                            AxonInferRequest *request, guint first_input, GError **error);
void gst_nn_frame_unmap (GstNnFrame *frame);

/* The steps that a description asks for. */
AxonPreprocess *gst_nn_preprocess_new (const GstNnDescription *description);
