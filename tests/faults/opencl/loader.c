/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands before the OpenCL loader (LD_LIBRARY_PATH): the FAULT_AT-th call fails, and with
 * FAULT_KIND=lost all after it, as those of a device that is gone. Their number goes to FAULT_COUNT
 * (a file) at the end. FAULT_CRASH=clNAME: that call ends the process, as a broken driver does. All
 * arguments of OpenCL are integers and pointers: ten of them are handed on, however many there are.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_OF_RESOURCES (-5)
#define PARAMETERS                                                                                 \
  uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g,       \
      uintptr_t h, uintptr_t i, uintptr_t j
#define ARGUMENTS a, b, c, d, e, f, g, h, i, j

typedef uintptr_t (*Call) (PARAMETERS);

static long n_calls;

static Call
real (const char *name)
{
  static void *loader;
  if (loader == NULL)
    loader = dlopen (LOADER, RTLD_NOW | RTLD_LOCAL);
  return loader ? (Call)dlsym (loader, name) : NULL;
}

static int
fails (const char *name)
{
  const char *at = getenv ("FAULT_AT"), *kind = getenv ("FAULT_KIND"),
             *crash = getenv ("FAULT_CRASH");
  long n = __atomic_add_fetch (&n_calls, 1, __ATOMIC_RELAXED), fault = at ? atol (at) : 0;
  if (crash != NULL && strcmp (crash, name) == 0)
    abort ();
  return fault > 0 && (n == fault || (n > fault && kind != NULL && strcmp (kind, "lost") == 0));
}

static void __attribute__ ((destructor)) report (void)
{
  const char *path = getenv ("FAULT_COUNT");
  FILE *file = path ? fopen (path, "w") : NULL;
  if (file != NULL) {
    fprintf (file, "%ld\n", n_calls);
    fclose (file);
  }
}

#pragma GCC visibility push(default)

#define STATUS(name)                                                                               \
  uintptr_t cl##name (PARAMETERS);                                                                 \
  uintptr_t cl##name (PARAMETERS)                                                                  \
  {                                                                                                \
    return fails ("cl" #name) ? (uintptr_t)OUT_OF_RESOURCES : real ("cl" #name) (ARGUMENTS);       \
  }

/* What was begun does not go on behind the back of who waited for it: a device that is gone
 * computes no more. */
#define WAITS(name)                                                                                \
  uintptr_t cl##name (PARAMETERS);                                                                 \
  uintptr_t cl##name (PARAMETERS)                                                                  \
  {                                                                                                \
    uintptr_t status = real ("cl" #name) (ARGUMENTS);                                              \
    return fails ("cl" #name) ? (uintptr_t)OUT_OF_RESOURCES : status;                              \
  }

/* @status: where the status goes */
#define OBJECT(name, status)                                                                       \
  uintptr_t cl##name (PARAMETERS);                                                                 \
  uintptr_t cl##name (PARAMETERS)                                                                  \
  {                                                                                                \
    if (!fails ("cl" #name))                                                                       \
      return real ("cl" #name) (ARGUMENTS);                                                        \
    if (status != 0)                                                                               \
      *(int *)status = OUT_OF_RESOURCES;                                                           \
    return 0;                                                                                      \
  }

STATUS (GetPlatformIDs)
STATUS (GetDeviceIDs)
STATUS (GetDeviceInfo)
OBJECT (CreateContext, f)
STATUS (RetainContext)
STATUS (ReleaseContext)
STATUS (GetContextInfo)
OBJECT (CreateCommandQueue, d)
STATUS (RetainCommandQueue)
STATUS (ReleaseCommandQueue)
OBJECT (CreateBuffer, e)
STATUS (RetainMemObject)
STATUS (ReleaseMemObject)
STATUS (GetMemObjectInfo)
STATUS (GetCommandQueueInfo)
STATUS (EnqueueReadBuffer)
STATUS (EnqueueWriteBuffer)
STATUS (EnqueueCopyBuffer)
STATUS (EnqueueFillBuffer)
STATUS (EnqueueMarkerWithWaitList)
OBJECT (EnqueueMapBuffer, j)
STATUS (EnqueueUnmapMemObject)
WAITS (WaitForEvents)
OBJECT (CreateProgramWithSource, e)
OBJECT (CreateProgramWithBinary, g)
STATUS (BuildProgram)
STATUS (GetProgramBuildInfo)
STATUS (GetProgramInfo)
STATUS (ReleaseProgram)
OBJECT (CreateKernel, c)
STATUS (ReleaseKernel)
STATUS (SetKernelArg)
STATUS (EnqueueNDRangeKernel)
STATUS (Flush)
WAITS (Finish)
STATUS (GetEventProfilingInfo)
STATUS (ReleaseEvent)
