/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `<model>.modelinfo`: a key file with group [axon] (other groups are other readers'). */
#include "gstnndescription-private.h"

static gboolean
say_group (GstNnDescription *d, const GstNnSpeaker *speaker, GKeyFile *file, GError **error)
{
  g_auto (GStrv) names = g_key_file_get_keys (file, "axon", NULL, NULL);
  for (guint i = 0; names != NULL && names[i] != NULL; i++) {
    g_autoptr (GError) problem = NULL; /* of an escape, where there is a value, too */
    g_autofree gchar *value = g_key_file_get_string (file, "axon", names[i], &problem);
    if (problem != NULL) {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
    if (!gst_nn_description_say (d, speaker, names[i], value, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_nn_load_modelinfo (GstNnDescription *d, const gchar *model_path, G_GNUC_UNUSED AxonModel *model,
                       GError **error)
{
  g_autofree gchar *path = g_strconcat (model_path, ".modelinfo", NULL);
  g_autofree gchar *directory = g_path_get_dirname (model_path);
  GstNnSpeaker speaker = { .name = path, .directory = directory, .names_files = TRUE };
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) problem = NULL;
  gsize n = 0;
  g_autofree gchar *text = gst_nn_read_small_file (path, &n, &problem);
  if (g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return TRUE;
  if (text == NULL) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  if (n == 0 || (g_key_file_load_from_data (file, text, n, G_KEY_FILE_NONE, error) &&
                 say_group (d, &speaker, file, error)))
    return TRUE;
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}
