/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cpulimits.h"

/* What a compiled model wants of the threads that run it. */
typedef struct {
  guint threads;
  gboolean pin;       /* each stays on one processor, while there are enough for all */
  gboolean spread;    /* keep workers off the processor that their master is on */
  gboolean denormals; /* flush them to zero */
  CpuLimits limits;
} CpuThreads;

/* OpenMP regions that this thread opens, ours and oneDNN's, are run like that from now on. */
void cpu_threads_use (const CpuThreads *wanted);
/* After each run. */
void cpu_threads_release (void);
