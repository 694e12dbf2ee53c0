/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where descriptions come from, besides those who call axon_model_description_set() first. */
#include "axonmodeldescription-private.h"
#include "../base/axonutf8-private.h"

#include <string.h>

/* In order: the first that says a field wins. What a person wrote comes before what a program
 * wrote, that before what can be seen, and that before what is usual. */
static const AxonDescriptionSource sources[] = {
  axon_load_modelinfo, axon_load_model_proc,    axon_load_deepstream, axon_load_own_labels,
  axon_load_metadata,  axon_load_shared_labels, axon_load_graph,      axon_load_preset,
};

/**
 * axon_model_description_load:
 * @description: a description that is not shared yet
 * @model_path: (type filename): the model file
 * @model: the model
 * @error: return location
 *
 * Adds what is known of a model: from the files beside it (`<model>.modelinfo`, a DL Streamer
 * model-proc file, a configuration of DeepStream that names it, labels), from its own metadata,
 * from what its graph does, from the table of well-known models. A model's metadata names no files.
 *
 * Returns: %TRUE unless a source is wrong
 *
 * Since: 1.0
 */
gboolean
axon_model_description_load (AxonModelDescription *description, const gchar *model_path,
                             AxonModel *model, GError **error)
{
  g_autofree gchar *base = g_path_get_basename (model_path);
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    if (!sources[i](description, model_path, model, error)) {
      if (error != NULL)
        axon_utf8_mend ((*error)->message); /* GLib's parsers quote what they refuse */
      return FALSE;
    }
  if (g_str_has_suffix (base, ".onnx"))
    base[strlen (base) - strlen (".onnx")] = '\0';
  g_free (description->model_name);
  description->model_name = g_steal_pointer (&base);
  g_debug ("%s:%s", model_path, description->origin->str);
  return TRUE;
}
