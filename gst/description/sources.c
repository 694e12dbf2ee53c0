/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where descriptions come from, besides those who call gst_nn_description_set() first. */
#include "gstnndescription-private.h"

#include <string.h>

/* In order: the first that says a field wins. */
static gboolean (*const sources[]) (GstNnDescription *d, const gchar *model_path, AxonModel *model,
                                    GError **error) = {
  gst_nn_load_modelinfo,
  gst_nn_load_model_proc,
  gst_nn_load_metadata,
};

/**
 * gst_nn_description_load:
 * @description: a description that is not shared yet
 * @model_path: (type filename): the model file
 * @model: the model
 * @error: return location
 *
 * Adds what the files beside the model and its own metadata say: `<model>.modelinfo`, a DL Streamer
 * model-proc file, ONNX `metadata_props`. A model's metadata names no files.
 *
 * Returns: %TRUE unless a source is wrong
 *
 * Since: 1.0
 */
gboolean
gst_nn_description_load (GstNnDescription *description, const gchar *model_path, AxonModel *model,
                         GError **error)
{
  g_autofree gchar *base = g_path_get_basename (model_path);
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    if (!sources[i](description, model_path, model, error))
      return FALSE;
  if (g_str_has_suffix (base, ".onnx"))
    base[strlen (base) - strlen (".onnx")] = '\0';
  g_free (description->model_name);
  description->model_name = g_steal_pointer (&base);
  GST_DEBUG ("%s:%s", model_path, description->origin->str);
  return TRUE;
}
