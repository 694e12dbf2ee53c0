/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps of what elements take and give. */
#pragma once

#include <axon/axon.h>
#include <gst/video/video.h>

/* Video that elements take: what AxonImageFormat has. */
#define GST_NN_VIDEO_FORMATS "{ NV12, I420, RGB, BGR, RGBx, RGBA, BGRx, BGRA, GRAY8 }"
#define GST_NN_VIDEO_CAPS GST_VIDEO_CAPS_MAKE (GST_NN_VIDEO_FORMATS)
#define GST_NN_TENSOR_CAPS "other/tensors, format=(string)static"
/* For pads: open enough that base classes ask the peer. */
#define GST_NN_TENSOR_TEMPLATE                                                                     \
  GST_NN_TENSOR_CAPS ", num_tensors=(int)[1,256], framerate=(fraction)[0/1,2147483647/1]"

/* other/tensors: dimensions innermost first, as NNStreamer writes them. */
GstCaps *gst_nn_tensor_caps_new (guint n, const AxonDType *types, const AxonShape *shapes);
gboolean gst_nn_tensor_caps_parse (const GstCaps *caps, GArray *types, GArray *shapes,
                                   GError **error);
/* As numbers: trailing 1s do not count. */
gboolean gst_nn_tensor_caps_match (const GstCaps *caps, guint n, const AxonDType *types,
                                   const AxonShape *shapes, GError **error);
