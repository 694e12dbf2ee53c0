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

typedef struct {
  guint threads;
  CpuPool *pool; /* as many workers as were ever wanted */
  Placement placement;
  gint at;           /* the processor that workers keep off (SPREAD) or on (TOGETHER), -1: none */
  cpu_set_t set;     /* where all may run */
  cpu_set_t allowed; /* the thread's own mask before we came */
  CpuFloatMode mode; /* of the thread outside of runs, as the next */
  guint openmp;      /* threads of libgomp, 0: not in use */
  CpuCrowd crowd;
  gint64 begun;   /* the run, 0: nobody looks for others */
  glong switches; /* from which the system took the processor, before it */
} Team;

static gint total_threads; /* atomic: of all teams in the process */
static gint next_slot;     /* atomic: so that bound teams spread over the processors */

static void
team_free (gpointer data)
{
  Team *team = data;
  g_atomic_int_add (&total_threads, -(gint)team->threads);
  cpu_pool_use (NULL, 1, FALSE);
  cpu_pool_free (team->pool);
  g_free (team);
}

static GPrivate this_team = G_PRIVATE_INIT (team_free);

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
place_workers (Team *team, const cpu_set_t *set)
{
  for (guint i = 0; i < cpu_pool_get_workers (team->pool) && CPU_COUNT (set) > 0; i++)
    cpu_pool_place (team->pool, i, set);
}

/* Every thread of the team: on a processor of its own, or wherever the set allows. They may be
 * fewer than asked for, where the system gave no more. */
static void
arrange (Team *team, Placement placement)
{
  guint n = MIN ((guint)team->threads, cpu_pool_get_workers (team->pool) + 1);
  guint first = placement == BOUND ? (guint)g_atomic_int_add (&next_slot, (gint)team->threads) : 0;
  for (guint i = 0; i < n; i++) {
    cpu_set_t set = placement == BOUND ? processor_of_slot (&team->set, first + i) : team->set;
    if (i == 0)
      sched_setaffinity (0, sizeof set, &set);
    else
      cpu_pool_place (team->pool, i - 1, &set);
  }
  team->placement = placement;
  team->at = -1;
}

/* Workers keep off the processor that the stream's own thread is on, or on it. */
static void
follow_master (Team *team)
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

/* Of the team's threads, its own one asking: microseconds for which they had processors, or -1. */
static gint64
get_own_us (const Team *team)
{
  gint64 workers = cpu_pool_get_time (team->pool);
  struct timespec t;
  if (workers < 0 || clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t) != 0)
    return -1;
  return workers + t.tv_sec * G_USEC_PER_SEC + t.tv_nsec / 1000;
}

/* Of the processors that the team may use: "user", "nice" and "system", less what the team had, and
 * "idle" and "iowait" of /proc/stat, which are ticks. */
static gboolean
measure_processors (gconstpointer data, CpuCrowdTimes *times)
{
  const Team *team = data;
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

static Team *
team_new (void)
{
  Team *team = g_new0 (Team, 1);
  if (sched_getaffinity (0, sizeof team->allowed, &team->allowed) != 0)
    CPU_ZERO (&team->allowed);
  team->set = team->allowed;
  team->at = -1;
  team->crowd.measure = measure_processors;
  team->crowd.data = team;
  g_private_set (&this_team, team);
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
is_together (const Team *team, const CpuThreads *wanted)
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
choose (const Team *team, const CpuThreads *wanted)
{
  if (wanted->threads < 2 || g_atomic_int_get (&total_threads) > CPU_COUNT (&team->set))
    return FREE;
  if (is_together (team, wanted))
    return TOGETHER;
  return wanted->pin ? BOUND : wanted->spread ? SPREAD : FREE;
}

static void
resize (Team *team, guint threads)
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

void
cpu_threads_use (const CpuThreads *wanted)
{
  Team *team = g_private_get (&this_team);
  const cpu_set_t *set;
  Placement placement;
  gboolean changed;
  if (team == NULL)
    team = team_new ();
  set = wanted->limits.whole ? &team->allowed : &wanted->limits.set;
  changed = team->threads != wanted->threads || !CPU_EQUAL (&team->set, set);
  if (team->placement == BOUND && changed)
    arrange (team, FREE); /* new workers inherit where this thread may run */
  if (team->threads != wanted->threads)
    resize (team, wanted->threads);
  team->set = *set;
  placement = choose (team, wanted);
  if (placement != team->placement || (changed && !CPU_EQUAL (set, &team->allowed)))
    arrange (team, placement);
  if (placement == SPREAD || placement == TOGETHER)
    follow_master (team);
  team->mode = cpu_float_mode_get ();
  cpu_denormals_set_flushed (wanted->denormals);
  if (team->pool != NULL)
    cpu_pool_flush_denormals (team->pool, wanted->denormals);
  cpu_pool_use (team->pool, wanted->threads, placement != TOGETHER);
  team->openmp = cpu_openmp_is_ours () ? 0 : cpu_openmp_set_threads (wanted->threads);
  team->begun = may_be_together (wanted) ? g_get_monotonic_time () : 0;
  team->switches = team->begun ? count_switches () : 0;
}

void
cpu_threads_release (void)
{
  Team *team = g_private_get (&this_team);
  if (team->begun != 0)
    cpu_crowd_add_run (&team->crowd, team->begun, g_get_monotonic_time (),
                       count_switches () - team->switches);
  cpu_float_mode_set (team->mode);
  if (team->openmp != 0)
    cpu_openmp_set_threads (team->openmp);
  cpu_pool_use (NULL, 1, FALSE);
}

gboolean
cpu_threads_fit_any (const CpuThreads *wanted)
{
  return wanted->threads == 1 && wanted->limits.whole && !wanted->pin;
}
