/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded before a test: a processor whose second cache is so small that device CPU cuts whatever it
 * can into bands (docs/design/bands.md). */
#include <dlfcn.h>
#include <unistd.h>

#define BYTES 8192

__attribute__ ((visibility ("default"))) long
sysconf (int name)
{
  static long (*of_system) (int);
  if (name == _SC_LEVEL2_CACHE_SIZE)
    return BYTES;
  if (of_system == NULL)
    *(void **)&of_system = dlsym (RTLD_NEXT, "sysconf");
  return of_system (name);
}
