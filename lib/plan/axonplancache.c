/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The latest plan stands first; lists are short. */
#include <axon/plugin/axonplancache.h>

struct _AxonPlanCache {
  guint capacity;
  AxonPlanFits fits;
  GBoxedCopyFunc ref;
  GDestroyNotify unref;
  GMutex lock;
  guint n;           /* lock */
  gpointer plans[1]; /* lock: capacity of them, a reference each */
};

AxonPlanCache *
axon_plan_cache_new (guint capacity, AxonPlanFits fits, GBoxedCopyFunc ref, GDestroyNotify unref)
{
  AxonPlanCache *cache = g_malloc0 (sizeof *cache + capacity * sizeof cache->plans[0]);
  cache->capacity = MAX (capacity, 1);
  cache->fits = fits;
  cache->ref = ref;
  cache->unref = unref;
  g_mutex_init (&cache->lock);
  return cache;
}

void
axon_plan_cache_free (AxonPlanCache *cache)
{
  for (guint i = 0; i < cache->n; i++)
    cache->unref (cache->plans[i]);
  g_mutex_clear (&cache->lock);
  g_free (cache);
}

/* lock held. Puts @plan first and moves those before place @at back. */
static void
put_first (AxonPlanCache *cache, gpointer plan, guint at)
{
  for (; at > 0; at--)
    cache->plans[at] = cache->plans[at - 1];
  cache->plans[0] = plan;
}

/* lock held */
static gpointer
find (AxonPlanCache *cache, gconstpointer key)
{
  for (guint i = 0; i < cache->n; i++) {
    gpointer plan = cache->plans[i];
    if (cache->fits (plan, key)) {
      put_first (cache, plan, i);
      return cache->ref (plan);
    }
  }
  return NULL;
}

gpointer
axon_plan_cache_find (AxonPlanCache *cache, gconstpointer key)
{
  gpointer plan;
  g_mutex_lock (&cache->lock);
  plan = find (cache, key);
  g_mutex_unlock (&cache->lock);
  return plan;
}

gpointer
axon_plan_cache_add (AxonPlanCache *cache, gpointer plan, gconstpointer key)
{
  gpointer other, dropped = plan;
  g_mutex_lock (&cache->lock);
  other = find (cache, key);
  if (other == NULL) {
    gboolean full = cache->n == cache->capacity;
    dropped = full ? cache->plans[cache->n - 1] : NULL;
    put_first (cache, cache->ref (plan), full ? cache->n - 1 : cache->n);
    cache->n += !full;
  }
  g_mutex_unlock (&cache->lock);
  if (dropped != NULL)
    cache->unref (dropped);
  return other ? other : plan;
}

gpointer
axon_plan_cache_get_latest (AxonPlanCache *cache)
{
  gpointer plan;
  g_mutex_lock (&cache->lock);
  plan = cache->n > 0 ? cache->ref (cache->plans[0]) : NULL;
  g_mutex_unlock (&cache->lock);
  return plan;
}
