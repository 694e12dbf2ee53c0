/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Video frames as a model's inputs. */
#pragma once

#include <axon/axon.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>

/* A mapped frame. */
typedef struct {
  GstVideoFrame frame;
  AxonImageInfo info; /* of the buffer's pixels; its region is what is visible */
  gint width, height; /* of the caps: results are in their pixels */
  gint x, y;          /* where those begin in the buffer's pixels */
  gboolean mapped;
} GstNnFrame;

/* Reads @caps. What no picture can be made of is an error; interlaced frames are named once on the
 * bus, where those of @video before were not. */
gboolean gst_nn_video_set_caps (GstVideoInfo *video, GstElement *element, const GstCaps *caps,
                                GError **error);

/* Maps; GstVideoMeta says where planes lie, GstVideoCropMeta what of them is visible. */
gboolean gst_nn_frame_map (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                           GError **error);
/* The planes of a mapped frame and @info, its own or a copy with another region, become the four
 * inputs of axon.ImageToTensor from @first_input on. Both are used in place: keep them until the
 * request is done. @info's region may change between two runs. */
gboolean gst_nn_frame_bind_region (const GstNnFrame *frame, AxonImageInfo *info,
                                   AxonInferRequest *request, guint first_input, GError **error);
/* Maps and binds all that is visible. */
gboolean gst_nn_frame_bind (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                            AxonInferRequest *request, guint first_input, GError **error);
/* Where the frame lay in a tensor of that size, for @meta; also after unmapping. */
void gst_nn_frame_describe (const GstNnFrame *frame, const GstNnDescription *description,
                            gint width, gint height, GstNnTensorMeta *meta);
void gst_nn_frame_unmap (GstNnFrame *frame);

/* A side of the input of a model that leaves it free, for frames whose sides are @side and @other:
 * networks halve it five times. Where the model gives the other side, @given and else -1, the
 * frame's proportions are kept: lines of text are as long as they are. */
gint gst_nn_frame_choose_size (gint side, gint other, gint given);
/* The steps that a description asks for. */
AxonPreprocess *gst_nn_preprocess_new (const GstNnDescription *description);
