/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that stand beside models are as strange as the models: no pipes that nobody writes to, no
 * devices, nothing without end. */
#include "axonmodeldescription-private.h"
#include "../base/axonfile-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES (16 << 20)

static gchar *
fail_with_errno (const gchar *path, GError **error)
{
  int code = errno;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), _ ("%s cannot be read: %s"),
               path, g_strerror (code));
  return NULL;
}

static gchar *
read_all (int fd, const gchar *path, gsize size, gsize *n, GError **error)
{
  g_autofree gchar *data = g_malloc (size + 1);
  gssize got = 1;
  for (*n = 0; *n < size && got != 0; *n += (gsize)MAX (got, 0)) {
    got = read (fd, data + *n, size - *n);
    if (got < 0 && errno != EINTR)
      return fail_with_errno (path, error);
  }
  data[*n] = '\0';
  return g_steal_pointer (&data);
}

static gchar *
read_regular (int fd, const gchar *path, gsize *n, GError **error)
{
  struct stat st;
  if (fstat (fd, &st) != 0)
    return fail_with_errno (path, error);
  if (!S_ISREG (st.st_mode)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s is not a regular file"), path);
    return NULL;
  }
  if (st.st_size > MAX_BYTES) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("%s has %lld bytes, expected at most %d"), path, (long long)st.st_size,
                 MAX_BYTES);
    return NULL;
  }
  return read_all (fd, path, (gsize)st.st_size, n, error);
}

gchar *
axon_read_small_file (const gchar *directory, const gchar *name, gsize *n, GError **error)
{
  int fd = directory ? axon_open_beneath (directory, name)
                     : g_open (name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  gchar *data;
  if (fd < 0 && directory != NULL && (errno == EXDEV || errno == ELOOP)) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("%s: expected a file beneath %s, without links and \"..\"; only properties name "
           "files elsewhere"),
        name, directory);
    return NULL;
  }
  if (fd < 0)
    return fail_with_errno (name, error);
  data = read_regular (fd, name, n, error);
  close (fd);
  return data;
}

gboolean
axon_read_optional_file (const gchar *path, gchar **text, gsize *n, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autofree gchar *directory = g_path_get_dirname (path);
  g_autofree gchar *name = g_path_get_basename (path);
  *text = axon_read_small_file (directory, name, n, &problem);
  if (*text != NULL || g_error_matches (problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* A line of nothing but spaces is the label " ": dictionaries of text recognition have it. */
gchar **
axon_split_lines (const gchar *text)
{
  gchar **lines = g_strsplit (text, "\n", -1);
  guint n = g_strv_length (lines);
  for (guint i = 0; i < n; i++) {
    gboolean is_blank = *lines[i] == ' ';
    g_strstrip (lines[i]);
    if (is_blank && *lines[i] == '\0')
      lines[i][0] = ' ', lines[i][1] = '\0';
  }
  while (n > 0 && *lines[n - 1] == '\0')
    g_clear_pointer (&lines[--n], g_free);
  return lines;
}

gchar *
axon_path_beside (const gchar *model_path, const gchar *ending)
{
  const gchar *dot = strrchr (model_path, '.'), *slash = strrchr (model_path, '/');
  gsize n = dot != NULL && (slash == NULL || slash < dot) ? (gsize)(dot - model_path)
                                                          : strlen (model_path);
  g_autofree gchar *stem = g_strndup (model_path, n);
  return g_strconcat (stem, ending, NULL);
}
