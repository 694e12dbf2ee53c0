/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>

#include <gst/nn/gstnnmask.h>

G_BEGIN_DECLS

/**
 * GstNnShape:
 *
 * A zone (a polygon) or a line of a scene, with what was counted in it. Never changes; reference
 * counted.
 *
 * Since: 1.0
 */
typedef struct _GstNnShape GstNnShape;

#define GST_TYPE_NN_SHAPE (gst_nn_shape_get_type ())

GST_NN_API GType gst_nn_shape_get_type (void);
GST_NN_API GstNnShape *gst_nn_shape_new (const gchar *name, gboolean is_zone,
                                         const gdouble *coordinates, guint n_points, guint64 count,
                                         guint64 count_back);
GST_NN_API GstNnShape *gst_nn_shape_ref (GstNnShape *shape);
GST_NN_API void gst_nn_shape_unref (GstNnShape *shape);
GST_NN_API const gchar *gst_nn_shape_get_name (const GstNnShape *shape);
GST_NN_API gboolean gst_nn_shape_is_zone (const GstNnShape *shape);
GST_NN_API guint gst_nn_shape_get_n_points (const GstNnShape *shape);
GST_NN_API gboolean gst_nn_shape_get_point (const GstNnShape *shape, guint index, gdouble *x,
                                            gdouble *y);
GST_NN_API guint64 gst_nn_shape_get_count (const GstNnShape *shape);
GST_NN_API guint64 gst_nn_shape_get_count_back (const GstNnShape *shape);

/**
 * GstNnSceneMeta:
 * @meta: parent
 * @shapes: (element-type GstNnShape): zones and lines
 * @events: (element-type GstStructure): what happened on this frame, as it is posted on the bus
 * @heat_map: (nullable): where objects were, 0 to 255 of the busiest place
 *
 * What nnanalytics knows of the scene, beside the #GstNnResultMeta of the frame.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  GPtrArray *shapes;
  GPtrArray *events;
  GstNnMask *heat_map;
  /*< private >*/
  gpointer _reserved[4];
} GstNnSceneMeta;

#define GST_NN_SCENE_META_API_TYPE (gst_nn_scene_meta_api_get_type ())
#define GST_NN_SCENE_META_INFO (gst_nn_scene_meta_get_info ())

GST_NN_API GType gst_nn_scene_meta_api_get_type (void);
GST_NN_API const GstMetaInfo *gst_nn_scene_meta_get_info (void);
GST_NN_API GstNnSceneMeta *gst_buffer_add_nn_scene_meta (GstBuffer *buffer);
GST_NN_API GstNnSceneMeta *gst_buffer_get_nn_scene_meta (GstBuffer *buffer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnShape, gst_nn_shape_unref)

G_END_DECLS
