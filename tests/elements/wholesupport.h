/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of decoders of whole pictures share: outputs of models, decoded, and what is expected.
 */
#pragma once

#include "axontest.h"
#include <gst/nn/nn.h>

/* Outputs of a model, and where the frame lay in its input. */
typedef struct {
  const gchar *launch;
  gint input_width, input_height, width, height;
  AxonImageFit fit;
  const gchar *names[4]; /* of outputs */
} Setting;

/* NULL: an error. */
GstBuffer *decode (const Setting *s, AxonTensor *const *tensors, guint n);
const GstNnObject *frame_of (GstBuffer *buffer);
/* Rows from @first on, @n_rows of them, all where that is 0, of a TensorProto whose numbers are
 * raw; NULL: there is no data. */
AxonTensor *load (const gchar *relative, gint64 first, gint64 n_rows);
void assert_attribute (const GstNnObject *o, guint index, const gchar *name, const gchar *value,
                       gint class_id, gdouble score);
void assert_keypoint (const GstNnObject *o, guint index, gdouble x, gdouble y, gdouble score,
                      gdouble tolerance);
void assert_mask (const GstNnMask *mask, GstNnMaskKind kind, guint columns, guint rows,
                  const guint8 *values);
