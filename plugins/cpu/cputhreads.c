/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processors a stream's threads run on. After a pause Linux often wakes a worker on the very
 * processor that its stream's own thread is on, so a worker keeps off that one: a system call per
 * worker whenever the stream's thread was moved. Beside busy processes two threads may keep on one
 * (cpucrowd.h). No thread is fixed to one processor, unless ENABLE_CPU_PINNING asks for it. Where
 * the streams of the process together have more threads than there are processors, all are left
 * free. */
#include "cputhreads.h"

#include "cpucrowd.h"
#include "cpudenormals.h"
#include "cpuopenmp.h"
#include "cpupool.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef enum { FREE, SPREAD, BOUND, TOGETHER } Placement;

struct _CpuTeam {
  guint threads;
  CpuPool *pool; /* as many workers as were ever wanted */
  Placement placement;
  gint at;           /* the processor that workers keep off (SPREAD) or on (TOGETHER), -1: none */
  cpu_set_t set;     /* where all may run */
  cpu_set_t first;   /* where the one that is not a worker may */
  cpu_set_t allowed; /* the mask of who made the team, before we came */
  CpuFloatMode mode; /* of the thread outside of runs, as the next */
  guint openmp;      /* threads of libgomp, 0: not in use */
  CpuCrowd crowd;
  gint64 runs_us; /* for which threads that ran the team had processors, in runs */
  gint64 begun;   /* the run, 0: nobody looks for others */
  gint64 cpu_us;  /* as runs_us, of the run's thread before it */
  glong switches; /* from which the system took the processor, before it */
  CpuTeam *outer; /* a kernel of which infers */
};

/* Of a thread that was kept on some processors. */
typedef struct {
  gboolean is_kept;
  cpu_set_t before, now;
} Mask;

static __thread Mask mask;
static __thread CpuTeam *team_at_work;

static gint total_threads; /* atomic: of all teams in the process */
static gint next_slot;     /* atomic: so that bound teams spread over the processors */

void
cpu_team_free (gpointer data)
{
  CpuTeam *team = data;
  g_atomic_int_add (&total_threads, -(gint)team->threads);
  cpu_pool_free (team->pool);
  g_free (team);
}

/* Of a thread that is its own stream. */
static GPrivate team_of_thread = G_PRIVATE_INIT (cpu_team_free);

/* The @slot-th processor counted from the last one: the first ones serve most interrupts. */
static cpu_set_t
processor_of_slot (const cpu_set_t *set, guint slot)
{
  guint from_last = slot % (guint)CPU_COUNT (set);
  cpu_set_t one;
  CPU_ZERO (&one);
  for (guint i = CPU_SETSIZE; i-- > 0;)
    if (CPU_ISSET (i, set) && from_last-- == 0) {
      CPU_SET (i, &one);
      break;
    }
  return one;
}

static void
get_mask (cpu_set_t *set)
{
  if (sched_getaffinity (0, sizeof *set, set) != 0)
    CPU_ZERO (set);
}

static void
place_workers (CpuTeam *team, const cpu_set_t *set)
{
  for (guint i = 0; i < cpu_pool_get_workers (team->pool) && CPU_COUNT (set) > 0; i++)
    cpu_pool_place (team->pool, i, set);
}

/* Every thread of the team: on a processor of its own, or wherever the set allows. They may be
 * fewer than asked for, where the system gave no more. */
static void
arrange (CpuTeam *team, Placement placement)
{
  guint n = MIN ((guint)team->threads, cpu_pool_get_workers (team->pool) + 1);
  guint first = placement == BOUND ? (guint)g_atomic_int_add (&next_slot, (gint)team->threads) : 0;
  for (guint i = 0; i < n; i++) {
    cpu_set_t set = placement == BOUND ? processor_of_slot (&team->set, first + i) : team->set;
    if (i == 0)
      team->first = set;
    else
      cpu_pool_place (team->pool, i - 1, &set);
  }
  team->placement = placement;
  team->at = -1;
}

/* The calling thread runs on @set only; NULL: where it did before it was ever told. */
static void
keep_thread_on (const cpu_set_t *set)
{
  if (set == NULL ? !mask.is_kept : mask.is_kept && CPU_EQUAL (set, &mask.now))
    return;
  if (!mask.is_kept)
    get_mask (&mask.before);
  mask.is_kept = set != NULL;
  mask.now = set != NULL ? *set : mask.before;
  sched_setaffinity (0, sizeof mask.now, &mask.now);
}

/* Workers keep off the processor that the stream's own thread is on, or on it. */
static void
follow_master (CpuTeam *team)
{
  gint cpu = sched_getcpu ();
  cpu_set_t others = team->set, one;
  if (cpu < 0 || cpu == team->at)
    return;
  CPU_ZERO (&one);
  CPU_SET (cpu, &one);
  CPU_CLR (cpu, &others);
  place_workers (team, team->placement == TOGETHER ? &one : &others);
  team->at = cpu;
}

static gint64
get_thread_us (void)
{
  struct timespec t;
  return clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t) == 0
             ? t.tv_sec * G_USEC_PER_SEC + t.tv_nsec / 1000
             : 0;
}

/* Of the team's threads: microseconds for which they had processors, or -1. */
static gint64
get_own_us (const CpuTeam *team)
{
  gint64 workers = cpu_pool_get_time (team->pool);
  return workers < 0 ? -1 : workers + team->runs_us;
}

/* Of the processors that the team may use: "user", "nice" and "system", less what the team had, and
 * "idle" and "iowait" of /proc/stat, which are ticks. */
static gboolean
measure_processors (gconstpointer data, CpuCrowdTimes *times)
{
  const CpuTeam *team = data;
  gchar text[16384], *line = text;
  gint64 own = get_own_us (team), tick = G_USEC_PER_SEC / sysconf (_SC_CLK_TCK);
  int fd = open ("/proc/stat", O_RDONLY | O_CLOEXEC);
  gssize n = fd >= 0 ? read (fd, text, sizeof text - 1) : -1;
  if (fd >= 0)
    close (fd);
  if (n <= 0 || own < 0)
    return FALSE;
  text[n] = '\0';
  *times = (CpuCrowdTimes){ .others = -own };
  for (; line != NULL; line = strchr (line, '\n'), line = line ? line + 1 : NULL) {
    guint cpu;
    guint64 user, nice, system, idle, wait;
#define U G_GUINT64_FORMAT
    if (sscanf (line, "cpu%u %" U " %" U " %" U " %" U " %" U, &cpu, &user, &nice, &system, &idle,
                &wait) == 6 &&
        cpu < CPU_SETSIZE && CPU_ISSET (cpu, &team->set)) {
      times->idle += (gint64)(idle + wait) * tick;
      times->others += (gint64)(user + nice + system) * tick;
    }
#undef U
  }
  return TRUE;
}

gpointer
cpu_team_new (void)
{
  CpuTeam *team = g_new0 (CpuTeam, 1);
  if (mask.is_kept)
    team->allowed = mask.before;
  else
    get_mask (&team->allowed);
  team->set = team->allowed;
  team->at = -1;
  team->crowd.measure = measure_processors;
  team->crowd.data = team;
  return team;
}

static CpuTeam *
get_team_of_thread (void)
{
  CpuTeam *team = g_private_get (&team_of_thread);
  if (team == NULL)
    g_private_set (&team_of_thread, team = cpu_team_new ());
  return team;
}

/* AXON_CPU_TOGETHER in the environment: ALWAYS or NEVER; else where it helps. */
typedef enum { WHERE_BUSY, ALWAYS, NEVER } Wish;

static Wish
wish_to_be_together (void)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    const gchar *said = g_getenv ("AXON_CPU_TOGETHER");
    Wish wish = g_strcmp0 (said, "ALWAYS") == 0  ? ALWAYS
                : g_strcmp0 (said, "NEVER") == 0 ? NEVER
                                                 : WHERE_BUSY;
    g_once_init_leave (&once, (gsize)wish + 1);
  }
  return (Wish)(once - 1);
}

/* Threads of libgomp are not ours to stop, who is bound to a processor wants it so, and more
 * threads than two lose more on one processor than by others. */
static gboolean
may_be_together (const CpuThreads *wanted)
{
  return wanted->threads == 2 && !wanted->pin && cpu_openmp_is_ours () &&
         wish_to_be_together () != NEVER;
}

static gboolean
is_together (const CpuTeam *team, const CpuThreads *wanted)
{
  return may_be_together (wanted) && (team->crowd.together || wish_to_be_together () == ALWAYS);
}

static glong
count_switches (void)
{
  struct rusage usage;
  return getrusage (RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static Placement
choose (const CpuTeam *team, const CpuThreads *wanted)
{
  if (wanted->threads < 2 || g_atomic_int_get (&total_threads) > CPU_COUNT (&team->set))
    return FREE;
  if (is_together (team, wanted))
    return TOGETHER;
  return wanted->pin ? BOUND : wanted->spread ? SPREAD : FREE;
}

static void
resize (CpuTeam *team, guint threads)
{
  g_atomic_int_add (&total_threads, (gint)threads - (gint)team->threads);
  team->threads = threads;
  if (threads <= cpu_pool_get_workers (team->pool) + 1)
    return;
  cpu_pool_free (team->pool);
  team->pool = cpu_pool_new (threads - 1);
  team->placement = FREE;
  team->at = -1;
}

/* Its threads and where they may run, from here on. */
static void
adapt (CpuTeam *team, const CpuThreads *wanted)
{
  const cpu_set_t *set = wanted->limits.whole ? &team->allowed : &wanted->limits.set;
  gboolean changed = team->threads != wanted->threads || !CPU_EQUAL (&team->set, set);
  Placement placement;
  if (team->threads != wanted->threads)
    resize (team, wanted->threads);
  team->set = *set;
  placement = choose (team, wanted);
  if (placement != team->placement || changed)
    arrange (team, placement);
  keep_thread_on (placement == BOUND || !wanted->limits.whole ? &team->first : NULL);
  if (placement == SPREAD || placement == TOGETHER)
    follow_master (team);
}

static void
work_on_pool (const CpuTeam *team)
{
  cpu_pool_use (team->pool, team->threads, team->placement != TOGETHER);
}

void
cpu_threads_use (CpuTeam *team, const CpuThreads *wanted)
{
  if (team == NULL)
    team = get_team_of_thread ();
  adapt (team, wanted);
  team->mode = cpu_float_mode_get ();
  cpu_denormals_set_flushed (wanted->denormals);
  if (team->pool != NULL)
    cpu_pool_flush_denormals (team->pool, wanted->denormals);
  work_on_pool (team);
  team->openmp = cpu_openmp_is_ours () ? 0 : cpu_openmp_set_threads (wanted->threads);
  team->begun = 0;
  if (may_be_together (wanted)) {
    team->begun = g_get_monotonic_time ();
    team->cpu_us = get_thread_us ();
    team->switches = count_switches ();
  }
  team->outer = team_at_work;
  team_at_work = team;
}

void
cpu_threads_release (void)
{
  CpuTeam *team = team_at_work;
  if (team->begun != 0) {
    team->runs_us += get_thread_us () - team->cpu_us;
    cpu_crowd_add_run (&team->crowd, team->begun, g_get_monotonic_time (),
                       count_switches () - team->switches);
  }
  cpu_float_mode_set (team->mode);
  if (team->openmp != 0)
    cpu_openmp_set_threads (team->openmp);
  cpu_pool_use (NULL, 1, FALSE);
  team_at_work = g_steal_pointer (&team->outer);
  if (team_at_work != NULL)
    work_on_pool (team_at_work);
}

gboolean
cpu_threads_fit_any (const CpuThreads *wanted)
{
  return wanted->limits.whole && !wanted->pin && (wanted->threads == 1 || cpu_openmp_is_ours ());
}
