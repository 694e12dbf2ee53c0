/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of OpenMP. After a pause between frames Linux often wakes a worker of libgomp on the very
 * processor where its master spins for it, and a frame takes 15 ms instead of 3. Threads that are
 * bound to processors cannot meet like that. Where the streams of the process together have more
 * threads than there are processors, binding makes it worse, and they are set free again. */
#include "cputhreads.h"

#include <omp.h>
#include <sched.h>

typedef struct {
  guint threads;
  gboolean bound;
  cpu_set_t allowed; /* before binding */
} Team;

static gint total_threads; /* atomic: of all teams in the process */
static gint next_slot;     /* atomic: so that teams spread over the processors */

static void
team_free (gpointer data)
{
  Team *team = data;
  g_atomic_int_add (&total_threads, -(gint)team->threads);
  g_free (team);
}

static GPrivate this_team = G_PRIVATE_INIT (team_free);

guint
cpu_threads_available (void)
{
  cpu_set_t set;
  return sched_getaffinity (0, sizeof set, &set) == 0 ? (guint)CPU_COUNT (&set) : 1;
}

/* The @slot-th allowed processor counted from the last one: the first ones serve most interrupts.
 */
static void
bind_to_slot (const cpu_set_t *allowed, guint slot)
{
  guint from_last = slot % (guint)CPU_COUNT (allowed);
  cpu_set_t one;
  for (guint i = CPU_SETSIZE; i-- > 0;) {
    if (!CPU_ISSET (i, allowed) || from_last-- > 0)
      continue;
    CPU_ZERO (&one);
    CPU_SET (i, &one);
    sched_setaffinity (0, sizeof one, &one);
    return;
  }
}

static void
bind_team (Team *team, gboolean bind)
{
  guint first = bind ? (guint)g_atomic_int_add (&next_slot, (gint)team->threads) : 0;
#pragma omp parallel num_threads((int)team->threads)
  {
    if (bind)
      bind_to_slot (&team->allowed, first + (guint)omp_get_thread_num ());
    else
      sched_setaffinity (0, sizeof team->allowed, &team->allowed);
  }
  team->bound = bind;
}

static Team *
team_new (void)
{
  Team *team = g_new0 (Team, 1);
  if (sched_getaffinity (0, sizeof team->allowed, &team->allowed) != 0)
    CPU_ZERO (&team->allowed);
  g_private_set (&this_team, team);
  return team;
}

void
cpu_threads_use (guint threads, gboolean pin)
{
  Team *team = g_private_get (&this_team);
  gboolean bind;
  if (team == NULL)
    team = team_new ();
  if (team->threads != threads) {
    if (team->bound)
      bind_team (team, FALSE);
    omp_set_num_threads ((int)threads);
    g_atomic_int_add (&total_threads, (gint)threads - (gint)team->threads);
    team->threads = threads;
  }
  bind = pin && threads > 1 && omp_get_proc_bind () == omp_proc_bind_false &&
         g_atomic_int_get (&total_threads) <= CPU_COUNT (&team->allowed);
  if (bind != team->bound)
    bind_team (team, bind);
}
