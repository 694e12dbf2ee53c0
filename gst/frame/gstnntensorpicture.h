/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors that are pictures: what lies where in them, and how they become frames. */
#pragma once

#include "decoders/gstnnmap.h"
#include <gst/video/video.h>

/* What numbers mean black and white. */
typedef enum {
  GST_NN_PICTURE_RANGE_AUTO,
  GST_NN_PICTURE_RANGE_UNIT,   /* 0..1 */
  GST_NN_PICTURE_RANGE_BYTE,   /* 0..255 */
  GST_NN_PICTURE_RANGE_SIGNED, /* -1..1 */
} GstNnPictureRange;

typedef struct {
  AxonTensor *tensor; /* f32 */
  GstNnMap map;       /* into it */
  gint64 column, row; /* where what is shown begins */
  gint width, height; /* of what is shown: without the bars of a letterbox */
  gint channels;      /* 1, 3 or 4 */
  gboolean is_bgr;
  gboolean is_matte;           /* opacity, which has no colours */
  gdouble scale[4], offset[4]; /* byte = number * scale + offset */
} GstNnTensorPicture;

/* The first of @tensors that is a picture; of a matte with the background, the other channel.
 * @meta: what is known of it, or NULL. FALSE: there is none. */
gboolean gst_nn_tensor_picture_init (GstNnTensorPicture *picture, GPtrArray *tensors,
                                     const GstNnTensorMeta *meta, GstNnPictureRange range);
void gst_nn_tensor_picture_clear (GstNnTensorPicture *picture);
/* What it becomes: GRAY8, RGB, BGR, RGBA or BGRA, or with @keep_chroma I420 where @from, the frames
 * that it was made of, has colours that it lacks. @from may be unknown, @geometry NULL. */
GstVideoInfo gst_nn_tensor_picture_describe (const GstNnTensorPicture *picture,
                                             const GstVideoInfo *from,
                                             const AxonImageGeometry *geometry,
                                             gboolean keep_chroma);
/* Into a frame of what it becomes; of I420 the luma. */
void gst_nn_tensor_picture_write (const GstNnTensorPicture *picture, GstVideoFrame *frame);
