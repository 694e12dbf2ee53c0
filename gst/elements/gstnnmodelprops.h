/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties that describe a model, on every element that needs them: the keys of descriptions,
 * with the types that suit them. What is not set is as the model's description says. The owner
 * locks.
 *
 * Lists of numbers are arrays, mean="<123.7,116.3,103.5>" to gst-launch, which makes an array of
 * nothing else: one number is mean="<127>". */
#pragma once

#include <gst/nn/nn.h>

typedef enum {
  GST_NN_MODEL_PICTURES = 1, /* how a frame becomes the input */
  GST_NN_MODEL_RESULTS = 2   /* what the outputs mean */
} GstNnModelUse;

typedef struct {
  GHashTable *values; /* key -> text */
} GstNnModelProps;

#define GST_NN_MODEL_PROP_FIRST 100
/* Those that the element uses, which may be changed in the states of @flags. */
void gst_nn_model_props_install (GObjectClass *klass, GstNnModelUse uses, GParamFlags flags);
void gst_nn_model_props_init (GstNnModelProps *props);
void gst_nn_model_props_clear (GstNnModelProps *props);
void gst_nn_model_props_copy (GstNnModelProps *to, const GstNnModelProps *from);
/* FALSE: @id is none of them. */
gboolean gst_nn_model_props_set (GstNnModelProps *props, guint id, const GValue *value);
gboolean gst_nn_model_props_get (const GstNnModelProps *props, guint id, GValue *value);
/* Properties first, then what lies beside the model at @path and in it; NULL: properties only. */
GstNnDescription *gst_nn_model_props_describe (const GstNnModelProps *props, const gchar *path,
                                               AxonModel *model, GError **error);
/* Keys with values, "mean=0 color=rgb", as gst-launch takes them. */
gchar *gst_nn_model_props_to_launch (const gchar *pairs);
