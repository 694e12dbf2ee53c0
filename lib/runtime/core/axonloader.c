/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axonloader-private.h"
#include "axondevices-private.h"
#include "axonplugin-private.h"
#include "axonprobe-private.h"

#include "config.h"
#include <dlfcn.h>
#include <glib/gi18n-lib.h>
#include <gmodule.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "libaxon-"
#define SUFFIX "." G_MODULE_SUFFIX

gchar **
axon_loader_get_path (void)
{
  g_autoptr (GPtrArray) dirs = g_ptr_array_new ();
  const gchar *env = secure_getenv ("AXON_PLUGIN_PATH");
  g_auto (GStrv) parts = g_strsplit (env ? env : "", G_SEARCHPATH_SEPARATOR_S, -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (g_path_is_absolute (parts[i])) /* never from the current directory */
      g_ptr_array_add (dirs, g_strdup (parts[i]));
  g_ptr_array_add (dirs, g_strdup (AXON_PLUGIN_DIR));
  g_ptr_array_add (dirs, NULL);
  return (gchar **)g_ptr_array_free (g_steal_pointer (&dirs), FALSE);
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

/* The device that a file of this name is for (transfer full); NULL: no plugin. */
static gchar *
device_of (const gchar *file)
{
  gsize n = strlen (file), around = strlen (PREFIX) + strlen (SUFFIX);
  if (!g_str_has_prefix (file, PREFIX) || !g_str_has_suffix (file, SUFFIX) || n <= around)
    return NULL;
  return g_ascii_strup (file + strlen (PREFIX), (gssize)(n - around));
}

static void
list_directory (const gchar *path, GHashTable *names, GPtrArray *list, GPtrArray *misnamed)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *file;
  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *name = device_of (file);
    if (name == NULL || strncmp (name, "1.0", 3) == 0) /* the library itself */
      continue;
    if (!axon_device_name_is_legal (name)) {
      if (misnamed != NULL)
        g_ptr_array_add (misnamed, g_build_filename (path, file, NULL));
    } else if (g_hash_table_add (names, name)) {
      g_ptr_array_add (list, g_steal_pointer (&name));
    }
  }
}

/* Devices by the names of files on the search path. @misnamed (nullable): gets the paths of those
 * that no device can be named after. */
gchar **
axon_loader_list (GPtrArray *misnamed)
{
  g_auto (GStrv) path = axon_loader_get_path ();
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  for (guint i = 0; path[i] != NULL; i++)
    list_directory (path[i], names, list, misnamed);
  g_ptr_array_sort (list, compare_names);
  g_ptr_array_add (list, NULL);
  return (gchar **)g_ptr_array_free (g_steal_pointer (&list), FALSE);
}

/* Ours need no trial. */
static gboolean
is_own (const gchar *file)
{
  g_autofree gchar *folder = g_path_get_dirname (file);
  return g_str_equal (folder, AXON_PLUGIN_DIR);
}

/* @name NULL: whatever device the library is for. @tried_as (nullable): a helper process loads it
 * first, as the device of that name. */
static const AxonPluginInfo *
open_file (const gchar *file, const gchar *name, const gchar *tried_as, GString *report)
{
  const AxonPluginInfo *(*entry) (void);
  const AxonPluginInfo *info;
  g_autoptr (GError) mistake = NULL;
  GModule *module;
  if (!axon_probe_is_safe (file, &mistake) ||
      (tried_as != NULL && !is_own (file) && !axon_probe_library (file, tried_as, &mistake))) {
    g_string_append_printf (report, "; %s", mistake->message);
    return NULL;
  }
  module = g_module_open (file, G_MODULE_BIND_LOCAL);
  if (module == NULL) {
    g_string_append_printf (report, "; %s", g_module_error ());
    return NULL;
  }
  g_module_make_resident (module);
  if (!g_module_symbol (module, "axon_plugin_entry", (gpointer *)&entry)) {
    g_string_append_printf (report, _ ("; %s: no symbol axon_plugin_entry"), file);
    return NULL;
  }
  info = entry ();
  if (info == NULL || info->abi != AXON_PLUGIN_ABI || info->struct_size < sizeof *info ||
      (name != NULL && g_strcmp0 (info->name, name) != 0)) {
    const gchar *its = info && info->name ? info->name : "?";
    guint abi = info ? info->abi : 0;
    if (name != NULL)
      g_string_append_printf (report,
                              _ ("; %s: made for plugin interface %u of device %s, not %u of %s"),
                              file, abi, its, AXON_PLUGIN_ABI, name);
    else
      g_string_append_printf (report,
                              _ ("; %s: made for plugin interface %u of device %s, not %u of any"),
                              file, abi, its, AXON_PLUGIN_ABI);
    return NULL;
  }
  if (!axon_plugin_check_info (info, &mistake)) {
    g_string_append_printf (report, "; %s: %s", file, mistake->message);
    return NULL;
  }
  return info;
}

const AxonPluginInfo *
axon_loader_open (const gchar *name, gboolean isolate, GError **error)
{
  g_auto (GStrv) path = axon_loader_get_path ();
  g_auto (GStrv) known = axon_loader_list (NULL);
  g_autofree gchar *lower = g_ascii_strdown (name, -1);
  g_autofree gchar *near = axon_nearest_name (name, (const gchar *const *)known);
  g_autofree gchar *dirs = g_strjoinv (", ", path);
  g_autofree gchar *names = g_strjoinv (", ", known);
  g_autoptr (GString) report = g_string_new (NULL);
  for (guint i = 0; path[i] != NULL && strchr (lower, '/') == NULL; i++) {
    g_autofree gchar *base = g_strconcat (PREFIX, lower, SUFFIX, NULL);
    g_autofree gchar *file = g_build_filename (path[i], base, NULL);
    const AxonPluginInfo *info;
    if (!g_file_test (file, G_FILE_TEST_IS_REGULAR))
      continue;
    info = open_file (file, name, isolate ? name : NULL, report);
    if (info != NULL)
      return info;
  }
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
               _ ("device \"%s\" is not available%s: available are %s; searched %s%s"), name, near,
               *names ? names : "none", dirs, report->str);
  return NULL;
}

const AxonPluginInfo *
axon_loader_open_library (const gchar *path, const gchar *tried_as, GError **error)
{
  g_autoptr (GString) report = g_string_new (NULL);
  const AxonPluginInfo *info = open_file (path, NULL, tried_as, report);
  if (info == NULL)
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "%s", report->str + strlen ("; "));
  return info;
}

const gchar *
axon_loader_get_file (const AxonPluginInfo *info)
{
  Dl_info found;
  return dladdr (info, &found) != 0 ? found.dli_fname : "";
}
