/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of a stream of device CPU, by themselves. */
#include "../../plugins/cpu/cpupool.h"

#include <string.h>

#define THREADS 4
#define PARTS 1000
#define JOBS 20000

static gint counts[PARTS]; /* atomic */

static void
count (G_GNUC_UNUSED gpointer data, gint64 part)
{
  g_atomic_int_inc (&counts[part]);
}

static CpuPool *
pool_open (void)
{
  CpuPool *pool = cpu_pool_new (THREADS - 1);
  cpu_pool_use (pool, THREADS, TRUE);
  memset (counts, 0, sizeof counts);
  return pool;
}

static void
pool_close (CpuPool *pool)
{
  cpu_pool_use (NULL, 1, FALSE);
  cpu_pool_free (pool);
}

static void
assert_counts (gint n, gint expected)
{
  for (gint i = 0; i < PARTS; i++)
    g_assert_cmpint (g_atomic_int_get (&counts[i]), ==, i < n ? expected : 0);
}

static void
every_part_is_run_once_before_the_job_returns (void)
{
  CpuPool *pool = pool_open ();
  for (gint n = 0; n <= PARTS; n += n < 10 ? 1 : 330) {
    memset (counts, 0, sizeof counts);
    cpu_parallel (n, count, NULL);
    assert_counts (n, 1);
  }
  pool_close (pool);
}

/* Short jobs one after the other: a worker that comes late finds the next one, with fewer parts. */
static void
a_late_worker_takes_no_part_of_another_job (void)
{
  CpuPool *pool = pool_open ();
  for (gint job = 0; job < JOBS; job++)
    cpu_parallel (job % 2 ? 3 : 2, count, NULL);
  g_assert_cmpint (counts[0], ==, JOBS);
  g_assert_cmpint (counts[1], ==, JOBS);
  g_assert_cmpint (counts[2], ==, JOBS / 2);
  pool_close (pool);
}

static void
cover (gpointer data, gint64 first, gint64 end)
{
  gint64 least = *(const gint64 *)data;
  g_assert_true (end - first >= least || first == 0);
  for (gint64 i = first; i < end; i++)
    g_atomic_int_inc (&counts[i]);
}

static void
ranges_cover_all_and_are_not_too_small (void)
{
  CpuPool *pool = pool_open ();
  for (gint64 least = 1; least < 600; least += 97) {
    memset (counts, 0, sizeof counts);
    cpu_parallel_ranges (PARTS, least, cover, &least);
    assert_counts (PARTS, 1);
  }
  pool_close (pool);
}

static void
run_inner_job (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED gint64 part)
{
  g_assert_cmpuint (cpu_parallel_width (), ==, 1);
  g_assert_cmpuint (cpu_parallel_thread (), <, THREADS);
  cpu_parallel (PARTS, count, NULL);
}

static void
a_job_within_a_part_is_done_by_its_thread (void)
{
  CpuPool *pool = pool_open ();
  cpu_parallel (7, run_inner_job, NULL);
  g_assert_cmpuint (cpu_parallel_width (), ==, THREADS);
  assert_counts (PARTS, 7);
  pool_close (pool);
}

static gint arrived[2]; /* atomic */

/* All have come to a barrier before anybody is beyond it. */
static void
member (G_GNUC_UNUSED gpointer data)
{
  CpuTeamPlace place = cpu_pool_team_place ();
  g_assert_cmpuint (place.n, ==, THREADS);
  g_atomic_int_inc (&counts[place.index]);
  for (guint i = 0; i < G_N_ELEMENTS (arrived); i++) {
    g_atomic_int_inc (&arrived[i]);
    cpu_pool_team_barrier ();
    g_assert_cmpint (g_atomic_int_get (&arrived[i]), ==, THREADS);
  }
}

static void
members_of_a_team_wait_for_each_other (void)
{
  CpuPool *pool = pool_open ();
  for (gint i = 0; i < 200; i++) {
    memset (arrived, 0, sizeof arrived);
    cpu_pool_run_team (THREADS, member, NULL);
  }
  assert_counts (THREADS, 200);
  pool_close (pool);
}

static void
meet (G_GNUC_UNUSED gpointer data)
{
  cpu_pool_team_barrier ();
}

/* The others sleep, and one that may not work could be woken in place of one that has to. */
static void
a_narrower_team_meets_though_all_workers_slept (void)
{
  CpuPool *pool = pool_open ();
  cpu_pool_use (pool, 2, TRUE);
  for (gint i = 0; i < 50; i++) {
    g_usleep (1000); /* longer than they spin */
    cpu_pool_run_team (2, meet, NULL);
  }
  pool_close (pool);
}

static gint first_part[2], begun; /* atomic */

/* Whoever is here first waits for the other one, so that nobody takes a part for it. */
static void
note_first_part (G_GNUC_UNUSED gpointer data, gint64 part)
{
  if (!g_atomic_int_compare_and_exchange (&first_part[cpu_parallel_thread ()], -1, (gint)part))
    return;
  g_atomic_int_inc (&begun);
  while (g_atomic_int_get (&begun) < 2)
    g_thread_yield ();
}

static void
a_thread_begins_with_the_same_part_of_every_job (void)
{
  CpuPool *pool = pool_open ();
  cpu_pool_use (pool, 2, TRUE);
  for (guint i = 0; i < 200; i++) {
    first_part[0] = first_part[1] = -1;
    begun = 0;
    cpu_parallel (10, note_first_part, NULL);
    g_assert_cmpint (first_part[0], ==, 0);
    g_assert_cmpint (first_part[1], ==, 5);
  }
  pool_close (pool);
}

static void
the_time_of_workers_grows_while_they_work (void)
{
  CpuPool *pool = pool_open ();
  gint64 before = cpu_pool_get_time (pool);
  for (guint i = 0; i < 200; i++)
    cpu_pool_run_team (THREADS, meet, NULL); /* all have to come */
  g_assert_cmpint (before, >=, 0);
  g_assert_cmpint (cpu_pool_get_time (pool), >, before);
  pool_close (pool);
  g_assert_cmpint (cpu_pool_get_time (NULL), ==, 0);
}

static void
check_width (gpointer data, gint64 part)
{
  g_assert_cmpuint (cpu_parallel_thread (), <, GPOINTER_TO_UINT (data));
  count (NULL, part);
}

static void
a_narrower_job_leaves_the_other_workers_alone (void)
{
  CpuPool *pool = pool_open ();
  for (guint width = 1; width <= THREADS; width++) {
    cpu_pool_use (pool, width, TRUE);
    cpu_parallel (PARTS, check_width, GUINT_TO_POINTER (width));
  }
  assert_counts (PARTS, THREADS);
  pool_close (pool);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cpu-pool/" #name, name)
  ADD (every_part_is_run_once_before_the_job_returns);
  ADD (a_late_worker_takes_no_part_of_another_job);
  ADD (ranges_cover_all_and_are_not_too_small);
  ADD (a_job_within_a_part_is_done_by_its_thread);
  ADD (members_of_a_team_wait_for_each_other);
  ADD (a_narrower_team_meets_though_all_workers_slept);
  ADD (a_thread_begins_with_the_same_part_of_every_job);
  ADD (the_time_of_workers_grows_while_they_work);
  ADD (a_narrower_job_leaves_the_other_workers_alone);
  return g_test_run ();
}
