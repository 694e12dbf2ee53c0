/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>

#include <gst/nn/nn-prelude.h>

G_BEGIN_DECLS

/**
 * GstNnObject:
 * @x: left edge, pixels of the frame
 * @y: top edge
 * @width: width
 * @height: height
 * @score: confidence, 0 to 1
 * @class_id: class, -1 where the model has none
 * @label: name of the class as a quark, 0 where there is none
 * @id: number of the object on this buffer, from 1
 *
 * A detected object.
 *
 * Since: 1.0
 */
typedef struct {
  gdouble x, y, width, height;
  gdouble score;
  gint class_id;
  GQuark label;
  gint id;
  /*< private >*/
  gpointer _reserved[4];
} GstNnObject;

/**
 * GstNnClass:
 * @score: confidence, 0 to 1
 * @class_id: class
 * @label: name of the class as a quark, 0 where there is none
 *
 * A class of the whole frame.
 *
 * Since: 1.0
 */
typedef struct {
  gdouble score;
  gint class_id;
  GQuark label;
  /*< private >*/
  gpointer _reserved[4];
} GstNnClass;

/**
 * GstNnResultMeta:
 * @meta: parent
 * @width: of the frame that coordinates refer to
 * @height: of the frame that coordinates refer to
 * @objects: (element-type GstNnObject): detections, best first
 * @classes: (element-type GstNnClass): classes of the frame, best first
 * @model_name: (nullable): which model found them
 *
 * What a model found on a frame. Survives conversion and scaling, with coordinates transformed.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  gint width, height;
  GArray *objects;
  GArray *classes;
  gchar *model_name;
  /*< private >*/
  gpointer _reserved[4];
} GstNnResultMeta;

#define GST_NN_RESULT_META_API_TYPE (gst_nn_result_meta_api_get_type ())
#define GST_NN_RESULT_META_INFO (gst_nn_result_meta_get_info ())

GST_NN_API GType gst_nn_result_meta_api_get_type (void);
GST_NN_API const GstMetaInfo *gst_nn_result_meta_get_info (void);
GST_NN_API GstNnResultMeta *gst_buffer_add_nn_result_meta (GstBuffer *buffer, gint width,
                                                           gint height);
GST_NN_API GstNnResultMeta *gst_buffer_get_nn_result_meta (GstBuffer *buffer);
GST_NN_API guint gst_nn_result_meta_get_n_objects (GstNnResultMeta *meta);
GST_NN_API const GstNnObject *gst_nn_result_meta_get_object (GstNnResultMeta *meta, guint index);
GST_NN_API guint gst_nn_result_meta_get_n_classes (GstNnResultMeta *meta);
GST_NN_API const GstNnClass *gst_nn_result_meta_get_class (GstNnResultMeta *meta, guint index);

G_END_DECLS
