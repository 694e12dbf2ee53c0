/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cache of plans that devices share. A plan is a number with a count of references. */
#include <axon/plugin/axonplancache.h>

typedef struct {
  gint key, references;
} Plan;

static gboolean
fits (gconstpointer plan, gconstpointer key)
{
  return ((const Plan *)plan)->key == *(const gint *)key;
}

static gpointer
ref (gpointer plan)
{
  ((Plan *)plan)->references++;
  return plan;
}

static void
unref (gpointer plan)
{
  ((Plan *)plan)->references--;
}

static void
add (AxonPlanCache *cache, Plan *plan)
{
  plan->references = 1;
  g_assert_true (axon_plan_cache_add (cache, plan, &plan->key) == plan);
  unref (plan);
}

static gboolean
has (AxonPlanCache *cache, gint key)
{
  Plan *plan = axon_plan_cache_find (cache, &key);
  if (plan != NULL)
    unref (plan);
  return plan != NULL;
}

static void
the_least_recently_used_plan_makes_room (void)
{
  Plan plans[] = { { .key = 0 }, { .key = 1 }, { .key = 2 }, { .key = 3 } };
  AxonPlanCache *cache = axon_plan_cache_new (3, fits, ref, unref);
  for (guint i = 0; i < 3; i++)
    add (cache, &plans[i]);
  g_assert_true (has (cache, 0));
  add (cache, &plans[3]);
  g_assert_false (has (cache, 1));
  g_assert_cmpint (plans[1].references, ==, 0);
  for (gint key = 0; key < 4; key++)
    g_assert_true (has (cache, key) == (key != 1));
  axon_plan_cache_free (cache);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpint (plans[i].references, ==, 0);
}

static void
of_two_plans_made_at_once_the_first_stays (void)
{
  Plan first = { .key = 7 }, second = { .key = 7, .references = 1 };
  AxonPlanCache *cache = axon_plan_cache_new (2, fits, ref, unref);
  add (cache, &first);
  g_assert_true (axon_plan_cache_add (cache, &second, &second.key) == &first);
  g_assert_cmpint (first.references, ==, 2);
  g_assert_cmpint (second.references, ==, 0);
  unref (&first);
  axon_plan_cache_free (cache);
}

static void
a_plan_that_runs_outlives_its_place (void)
{
  Plan first = { .key = 1 }, second = { .key = 2 };
  AxonPlanCache *cache = axon_plan_cache_new (1, fits, ref, unref);
  Plan *running;
  add (cache, &first);
  running = axon_plan_cache_find (cache, &first.key);
  add (cache, &second);
  g_assert_true (running == &first);
  g_assert_cmpint (first.references, ==, 1);
  axon_plan_cache_free (cache);
}

static void
the_latest_plan_is_the_one_used_last (void)
{
  Plan first = { .key = 1 }, second = { .key = 2 };
  AxonPlanCache *cache = axon_plan_cache_new (2, fits, ref, unref);
  g_assert_null (axon_plan_cache_get_latest (cache));
  add (cache, &first);
  add (cache, &second);
  g_assert_true (axon_plan_cache_get_latest (cache) == &second);
  g_assert_true (has (cache, 1));
  g_assert_true (axon_plan_cache_get_latest (cache) == &first);
  axon_plan_cache_free (cache);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/plancache/" #name, name)
  ADD (the_least_recently_used_plan_makes_room);
  ADD (of_two_plans_made_at_once_the_first_stays);
  ADD (a_plan_that_runs_outlives_its_place);
  ADD (the_latest_plan_is_the_one_used_last);
  return g_test_run ();
}
