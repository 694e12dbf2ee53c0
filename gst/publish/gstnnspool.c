/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnspool.h"

#include "config.h"
#include <errno.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

struct _GstNnSpool {
  gchar *path;
  FILE *file;
  guint64 max, offset, size; /* what is before offset is sent */
  guint length;
};

static gboolean
fail (const gchar *path, GError **error)
{
  int code = errno;
  g_set_error (error, G_IO_ERROR, (gint)g_io_error_from_errno (code),
               _ ("%s, where records wait, cannot be written: %s"), path, g_strerror (code));
  return FALSE;
}

/* Half a line is what a crash left. */
static void
count (GstNnSpool *spool)
{
  char *buffer = NULL;
  size_t room = 0;
  ssize_t n;
  spool->length = 0;
  spool->offset = spool->size = 0;
  rewind (spool->file);
  while ((n = getline (&buffer, &room, spool->file)) > 0 && buffer[n - 1] == '\n') {
    spool->size += (guint64)n;
    spool->length++;
  }
  free (buffer);
}

GstNnSpool *
gst_nn_spool_open (const gchar *path, guint64 max_bytes, GError **error)
{
  GstNnSpool *spool = g_new0 (GstNnSpool, 1);
  spool->path = g_strdup (path);
  spool->max = max_bytes;
  spool->file = g_fopen (path, "a+e");
  if (spool->file != NULL) {
    count (spool);
    if (ftruncate (fileno (spool->file), (off_t)spool->size) == 0)
      return spool;
  }
  fail (path, error);
  gst_nn_spool_close (spool);
  return NULL;
}

guint
gst_nn_spool_get_length (const GstNnSpool *spool)
{
  return spool->length;
}

static gboolean
put (FILE *file, GBytes *record)
{
  gsize n;
  const void *data = g_bytes_get_data (record, &n);
  return fwrite (data, 1, n, file) == n && fputc ('\n', file) == '\n';
}

static gboolean
copy_rest (FILE *to, const GstNnSpool *spool)
{
  gchar piece[16384];
  size_t n;
  if (fseeko (spool->file, (off_t)spool->offset, SEEK_SET) != 0)
    return FALSE;
  while ((n = fread (piece, 1, sizeof piece, spool->file)) > 0)
    if (fwrite (piece, 1, n, to) != n)
      return FALSE;
  return ferror (spool->file) == 0;
}

/* The file anew, without what is sent; a crash leaves one or the other whole. */
gboolean
gst_nn_spool_prepend (GstNnSpool *spool, GList *records, GError **error)
{
  g_autofree gchar *beside = g_strconcat (spool->path, ".new", NULL);
  FILE *file = g_fopen (beside, "w+e");
  gboolean ok = file != NULL;
  for (GList *i = records; i != NULL && ok; i = i->next)
    ok = put (file, i->data);
  ok = ok && copy_rest (file, spool) && fflush (file) == 0 && g_rename (beside, spool->path) == 0;
  if (!ok) {
    fail (beside, error);
    if (file != NULL)
      fclose (file);
    g_unlink (beside);
    return FALSE;
  }
  fclose (file);
  fclose (spool->file);
  spool->file = g_fopen (spool->path, "a+e");
  if (spool->file == NULL)
    return fail (spool->path, error);
  count (spool);
  return TRUE;
}

gboolean
gst_nn_spool_append (GstNnSpool *spool, GBytes *record, GError **error)
{
  guint64 n = g_bytes_get_size (record) + 1;
  if (spool->file == NULL) {
    errno = EIO;
    return fail (spool->path, error);
  }
  if (spool->size + n > spool->max && spool->offset > 0 &&
      !gst_nn_spool_prepend (spool, NULL, error))
    return FALSE;
  if (spool->size + n > spool->max) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                 _ ("%s, where records wait, has its %llu bytes"), spool->path,
                 (unsigned long long)spool->max);
    return FALSE;
  }
  if (fseeko (spool->file, 0, SEEK_END) != 0 || !put (spool->file, record) ||
      fflush (spool->file) != 0) {
    fail (spool->path, error);
    clearerr (spool->file);
    if (ftruncate (fileno (spool->file), (off_t)spool->size) != 0)
      g_clear_pointer (&spool->file, fclose); /* half a line that cannot be taken back */
    return FALSE;
  }
  spool->size += n;
  spool->length++;
  return TRUE;
}

GBytes *
gst_nn_spool_next (GstNnSpool *spool)
{
  char *line = NULL;
  size_t room = 0;
  ssize_t n = -1;
  GBytes *record;
  if (spool->length == 0 || spool->file == NULL)
    return NULL;
  if (fseeko (spool->file, (off_t)spool->offset, SEEK_SET) == 0)
    n = getline (&line, &room, spool->file);
  if (n <= 0) { /* somebody else has cut the file */
    free (line);
    spool->length = 0;
    return NULL;
  }
  record = g_bytes_new (line, (gsize)n - 1);
  free (line);
  spool->offset += (guint64)n;
  if (--spool->length == 0 && ftruncate (fileno (spool->file), 0) == 0)
    spool->offset = spool->size = 0;
  return record;
}

/* An empty one leaves no file. */
void
gst_nn_spool_close (GstNnSpool *spool)
{
  if (spool->file != NULL) {
    if (spool->offset > 0 && spool->length > 0)
      gst_nn_spool_prepend (spool, NULL, NULL);
    if (spool->length == 0)
      g_unlink (spool->path);
  }
  g_clear_pointer (&spool->file, fclose);
  g_free (spool->path);
  g_free (spool);
}
