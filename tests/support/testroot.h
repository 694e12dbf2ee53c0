/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A folder of files that stands for "/", with its own /proc and /sys. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>

/* Of @n files, each a path and what it says; those without a path are passed over. */
static inline gchar *
test_root_new (const gchar *const files[][2], guint n)
{
  gchar *root = g_dir_make_tmp ("axon-root-XXXXXX", NULL);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *path = files[i][0] ? g_strconcat (root, files[i][0], NULL) : NULL;
    g_autofree gchar *folder = path ? g_path_get_dirname (path) : NULL;
    if (path == NULL)
      continue;
    g_mkdir_with_parents (folder, 0700);
    g_assert_true (g_file_set_contents (path, files[i][1], -1, NULL));
  }
  return root;
}

/* Takes @root over. */
static inline void
test_root_remove (gchar *root)
{
  g_autofree gchar *command = g_strdup_printf ("rm -r '%s'", root);
  g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL);
  g_free (root);
}
