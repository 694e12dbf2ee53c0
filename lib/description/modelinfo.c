/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `MODEL.onnx.modelinfo`, else `MODEL.modelinfo`: a key file. Our group is [axon]. GStreamer's own
 * groups (1.28, GstAnalyticsModelInfo) are [modelinfo] and one for each tensor; of those, `ranges`
 * of the input says what pixels become. */
#include "axonmodeldescription-private.h"

#include <math.h>
#include <string.h>

/* `preset` says what the file leaves open, wherever it stands. */
static gboolean
say_keys (AxonModelDescription *d, const AxonSpeaker *speaker, GKeyFile *file, gboolean preset,
          GError **error)
{
  g_auto (GStrv) names = g_key_file_get_keys (file, "axon", NULL, NULL);
  for (guint i = 0; names != NULL && names[i] != NULL; i++) {
    g_autoptr (GError) problem = NULL; /* of an escape, where there is a value, too */
    g_autofree gchar *value = NULL;
    if (g_str_equal (names[i], "preset") != preset)
      continue;
    value = g_key_file_get_string (file, "axon", names[i], &problem);
    if (problem != NULL) {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
    if (!axon_model_description_say (d, speaker, names[i], value, error))
      return FALSE;
  }
  return TRUE;
}

/* "min,max" of each channel, separated by semicolons: where 0 and 255 go. */
static gboolean
say_ranges (AxonModelDescription *d, const AxonSpeaker *speaker, const gchar *ranges,
            GError **error)
{
  g_auto (GStrv) parts = g_strsplit (ranges, ";", -1);
  gdouble mean[4], scale[4];
  guint n = 0;
  if (g_str_has_prefix (ranges, "PLACEHOLDER")) /* of upstream's generator: not filled in yet */
    return TRUE;
  for (guint i = 0; parts[i] != NULL; i++) {
    gchar *rest = parts[i], *end;
    gdouble min = g_ascii_strtod (rest, &end),
            max = *end == ',' ? g_ascii_strtod (end + 1, &rest) : 0;
    if (*g_strchug (parts[i]) == '\0' && parts[i + 1] == NULL && n > 0)
      break; /* key files may end lists with a separator */
    if (n == G_N_ELEMENTS (mean) || *end != ',' || *g_strchug (rest) != '\0' || !isfinite (min) ||
        !isfinite (max) || min == max) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   _ ("ranges: expected up to four pairs MIN,MAX that differ, got \"%s\""), ranges);
      return FALSE;
    }
    scale[n] = 255 / (max - min);
    mean[n] = -min * scale[n];
    n++;
  }
  return axon_model_description_say_numbers (d, speaker, "mean", mean, n, error) &&
         axon_model_description_say_numbers (d, speaker, "scale", scale, n, error);
}

/* The group of the model's first input: by its name, else the first that says it is an input. */
static gchar *
find_input (GKeyFile *file, AxonModel *model)
{
  const gchar *name =
      axon_model_get_n_inputs (model) > 0 ? axon_model_get_input_name (model, 0) : "";
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  if (g_key_file_has_group (file, name))
    return g_strdup (name);
  for (guint i = 0; groups[i] != NULL; i++) {
    g_autofree gchar *dir = g_key_file_get_string (file, groups[i], "dir", NULL);
    if (g_strcmp0 (dir, "input") == 0)
      return g_strdup (groups[i]);
  }
  return NULL;
}

static gboolean
say_upstream (AxonModelDescription *d, const AxonSpeaker *speaker, GKeyFile *file, AxonModel *model,
              GError **error)
{
  g_autofree gchar *version = g_key_file_get_string (file, "modelinfo", "version", NULL);
  g_autofree gchar *input = NULL, *ranges = NULL;
  if (!g_key_file_has_group (file, "modelinfo"))
    return TRUE;
  if (version == NULL || !g_str_has_prefix (version, "1.")) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("[modelinfo] version: expected 1.MINOR, got \"%s\""), version ? version : "");
    return FALSE;
  }
  input = find_input (file, model);
  ranges = input ? g_key_file_get_string (file, input, "ranges", NULL) : NULL;
  return ranges == NULL || say_ranges (d, speaker, ranges, error);
}

static gboolean
say_file (AxonModelDescription *d, const gchar *path, const gchar *text, gsize n, AxonModel *model,
          GError **error)
{
  g_autofree gchar *directory = g_path_get_dirname (path);
  AxonSpeaker speaker = { .name = path, .directory = directory, .names_files = TRUE };
  g_autoptr (GKeyFile) file = g_key_file_new ();
  if (n == 0 ||
      (g_key_file_load_from_data (file, text, n, G_KEY_FILE_NONE, error) &&
       say_keys (d, &speaker, file, FALSE, error) &&
       say_upstream (d, &speaker, file, model, error) && say_keys (d, &speaker, file, TRUE, error)))
    return TRUE;
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}

gboolean
axon_load_modelinfo (AxonModelDescription *d, const gchar *model_path, AxonModel *model,
                     GError **error)
{
  g_autofree gchar *long_path = g_strconcat (model_path, ".modelinfo", NULL);
  g_autofree gchar *short_path = axon_path_beside (model_path, ".modelinfo");
  const gchar *const paths[] = { long_path, short_path };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autofree gchar *text = NULL;
    gsize n = 0;
    if (!axon_read_optional_file (paths[i], &text, &n, error))
      return FALSE;
    if (text != NULL)
      return say_file (d, paths[i], text, n, model, error);
  }
  return TRUE;
}
