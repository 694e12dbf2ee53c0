/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Geometry that kernels of every device need, said once: sliding windows, what an axis of Resize
 * reads, and what a node says that makes a tensor of a picture. */
#pragma once

#include <axon/axonimage.h>
#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

/* Sliding windows over up to three spatial dimensions; missing leading ones have size 1. Of
 * ConvTranspose the window describes the convolution whose gradient it is: in is its output. */
typedef struct {
  gint rank;
  gint64 in[3], kernel[3], stride[3], dilation[3], pad[3], pad_end[3], out[3];
} AxonWindow;

AXON_API gboolean axon_window_init (AxonWindow *w, const AxonNode *node, const AxonShape *x,
                                    const gint64 *kernel, gboolean ceil_mode, GError **error);
AXON_API void axon_window_shape (const AxonWindow *w, AxonShape *shape);

/* Of a convolution or pooling node that was inferred; its kernel's size is known. */
AXON_API gboolean axon_window_of_node (AxonWindow *w, const AxonNode *node, GError **error);
AXON_API gboolean axon_window_of_transposed (AxonWindow *w, const AxonNode *node, GError **error);

/* One axis of Resize: output i is the sum of weight[i * n + t] * input[index[i * n + t]], or a
 * constant where index is negative. */
typedef struct {
  gint axis;
  gint64 n_in, n_out;
  gint n; /* taps */
  gint32 *index;
  gfloat *weight;
} AxonResizeAxis;

/* AxonResizeAxis, those that change something; NULL with @error. Scales and sizes are constants. */
AXON_API GArray *axon_resize_axes (const AxonNode *node, GError **error);

/* What an axon.ImageToTensor node says, read once. */
typedef struct {
  gint width, height, channels;
  gboolean nhwc, bgr;
  AxonImageFit fit;
  AxonDType dtype;
  gfloat mean[4], scale[4]; /* (v - mean) * scale, per output channel */
  gfloat pad;
} AxonImageTarget;

AXON_API gboolean axon_image_target_init (AxonImageTarget *target, const AxonNode *node,
                                          GError **error);

G_END_DECLS
