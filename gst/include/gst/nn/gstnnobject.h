/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/nn/gstnnattribute.h>
#include <gst/nn/gstnnmask.h>
#include <gst/nn/gstnnskeleton.h>

G_BEGIN_DECLS

/**
 * GstNnObject:
 *
 * Something that a model found on a frame, or the frame itself, with everything that models said
 * of it. It belongs to a #GstNnResultMeta: changed only while its buffer is writable, by one thread
 * at a time.
 *
 * Since: 1.0
 */
typedef struct _GstNnObject GstNnObject;

#define GST_TYPE_NN_OBJECT (gst_nn_object_get_type ())

GST_NN_API GType gst_nn_object_get_type (void);
GST_NN_API GstNnObject *gst_nn_object_ref (GstNnObject *object);
GST_NN_API void gst_nn_object_unref (GstNnObject *object);

GST_NN_API guint gst_nn_object_get_id (const GstNnObject *object);
GST_NN_API guint gst_nn_object_get_parent_id (const GstNnObject *object);
GST_NN_API void gst_nn_object_get_box (const GstNnObject *object, gdouble *x, gdouble *y,
                                       gdouble *width, gdouble *height);
GST_NN_API void gst_nn_object_set_box (GstNnObject *object, gdouble x, gdouble y, gdouble width,
                                       gdouble height);
GST_NN_API gboolean gst_nn_object_get_rotated_box (const GstNnObject *object, gdouble *center_x,
                                                   gdouble *center_y, gdouble *width,
                                                   gdouble *height, gdouble *angle);
GST_NN_API void gst_nn_object_set_rotated_box (GstNnObject *object, gdouble center_x,
                                               gdouble center_y, gdouble width, gdouble height,
                                               gdouble angle);
GST_NN_API void gst_nn_object_move (GstNnObject *object, gdouble x, gdouble y, gdouble width,
                                    gdouble height);
GST_NN_API void gst_nn_object_set_class (GstNnObject *object, gint class_id, const gchar *label,
                                         gdouble score);
GST_NN_API gint gst_nn_object_get_class_id (const GstNnObject *object);
GST_NN_API const gchar *gst_nn_object_get_label (const GstNnObject *object);
GST_NN_API gdouble gst_nn_object_get_score (const GstNnObject *object);
GST_NN_API void gst_nn_object_set_origin (GstNnObject *object, const gchar *model_name,
                                          GstClockTime pts);
GST_NN_API const gchar *gst_nn_object_get_model_name (const GstNnObject *object);
GST_NN_API GstClockTime gst_nn_object_get_pts (const GstNnObject *object);

GST_NN_API void gst_nn_object_add_keypoint (GstNnObject *object, gdouble x, gdouble y,
                                            gdouble score);
GST_NN_API guint gst_nn_object_get_n_keypoints (const GstNnObject *object);
GST_NN_API gboolean gst_nn_object_get_keypoint (const GstNnObject *object, guint index, gdouble *x,
                                                gdouble *y, gdouble *score);
GST_NN_API void gst_nn_object_set_skeleton (GstNnObject *object, GstNnSkeleton *skeleton);
GST_NN_API GstNnSkeleton *gst_nn_object_get_skeleton (const GstNnObject *object);

GST_NN_API void gst_nn_object_set_mask (GstNnObject *object, GstNnMask *mask);
GST_NN_API GstNnMask *gst_nn_object_get_mask (const GstNnObject *object);

GST_NN_API void gst_nn_object_add_attribute (GstNnObject *object, GstNnAttribute *attribute);
GST_NN_API guint gst_nn_object_get_n_attributes (const GstNnObject *object);
GST_NN_API GstNnAttribute *gst_nn_object_get_attribute (const GstNnObject *object, guint index);
GST_NN_API GstNnAttribute *gst_nn_object_find_attribute (const GstNnObject *object,
                                                         const gchar *name);

GST_NN_API void gst_nn_object_set_text (GstNnObject *object, const gchar *text, gdouble score);
GST_NN_API const gchar *gst_nn_object_get_text (const GstNnObject *object);
GST_NN_API gdouble gst_nn_object_get_text_score (const GstNnObject *object);
GST_NN_API void gst_nn_object_set_embedding (GstNnObject *object, const gfloat *values,
                                             gsize n_values);
GST_NN_API const gfloat *gst_nn_object_get_embedding (const GstNnObject *object, gsize *n_values);
GST_NN_API void gst_nn_object_set_track (GstNnObject *object, guint64 id, guint age);
GST_NN_API guint64 gst_nn_object_get_track_id (const GstNnObject *object);
GST_NN_API guint gst_nn_object_get_track_age (const GstNnObject *object);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnObject, gst_nn_object_unref)

G_END_DECLS
