/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpupocl.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static gchar *folder, *mark; /* set once, before the driver is loaded */
static GMutex lock;
static guint writers; /* lock */
static int held =
    -1; /* every process that uses the folder holds it shared; who empties it, alone */

static void
remove_tree (const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *child = g_build_filename (path, name, NULL);
    if (!g_file_test (child, G_FILE_TEST_IS_SYMLINK) && g_file_test (child, G_FILE_TEST_IS_DIR))
      remove_tree (child);
    g_remove (child);
  }
}

/* TRUE if a process that is gone left its mark; @forget removes such marks. */
static gboolean
was_left_dirty (gboolean forget)
{
  g_autofree gchar *parent = g_path_get_dirname (folder);
  g_autoptr (GDir) dir = g_dir_open (parent, 0, NULL);
  gboolean dirty = FALSE;
  const gchar *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (parent, name, NULL);
    pid_t pid;
    if (!g_str_has_prefix (name, "pocl-writes-"))
      continue;
    pid = (pid_t)g_ascii_strtoll (name + strlen ("pocl-writes-"), NULL, 10);
    if (pid > 0 && (kill (pid, 0) == 0 || errno == EPERM))
      continue;
    if (forget)
      g_remove (path);
    dirty = TRUE;
  }
  return dirty;
}

/* Another process may be using a folder that a third left damaged: then this one stays away from
 * it, and works without a cache that lasts. */
static void
mend (void)
{
  if (!was_left_dirty (FALSE))
    return;
  if (flock (held, LOCK_EX | LOCK_NB) == 0) {
    was_left_dirty (TRUE);
    remove_tree (folder);
    return;
  }
  g_free (folder);
  folder = g_dir_make_tmp ("axon-pocl-XXXXXX", NULL);
}

static void
choose_folder (void)
{
  g_autofree gchar *parent = g_build_filename (g_get_user_cache_dir (), "axon", NULL);
  g_autofree gchar *path = g_build_filename (parent, "pocl.lock", NULL);
  g_autofree gchar *name = g_strdup_printf ("pocl-writes-%d", (gint)getpid ());
  folder = g_build_filename (parent, "pocl", NULL);
  mark = g_build_filename (parent, name, NULL);
  if (g_mkdir_with_parents (folder, 0700) != 0 ||
      (held = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0)
    return;
  mend ();
  flock (held, LOCK_SH);
  if (folder != NULL)
    g_setenv ("POCL_CACHE_DIR", folder, FALSE);
}

void
gpu_pocl_prepare (void)
{
  static gsize done;
  if (!g_once_init_enter (&done))
    return;
  if (g_getenv ("POCL_CACHE_DIR") == NULL)
    choose_folder ();
  g_once_init_leave (&done, 1);
}

void
gpu_pocl_begin (void)
{
  g_mutex_lock (&lock);
  if (writers++ == 0 && mark != NULL)
    g_file_set_contents (mark, "", 0, NULL);
  g_mutex_unlock (&lock);
}

void
gpu_pocl_end (void)
{
  g_mutex_lock (&lock);
  if (--writers == 0 && mark != NULL)
    g_remove (mark);
  g_mutex_unlock (&lock);
}
