/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the two threads of a stream of device CPU keep together on one processor: by invented
 * clocks.
 */
#include "../../plugins/cpu/cpucrowd.h"

static CpuCrowdTimes times;

static gboolean
measure (gconstpointer data, CpuCrowdTimes *now)
{
  if (data != NULL)
    *now = *(const CpuCrowdTimes *)data;
  return data != NULL;
}

typedef struct {
  CpuCrowd crowd;
  gint64 now;
} Clock;

/* Runs of so many milliseconds, one after the other, for so long, beside others that take half of
 * two processors. */
static void
run_for (Clock *c, gint64 ms, gint64 apart, gint64 together, glong switches)
{
  for (gint64 end = c->now + ms * 1000; c->now < end;) {
    gint64 us = 1000 * (c->crowd.together ? together : apart);
    cpu_crowd_add_run (&c->crowd, c->now, c->now + us, switches);
    c->now += us;
    times.others += us;
  }
}

static Clock
clock_new (gconstpointer data)
{
  times = (CpuCrowdTimes){ 0 };
  return (Clock){ .crowd = { .measure = measure, .data = data }, .now = 1000 };
}

static void
threads_that_are_alone_work_side_by_side (void)
{
  Clock c = clock_new (&times);
  run_for (&c, 10000, 5, 9, 0);
  g_assert_false (c.crowd.together);
}

static void
threads_whose_processor_is_taken_keep_together_while_nobody_idles (void)
{
  Clock c = clock_new (&times);
  run_for (&c, 1000, 9, 5, 1);
  g_assert_true (c.crowd.together);
  run_for (&c, 10000, 9, 5, 1);
  g_assert_true (c.crowd.together);
  for (guint i = 0; i < 30; i++) { /* two of ten parts of one processor */
    run_for (&c, 100, 5, 5, 0);
    times.idle += 20000;
  }
  g_assert_false (c.crowd.together);
}

static void
threads_that_are_faster_side_by_side_stay_so_for_a_while (void)
{
  Clock c = clock_new (&times);
  run_for (&c, 600, 5, 7, 1);
  g_assert_false (c.crowd.together);
  g_assert_cmpint (c.crowd.state, ==, CPU_CROWD_DECIDED);
  run_for (&c, 9000, 5, 7, 1);
  g_assert_cmpint (c.crowd.state, ==, CPU_CROWD_DECIDED);
  run_for (&c, 1000, 5, 7, 1);
  g_assert_cmpint (c.crowd.state, !=, CPU_CROWD_DECIDED);
}

static void
together_may_take_a_fifth_longer (void)
{
  Clock c = clock_new (&times);
  run_for (&c, 1000, 50, 59, 5);
  g_assert_true (c.crowd.together);
  c = clock_new (&times);
  run_for (&c, 1000, 50, 60, 5);
  g_assert_false (c.crowd.together);
}

static void
where_nobody_tells_who_idles_threads_work_side_by_side (void)
{
  Clock c = clock_new (NULL);
  run_for (&c, 10000, 9, 5, 1);
  g_assert_false (c.crowd.together);
}

/* Symptom: a network that ran back to back with nothing beside it was tried on one processor every
 * ten seconds, for nobody idled, and its caller's thread interrupted it. */
static void
a_stream_whose_own_threads_fill_the_processors_is_not_crowded (void)
{
  Clock c = clock_new (&times);
  for (guint i = 0; i < 10000; i++) {
    cpu_crowd_add_run (&c.crowd, c.now, c.now + 5000, 2);
    c.now += 5000;
    times.others += i % 2 ? 1000 : 0; /* an application that does little itself */
    g_assert_false (c.crowd.together);
  }
}

/* Frames that come every 33 ms: the thread meets its own worker, and processors idle. */
static void
threads_that_are_interrupted_while_processors_idle_work_side_by_side (void)
{
  Clock c = clock_new (&times);
  for (guint i = 0; i < 1000; i++) {
    cpu_crowd_add_run (&c.crowd, c.now, c.now + 9000, 1);
    c.now += 33000;
    times.idle += 40000;
    g_assert_false (c.crowd.together);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cpucrowd/" #name, name)
  ADD (threads_that_are_alone_work_side_by_side);
  ADD (threads_whose_processor_is_taken_keep_together_while_nobody_idles);
  ADD (threads_that_are_faster_side_by_side_stay_so_for_a_while);
  ADD (together_may_take_a_fifth_longer);
  ADD (where_nobody_tells_who_idles_threads_work_side_by_side);
  ADD (a_stream_whose_own_threads_fill_the_processors_is_not_crowded);
  ADD (threads_that_are_interrupted_while_processors_idle_work_side_by_side);
  return g_test_run ();
}
