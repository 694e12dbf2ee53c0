/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupool.h"

#include "cpudenormals.h"
#include <axon/axon-plugin.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long a thread waits awake, in microseconds: within a run longer, for a worker that falls
 * asleep in a cold one misses the next steps, too. */
#define RUN_SPIN_US 500
#define SPIN_US 50
#define SPINS 32 /* between two looks at the clock */
#define MAX_PARTS 0xfffff
#define RANGES_PER_THREAD 4
#define SLICE 256 /* of what is worth a thread: after so much, is the result still wanted? */

/* A job's number (24 bits), its parts (20), and how many of them are claimed (20), in one word:
 * whoever comes too late for a job cannot take a part of the next one. */
typedef guint64 Ticket;

typedef struct {
  CpuPool *pool;
  GThread *thread;
  pid_t id;
  guint index;
} Worker;

struct _CpuPool {
  /* of the job, written by the stream's thread between jobs */
  CpuPartFunc func;
  gpointer data;
  const AxonWork *work;
  gboolean may_skip; /* parts that nobody wants any more */
  guint width;       /* threads that may work on it */
  guint n_workers;
  Worker *workers;
  gboolean stop, flush;
  guint spin_us; /* how long is waited awake */
  Ticket ticket __attribute__ ((aligned (64)));
  guint32 left __attribute__ ((aligned (64))); /* parts that have not returned */
  guint32 is_awaited;                          /* the stream's thread sleeps on `left` */
  guint32 call __attribute__ ((aligned (64))); /* one more for each job */
  guint32 sleepers;                            /* on `call` */
  guint32 arrived __attribute__ ((aligned (64)));
  guint32 phase; /* of the barrier */
};

typedef struct {
  CpuPool *pool;
  guint thread;
  gboolean inside; /* a part */
  CpuTeamPlace place;
} Self;

/* At a fixed place, as libraries of threads have theirs: found without a call. */
static __thread Self self __attribute__ ((tls_model ("initial-exec")));

#define LOAD(p) __atomic_load_n (p, __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n (p, v, __ATOMIC_RELEASE)

static void
futex_wait (guint32 *word, guint32 value)
{
  syscall (SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void
futex_wake (guint32 *word, guint n)
{
  syscall (SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

static inline void
relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

/* Until *@word is no longer @value, for a short while. FALSE: it still is. */
static gboolean
spin (const CpuPool *pool, const guint32 *word, guint32 value)
{
  gint64 begin = 0;
  for (;;) {
    for (guint i = 0; i < SPINS; i++) {
      if (LOAD (word) != value)
        return TRUE;
      relax ();
    }
    if (begin == 0)
      begin = g_get_monotonic_time ();
    else if (g_get_monotonic_time () - begin > LOAD (&pool->spin_us))
      return FALSE;
  }
}

/* Claims a part of the job that @pool is at. FALSE: there is none left for @thread. */
static gboolean
claim (CpuPool *pool, guint thread, gint64 *part)
{
  Ticket t = LOAD (&pool->ticket);
  do {
    if ((t & MAX_PARTS) >= ((t >> 20) & MAX_PARTS) || thread >= LOAD (&pool->width))
      return FALSE;
  } while (!__atomic_compare_exchange_n (&pool->ticket, &t, t + 1, FALSE, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE));
  *part = (gint64)(t & MAX_PARTS);
  return TRUE;
}

static void
work (CpuPool *pool)
{
  gint64 part;
  while (claim (pool, self.thread, &part)) {
    if (self.thread > 0)
      axon_work_enter (pool->work);
    if (!pool->may_skip || !axon_work_is_cancelled ())
      pool->func (pool->data, part);
    if (__atomic_sub_fetch (&pool->left, 1, __ATOMIC_SEQ_CST) == 0 &&
        __atomic_load_n (&pool->is_awaited, __ATOMIC_SEQ_CST))
      futex_wake (&pool->left, 1);
  }
}

/* Until there is another job than number @seen. */
static void
wait_for_call (CpuPool *pool, guint32 seen)
{
  while (!spin (pool, &pool->call, seen)) {
    __atomic_add_fetch (&pool->sleepers, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n (&pool->call, __ATOMIC_SEQ_CST) == seen)
      futex_wait (&pool->call, seen);
    __atomic_sub_fetch (&pool->sleepers, 1, __ATOMIC_SEQ_CST);
  }
}

static gpointer
worker_main (gpointer data)
{
  Worker *me = data;
  CpuPool *pool = me->pool;
  gboolean flush = FALSE;
  guint32 seen = 0;
  STORE (&me->id, gettid ());
  self = (Self){ .pool = pool, .thread = me->index, .inside = TRUE };
  for (;;) {
    wait_for_call (pool, seen);
    seen = LOAD (&pool->call);
    if (LOAD (&pool->stop))
      return NULL;
    if (LOAD (&pool->flush) != flush) {
      flush = !flush;
      cpu_denormals_set_flushed (flush);
    }
    work (pool);
  }
}

CpuPool *
cpu_pool_new (guint n_workers)
{
  CpuPool *pool = g_aligned_alloc0 (1, sizeof *pool, 64);
  pool->n_workers = n_workers;
  pool->spin_us = SPIN_US;
  pool->workers = g_new0 (Worker, n_workers + 1);
  for (guint i = 0; i < pool->n_workers; i++) {
    pool->workers[i].pool = pool;
    pool->workers[i].index = i + 1;
    pool->workers[i].thread =
        g_thread_try_new ("axon-cpu-worker", worker_main, &pool->workers[i], NULL);
    if (pool->workers[i].thread == NULL) {
      g_message ("device CPU has %u threads instead of %u: no more can be made", i + 1,
                 n_workers + 1);
      pool->n_workers = i;
    }
  }
  return pool;
}

static void
call_workers (CpuPool *pool, guint n)
{
  __atomic_add_fetch (&pool->call, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n (&pool->sleepers, __ATOMIC_SEQ_CST) > 0)
    futex_wake (&pool->call, n);
}

void
cpu_pool_free (CpuPool *pool)
{
  if (pool == NULL)
    return;
  STORE (&pool->stop, TRUE);
  call_workers (pool, pool->n_workers);
  for (guint i = 0; i < pool->n_workers; i++)
    g_thread_join (pool->workers[i].thread);
  g_free (pool->workers);
  g_aligned_free (pool);
}

guint
cpu_pool_get_workers (const CpuPool *pool)
{
  return pool ? pool->n_workers : 0;
}

void
cpu_pool_use (CpuPool *pool, guint width, gboolean spins)
{
  if (self.pool != NULL)
    STORE (&self.pool->spin_us, MIN (self.pool->spin_us, SPIN_US));
  self = (Self){ .pool = width > 1 ? pool : NULL };
  if (self.pool != NULL) {
    STORE (&pool->width, MIN (width, pool->n_workers + 1));
    STORE (&pool->spin_us, spins ? RUN_SPIN_US : 0);
  }
}

/* A worker that has not begun yet has no id: it inherits its creator's processors until the next
 * call. */
void
cpu_pool_place (CpuPool *pool, guint worker, const cpu_set_t *set)
{
  pid_t id;
  while ((id = LOAD (&pool->workers[worker].id)) == 0)
    relax ();
  sched_setaffinity (id, sizeof *set, set);
}

void
cpu_pool_flush_denormals (CpuPool *pool, gboolean flush)
{
  STORE (&pool->flush, flush);
}

static void
wait_for_all (CpuPool *pool)
{
  guint32 left;
  while ((left = LOAD (&pool->left)) != 0) {
    if (spin (pool, &pool->left, left))
      continue;
    __atomic_store_n (&pool->is_awaited, 1, __ATOMIC_SEQ_CST);
    left = __atomic_load_n (&pool->left, __ATOMIC_SEQ_CST);
    if (left != 0)
      futex_wait (&pool->left, left);
    __atomic_store_n (&pool->is_awaited, 0, __ATOMIC_SEQ_CST);
  }
}

static void
run_job (CpuPool *pool, guint n, gboolean may_skip, CpuPartFunc func, gpointer data)
{
  Ticket number = (LOAD (&pool->ticket) >> 40) + 1; /* idle workers may still try to claim */
  pool->func = func;
  pool->data = data;
  pool->work = axon_work_get ();
  pool->may_skip = may_skip;
  STORE (&pool->left, n);
  STORE (&pool->ticket, number << 40 | (Ticket)n << 20);
  /* of those who sleep none can be chosen: where some may not work on it, all are woken */
  call_workers (pool, pool->width > pool->n_workers ? MIN (n, pool->width) - 1 : pool->n_workers);
  self.inside = TRUE;
  work (pool);
  self.inside = FALSE;
  wait_for_all (pool);
}

static void
run_parts (gint64 n, gboolean may_skip, CpuPartFunc func, gpointer data)
{
  CpuPool *pool = self.pool;
  if (n > 1 && n <= MAX_PARTS && !self.inside && pool != NULL)
    run_job (pool, (guint)n, may_skip, func, data);
  else
    for (gint64 i = 0; i < n && !(may_skip && axon_work_is_cancelled ()); i++)
      func (data, i);
}

/* Parts of a cancelled run are left out: nobody looks at what its step wrote. */
void
cpu_parallel (gint64 n, CpuPartFunc func, gpointer data)
{
  run_parts (n, TRUE, func, data);
}

typedef struct {
  CpuRangeFunc func;
  gpointer data;
  gint64 n, ranges, slice;
} Ranges;

static void
run_range (gpointer data, gint64 part)
{
  const Ranges *r = data;
  gint64 end = r->n * (part + 1) / r->ranges;
  /* What is left out is never looked at: the run ends with this step. */
  for (gint64 i = r->n * part / r->ranges; i < end && !axon_work_is_cancelled (); i += r->slice)
    r->func (r->data, i, MIN (i + r->slice, end));
}

void
cpu_parallel_ranges (gint64 n, gint64 least, CpuRangeFunc func, gpointer data)
{
  gint64 most = (gint64)cpu_parallel_width () * RANGES_PER_THREAD;
  Ranges r = { func, data, n, CLAMP (n / MAX (least, 1), 1, most),
               MIN (MAX (least, 1), G_MAXINT32) * SLICE };
  if (n > 0)
    cpu_parallel (r.ranges, run_range, &r);
}

guint
cpu_parallel_thread (void)
{
  return self.thread;
}

guint
cpu_parallel_width (void)
{
  return self.inside || self.pool == NULL ? 1 : self.pool->width;
}

typedef struct {
  void (*func) (gpointer);
  gpointer data;
  guint n;
} Team;

static void
run_member (gpointer data, gint64 part)
{
  const Team *team = data;
  CpuTeamPlace outer = self.place;
  self.place = (CpuTeamPlace){ (guint)part, team->n };
  team->func (team->data);
  self.place = outer;
}

void
cpu_pool_run_team (guint n, void (*func) (gpointer), gpointer data)
{
  Team team = { func, data, MIN (n, cpu_parallel_width ()) };
  run_parts (MAX (team.n, 1), FALSE, run_member, &team); /* members wait for each other */
}

CpuTeamPlace
cpu_pool_team_place (void)
{
  return self.place.n ? self.place : (CpuTeamPlace){ 0, 1 };
}

/* All members of the team come here. The last one lets the others go on. */
void
cpu_pool_team_barrier (void)
{
  CpuPool *pool = self.pool;
  guint32 phase;
  if (self.place.n < 2)
    return;
  phase = LOAD (&pool->phase);
  if (__atomic_add_fetch (&pool->arrived, 1, __ATOMIC_ACQ_REL) == self.place.n) {
    STORE (&pool->arrived, 0);
    __atomic_add_fetch (&pool->phase, 1, __ATOMIC_SEQ_CST);
    futex_wake (&pool->phase, pool->n_workers);
    return;
  }
  while (!spin (pool, &pool->phase, phase))
    futex_wait (&pool->phase, phase);
}
