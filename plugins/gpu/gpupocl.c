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

/* Before the number of a process. */
#define WRITES "pocl-writes-"
#define ALONE "pocl-alone-"

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

/* TRUE for @prefix and the number of a process that is gone. */
static gboolean
is_left_behind (const gchar *name, const gchar *prefix)
{
  pid_t pid;
  if (!g_str_has_prefix (name, prefix))
    return FALSE;
  pid = (pid_t)g_ascii_strtoll (name + strlen (prefix), NULL, 10);
  return pid <= 0 || (kill (pid, 0) != 0 && errno != EPERM);
}

/* TRUE if processes that are gone left marks or folders of this @prefix; @forget removes them. */
static gboolean
find_left_behind (const gchar *parent, const gchar *prefix, gboolean forget)
{
  g_autoptr (GDir) dir = g_dir_open (parent, 0, NULL);
  gboolean found = FALSE;
  const gchar *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (parent, name, NULL);
    if (!is_left_behind (name, prefix))
      continue;
    found = TRUE;
    if (forget && g_file_test (path, G_FILE_TEST_IS_DIR))
      remove_tree (path);
    if (forget)
      g_remove (path);
  }
  return found;
}

/* Another process may be using a folder that a third left damaged: then this one stays away from
 * it, and works with a cache of its own, which the next one removes. */
static void
mend (const gchar *parent)
{
  find_left_behind (parent, ALONE, TRUE);
  if (!find_left_behind (parent, WRITES, FALSE))
    return;
  if (flock (held, LOCK_EX | LOCK_NB) == 0) {
    find_left_behind (parent, WRITES, TRUE);
    remove_tree (folder);
    return;
  }
  g_free (folder);
  folder = g_strdup_printf ("%s/" ALONE "%d", parent, (gint)getpid ());
}

static void
choose_folder (void)
{
  g_autofree gchar *parent = g_build_filename (g_get_user_cache_dir (), "axon", NULL);
  g_autofree gchar *path = g_build_filename (parent, "pocl.lock", NULL);
  g_autofree gchar *name = g_strdup_printf (WRITES "%d", (gint)getpid ());
  folder = g_build_filename (parent, "pocl", NULL);
  mark = g_build_filename (parent, name, NULL);
  if (g_mkdir_with_parents (folder, 0700) != 0 ||
      (held = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0)
    return;
  mend (parent);
  flock (held, LOCK_SH);
  if (g_mkdir_with_parents (folder, 0700) == 0)
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
