/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model's own metadata. Keys "axon.*" are ours; what exporters write is in exporters.c. */
#include "axonmodeldescription-private.h"

#include <string.h>

static const AxonSpeaker speaker = { .name = "metadata", .names_files = FALSE };

/* `preset` says what the other keys leave open. */
static gboolean
say_ours (AxonModelDescription *d, AxonModel *model, gboolean preset, GError **error)
{
  g_auto (GStrv) names = axon_model_get_metadata_keys (model);
  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_has_prefix (names[i], "axon.") && g_str_equal (names[i], "axon.preset") == preset &&
        !axon_model_description_say (d, &speaker, names[i] + strlen ("axon."),
                                     axon_model_get_metadata (model, names[i]), error))
      return FALSE;
  return TRUE;
}

gboolean
axon_load_metadata (AxonModelDescription *d, G_GNUC_UNUSED const gchar *model_path,
                    AxonModel *model, GError **error)
{
  if (say_ours (d, model, FALSE, error) && axon_say_exporters (d, &speaker, model, error) &&
      say_ours (d, model, TRUE, error))
    return TRUE;
  g_prefix_error (error, "%s: ", speaker.name);
  return FALSE;
}
