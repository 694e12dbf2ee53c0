/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/nn/gstnndescription.h>

G_BEGIN_DECLS

/**
 * GstNnTensorMeta:
 * @meta: parent
 * @tensors: (element-type AxonTensor): raw outputs, not copied
 * @names: (array zero-terminated=1): their names
 * @description: (nullable): of the model
 * @geometry: where the picture lay in the model's input
 * @width: of the picture, pixels
 * @height: of the picture, pixels
 * @pts: timestamp of the frame that was inferred
 * @object_id: number of the object that the picture was cut out for; 0: it is the frame, or a tile
 *
 * Raw outputs of a model, on a video or tensor buffer, which has several where the model was run on
 * parts of it. Without tensors it only carries the
 * geometry, from nnpreproc to nninfer.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  GPtrArray *tensors;
  gchar **names;
  AxonModelDescription *description;
  AxonImageGeometry geometry;
  gint width, height;
  GstClockTime pts;
  guint object_id;
  /*< private >*/
  gpointer _reserved[4];
} GstNnTensorMeta;

#define GST_NN_TENSOR_META_API_TYPE (gst_nn_tensor_meta_api_get_type ())
#define GST_NN_TENSOR_META_INFO (gst_nn_tensor_meta_get_info ())

GST_NN_API GType gst_nn_tensor_meta_api_get_type (void);
GST_NN_API const GstMetaInfo *gst_nn_tensor_meta_get_info (void);
GST_NN_API GstNnTensorMeta *gst_buffer_add_nn_tensor_meta (GstBuffer *buffer);
GST_NN_API GstNnTensorMeta *gst_buffer_get_nn_tensor_meta (GstBuffer *buffer);

G_END_DECLS
