/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties that describe a model, on every element that needs them: the keys of descriptions.
 * They are kept as text. The owner locks. */
#pragma once

#include <gst/nn/nn.h>

typedef struct {
  GHashTable *values; /* key -> text */
} GstNnModelProps;

#define GST_NN_MODEL_PROP_FIRST 100
void gst_nn_model_props_install (GObjectClass *klass);
void gst_nn_model_props_init (GstNnModelProps *props);
void gst_nn_model_props_clear (GstNnModelProps *props);
/* FALSE: @id is none of them. */
gboolean gst_nn_model_props_set (GstNnModelProps *props, guint id, const GValue *value);
gboolean gst_nn_model_props_get (const GstNnModelProps *props, guint id, GValue *value);
/* Properties first, then what lies beside the model at @path and in it; NULL: properties only. */
GstNnDescription *gst_nn_model_props_describe (const GstNnModelProps *props, const gchar *path,
                                               AxonModel *model, GError **error);
