/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The helper is spawned (nothing forks inside a threaded process) with a plugin, its device's name
 * and a subject: the plugin itself, or a library that it loads. It makes the device and runs a
 * model of one node; what it dies of, or does not end with, is the answer. Answers are kept in the
 * user's cache, under a name made of the paths, times and sizes of all files, so that a probe costs
 * once. Errors that the helper can put into words are not kept: what lacks may be installed later.
 */
#include "axonprobe-private.h"
#include "../cache/axoncache-private.h"
#include <axon/axonerror.h>

#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 10000u /* milliseconds, unless AXON_PROBE_TIMEOUT says otherwise */
#define MOST_TEXT 4096  /* less than a pipe holds: the helper never waits for a reader */
#define MOST_KEPT 1     /* MiB */
#define NOT_FOUND 127   /* how a program ends whose libraries lack */

extern char **environ;

static __thread const AxonProbe *current;

const AxonProbe *
axon_probe_enter (const AxonProbe *probe)
{
  const AxonProbe *before = current;
  current = probe;
  return before;
}

/* Code runs with all rights of the process, so nobody else may have put it there: neither it nor
 * its folder is writable by all, and where the process is privileged, both are root's. */
gboolean
axon_probe_is_safe (const gchar *file, GError **error)
{
  g_autofree gchar *folder = g_path_get_dirname (file);
  const gchar *const paths[] = { folder, file };
  gboolean privileged = geteuid () == 0 || getauxval (AT_SECURE) != 0;
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    struct stat st;
    if (g_stat (paths[i], &st) != 0)
      continue; /* dlopen() says why */
    if ((st.st_mode & S_IWOTH) == 0 && (!privileged || st.st_uid == 0))
      continue;
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 st.st_mode & S_IWOTH
                     ? _ ("%s: not loaded, for %s can be written by everybody (chmod o-w)")
                     : _ ("%s: not loaded, for %s does not belong to root (chown root)"),
                 file, paths[i]);
    return FALSE;
  }
  return TRUE;
}

static void
add_stamp (GString *text, const gchar *file)
{
  struct stat st = { 0 };
  if (g_stat (file, &st) == 0)
    g_string_append_printf (text, "%s %" G_GINT64_FORMAT ".%ld %" G_GINT64_FORMAT "\n", file,
                            (gint64)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (gint64)st.st_size);
  else
    g_string_append_printf (text, "%s -\n", file);
}

/* Where the answer is kept; NULL: nowhere. */
static gchar *
answer_path (const AxonProbe *probe, const gchar *subject, const gchar *const *files)
{
  g_autofree gchar *folder = g_build_filename (g_get_user_cache_dir (), "axon", "probes", NULL);
  g_autoptr (GString) text = g_string_new (AXON_VERSION "\n");
  g_autofree gchar *key = NULL;
  add_stamp (text, probe->library);
  add_stamp (text, subject);
  for (guint i = 0; files != NULL && files[i] != NULL; i++)
    add_stamp (text, files[i]);
  key = axon_cache_hash_text (text->str);
  return axon_cache_entry_path (folder, key);
}

static gboolean
write_answer (GOutputStream *stream, gpointer user_data, GError **error)
{
  return g_output_stream_write_all (stream, user_data, strlen (user_data), NULL, NULL, error);
}

/* What the helper did not survive (transfer full), "" for nothing; NULL: not known. */
static gchar *
read_answer (const gchar *path)
{
  g_autoptr (GBytes) bytes = path ? axon_cache_load (path, FALSE) : NULL;
  gsize n = bytes ? g_bytes_get_size (bytes) : MOST_TEXT;
  gconstpointer data = bytes ? g_bytes_get_data (bytes, NULL) : NULL;
  gchar *text = n < MOST_TEXT ? g_strndup (data ? data : "", n) : NULL;
  if (text != NULL && !g_utf8_validate (text, -1, NULL))
    g_clear_pointer (&text, g_free);
  return text;
}

/* Nothing of this process reaches the helper but the pipe; its group dies with it. -1 with errno.
 */
static pid_t
spawn (const gchar *const *arguments, int text_fd)
{
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  sigset_t none, all;
  pid_t child = 0;
  int failed;
  sigemptyset (&none);
  sigfillset (&all);
  posix_spawn_file_actions_init (&files);
  posix_spawnattr_init (&how);
  posix_spawnattr_setflags (&how,
                            POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask (&how, &none);
  posix_spawnattr_setsigdefault (&how, &all);
  posix_spawn_file_actions_adddup2 (&files, text_fd, AXON_PROBE_TEXT_FD);
  for (int fd = 0; fd < AXON_PROBE_TEXT_FD; fd++)
    posix_spawn_file_actions_addopen (&files, fd, "/dev/null", O_RDWR, 0);
  failed = posix_spawn (&child, arguments[0], &files, &how, (char *const *)arguments, environ);
  posix_spawn_file_actions_destroy (&files);
  posix_spawnattr_destroy (&how);
  errno = failed;
  return failed ? -1 : child;
}

static guint
get_patience (void)
{
  const gchar *text = secure_getenv ("AXON_PROBE_TIMEOUT");
  guint64 given;
  return text && g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT, &given, NULL) ? (guint)given
                                                                                  : PATIENCE;
}

/* FALSE: it did not end in time, and was ended; or somebody else of this process took its status,
 * which is -1 then. */
static gboolean
wait_for (pid_t child, int *status)
{
  gint64 end = g_get_monotonic_time () + get_patience () * G_TIME_SPAN_MILLISECOND;
  int fd = (int)syscall (SYS_pidfd_open, child, 0);
  pid_t got;
  while ((got = waitpid (child, status, WNOHANG)) == 0 && g_get_monotonic_time () < end) {
    struct pollfd poll_fd = { fd, POLLIN, 0 };
    if (fd < 0)
      g_usleep (2000);
    else
      poll (&poll_fd, 1, (int)((end - g_get_monotonic_time ()) / 1000) + 1);
  }
  if (fd >= 0)
    close (fd);
  if (got == 0) {
    kill (-child, SIGKILL);
    waitpid (child, status, 0);
    return FALSE;
  }
  if (got < 0)
    *status = -1;
  return TRUE;
}

static gchar *
read_text (int fd)
{
  gchar text[MOST_TEXT + 1];
  gsize n = 0;
  gssize got;
  while (n < MOST_TEXT && (got = read (fd, text + n, MOST_TEXT - n)) > 0)
    n += (gsize)got;
  text[n] = '\0';
  return g_utf8_make_valid (text, -1);
}

/* What an end says of the subject (transfer full), "" for nothing bad; NULL: not known, for the
 * helper was not found, or found no memory, or was killed by somebody. */
static gchar *
judge (gboolean in_time, int status)
{
  if (!in_time)
    return g_strdup_printf ("does not end within %u ms", get_patience ());
  if (status == -1)
    return NULL;
  if (WIFSIGNALED (status))
    return WTERMSIG (status) == SIGKILL || WTERMSIG (status) == SIGTERM
               ? NULL
               : g_strdup_printf ("crashes (%s)", g_strsignal (WTERMSIG (status)));
  if (WEXITSTATUS (status) == AXON_PROBE_DONE)
    return g_strdup ("");
  return WEXITSTATUS (status) == AXON_PROBE_UNABLE || WEXITSTATUS (status) == NOT_FOUND
             ? NULL
             : g_strdup_printf ("ends the process (status %d)", WEXITSTATUS (status));
}

/* As read_answer(). FALSE with @error: what the helper said itself. */
static gboolean
ask_helper (const AxonProbe *probe, const gchar *subject, gchar **answer, GError **error)
{
  const gchar *helper = secure_getenv ("AXON_PROBE");
  const gchar *const arguments[] = { helper && g_path_is_absolute (helper) ? helper
                                                                           : AXON_PROBE_HELPER,
                                     probe->library, probe->name, subject, NULL };
  g_autofree gchar *text = NULL;
  int pipes[2], status = -1;
  gboolean in_time;
  pid_t child;
  *answer = NULL;
  if (pipe2 (pipes, O_CLOEXEC) != 0)
    return TRUE;
  child = spawn (arguments, pipes[1]);
  if (child < 0)
    g_message ("%s is not tried in a process of its own: %s: %s", subject, arguments[0],
               g_strerror (errno));
  close (pipes[1]);
  in_time = child < 0 || wait_for (child, &status);
  fcntl (pipes[0], F_SETFL, O_NONBLOCK); /* somebody may have kept the other end */
  text = read_text (pipes[0]);
  close (pipes[0]);
  if (in_time && status != -1 && WIFEXITED (status) && WEXITSTATUS (status) == AXON_PROBE_REFUSED) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "%s", text);
    return FALSE;
  }
  *answer = judge (in_time, status);
  if (*answer == NULL && child >= 0)
    g_message ("%s could not be tried in a process of its own: %s did not run to an end", subject,
               arguments[0]);
  return TRUE;
}

static gboolean
is_allowed (const AxonProbe *probe, const gchar *subject, const gchar *const *files, GError **error)
{
  g_autofree gchar *path = answer_path (probe, subject, files);
  g_autofree gchar *answer = read_answer (path);
  if (answer == NULL) {
    if (!ask_helper (probe, subject, &answer, error))
      return FALSE;
    if (answer != NULL && path != NULL)
      axon_cache_store (path, MOST_KEPT, write_answer, answer);
  }
  if (answer == NULL || *answer == '\0')
    return TRUE;
  if (path != NULL)
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_DEVICE,
        _ ("%s is left out: tried for device %s, in a process of its own, it %s (remove %s to "
           "try again, or set ISOLATE_PROBE to NO)"),
        subject, probe->name, answer, path);
  else
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("%s is left out: tried for device %s, in a process of its own, it %s"), subject,
                 probe->name, answer);
  return FALSE;
}

gboolean
axon_probe_library (const gchar *library, const gchar *name, GError **error)
{
  const AxonProbe probe = { library, name };
  return is_allowed (&probe, library, NULL, error);
}

gboolean
axon_probe_allows (const gchar *subject, const gchar *const *files, GError **error)
{
  const gchar *const alone[] = { subject, NULL };
  const gchar *const *all = files ? files : alone;
  for (guint i = 0; all[i] != NULL; i++)
    if (g_file_test (all[i], G_FILE_TEST_IS_REGULAR) && !axon_probe_is_safe (all[i], error))
      return FALSE;
  if (axon_probe_get_subject () != NULL) {
    if (g_str_equal (axon_probe_get_subject (), subject))
      return TRUE;
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("%s is not what is probed"), subject);
    return FALSE;
  }
  return current == NULL || is_allowed (current, subject, files, error);
}
