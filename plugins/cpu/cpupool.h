/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of a stream. A job is some parts; the stream's own thread works on them, and with it
 * as many workers as are awake: nobody waits for a thread that has not begun. Workers spin briefly
 * for the next job, then sleep on a futex. Between jobs nothing is locked, and nothing allocated.
 */
#pragma once

#include <glib.h>
#include <sched.h>

typedef struct _CpuPool CpuPool;

typedef void (*CpuPartFunc) (gpointer data, gint64 part);

/* Calls @func for every part from 0 to @n - 1 on the threads of the caller's stream, in no order;
 * returns when all have returned. */
void cpu_parallel (gint64 n, CpuPartFunc func, gpointer data);

/* Calls @func for ranges [first, end) that together are [0, @n), each of at least @least (but for
 * the last). */
typedef void (*CpuRangeFunc) (gpointer data, gint64 first, gint64 end);
void cpu_parallel_ranges (gint64 n, gint64 least, CpuRangeFunc func, gpointer data);

/* Which of the stream's threads the caller is: 0 for the stream's own, the last is one less than
 * the plan's n_threads. What a part keeps for itself alone is found by it. */
guint cpu_parallel_thread (void);

/* Threads that a job of the caller has, with the caller; 1 within a part. */
guint cpu_parallel_width (void);

/* For cputhreads.c. The caller's jobs run on itself and the first @width - 1 workers of @pool
 * (nullable if @width is 1), who wait awake for a while if @spins; @set: where a worker may run. */
CpuPool *cpu_pool_new (guint n_workers);
void cpu_pool_free (CpuPool *pool);
guint cpu_pool_get_workers (const CpuPool *pool);
void cpu_pool_use (CpuPool *pool, guint width, gboolean spins);
void cpu_pool_place (CpuPool *pool, guint worker, const cpu_set_t *set);
/* The caller, which has no pool, is told the width of another thread's. */
void cpu_pool_stand_in (guint width);
void cpu_pool_flush_denormals (CpuPool *pool, gboolean flush);

/* Microseconds for which the workers had processors, or -1. */
gint64 cpu_pool_get_time (const CpuPool *pool);

/* For threads that know their number, as OpenMP's do: exactly @n parts at once, @n at most the
 * width, so that they may wait for each other. */
typedef struct {
  guint index, n;
} CpuTeamPlace;

void cpu_pool_run_team (guint n, void (*func) (gpointer), gpointer data);
CpuTeamPlace cpu_pool_team_place (void);
void cpu_pool_team_barrier (void);
