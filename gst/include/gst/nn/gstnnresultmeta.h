/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/nn/gstnnobject.h>

G_BEGIN_DECLS

/**
 * GstNnResultMeta:
 * @meta: parent
 * @width: of the frame that coordinates refer to
 * @height: of the frame that coordinates refer to
 *
 * Everything that models said of a frame: the frame itself, and a tree of objects on it. A buffer
 * has one, which all models of a pipeline add to. It survives conversion and scaling, with
 * coordinates transformed.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  gint width, height;
  /*< private >*/
  GstNnObject *frame;
  GPtrArray *objects;
  guint last_id;
  gpointer _reserved[4];
} GstNnResultMeta;

#define GST_NN_RESULT_META_API_TYPE (gst_nn_result_meta_api_get_type ())
#define GST_NN_RESULT_META_INFO (gst_nn_result_meta_get_info ())

GST_NN_API GType gst_nn_result_meta_api_get_type (void);
GST_NN_API const GstMetaInfo *gst_nn_result_meta_get_info (void);
GST_NN_API GstNnResultMeta *gst_buffer_add_nn_result_meta (GstBuffer *buffer, gint width,
                                                           gint height);
GST_NN_API GstNnResultMeta *gst_buffer_get_nn_result_meta (GstBuffer *buffer);
GST_NN_API gboolean gst_nn_result_meta_is_empty (GstNnResultMeta *meta);
GST_NN_API void gst_nn_result_meta_append (GstNnResultMeta *meta, const GstNnResultMeta *other);
GST_NN_API void gst_nn_result_meta_append_inside (GstNnResultMeta *meta, guint parent_id,
                                                  const GstNnResultMeta *other);
GST_NN_API GstNnObject *gst_nn_result_meta_get_frame (GstNnResultMeta *meta);
GST_NN_API guint gst_nn_result_meta_get_n_objects (GstNnResultMeta *meta);
GST_NN_API GstNnObject *gst_nn_result_meta_get_object (GstNnResultMeta *meta, guint index);
GST_NN_API GPtrArray *gst_nn_result_meta_get_objects (GstNnResultMeta *meta);
GST_NN_API GstNnObject *gst_nn_result_meta_find_object (GstNnResultMeta *meta, guint id);
GST_NN_API GstNnObject *gst_nn_result_meta_add_object (GstNnResultMeta *meta, guint parent_id);
GST_NN_API GstNnObject *gst_nn_result_meta_add_copy (GstNnResultMeta *meta, guint parent_id,
                                                     const GstNnObject *object);
GST_NN_API void gst_nn_result_meta_remove_object (GstNnResultMeta *meta, guint id);

G_END_DECLS
