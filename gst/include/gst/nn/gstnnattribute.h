/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>

#include <gst/nn/nn-prelude.h>

G_BEGIN_DECLS

/**
 * GstNnAttribute:
 *
 * Something that a model said of an object or of the whole frame: its class, a colour, an age.
 * Never changes; any thread.
 *
 * Since: 1.0
 */
typedef struct _GstNnAttribute GstNnAttribute;

#define GST_TYPE_NN_ATTRIBUTE (gst_nn_attribute_get_type ())

GST_NN_API GType gst_nn_attribute_get_type (void);
GST_NN_API GstNnAttribute *gst_nn_attribute_new (const gchar *name, const gchar *value,
                                                 gint class_id, gdouble score,
                                                 const gchar *model_name);
GST_NN_API GstNnAttribute *gst_nn_attribute_ref (GstNnAttribute *attribute);
GST_NN_API void gst_nn_attribute_unref (GstNnAttribute *attribute);
GST_NN_API const gchar *gst_nn_attribute_get_name (const GstNnAttribute *attribute);
GST_NN_API const gchar *gst_nn_attribute_get_value (const GstNnAttribute *attribute);
GST_NN_API gint gst_nn_attribute_get_class_id (const GstNnAttribute *attribute);
GST_NN_API gdouble gst_nn_attribute_get_score (const GstNnAttribute *attribute);
GST_NN_API const gchar *gst_nn_attribute_get_model_name (const GstNnAttribute *attribute);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnAttribute, gst_nn_attribute_unref)

G_END_DECLS
