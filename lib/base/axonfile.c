/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axonfile-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FOLDER (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* Closes @dir. */
static int
open_next (int dir, const gchar *name, int flags)
{
  int fd = openat (dir, name, flags | O_NOFOLLOW | O_CLOEXEC), code = errno;
  close (dir);
  if (fd < 0 && code == ENOTDIR && (flags & O_DIRECTORY))
    code = ELOOP; /* what O_PATH says of a link to a folder */
  errno = code;
  return fd;
}

/* Part by part, so that neither a system call that sandboxes refuse is needed, nor a link can come
 * in between. */
int
axon_open_beneath (const gchar *directory, const gchar *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);
  guint n = g_strv_length (parts);
  int at;
  if (n == 0 || *parts[0] == '\0' || *parts[n - 1] == '\0' ||
      g_strv_contains ((const gchar *const *)parts, "..")) {
    errno = EXDEV;
    return -1;
  }
  at = open (directory, FOLDER);
  for (guint i = 0; at >= 0 && i + 1 < n; i++)
    if (*parts[i] != '\0')
      at = open_next (at, parts[i], FOLDER);
  return at < 0 ? -1 : open_next (at, parts[n - 1], O_RDONLY | O_NONBLOCK | O_NOCTTY);
}
