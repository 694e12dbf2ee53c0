/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the two threads of a stream work side by side or together on one processor.
 *
 * Beside processes that always compute, the system takes a processor from a thread that always
 * computes, too, for milliseconds at a time; who waits for its part of a step loses as much, and in
 * a network of hundreds of steps nearly always somebody waits. Two threads on one processor that
 * sleep whenever they wait are seldom interrupted: together they ask for no more than their share,
 * one processor of two, and the system moves the others to the other one. */
#pragma once

#include <glib.h>

typedef enum {
  CPU_CROWD_LOOKING,   /* side by side: are others there? */
  CPU_CROWD_ARRANGING, /* together, while the system moves the others away */
  CPU_CROWD_COMPARING, /* together: is that faster? */
  CPU_CROWD_DECIDED
} CpuCrowdState;

/* Of the processors where the stream may run, in microseconds since any time: for which they idled,
 * and for which they ran threads that are not the stream's. */
typedef struct {
  gint64 idle, others;
} CpuCrowdTimes;

/* Of one stream, used by its own thread. The rest zeroes: side by side. */
typedef struct {
  gboolean (*measure) (gconstpointer data, CpuCrowdTimes *times); /* FALSE: nobody knows, and they
                                                                     stay apart */
  gconstpointer data;
  gboolean together;
  CpuCrowdState state;
  gint64 since;            /* microseconds; of the state */
  gint64 us, side_by_side; /* of the runs that are looked at; of one run */
  guint runs;
  glong switches; /* in which the system took the processor */
  gboolean is_watched;
  CpuCrowdTimes times; /* when that state began, if it is watched */
} CpuCrowd;

/* After a run from @begun to @ended, in microseconds, in which the system took the processor from
 * the stream's own thread @switches times. */
void cpu_crowd_add_run (CpuCrowd *crowd, gint64 begun, gint64 ended, glong switches);
