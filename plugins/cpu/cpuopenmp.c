/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What oneDNN asks of OpenMP, answered by the stream's own threads. It is built for libgomp, which
 * spins where nobody has work for it and waits for threads that the system has put aside. The
 * loader looks a library's symbols up in the module first that brought the library in, this one,
 * unless the program itself or somebody before us loaded libgomp or oneDNN; whether it found these,
 * cpu_openmp_is_ours () tells. */
#include "cpuopenmp.h"

#include "cpupool.h"

#include <dlfcn.h>

#define ENTRY __attribute__ ((visibility ("default")))

ENTRY void GOMP_parallel (void (*func) (void *), void *data, guint n_threads, guint flags);
ENTRY void GOMP_barrier (void);
ENTRY int omp_get_max_threads (void);
ENTRY int omp_get_num_threads (void);
ENTRY int omp_get_thread_num (void);
ENTRY int omp_in_parallel (void);

static gint n_asked; /* atomic */

void
GOMP_parallel (void (*func) (void *), void *data, guint n_threads, G_GNUC_UNUSED guint flags)
{
  cpu_pool_run_team (n_threads ? n_threads : cpu_parallel_width (), func, data);
}

void
GOMP_barrier (void)
{
  cpu_pool_team_barrier ();
}

int
omp_get_max_threads (void)
{
  g_atomic_int_set (&n_asked, 1);
  return (int)cpu_parallel_width ();
}

int
omp_get_num_threads (void)
{
  return (int)cpu_pool_team_place ().n;
}

int
omp_get_thread_num (void)
{
  return (int)cpu_pool_team_place ().index;
}

int
omp_in_parallel (void)
{
  return cpu_pool_team_place ().n > 1;
}

gboolean
cpu_openmp_is_ours (void)
{
  return g_atomic_int_get (&n_asked);
}

guint
cpu_openmp_set_threads (guint n)
{
  static gsize once;
  static void (*set) (int);
  static int (*get) (void);
  guint old = n;
  if (g_once_init_enter (&once)) {
    void *gomp = dlopen ("libgomp.so.1", RTLD_NOLOAD | RTLD_LAZY);
    if (gomp != NULL) {
      *(void **)&set = dlsym (gomp, "omp_set_num_threads");
      *(void **)&get = dlsym (gomp, "omp_get_max_threads");
    }
    g_once_init_leave (&once, 1);
  }
  if (set != NULL && get != NULL) {
    old = (guint)get ();
    set ((int)n);
  }
  return old;
}
