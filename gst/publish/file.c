/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines to a file, a pipe or standard output: a new file when one is long or old enough. A line
 * that did not fit on the disk is taken back, so that the next begins where a line begins. Threads:
 * one at a time. */
#include "gstnntransport.h"

#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_PIECE 4096 /* what a pipe that can be written takes without a wait (PIPE_BUF) */

typedef struct {
  gchar *prefix, *suffix; /* of the name, around its number; suffix NULL: there is none */
  gint digits;
  guint index;
  gboolean append, is_stdout, is_regular;
  guint64 max_bytes, max_time, max_files;
  GCancellable *cancellable;
  GQueue written; /* names, the oldest first */
  int fd;
  guint64 size;
  GstClockTime since; /* the first line of this file */
} File;

/* NAME-%05d.jsonl; where files change and no number is in the name, it goes before the suffix. */
static void
parse_name (File *f, const gchar *name)
{
  const gchar *percent = strchr (name, '%');
  gchar *end = NULL;
  guint64 digits = percent ? g_ascii_strtoull (percent + 1, &end, 10) : 0;
  if (percent != NULL && *end == 'd' && digits <= 20) {
    f->prefix = g_strndup (name, (gsize)(percent - name));
    f->suffix = g_strdup (end + 1);
    f->digits = (gint)digits;
  } else if (f->max_bytes != 0 || f->max_time != 0) {
    const gchar *slash = strrchr (name, '/'), *dot = strrchr (slash ? slash : name, '.');
    gsize n = dot ? (gsize)(dot - name) : strlen (name);
    g_autofree gchar *stem = g_strndup (name, n);
    f->prefix = g_strconcat (stem, "-", NULL);
    f->suffix = g_strdup (name + n);
    f->digits = 5;
  } else {
    f->prefix = g_strdup (name);
  }
}

static gchar *
name_of (const File *f, guint index)
{
  return f->suffix ? g_strdup_printf ("%s%0*u%s", f->prefix, f->digits, index, f->suffix)
                   : g_strdup (f->prefix);
}

static gboolean
fail (GError **error, const gchar *what, const gchar *name)
{
  int code = errno;
  g_set_error (error, G_IO_ERROR, (gint)g_io_error_from_errno (code), _ ("%s cannot be %s: %s"),
               name, what, code == ENXIO ? _ ("nobody reads it") : g_strerror (code));
  return FALSE;
}

static void
forget_oldest (File *f, gchar *name)
{
  GList *known = g_queue_find_custom (&f->written, name, (GCompareFunc)strcmp);
  if (known != NULL)
    return g_free (name);
  g_queue_push_tail (&f->written, name);
  while (f->max_files != 0 && g_queue_get_length (&f->written) > f->max_files) {
    g_autofree gchar *oldest = g_queue_pop_head (&f->written);
    if (g_unlink (oldest) != 0)
      GST_WARNING ("%s cannot be removed: %s", oldest, g_strerror (errno));
  }
}

/* A FIFO that nobody reads is an error, not a wait without end. */
static gboolean
open_file (File *f, GError **error)
{
  g_autofree gchar *name = name_of (f, f->index);
  int how = f->append ? O_APPEND : O_TRUNC;
  struct stat st;
  if (f->is_stdout) {
    f->fd = STDOUT_FILENO;
    return TRUE;
  }
  f->fd = g_open (name, O_WRONLY | O_CREAT | how | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (f->fd < 0)
    return fail (error, _ ("opened for writing"), name);
  if (fstat (f->fd, &st) != 0 || fcntl (f->fd, F_SETFL, fcntl (f->fd, F_GETFL) & ~O_NONBLOCK) != 0)
    return fail (error, _ ("opened for writing"), name);
  f->is_regular = S_ISREG (st.st_mode);
  f->size = f->is_regular ? (guint64)st.st_size : 0;
  f->since = GST_CLOCK_TIME_NONE;
  if (f->suffix != NULL)
    forget_oldest (f, g_steal_pointer (&name));
  return TRUE;
}

static gboolean
close_file (File *f, GError **error)
{
  gboolean ok = f->fd < 0 || !f->is_regular || fsync (f->fd) == 0;
  if (!ok)
    fail (error, _ ("written"), f->prefix);
  if (f->fd >= 0 && !f->is_stdout)
    close (f->fd);
  f->fd = -1;
  return ok;
}

static gboolean
wait_until_writable (File *f, GError **error)
{
  GPollFD stop;
  gboolean can_stop = g_cancellable_make_pollfd (f->cancellable, &stop);
  struct pollfd fds[] = { { f->fd, POLLOUT, 0 }, { can_stop ? stop.fd : -1, POLLIN, 0 } };
  int n;
  do
    n = poll (fds, 2, -1);
  while (n < 0 && errno == EINTR);
  if (can_stop)
    g_cancellable_release_fd (f->cancellable);
  return !g_cancellable_set_error_if_cancelled (f->cancellable, error);
}

static gboolean
write_all (File *f, const gchar *data, gsize n, GError **error)
{
  gsize done = 0;
  while (done < n) {
    gsize most = f->is_regular ? n - done : MIN (n - done, PIPE_PIECE);
    gssize wrote;
    if (!f->is_regular && !wait_until_writable (f, error))
      return FALSE;
    wrote = write (f->fd, data + done, most);
    if (wrote > 0)
      done += (gsize)wrote;
    else if (wrote == 0 || errno != EINTR)
      break;
  }
  if (done == n)
    return TRUE;
  fail (error, _ ("written"), f->prefix);
  if (f->is_regular && done > 0 && ftruncate (f->fd, (off_t)f->size) == 0 && !f->append)
    lseek (f->fd, (off_t)f->size, SEEK_SET);
  return FALSE;
}

static gboolean
is_full (const File *f, gsize more, GstClockTime now)
{
  gboolean old = f->max_time != 0 && GST_CLOCK_TIME_IS_VALID (f->since) &&
                 GST_CLOCK_TIME_IS_VALID (now) && now >= f->since + f->max_time;
  return f->suffix != NULL && f->size > 0 &&
         (old || (f->max_bytes != 0 && f->size + more > f->max_bytes));
}

static gboolean
file_send (gpointer transport, const GstNnOutgoing *record, GError **error)
{
  File *f = transport;
  gsize n = g_bytes_get_size (record->bytes);
  g_autofree gchar *line = g_malloc (n + 1);
  memcpy (line, g_bytes_get_data (record->bytes, NULL), n);
  line[n] = '\n';
  if (f->fd >= 0 && is_full (f, n + 1, record->time)) {
    if (!close_file (f, error))
      return FALSE;
    f->index++;
  }
  if (f->fd < 0 && !open_file (f, error))
    return FALSE;
  if (!GST_CLOCK_TIME_IS_VALID (f->since))
    f->since = record->time;
  if (!write_all (f, line, n + 1, error))
    return FALSE;
  f->size += n + 1;
  return TRUE;
}

static gboolean
file_flush (gpointer transport, GError **error)
{
  File *f = transport;
  return f->fd < 0 || !f->is_regular || fsync (f->fd) == 0 ||
         fail (error, _ ("written"), f->prefix);
}

static void
file_close (gpointer transport)
{
  File *f = transport;
  if (f->fd >= 0 && !f->is_stdout)
    close (f->fd);
  g_queue_clear_full (&f->written, g_free);
  g_free (f->prefix);
  g_free (f->suffix);
  g_object_unref (f->cancellable);
  g_free (f);
}

/* Goes on in the last of the files that are there. */
static void
find_last (File *f)
{
  for (guint i = 0;; i++) {
    g_autofree gchar *name = name_of (f, i);
    if (!g_file_test (name, G_FILE_TEST_EXISTS))
      break;
    f->index = i;
    g_queue_push_tail (&f->written, g_steal_pointer (&name));
  }
}

static gpointer
file_open (const GstNnTransportSettings *settings, GError **error)
{
  File *f = g_new0 (File, 1);
  const gchar *location = settings->location;
  g_autofree gchar *path =
      g_str_has_prefix (location, "file://") ? g_filename_from_uri (location, NULL, error) : NULL;
  f->fd = -1;
  f->cancellable = g_object_ref (settings->cancellable);
  f->append = settings->append;
  f->is_stdout = g_str_equal (location, "stdout");
  f->since = GST_CLOCK_TIME_NONE;
  gst_structure_get (settings->options, "max-size-bytes", G_TYPE_UINT64, &f->max_bytes,
                     "max-size-time", G_TYPE_UINT64, &f->max_time, "max-files", G_TYPE_UINT64,
                     &f->max_files, NULL);
  if (path == NULL && g_str_has_prefix (location, "file://")) {
    file_close (f);
    return NULL;
  }
  parse_name (f, path ? path : location);
  if (f->append && f->suffix != NULL)
    find_last (f);
  if (!open_file (f, error)) {
    file_close (f);
    return NULL;
  }
  return f;
}

static const GstNnTransportOption file_options[] = {
  { "max-size-bytes", G_TYPE_UINT64, "0", N_ ("a new file before one is longer; 0: never") },
  { "max-size-time", G_TYPE_UINT64, "0", N_ ("a new file after so many nanoseconds; 0: never") },
  { "max-files", G_TYPE_UINT64, "0", N_ ("the oldest goes when there are more; 0: all stay") },
  { NULL, G_TYPE_NONE, NULL, NULL },
};

const GstNnTransport gst_nn_transport_file = {
  .version = GST_NN_TRANSPORT_VERSION,
  .options = file_options,
  .open = file_open,
  .send = file_send,
  .flush = file_flush,
  .close = file_close,
};
