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

/* Workers, and what is known of the processors that they run on: of a stream, in whichever thread
 * its inferences run, one at a time. */
typedef struct _CpuTeam CpuTeam;

gpointer cpu_team_new (void);
void cpu_team_free (gpointer team);

/* Jobs of this thread are done like that until cpu_threads_release (), with workers of @team, which
 * makes them when it first needs them, and keeps them. NULL: the thread has a team of its own. */
void cpu_threads_use (CpuTeam *team, const CpuThreads *wanted);
void cpu_threads_release (void);

/* A thread that is not of a stream can do the same without another mask, and without threads of
 * libgomp of its own, which is known once oneDNN was used. */
gboolean cpu_threads_fit_any (const CpuThreads *wanted);
