/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpucrowd.h"

/* Microseconds: of runs before anything is said of others, and for which a thread that is alone
 * keeps its processor; until the system has moved others; of what is compared; until it is looked
 * again, from together and from side by side. */
#define LOOK_US 60000
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
  c->idle = state == CPU_CROWD_DECIDED && together ? c->get_idle (c->data) : -1;
}

static void
look (CpuCrowd *c, gint64 now)
{
  if (c->us < LOOK_US)
    return;
  c->side_by_side = c->us / c->runs;
  if (c->switches * ALONE_US >= c->us)
    go_to (c, CPU_CROWD_ARRANGING, TRUE, now);
  else
    go_to (c, CPU_CROWD_LOOKING, FALSE, now);
}

/* Together may take a fifth longer: it is steadier. */
static void
decide (CpuCrowd *c, gint64 now)
{
  if (c->us >= COMPARE_US)
    go_to (c, CPU_CROWD_DECIDED, c->us / c->runs * 5 < c->side_by_side * 6, now);
}

/* Together they stay while others take the processors that they leave, but for a tenth. */
static void
look_again (CpuCrowd *c, gint64 now)
{
  gint64 time = now - c->since, before = c->idle, idle;
  if (time < (c->together ? TOGETHER_US : APART_US))
    return;
  idle = before < 0 ? -1 : c->get_idle (c->data);
  if (idle >= 0 && (idle - before) * 10 < time)
    go_to (c, CPU_CROWD_DECIDED, TRUE, now);
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
