/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors on buffers. */
#pragma once

#include <axon/axon.h>
#include <gst/nn/nn.h>

/* Appends its memory, not a copy; the buffer holds @tensor. */
void gst_nn_buffer_append_tensor (GstBuffer *buffer, AxonTensor *tensor);

typedef struct {
  gdouble min, max, mean; /* of the numbers; 0 where there are none */
  guint64 n_nan;
} GstNnTensorStatistics;

GstNnTensorStatistics gst_nn_tensor_statistics (const AxonTensor *tensor);

/* AxonTensor: the raw outputs that nninfer attached, else the memories of a tensor buffer, copied.
 * @types and @shapes: of the caps, may be empty. @names: one for each. */
GPtrArray *gst_nn_buffer_get_tensors (GstBuffer *buffer, const GArray *types, const GArray *shapes,
                                      gchar ***names);
