/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupages.h"

#include <stdlib.h>
#include <sys/mman.h>

#define LINE 64
#define HUGE_PAGE (2 * 1024 * 1024)

gpointer
cpu_pages_new (gsize n_bytes)
{
  gboolean is_huge = n_bytes >= HUGE_PAGE;
  gpointer memory = NULL;
  if (posix_memalign (&memory, is_huge ? HUGE_PAGE : LINE, MAX (n_bytes, LINE)) != 0)
    return NULL;
#ifdef MADV_HUGEPAGE
  if (is_huge)
    madvise (memory, n_bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
  return memory;
}
