/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processors a stream's threads run on. After a pause Linux often wakes a worker on the very
 * processor that its stream's own thread is on, so a worker keeps off that one: a system call per
 * worker whenever the stream's thread was moved. No thread is fixed to one processor, unless
 * ENABLE_CPU_PINNING asks for it. Where the streams of the process together have more threads than
 * there are processors, all are left free. */
#include "cputhreads.h"

#include "cpudenormals.h"
#include "cpuopenmp.h"
#include "cpupool.h"

#include <string.h>

typedef enum { FREE, SPREAD, BOUND } Placement;

typedef struct {
  guint threads;
  CpuPool *pool; /* as many workers as were ever wanted */
  Placement placement;
  gint off;          /* the processor that workers keep off, -1: none */
  cpu_set_t set;     /* where all may run */
  cpu_set_t allowed; /* the thread's own mask before we came */
  CpuFloatMode mode; /* of the thread outside of runs, as the next */
  guint openmp;      /* threads of libgomp, 0: not in use */
} Team;

static gint total_threads; /* atomic: of all teams in the process */
static gint next_slot;     /* atomic: so that bound teams spread over the processors */

static void
team_free (gpointer data)
{
  Team *team = data;
  g_atomic_int_add (&total_threads, -(gint)team->threads);
  cpu_pool_use (NULL, 1);
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
  team->off = -1;
}

static void
keep_off_master (Team *team)
{
  gint cpu = sched_getcpu ();
  cpu_set_t others = team->set;
  if (cpu < 0 || cpu == team->off)
    return;
  CPU_CLR (cpu, &others);
  place_workers (team, &others);
  team->off = cpu;
}

static Team *
team_new (void)
{
  Team *team = g_new0 (Team, 1);
  if (sched_getaffinity (0, sizeof team->allowed, &team->allowed) != 0)
    CPU_ZERO (&team->allowed);
  team->set = team->allowed;
  team->off = -1;
  g_private_set (&this_team, team);
  return team;
}

static Placement
choose (const Team *team, const CpuThreads *wanted)
{
  if (wanted->threads < 2 || g_atomic_int_get (&total_threads) > CPU_COUNT (&team->set))
    return FREE;
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
  team->off = -1;
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
  if (placement == SPREAD)
    keep_off_master (team);
  team->mode = cpu_float_mode_get ();
  cpu_denormals_set_flushed (wanted->denormals);
  if (team->pool != NULL)
    cpu_pool_flush_denormals (team->pool, wanted->denormals);
  cpu_pool_use (team->pool, wanted->threads);
  team->openmp = cpu_openmp_is_ours () ? 0 : cpu_openmp_set_threads (wanted->threads);
}

void
cpu_threads_release (void)
{
  Team *team = g_private_get (&this_team);
  cpu_float_mode_set (team->mode);
  if (team->openmp != 0)
    cpu_openmp_set_threads (team->openmp);
  cpu_pool_use (NULL, 1);
}

gboolean
cpu_threads_fit_any (const CpuThreads *wanted)
{
  return wanted->threads == 1 && wanted->limits.whole && !wanted->pin;
}
