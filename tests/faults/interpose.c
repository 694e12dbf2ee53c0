/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LD_PRELOAD: the FAULT_AT-th call of one kind (FAULT_KIND: memory, open, read, write, sync,
 * rename, map, thread) fails as it fails where there is no more, and with FAULT_ACTION=kill the
 * process ends there. Calls count from fault_begin() on; their number goes to FAULT_COUNT (a file)
 * at the end. Memory counts from 64 KiB: smaller blocks that fail end the process by GLib's design.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma GCC visibility push(default)

#define LARGE (64 * 1024)

static int begun;
static long n_calls;
static const char *kind;
static long fail_at;

void fault_begin (void);

void
fault_begin (void)
{
  const char *at = getenv ("FAULT_AT");
  kind = getenv ("FAULT_KIND");
  fail_at = at ? atol (at) : 0;
  begun = kind != NULL;
}

static void __attribute__ ((destructor)) report (void)
{
  const char *path = getenv ("FAULT_COUNT");
  FILE *file;
  begun = 0;
  file = path ? fopen (path, "w") : NULL;
  if (file != NULL) {
    fprintf (file, "%ld\n", n_calls);
    fclose (file);
  }
}

static int
fails (const char *what)
{
  const char *action;
  if (!begun || strcmp (kind, what) != 0 ||
      __atomic_add_fetch (&n_calls, 1, __ATOMIC_RELAXED) != fail_at)
    return 0;
  action = getenv ("FAULT_ACTION");
  if (action != NULL && strcmp (action, "kill") == 0)
    kill (getpid (), SIGKILL);
  return 1;
}

#define REAL(name) ((__typeof__ (&name))real (#name))

static void *
real (const char *name)
{
  return dlsym (RTLD_NEXT, name);
}

/* dlsym() itself allocates: these go straight to glibc. */
extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *block, size_t size);
extern void *__libc_memalign (size_t alignment, size_t size);

static int
fails_memory (size_t size)
{
  if (size < LARGE || !fails ("memory"))
    return 0;
  errno = ENOMEM;
  return 1;
}

void *
malloc (size_t size)
{
  return fails_memory (size) ? NULL : __libc_malloc (size);
}

void *
calloc (size_t n, size_t size)
{
  return fails_memory (n * size) ? NULL : __libc_calloc (n, size);
}

void *
realloc (void *block, size_t size)
{
  return fails_memory (size) ? NULL : __libc_realloc (block, size);
}

void *
aligned_alloc (size_t alignment, size_t size)
{
  return fails_memory (size) ? NULL : __libc_memalign (alignment, size);
}

int
posix_memalign (void **block, size_t alignment, size_t size)
{
  void *got = fails_memory (size) ? NULL : __libc_memalign (alignment, size);
  if (got == NULL)
    return ENOMEM;
  *block = got;
  return 0;
}

#define FAIL(what, code)                                                                           \
  if (fails (what)) {                                                                              \
    errno = code;                                                                                  \
    return -1;                                                                                     \
  }

ssize_t
read (int fd, void *to, size_t n)
{
  FAIL ("read", EIO)
  return REAL (read) (fd, to, n);
}

/* Its generators of code write to what mmap() returned, whatever that is; plugins/cpu/onednn/dnn.c
 * asks before, which is what is tried. */
static int
is_of_onednn (void *caller)
{
  Dl_info info;
  return dladdr (caller, &info) != 0 && strstr (info.dli_fname, "libdnnl") != NULL;
}

/* Programs call either, by the size of their off_t. */
#define PREAD(name)                                                                                \
  ssize_t name (int fd, void *to, size_t n, off_t at)                                              \
  {                                                                                                \
    FAIL ("read", EIO)                                                                             \
    return REAL (name) (fd, to, n, at);                                                            \
  }
PREAD (pread)
PREAD (pread64)

ssize_t
write (int fd, const void *from, size_t n)
{
  if (fd > 2) /* what a program says is not what is tried */
    FAIL ("write", ENOSPC)
  return REAL (write) (fd, from, n);
}

ssize_t
writev (int fd, const struct iovec *parts, int n)
{
  FAIL ("write", ENOSPC)
  return REAL (writev) (fd, parts, n);
}

int
fsync (int fd)
{
  FAIL ("sync", EIO)
  return REAL (fsync) (fd);
}

int
rename (const char *from, const char *to)
{
  FAIL ("rename", EIO)
  return REAL (rename) (from, to);
}

static int
open_any (const char *name, const char *path, int flags, mode_t mode)
{
  int (*next) (const char *, int, ...) = real (name);
  FAIL ("open", EMFILE)
  return next (path, flags, mode);
}

#define OPEN(name)                                                                                 \
  int name (const char *path, int flags, ...)                                                      \
  {                                                                                                \
    va_list more;                                                                                  \
    mode_t mode;                                                                                   \
    va_start (more, flags);                                                                        \
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg (more, mode_t) : 0;                              \
    va_end (more);                                                                                 \
    return open_any (#name, path, flags, mode);                                                    \
  }
OPEN (open)
OPEN (open64)

#define MMAP(name)                                                                                 \
  void *name (void *at, size_t n, int protection, int flags, int fd, off_t offset)                 \
  {                                                                                                \
    if (!is_of_onednn (__builtin_return_address (0)) && fails ("map")) {                           \
      errno = ENOMEM;                                                                              \
      return MAP_FAILED;                                                                           \
    }                                                                                              \
    return REAL (name) (at, n, protection, flags, fd, offset);                                     \
  }
MMAP (mmap)
MMAP (mmap64)

int
pthread_create (pthread_t *thread, const pthread_attr_t *attr, void *(*main_func) (void *),
                void *data)
{
  if (fails ("thread"))
    return EAGAIN;
  return REAL (pthread_create) (thread, attr, main_func, data);
}
