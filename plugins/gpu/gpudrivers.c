/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpudrivers.h"

#include <axon/axon-plugin.h>
#include <string.h>

#define VENDORS "/etc/OpenCL/vendors"
#define SUFFIX ".icd"

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

/* The driver that an ICD file names, where the linker finds it, too. */
static void
add_driver (GPtrArray *files, const gchar *icd)
{
  static const gchar *const directories[] = { GPU_MULTIARCH_DIR, "/usr/lib", "/usr/local/lib", "" };
  g_autofree gchar *text = NULL;
  if (!g_file_get_contents (icd, &text, NULL, NULL))
    return;
  g_strstrip (text);
  text[strcspn (text, "\r\n")] = '\0';
  for (guint i = 0; *text != '\0' && i < G_N_ELEMENTS (directories); i++) {
    g_autofree gchar *path = g_build_filename (directories[i], text, NULL);
    if (g_path_is_absolute (path) && g_file_test (path, G_FILE_TEST_EXISTS))
      return g_ptr_array_add (files, g_steal_pointer (&path));
  }
}

/* ICD files of @folder, by name. */
static GPtrArray *
list_icds (const gchar *folder)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, SUFFIX))
      g_ptr_array_add (names, g_strdup (name));
  if (names->len > 0)
    qsort (names->pdata, names->len, sizeof (gpointer), compare_names);
  return names;
}

gboolean
gpu_drivers_allowed (GError **error)
{
  const gchar *chosen = g_getenv ("OCL_ICD_VENDORS");
  const gchar *folder = chosen && g_file_test (chosen, G_FILE_TEST_IS_DIR) ? chosen : VENDORS;
  g_autoptr (GPtrArray) names = list_icds (folder);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autofree gchar *list = NULL;
  g_autofree gchar *subject = NULL;
  guint n = names->len;
  if (n == 0)
    return TRUE;
  g_ptr_array_add (files, g_strdup (folder));
  for (guint i = 0; i < n; i++) {
    gchar *icd = g_build_filename (folder, g_ptr_array_index (names, i), NULL);
    g_ptr_array_add (files, icd);
    add_driver (files, icd);
  }
  g_ptr_array_add (files, NULL);
  g_ptr_array_add (names, NULL);
  list = g_strjoinv (", ", (gchar **)names->pdata);
  subject = g_strdup_printf ("OpenCL with the drivers of %s (%s)", folder, list);
  return axon_probe_allows (subject, (const gchar *const *)files->pdata, error);
}
