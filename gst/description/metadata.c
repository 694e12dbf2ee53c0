/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model's own metadata. Keys "axon.*" are ours; `names` and `task` are Ultralytics', whose
 * exports take RGB/255, letterboxed with grey. */
#include "gstnndescription-private.h"

#include <string.h>

static const GstNnSpeaker speaker = { .name = "metadata", .names_files = FALSE };

/* {0: 'person', 1: 'bicycle', ...} as Python prints it. */
static gchar **
parse_names (const gchar *text)
{
  g_autoptr (GRegex) regex = g_regex_new ("\\d+\\s*:\\s*(?:'([^']*)'|\"([^\"]*)\")", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (g_regex_match (regex, text, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    g_autofree gchar *single = g_match_info_fetch (match, 1);
    g_autofree gchar *twice = g_match_info_fetch (match, 2);
    g_strv_builder_add (builder, twice && *twice ? twice : single);
  }
  return g_strv_builder_end (builder);
}

static gboolean
say_ultralytics (GstNnDescription *d, AxonModel *model, GError **error)
{
  static const struct {
    const gchar *key, *value;
  } usual[] = { { "scale", "255" }, { "resize", "letterbox" }, { "pad-value", "114" } };
  const gchar *names = axon_model_get_metadata (model, "names");
  if (names == NULL || !g_utf8_validate (names, -1, NULL))
    return TRUE;
  gst_nn_description_say_labels (d, &speaker, parse_names (names));
  if (axon_model_get_metadata (model, "task") == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (usual); i++)
    if (!gst_nn_description_say (d, &speaker, usual[i].key, usual[i].value, error))
      return FALSE;
  return TRUE;
}

static gboolean
say_ours (GstNnDescription *d, AxonModel *model, GError **error)
{
  g_auto (GStrv) names = axon_model_get_metadata_keys (model);
  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_has_prefix (names[i], "axon.") &&
        !gst_nn_description_say (d, &speaker, names[i] + strlen ("axon."),
                                 axon_model_get_metadata (model, names[i]), error))
      return FALSE;
  return TRUE;
}

gboolean
gst_nn_load_metadata (GstNnDescription *d, G_GNUC_UNUSED const gchar *model_path, AxonModel *model,
                      GError **error)
{
  if (say_ours (d, model, error) && say_ultralytics (d, model, error))
    return TRUE;
  g_prefix_error (error, "%s: ", speaker.name);
  return FALSE;
}
