/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps of what elements take and give. */
#pragma once

#include <axon/axon.h>
#include <gst/video/video.h>

/* Video that elements take: GStreamer's name of the format, AxonImageFormat's. FIRST is X for the
 * first one. */
/* clang-format off */
#define GST_NN_VIDEO_FORMAT_TABLE(FIRST, X)                                                        \
  FIRST (NV12, NV12)                                                                               \
  X (I420, I420) X (YV12, YV12) X (NV21, NV21)                                                     \
  X (YUY2, YUY2) X (UYVY, UYVY) X (YVYU, YVYU) X (VYUY, VYUY)                                      \
  X (Y42B, Y42B) X (NV16, NV16) X (NV61, NV61) X (Y41B, Y41B)                                      \
  X (Y444, Y444) X (NV24, NV24) X (AYUV, AYUV) X (VUYA, VUYX)                                      \
  X (RGB, RGB) X (BGR, BGR)                                                                        \
  X (RGBx, RGBX) X (RGBA, RGBX) X (BGRx, BGRX) X (BGRA, BGRX)                                      \
  X (xRGB, XRGB) X (ARGB, XRGB) X (xBGR, XBGR) X (ABGR, XBGR)                                      \
  X (GBR, GBR) X (GBRA, GBR) X (RGBP, RGBP) X (BGRP, BGRP)                                         \
  X (GRAY8, GRAY8) X (GRAY16_LE, GRAY16_LE) X (GRAY16_BE, GRAY16_BE)                               \
  X (P010_10LE, P010) X (P012_LE, P012) X (P016_LE, P016) X (Y210, Y210)                           \
  X (I420_10LE, I420_10) X (I420_12LE, I420_12)                                                    \
  X (I422_10LE, I422_10) X (I422_12LE, I422_12)                                                    \
  X (Y444_10LE, Y444_10) X (Y444_12LE, Y444_12) X (GBR_10LE, GBR_10)
/* clang-format on */
#define GST_NN_FIRST_NAME_(video, image) #video
#define GST_NN_NEXT_NAME_(video, image) ", " #video
#define GST_NN_VIDEO_FORMATS                                                                       \
  "{ " GST_NN_VIDEO_FORMAT_TABLE (GST_NN_FIRST_NAME_, GST_NN_NEXT_NAME_) " }"
/* In any memory: what cannot be mapped is refused with the name of the element that copies it. */
#define GST_NN_VIDEO_CAPS                                                                          \
  GST_VIDEO_CAPS_MAKE (GST_NN_VIDEO_FORMATS)                                                       \
  "; " GST_VIDEO_CAPS_MAKE_WITH_FEATURES ("ANY", GST_NN_VIDEO_FORMATS)
/* Video that elements hand on without looking at it. */
#define GST_NN_ANY_VIDEO_CAPS "video/x-raw(ANY)"
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
