/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpucrowd.h"

/* Microseconds: of runs before anything is said of others (many ticks of the clock that the system
 * counts processors' time by), and for which a thread that is alone keeps its processor; until the
 * system has moved others; of what is compared; until it is looked again, from together and from
 * side by side. */
#define LOOK_US 100000
#define ALONE_US 20000
#define ARRANGE_US 300000
#define COMPARE_US 100000
#define TOGETHER_US 2000000
#define APART_US 10000000

static void
go_to (CpuCrowd *c, CpuCrowdState state, gboolean together, gint64 now)
{
  c->state = state;
  c->together = together;
  c->since = now;
  c->us = 0;
  c->runs = 0;
  c->switches = 0;
  c->is_watched = FALSE;
}

/* With the processors' times from here on. */
static void
go_and_watch (CpuCrowd *c, CpuCrowdState state, gboolean together, gint64 now)
{
  go_to (c, state, together, now);
  c->is_watched = c->measure (c->data, &c->times);
}

/* Since the state was gone to no processor idled, but for a tenth of one, and others had at least a
 * quarter of one: a stream that is alone keeps all its processors busy by itself. */
static gboolean
is_crowded (const CpuCrowd *c, gint64 now)
{
  CpuCrowdTimes times;
  if (!c->is_watched || !c->measure (c->data, &times))
    return FALSE;
  return (times.idle - c->times.idle) * 10 < now - c->since &&
         (times.others - c->times.others) * 4 >= now - c->since;
}

/* Who is interrupted by threads of its own has processors that idle, too: where some seem to be
 * taken, it is looked again. */
static void
look (CpuCrowd *c, gint64 now)
{
  gboolean taken = c->switches * ALONE_US >= c->us, crowded;
  if (c->us < LOOK_US)
    return;
  c->side_by_side = c->us / c->runs;
  crowded = is_crowded (c, now);
  if (crowded && c->switches > 0)
    go_to (c, CPU_CROWD_ARRANGING, TRUE, now);
  else if (crowded || taken)
    go_and_watch (c, CPU_CROWD_LOOKING, FALSE, now);
  else
    go_to (c, CPU_CROWD_LOOKING, FALSE, now);
}

/* Together may take a fifth longer: it is steadier. */
static void
decide (CpuCrowd *c, gint64 now)
{
  if (c->us >= COMPARE_US)
    go_and_watch (c, CPU_CROWD_DECIDED, c->us / c->runs * 5 < c->side_by_side * 6, now);
}

/* Together they stay while others take the processors that they leave. */
static void
look_again (CpuCrowd *c, gint64 now)
{
  if (now - c->since < (c->together ? TOGETHER_US : APART_US))
    return;
  if (c->together && is_crowded (c, now))
    go_and_watch (c, CPU_CROWD_DECIDED, TRUE, now);
  else
    go_to (c, CPU_CROWD_LOOKING, FALSE, now);
}

void
cpu_crowd_add_run (CpuCrowd *c, gint64 begun, gint64 ended, glong switches)
{
  c->us += ended - begun;
  c->runs++;
  c->switches += switches;
  if (c->state == CPU_CROWD_LOOKING)
    look (c, ended);
  else if (c->state == CPU_CROWD_ARRANGING && ended - c->since >= ARRANGE_US)
    go_to (c, CPU_CROWD_COMPARING, TRUE, ended);
  else if (c->state == CPU_CROWD_COMPARING)
    decide (c, ended);
  else if (c->state == CPU_CROWD_DECIDED)
    look_again (c, ended);
}
