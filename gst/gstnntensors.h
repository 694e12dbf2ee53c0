/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors on buffers, for those who only look at them. */
#pragma once

#include "gstnncommon.h"

typedef struct {
  gdouble min, max, mean; /* of the numbers; 0 where there are none */
  guint64 n_nan;
} GstNnTensorStatistics;

GstNnTensorStatistics gst_nn_tensor_statistics (const AxonTensor *tensor);

/* AxonTensor: the raw outputs that nninfer attached, else the memories of a tensor buffer, copied.
 * @types and @shapes: of the caps, may be empty. @names: one for each. */
GPtrArray *gst_nn_buffer_get_tensors (GstBuffer *buffer, const GArray *types, const GArray *shapes,
                                      gchar ***names);
