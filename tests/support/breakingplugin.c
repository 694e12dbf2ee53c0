/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that goes wrong by WAY when it is loaded, and is no plugin where that is none. Each
 * load is a byte in the file PROBE_LOG. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void axon_no_such_function (void);

static void __attribute__ ((constructor)) loaded (void)
{
  const char *path = getenv ("PROBE_LOG");
  int fd = path ? open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (fd >= 0 && write (fd, "x", 1) == 1)
    close (fd);
  WAY;
}
