/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Teams of device CPU: workers of a stream, whoever runs its inferences. */
#include "../../plugins/cpu/cpupool.h"
#include "../../plugins/cpu/cputhreads.h"

#include <string.h>

#define CALLERS 3
#define PARTS 64

static const CpuThreads alone = { .threads = 1, .limits.whole = TRUE };
static const CpuThreads two = { .threads = 2, .spread = TRUE, .limits.whole = TRUE };

static guint
count_workers (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  const gchar *task;
  guint n = 0;
  while ((task = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename ("/proc/self/task", task, "comm", NULL);
    g_autofree gchar *name = NULL;
    n += g_file_get_contents (path, &name, NULL, NULL) && g_str_equal (name, "axon-cpu-worker\n");
  }
  return n;
}

/* A thread has no name at first, and one that ended is seen for a while. */
static void
assert_workers (guint expected)
{
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;
  while (count_workers () != expected && g_get_monotonic_time () < end)
    g_usleep (1000);
  g_assert_cmpuint (count_workers (), ==, expected);
}

static void
count (gpointer data, G_GNUC_UNUSED gint64 part)
{
  g_atomic_int_inc ((gint *)data);
}

static gpointer
run_once (gpointer team)
{
  gint parts = 0;
  cpu_threads_use (team, &two);
  g_assert_cmpuint (cpu_parallel_width (), ==, 2);
  cpu_parallel (PARTS, count, &parts);
  cpu_threads_release ();
  g_assert_cmpint (g_atomic_int_get (&parts), ==, PARTS);
  return NULL;
}

static void
callers_one_after_the_other_share_the_workers (void)
{
  CpuTeam *team = cpu_team_new ();
  for (guint i = 0; i < CALLERS; i++)
    g_thread_join (g_thread_new ("caller", run_once, team));
  assert_workers (1);
  cpu_team_free (team);
  assert_workers (0);
}

/* As where a kernel of an extension infers. */
static void
a_run_within_a_run_gives_the_outer_one_its_threads_back (void)
{
  CpuTeam *outer = cpu_team_new (), *inner = cpu_team_new ();
  cpu_threads_use (outer, &two);
  cpu_threads_use (inner, &alone);
  g_assert_cmpuint (cpu_parallel_width (), ==, 1);
  cpu_threads_release ();
  g_assert_cmpuint (cpu_parallel_width (), ==, 2);
  cpu_threads_release ();
  g_assert_cmpuint (cpu_parallel_width (), ==, 1);
  cpu_team_free (inner);
  cpu_team_free (outer);
}

static cpu_set_t
get_mask (void)
{
  cpu_set_t set;
  g_assert_cmpint (sched_getaffinity (0, sizeof set, &set), ==, 0);
  return set;
}

/* The last processor of those that the process has. */
static cpu_set_t
one_of (const cpu_set_t *set)
{
  cpu_set_t one;
  guint i = CPU_SETSIZE - 1;
  while (!CPU_ISSET (i, set))
    i--;
  CPU_ZERO (&one);
  CPU_SET (i, &one);
  return one;
}

static void
a_caller_stays_where_it_wants_to_run (void)
{
  CpuTeam *team = cpu_team_new ();
  cpu_set_t all = get_mask (), one = one_of (&all), after;
  sched_setaffinity (0, sizeof one, &one);
  run_once (team);
  after = get_mask ();
  g_assert_true (CPU_EQUAL (&after, &one));
  sched_setaffinity (0, sizeof all, &all);
  cpu_team_free (team);
}

static void
a_thread_that_was_kept_on_some_processors_gets_all_back (void)
{
  CpuTeam *limited = cpu_team_new (), *whole = cpu_team_new ();
  cpu_set_t all = get_mask (), one = one_of (&all), after;
  const CpuThreads kept = { .threads = 1, .limits.set = one };
  for (guint i = 0; i < 2; i++) {
    cpu_threads_use (limited, &kept);
    after = get_mask ();
    cpu_threads_release ();
    g_assert_true (CPU_EQUAL (&after, &one));
    run_once (whole);
    after = get_mask ();
    g_assert_true (CPU_EQUAL (&after, &all));
  }
  cpu_team_free (whole);
  cpu_team_free (limited);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cpu-teams/" #name, name)
  ADD (callers_one_after_the_other_share_the_workers);
  ADD (a_run_within_a_run_gives_the_outer_one_its_threads_back);
  ADD (a_caller_stays_where_it_wants_to_run);
  ADD (a_thread_that_was_kept_on_some_processors_gets_all_back);
  return g_test_run ();
}
