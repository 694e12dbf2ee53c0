/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What plans of device CPU leave to helpers, by itself. */
#include "../../plugins/cpu/cpudenormals.h"
#include "../../plugins/cpu/cpulater.h"
#include "../../plugins/cpu/cpuopenmp.h"
#include "../../plugins/cpu/cpupool.h"

#define TASKS 200

static gboolean ours = TRUE;

gboolean
cpu_openmp_is_ours (void)
{
  return ours;
}

static gint done[TASKS]; /* atomic */

static gboolean
do_one (gpointer data)
{
  g_atomic_int_inc ((gint *)data);
  return TRUE;
}

static void
add_all (CpuLater *later, CpuLaterFunc func)
{
  for (guint i = 0; i < TASKS; i++) {
    done[i] = 0;
    cpu_later_add (later, func, &done[i]);
  }
}

static void
assert_all_done (void)
{
  for (guint i = 0; i < TASKS; i++)
    g_assert_cmpint (g_atomic_int_get (&done[i]), ==, 1);
}

static void
every_task_is_done_once_with_any_number_of_helpers (void)
{
  for (guint n = 0; n < 5; n++) {
    CpuLater *later = cpu_later_new (n);
    add_all (later, do_one);
    cpu_later_finish (later, NULL);
    assert_all_done ();
    g_assert_true (cpu_later_is_well (later));
    cpu_later_free (later);
  }
}

static void
without_helpers_a_task_is_done_as_it_comes (void)
{
  CpuLater *later = cpu_later_new (0);
  add_all (later, do_one);
  assert_all_done ();
  cpu_later_free (later);
}

/* Nobody helps then: what is left is done at the end. */
static void
threads_of_libgomp_are_no_helpers (void)
{
  CpuLater *later = cpu_later_new (3);
  ours = FALSE;
  add_all (later, do_one);
  g_assert_cmpint (g_atomic_int_get (&done[TASKS - 1]), ==, 0);
  cpu_later_finish (later, NULL);
  assert_all_done ();
  cpu_later_free (later);
  ours = TRUE;
}

static gboolean
lack_memory (gpointer data)
{
  do_one (data);
  return data != &done[TASKS / 2];
}

static void
one_task_that_lacks_memory_is_enough (void)
{
  for (guint n = 0; n < 3; n++) {
    CpuLater *later = cpu_later_new (n);
    add_all (later, lack_memory);
    cpu_later_finish (later, NULL);
    g_assert_false (cpu_later_is_well (later));
    cpu_later_free (later);
  }
}

static gboolean
cancel (gpointer data)
{
  g_cancellable_cancel (data);
  return TRUE;
}

static void
what_was_not_begun_is_left_out_where_nobody_wants_it (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  CpuLater *later = cpu_later_new (1);
  ours = FALSE; /* all at the end, in order */
  cpu_later_add (later, cancel, cancellable);
  add_all (later, do_one);
  cpu_later_finish (later, cancellable);
  for (guint i = 0; i < TASKS; i++)
    g_assert_cmpint (done[i], ==, 0);
  cpu_later_free (later);
  ours = TRUE;
}

static void
freeing_it_before_the_end_waits_for_what_was_begun (void)
{
  for (guint i = 0; i < 50; i++) {
    CpuLater *later = cpu_later_new (2);
    add_all (later, do_one);
    cpu_later_free (later);
  }
}

static CpuFloatMode mode; /* the maker's */

static gboolean
is_like_the_maker (gpointer data)
{
  g_usleep (100); /* so that others come */
  g_assert_cmpuint (cpu_parallel_width (), ==, 2);
  g_assert_true (cpu_float_mode_get () == mode);
  return do_one (data);
}

static void
helpers_count_and_compute_as_who_makes_the_plan (void)
{
  CpuFloatMode before = cpu_float_mode_get ();
  CpuPool *pool = cpu_pool_new (1);
  CpuLater *later;
  cpu_denormals_set_flushed (TRUE);
  mode = cpu_float_mode_get ();
  cpu_pool_use (pool, 2, TRUE);
  later = cpu_later_new (2);
  add_all (later, is_like_the_maker);
  cpu_later_finish (later, NULL);
  assert_all_done ();
  cpu_later_free (later);
  cpu_pool_use (NULL, 1, FALSE);
  cpu_pool_free (pool);
  cpu_float_mode_set (before);
}

static void
count_members (gpointer data)
{
  g_assert_cmpuint (cpu_pool_team_place ().n, ==, 1);
  ++*(guint *)data;
}

/* It would wait for the others at a barrier. */
static void
a_helper_is_a_team_of_its_own (void)
{
  guint members = 0;
  cpu_pool_stand_in (4);
  g_assert_cmpuint (cpu_parallel_width (), ==, 4);
  cpu_pool_run_team (4, count_members, &members);
  g_assert_cmpuint (members, ==, 1);
  cpu_pool_use (NULL, 1, FALSE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cpu-later/" #name, name)
  ADD (every_task_is_done_once_with_any_number_of_helpers);
  ADD (without_helpers_a_task_is_done_as_it_comes);
  ADD (threads_of_libgomp_are_no_helpers);
  ADD (one_task_that_lacks_memory_is_enough);
  ADD (what_was_not_begun_is_left_out_where_nobody_wants_it);
  ADD (freeing_it_before_the_end_waits_for_what_was_begun);
  ADD (helpers_count_and_compute_as_who_makes_the_plan);
  ADD (a_helper_is_a_team_of_its_own);
  return g_test_run ();
}
