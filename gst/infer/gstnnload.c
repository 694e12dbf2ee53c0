/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnload.h"

gboolean
gst_nn_is_compiled_file (const gchar *path)
{
  return g_str_has_suffix (path, ".axon");
}

AxonModel *
gst_nn_load_model (const gchar *path, GError **error)
{
  AxonCore *core = axon_core_get_default ();
  return gst_nn_is_compiled_file (path) ? axon_core_read_exported_model (core, path, error)
                                        : axon_core_read_model (core, path, NULL, error);
}

static gboolean
load_once (const gchar *path, GError **error)
{
  static GMutex lock;
  static GHashTable *loaded; /* lock */
  gboolean ok = TRUE;
  g_mutex_lock (&lock);
  if (loaded == NULL)
    loaded = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (!g_hash_table_contains (loaded, path)) {
    ok = axon_core_add_extension (axon_core_get_default (), path, NULL, error);
    if (ok)
      g_hash_table_add (loaded, g_strdup (path));
  }
  g_mutex_unlock (&lock);
  return ok;
}

gboolean
gst_nn_load_extensions (const gchar *paths, GError **error)
{
  g_auto (GStrv) list = g_strsplit (paths ? paths : "", ",", -1);
  for (guint i = 0; list[i] != NULL; i++)
    if (*g_strstrip (list[i]) != '\0' && !load_once (list[i], error))
      return FALSE;
  return TRUE;
}
