/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries: written under another name, synchronised, renamed; used entries get a new time, and the
 * oldest go when the folder grows too large. Who writes holds a lock on the file: what nobody holds
 * was left by a process that was killed, and goes. Only files in our own private folder are mapped.
 */
#include "axoncache-private.h"
#include "../../plan/axonhash-private.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Axon-cache"

#define SUFFIX ".axon"
#define UNFINISHED SUFFIX "."    /* and six letters of mkstemp() */
#define READ_AT_ONCE (32 * 1024) /* stays in the nearest cache; GLib may ask for it */

static gchar *
hex (XXH128_hash_t hash)
{
  XXH128_canonical_t c;
  GString *s = g_string_new (NULL);
  XXH128_canonicalFromHash (&c, hash);
  for (guint i = 0; i < sizeof c; i++)
    g_string_append_printf (s, "%02x", c.digest[i]);
  return g_string_free (s, FALSE);
}

gchar *
axon_cache_hash_bytes (GBytes *bytes)
{
  gsize n;
  gconstpointer data = g_bytes_get_data (bytes, &n);
  return hex (XXH3_128bits (data, n));
}

gchar *
axon_cache_hash_text (const gchar *text)
{
  return hex (XXH3_128bits (text, strlen (text)));
}

/* NULL where the file cannot be read. */
gchar *
axon_cache_hash_file (const gchar *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  g_autofree guint8 *buffer = g_malloc (READ_AT_ONCE);
  XXH3_state_t *state = XXH3_createState ();
  gssize n = -1;
  gchar *result = NULL;
  struct stat st;
  XXH3_128bits_reset (state);
  while (fd >= 0 && fstat (fd, &st) == 0 && S_ISREG (st.st_mode) &&
         (n = read (fd, buffer, READ_AT_ONCE)) > 0)
    XXH3_128bits_update (state, buffer, (gsize)n);
  if (n == 0)
    result = hex (XXH3_128bits_digest (state));
  XXH3_freeState (state);
  if (fd >= 0)
    close (fd);
  return result;
}

/* By a link of their own, or in a folder that all may write to. */
static gboolean
others_can_replace (const gchar *directory)
{
  g_autofree gchar *parent = g_path_get_dirname (directory);
  struct stat st;
  if (g_lstat (directory, &st) != 0 || (st.st_uid != geteuid () && st.st_uid != 0) ||
      g_stat (parent, &st) != 0)
    return TRUE;
  return (st.st_mode & S_IWOTH) != 0 && (st.st_mode & S_ISVTX) == 0;
}

gchar *
axon_cache_entry_path (const gchar *directory, const gchar *key)
{
  g_autofree gchar *name = g_strconcat (key, SUFFIX, NULL);
  struct stat st;
  if (g_mkdir_with_parents (directory, 0700) != 0 || g_stat (directory, &st) != 0) {
    g_message ("the cache is not used: %s: %s", directory, g_strerror (errno));
    return NULL;
  }
  if (st.st_uid != geteuid () || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
      others_can_replace (directory)) {
    g_message ("the cache is not used: %s belongs to, or can be written by, somebody else",
               directory);
    return NULL;
  }
  return g_build_filename (directory, name, NULL);
}

static GMutex table_lock;
static GCond table_changed;
static GHashTable *busy; /* table_lock: paths of entries that a thread works on */

void
axon_cache_lock (const gchar *path)
{
  g_mutex_lock (&table_lock);
  if (busy == NULL)
    busy = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  while (g_hash_table_contains (busy, path))
    g_cond_wait (&table_changed, &table_lock);
  g_hash_table_add (busy, g_strdup (path));
  g_mutex_unlock (&table_lock);
}

void
axon_cache_unlock (const gchar *path)
{
  g_mutex_lock (&table_lock);
  g_hash_table_remove (busy, path);
  g_cond_broadcast (&table_changed);
  g_mutex_unlock (&table_lock);
}

void
axon_cache_drop (const gchar *path, const gchar *why)
{
  g_info ("cache entry %s is not used: %s", path, why);
  g_unlink (path);
}

GBytes *
axon_cache_load (const gchar *path, gboolean map)
{
  g_autoptr (GMappedFile) file = NULL;
  gchar *data;
  gsize n;
  struct stat st;
  if (g_lstat (path, &st) != 0 || !S_ISREG (st.st_mode) || st.st_uid != geteuid ())
    return NULL;
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    axon_cache_drop (path, "others can write to it");
    return NULL;
  }
  utimensat (AT_FDCWD, path, NULL, 0); /* used now: pruned last */
  g_debug ("found %s", path);
  if (!map)
    return g_file_get_contents (path, &data, &n, NULL) ? g_bytes_new_take (data, n) : NULL;
  file = g_mapped_file_new (path, FALSE, NULL);
  if (file == NULL)
    return NULL;
  /* All of it is read for the digest: one call instead of a fault every few pages. */
  if (g_mapped_file_get_length (file) > 0)
    madvise (g_mapped_file_get_contents (file), g_mapped_file_get_length (file),
             MADV_POPULATE_READ);
  return g_mapped_file_get_bytes (file);
}

typedef struct {
  gchar *path;
  gint64 time, size;
} Found;

static void
found_clear (gpointer data)
{
  g_free (((Found *)data)->path);
}

static gint
compare_time (gconstpointer a, gconstpointer b)
{
  const Found *x = a, *y = b;
  return x->time < y->time ? -1 : x->time > y->time;
}

/* TRUE: nobody writes it any more, and it is gone. */
static gboolean
drop_abandoned (const gchar *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  gboolean abandoned = fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) == 0;
  if (abandoned)
    axon_cache_drop (path, "it was never finished");
  if (fd >= 0)
    close (fd);
  return abandoned;
}

/* @max_bytes: 0: only what was left unfinished goes */
static void
prune (const gchar *directory, const gchar *keep, gint64 max_bytes)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (Found));
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  const gchar *name;
  gint64 total = 0;
  g_array_set_clear_func (list, found_clear);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (directory, name, NULL);
    struct stat st;
    gboolean unfinished = strstr (name, UNFINISHED) != NULL;
    if (!(unfinished || g_str_has_suffix (name, SUFFIX)) || (unfinished && drop_abandoned (path)) ||
        g_lstat (path, &st) != 0)
      continue;
    Found found = { g_steal_pointer (&path),
                    (gint64)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec, st.st_size };
    total += found.size;
    g_array_append_val (list, found);
  }
  g_array_sort (list, compare_time);
  for (guint i = 0; max_bytes > 0 && i < list->len && total > max_bytes; i++) {
    const Found *found = &g_array_index (list, Found, i);
    if (g_str_equal (found->path, keep) || !g_str_has_suffix (found->path, SUFFIX))
      continue;
    axon_cache_drop (found->path, "the folder is full, it was used longest ago");
    total -= found->size;
  }
}

/* GLib looks at what it makes a stream of with one more, and ends the process where there is none.
 */
static gboolean
has_spare_descriptor (int fd)
{
  int spare = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  return spare >= 0 && close (spare) == 0;
}

static gboolean
set_errno_error (GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s", g_strerror (errno));
  return FALSE;
}

static gboolean
write_file (const gchar *path, AxonCacheWriteFunc write_func, gpointer user_data, GError **error)
{
  g_autofree gchar *temporary = g_strconcat (path, ".XXXXXX", NULL);
  int fd = g_mkstemp_full (temporary, O_RDWR | O_CLOEXEC, 0600);
  gboolean ok;
  if (fd < 0)
    return set_errno_error (error);
  flock (fd, LOCK_EX | LOCK_NB);
  if (has_spare_descriptor (fd)) {
    g_autoptr (GOutputStream) stream = g_unix_output_stream_new (fd, FALSE);
    ok = write_func (stream, user_data, error);
  } else {
    ok = set_errno_error (error);
  }
  if (ok && (fsync (fd) != 0 || rename (temporary, path) != 0))
    ok = set_errno_error (error);
  if (!ok)
    g_unlink (temporary);
  close (fd);
  return ok;
}

void
axon_cache_store (const gchar *path, guint max_mib, AxonCacheWriteFunc write, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *directory = g_path_get_dirname (path);
  if (!write_file (path, write, user_data, &error)) {
    g_message ("cache entry %s was not stored: %s", path, error->message);
    return;
  }
  g_debug ("stored %s", path);
  prune (directory, path, (gint64)max_mib << 20);
}
