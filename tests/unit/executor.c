/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams of an executor, and callers that work in their place. */
#include <axon/plugin/axonexecutor.h>

#define STREAMS 2
#define CALLERS 3
#define TASKS 3000

static void
note_stream_and_thread (guint stream, gpointer user_data)
{
  gpointer *seen = user_data;
  seen[0] = GUINT_TO_POINTER (stream + 1);
  seen[1] = g_thread_self ();
}

static void
a_caller_works_in_place_of_an_idle_stream (void)
{
  g_autoptr (AxonExecutor) executor = axon_executor_new ("test", STREAMS);
  gpointer seen[2] = { NULL, NULL };
  g_assert_true (axon_executor_try_run_here (executor, note_stream_and_thread, seen));
  g_assert_cmpuint (GPOINTER_TO_UINT (seen[0]), <=, STREAMS);
  g_assert_cmpuint (GPOINTER_TO_UINT (seen[0]), >, 0);
  g_assert_true (seen[1] == g_thread_self ());
  axon_executor_run_and_wait (executor, note_stream_and_thread, seen);
  g_assert_true (seen[1] != g_thread_self ());
}

static void
an_immediate_executor_has_no_stream_to_lend (void)
{
  g_autoptr (AxonExecutor) executor = axon_executor_new ("test", 0);
  g_assert_false (axon_executor_try_run_here (executor, note_stream_and_thread, NULL));
}

typedef struct {
  AxonExecutor *executor;
  gint order; /* atomic: of what was run */
  gint second;
} Lent;

static void
note_order (G_GNUC_UNUSED guint stream, gpointer user_data)
{
  Lent *lent = user_data;
  lent->second = g_atomic_int_add (&lent->order, 1);
}

static void
queue_behind (G_GNUC_UNUSED guint stream, gpointer user_data)
{
  Lent *lent = user_data;
  g_assert_false (axon_executor_try_run_here (lent->executor, note_order, lent));
  axon_executor_run (lent->executor, note_order, lent);
  g_usleep (20 * 1000);
  g_assert_cmpint (g_atomic_int_add (&lent->order, 1), ==, 0);
}

static void
a_stream_that_is_lent_takes_its_next_task_afterwards (void)
{
  Lent lent = { axon_executor_new ("test", 1), 0, -1 };
  g_assert_true (axon_executor_try_run_here (lent.executor, queue_behind, &lent));
  axon_executor_unref (lent.executor); /* waits for what was queued */
  g_assert_cmpint (lent.second, ==, 1);
}

static gint n_kept; /* atomic: made and not freed */

static gpointer
keep (void)
{
  g_atomic_int_inc (&n_kept);
  return g_new0 (gint, 1);
}

static void
let_go (gpointer kept)
{
  g_atomic_int_add (&n_kept, -1);
  g_free (kept);
}

typedef struct {
  AxonExecutor *executor;
  gpointer kept;
} Keeper;

static void
look_at_kept (guint stream, gpointer user_data)
{
  Keeper *k = user_data;
  k->kept = axon_executor_get_stream_data (k->executor, stream, keep, let_go);
}

static void
a_stream_keeps_what_its_task_keeps_whoever_runs_it (void)
{
  Keeper k = { axon_executor_new ("test", 1), NULL };
  gpointer first;
  axon_executor_run_and_wait (k.executor, look_at_kept, &k);
  first = k.kept;
  while (!axon_executor_try_run_here (k.executor, look_at_kept, &k))
    g_thread_yield (); /* the stream has not said yet that it is idle */
  g_assert_true (k.kept == first);
  g_assert_cmpint (n_kept, ==, 1);
  axon_executor_unref (k.executor);
  g_assert_cmpint (n_kept, ==, 0);
}

static void
an_immediate_executor_keeps_nothing (void)
{
  Keeper k = { axon_executor_new ("test", 0), &k };
  axon_executor_run (k.executor, look_at_kept, &k);
  g_assert_null (k.kept);
  axon_executor_unref (k.executor);
}

typedef struct {
  AxonExecutor *executor;
  gint at_work[STREAMS]; /* atomic */
  gint done;             /* atomic */
} Shared;

static void
work_alone (guint stream, gpointer user_data)
{
  Shared *shared = user_data;
  g_assert_cmpuint (stream, <, STREAMS);
  g_assert_cmpint (g_atomic_int_add (&shared->at_work[stream], 1), ==, 0);
  g_thread_yield ();
  g_assert_cmpint (g_atomic_int_add (&shared->at_work[stream], -1), ==, 1);
  g_atomic_int_inc (&shared->done);
}

static gpointer
call_often (gpointer user_data)
{
  Shared *shared = user_data;
  for (guint i = 0; i < TASKS; i++)
    if (i % 3 == 0)
      axon_executor_run (shared->executor, work_alone, shared);
    else if (!axon_executor_try_run_here (shared->executor, work_alone, shared))
      axon_executor_run_and_wait (shared->executor, work_alone, shared);
  return NULL;
}

static void
callers_and_workers_never_share_a_stream (void)
{
  Shared shared = { .executor = axon_executor_new ("test", STREAMS) };
  GThread *callers[CALLERS];
  for (guint i = 0; i < CALLERS; i++)
    callers[i] = g_thread_new ("caller", call_often, &shared);
  for (guint i = 0; i < CALLERS; i++)
    g_thread_join (callers[i]);
  axon_executor_unref (shared.executor);
  g_assert_cmpint (g_atomic_int_get (&shared.done), ==, CALLERS * TASKS);
}

#define ADD(name) g_test_add_func ("/executor/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (a_caller_works_in_place_of_an_idle_stream);
  ADD (an_immediate_executor_has_no_stream_to_lend);
  ADD (a_stream_that_is_lent_takes_its_next_task_afterwards);
  ADD (a_stream_keeps_what_its_task_keeps_whoever_runs_it);
  ADD (an_immediate_executor_keeps_nothing);
  ADD (callers_and_workers_never_share_a_stream);
  return g_test_run ();
}
