/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of OpenMP. After a pause between frames Linux often wakes a worker of libgomp on the very
 * processor where its master spins for it, and a frame takes 15 ms instead of 3. So before a run
 * the workers are told to keep off the processor that the master is on at that moment: a system
 * call per worker; after the run they are free again. No thread is fixed to one processor, unless
 * ENABLE_CPU_PINNING asks for it. Where the streams of the process together have more threads than
 * there are processors, all are left free. */
#include "cputhreads.h"

#include <omp.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

typedef enum { FREE, SPREAD, BOUND } Placement;

typedef struct {
  guint threads;
  Placement placement;
  gboolean denormals;
  cpu_set_t set;     /* where all may run */
  cpu_set_t allowed; /* the thread's own mask before we came */
  pid_t *workers;    /* threads - 1 */
} Team;

static gint total_threads; /* atomic: of all teams in the process */
static gint next_slot;     /* atomic: so that bound teams spread over the processors */

static void
team_free (gpointer data)
{
  Team *team = data;
  g_atomic_int_add (&total_threads, -(gint)team->threads);
  g_free (team->workers);
  g_free (team);
}

static GPrivate this_team = G_PRIVATE_INIT (team_free);

/* The @slot-th processor counted from the last one: the first ones serve most interrupts. */
static void
bind_to_slot (const cpu_set_t *set, guint slot)
{
  guint from_last = slot % (guint)CPU_COUNT (set);
  cpu_set_t one;
  for (guint i = CPU_SETSIZE; i-- > 0;) {
    if (!CPU_ISSET (i, set) || from_last-- > 0)
      continue;
    CPU_ZERO (&one);
    CPU_SET (i, &one);
    sched_setaffinity (0, sizeof one, &one);
    return;
  }
}

/* Denormal numbers are slow; the flags belong to each thread. */
static void
flush_denormals (gboolean flush)
{
#ifdef __SSE2__
  _mm_setcsr (flush ? _mm_getcsr () | 0x8040u : _mm_getcsr () & ~0x8040u);
#elif defined(__aarch64__)
  guint64 fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  fpcr = flush ? fpcr | (1u << 24) : fpcr & ~(guint64)(1u << 24);
  __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#else
  (void)flush;
#endif
}

/* Every thread of the team: processors, flags, and its id for later. */
static void
arrange (Team *team, Placement placement)
{
  guint first = placement == BOUND ? (guint)g_atomic_int_add (&next_slot, (gint)team->threads) : 0;
#pragma omp parallel num_threads((int)team->threads)
  {
    guint me = (guint)omp_get_thread_num ();
    if (placement == BOUND)
      bind_to_slot (&team->set, first + me);
    else
      sched_setaffinity (0, sizeof team->set, &team->set);
    flush_denormals (team->denormals);
    if (me > 0)
      team->workers[me - 1] = gettid ();
  }
  team->placement = placement;
}

/* @set: where the workers may run from now on */
static void
move_workers (Team *team, const cpu_set_t *set)
{
  for (guint i = 0; i + 1 < team->threads && CPU_COUNT (set) > 0; i++)
    sched_setaffinity (team->workers[i], sizeof *set, set);
}

static void
keep_off_master (Team *team)
{
  gint cpu = sched_getcpu ();
  cpu_set_t others = team->set;
  if (cpu >= 0)
    CPU_CLR (cpu, &others);
  move_workers (team, &others);
}

static Team *
team_new (void)
{
  Team *team = g_new0 (Team, 1);
  if (sched_getaffinity (0, sizeof team->allowed, &team->allowed) != 0)
    CPU_ZERO (&team->allowed);
  team->set = team->allowed;
  g_private_set (&this_team, team);
  return team;
}

static Placement
choose (const Team *team, const CpuThreads *wanted)
{
  if (wanted->threads < 2 || omp_get_proc_bind () != omp_proc_bind_false ||
      g_atomic_int_get (&total_threads) > CPU_COUNT (&team->set))
    return FREE;
  return wanted->pin ? BOUND : wanted->spread ? SPREAD : FREE;
}

void
cpu_threads_use (const CpuThreads *wanted)
{
  Team *team = g_private_get (&this_team);
  const cpu_set_t *set;
  gboolean changed;
  Placement placement;
  if (team == NULL)
    team = team_new ();
  set = wanted->limits.whole ? &team->allowed : &wanted->limits.set;
  changed = team->threads != wanted->threads || !CPU_EQUAL (&team->set, set) ||
            team->denormals != wanted->denormals;
  if (team->threads != wanted->threads) {
    if (team->placement != FREE)
      arrange (team, FREE); /* those who leave the team are free again */
    omp_set_num_threads ((int)wanted->threads);
    g_atomic_int_add (&total_threads, (gint)wanted->threads - (gint)team->threads);
    team->threads = wanted->threads;
    g_free (team->workers);
    team->workers = g_new0 (pid_t, wanted->threads);
  }
  team->set = *set;
  team->denormals = wanted->denormals;
  placement = choose (team, wanted);
  if (placement != team->placement ||
      (changed && (placement != FREE || !CPU_EQUAL (set, &team->allowed) || team->denormals)))
    arrange (team, placement);
  if (placement == SPREAD)
    keep_off_master (team);
}

void
cpu_threads_release (void)
{
  Team *team = g_private_get (&this_team);
  if (team != NULL && team->placement == SPREAD)
    move_workers (team, &team->set);
}
