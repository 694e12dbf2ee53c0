/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupool.h"

#include "cpudenormals.h"
#include <axon/axon-plugin.h>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long a thread waits awake, in microseconds: within a run longer, for a worker that falls
 * asleep in a cold one misses the next steps, too. */
#define RUN_SPIN_US 500
#define SPIN_US 50
#define SPINS 32 /* between two looks at the clock */
#define MAX_PARTS 0xfffff
#define RANGES_PER_THREAD 4
#define SLICE 256 /* of what is worth a thread: after so much, is the result still wanted? */

/* What is left of a thread's share of a job, in one word: the job's number (24 bits), the first
 * part (20) and one more than the last (20). Who comes too late for a job cannot take a part of the
 * next one. */
typedef guint64 Share;

typedef struct {
  CpuPool *pool;
  GThread *thread;
  clockid_t clock; /* of the time for which it had a processor */
  pid_t id;        /* 0: it has not begun, and there is no clock */
  guint index;
} Worker;

/* Of one thread, in cache lines of its own: a call moves one line. The job is written by the
 * stream's thread before the share, and read by who has claimed a part. */
typedef struct {
  Share share;
  guint32 call;    /* one more for each job */
  guint32 sleeper; /* on `call` */
  CpuPartFunc func;
  gpointer data;
  const AxonWork *work;
  gboolean may_skip; /* parts that nobody wants any more */
} __attribute__ ((aligned (128))) Seat;

struct _CpuPool {
  /* written by the stream's thread between jobs */
  guint width; /* threads that may work on them */
  guint n_workers;
  Worker *workers;
  Seat *seats; /* of the stream's thread, then of the workers */
  gboolean stop, flush;
  guint spin_us;                               /* how long is waited awake */
  guint32 left __attribute__ ((aligned (64))); /* parts that have not returned */
  guint32 is_awaited;                          /* the stream's thread sleeps on `left` */
  guint32 arrived __attribute__ ((aligned (64)));
  guint32 phase; /* of the barrier */
};

typedef struct {
  CpuPool *pool;
  guint thread;
  gboolean inside; /* a part */
  guint width;     /* that is told where there is no pool */
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

#define NUMBER(share) ((share) >> 40)
#define FIRST(share) ((share) >> 20 & MAX_PARTS)
#define END(share) ((share)&MAX_PARTS)

/* Claims a part of job @number from @seat: its owner the first one, others the last, so that
 * threads meet only where one has nothing else left. */
static gboolean
claim (Seat *seat, guint64 number, gboolean is_owner, gint64 *part)
{
  Share s = LOAD (&seat->share), next;
  do {
    if (NUMBER (s) != number || FIRST (s) >= END (s))
      return FALSE;
    next = is_owner ? s + (1 << 20) : s - 1;
  } while (!__atomic_compare_exchange_n (&seat->share, &s, next, FALSE, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE));
  *part = (gint64)(is_owner ? FIRST (s) : END (s) - 1);
  return TRUE;
}

/* What there is to do for the thread at seat @from, at its own seat or at another one's @seat. */
static guint32
work_at (CpuPool *pool, guint from, guint seat, guint64 number)
{
  Seat *s = &pool->seats[seat];
  guint32 done = 0;
  for (gint64 part; claim (s, number, seat == from, &part); done++) {
    if (from > 0)
      axon_work_enter (s->work);
    if (!s->may_skip || !axon_work_is_cancelled ())
      s->func (s->data, part);
  }
  return done;
}

/* Its own share, then what others have not begun. */
static void
work (CpuPool *pool)
{
  guint64 number = NUMBER (LOAD (&pool->seats[self.thread].share));
  guint n = LOAD (&pool->width);
  guint32 done = 0;
  for (guint i = 0; i < n; i++)
    done += work_at (pool, self.thread, (self.thread + i) % n, number);
  if (done > 0 && __atomic_sub_fetch (&pool->left, done, __ATOMIC_SEQ_CST) == 0 &&
      __atomic_load_n (&pool->is_awaited, __ATOMIC_SEQ_CST))
    futex_wake (&pool->left, 1);
}

/* Until there is another job than number @seen. */
static void
wait_for_call (CpuPool *pool, Seat *seat, guint32 seen)
{
  while (!spin (pool, &seat->call, seen)) {
    __atomic_store_n (&seat->sleeper, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n (&seat->call, __ATOMIC_SEQ_CST) == seen)
      futex_wait (&seat->call, seen);
    __atomic_store_n (&seat->sleeper, 0, __ATOMIC_SEQ_CST);
  }
}

static gpointer
worker_main (gpointer data)
{
  Worker *me = data;
  CpuPool *pool = me->pool;
  Seat *seat = &pool->seats[me->index];
  gboolean flush = FALSE;
  guint32 seen = 0;
  if (pthread_getcpuclockid (pthread_self (), &me->clock) != 0)
    me->clock = CLOCK_THREAD_CPUTIME_ID; /* the caller's own, which is as much */
  STORE (&me->id, gettid ());
  self = (Self){ .pool = pool, .thread = me->index, .inside = TRUE };
  for (;;) {
    wait_for_call (pool, seat, seen);
    seen = LOAD (&seat->call);
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
  pool->seats = g_aligned_alloc0 (n_workers + 1, sizeof *pool->seats, 128);
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
call_worker (Seat *seat)
{
  __atomic_store_n (&seat->call, seat->call + 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n (&seat->sleeper, __ATOMIC_SEQ_CST))
    futex_wake (&seat->call, 1);
}

void
cpu_pool_free (CpuPool *pool)
{
  if (pool == NULL)
    return;
  STORE (&pool->stop, TRUE);
  for (guint i = 0; i < pool->n_workers; i++)
    call_worker (&pool->seats[i + 1]);
  for (guint i = 0; i < pool->n_workers; i++)
    g_thread_join (pool->workers[i].thread);
  g_aligned_free (pool->seats);
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

void
cpu_pool_stand_in (guint width)
{
  self = (Self){ .width = width };
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

gint64
cpu_pool_get_time (const CpuPool *pool)
{
  gint64 us = 0;
  for (guint i = 0; i < cpu_pool_get_workers (pool); i++) {
    struct timespec t;
    if (LOAD (&pool->workers[i].id) == 0)
      continue;
    if (clock_gettime (pool->workers[i].clock, &t) != 0)
      return -1;
    us += t.tv_sec * G_USEC_PER_SEC + t.tv_nsec / 1000;
  }
  return us;
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

/* The first part and the end of what the @i-th of @threads has of @n; nothing for those beyond. */
static Share
share_of (guint n, guint i, guint threads)
{
  Share first = (Share)n * MIN (i, threads) / threads;
  return first << 20 | (Share)n * MIN (i + 1, threads) / threads;
}

/* Threads have neighbouring parts, and the same ones of every step that is cut alike: what a thread
 * wrote is still in its own processor's cache when it reads it in the next step. */
static void
run_job (CpuPool *pool, guint n, gboolean may_skip, CpuPartFunc func, gpointer data)
{
  Share number = NUMBER (pool->seats[0].share) + 1; /* late workers may still try to claim */
  guint threads = MIN (n, pool->width);
  STORE (&pool->left, n);
  for (guint i = 0; i < pool->width; i++) {
    Seat *seat = &pool->seats[i];
    seat->func = func;
    seat->data = data;
    seat->work = axon_work_get ();
    seat->may_skip = may_skip;
    STORE (&seat->share, number << 40 | share_of (n, i, threads));
    if (i > 0 && i < threads)
      call_worker (seat);
  }
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
  return self.inside ? 1 : self.pool != NULL ? self.pool->width : MAX (self.width, 1);
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
  Team team = { func, data, self.pool != NULL ? MIN (n, cpu_parallel_width ()) : 1 };
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
