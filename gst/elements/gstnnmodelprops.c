/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnmodelprops.h"

void
gst_nn_model_props_install (GObjectClass *klass)
{
  const gchar *key, *blurb;
  for (guint i = 0; (key = gst_nn_description_get_key (i, &blurb)) != NULL; i++)
    g_object_class_install_property (
        klass, GST_NN_MODEL_PROP_FIRST + i,
        g_param_spec_string (key, key, blurb, NULL,
                             G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
}

void
gst_nn_model_props_init (GstNnModelProps *props)
{
  props->values = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
}

void
gst_nn_model_props_clear (GstNnModelProps *props)
{
  g_clear_pointer (&props->values, g_hash_table_unref);
}

static const gchar *
key_of (guint id)
{
  return id < GST_NN_MODEL_PROP_FIRST
             ? NULL
             : gst_nn_description_get_key (id - GST_NN_MODEL_PROP_FIRST, NULL);
}

gboolean
gst_nn_model_props_set (GstNnModelProps *props, guint id, const GValue *value)
{
  const gchar *key = key_of (id);
  if (key == NULL)
    return FALSE;
  if (g_value_get_string (value) == NULL)
    g_hash_table_remove (props->values, key);
  else
    g_hash_table_insert (props->values, (gpointer)key, g_value_dup_string (value));
  return TRUE;
}

gboolean
gst_nn_model_props_get (const GstNnModelProps *props, guint id, GValue *value)
{
  const gchar *key = key_of (id);
  if (key == NULL)
    return FALSE;
  g_value_set_string (value, g_hash_table_lookup (props->values, key));
  return TRUE;
}

GstNnDescription *
gst_nn_model_props_describe (const GstNnModelProps *props, const gchar *path, AxonModel *model,
                             GError **error)
{
  g_autoptr (GstNnDescription) d = gst_nn_description_new ();
  const gchar *key;
  for (guint i = 0; (key = gst_nn_description_get_key (i, NULL)) != NULL; i++) {
    const gchar *text = g_hash_table_lookup (props->values, key);
    if (text != NULL && !gst_nn_description_set (d, key, text, error))
      return NULL;
  }
  if (path != NULL && !gst_nn_description_load (d, path, model, error))
    return NULL;
  return g_steal_pointer (&d);
}
