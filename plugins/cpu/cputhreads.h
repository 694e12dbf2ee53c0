/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cpulimits.h"

/* What a compiled model wants of the threads that run it. */
typedef struct {
  guint threads;
  gboolean pin;       /* each stays on one processor, while there are enough for all */
  gboolean spread;    /* keep workers off the processor that the stream's own thread is on */
  gboolean denormals; /* flush them to zero */
  CpuLimits limits;
} CpuThreads;

/* Jobs of this thread are done like that until cpu_threads_release (); it makes its workers when it
 * first needs them, and keeps them. */
void cpu_threads_use (const CpuThreads *wanted);
void cpu_threads_release (void);

/* A thread that is not of a stream can do the same without workers or another mask. */
gboolean cpu_threads_fit_any (const CpuThreads *wanted);
