/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plans of one compiled model, each made for a key that is the device's own matter: shapes of
 * the inputs, values of small ones. The least recently used makes room; a plan that still runs has
 * a reference of its runner's. All functions may be called from any thread at once. */
#pragma once

#include <glib-object.h>

#include <axon/axonapi.h>

G_BEGIN_DECLS

typedef struct _AxonPlanCache AxonPlanCache;

/**
 * AxonPlanFits:
 * @plan: a plan in the cache
 * @key: what a run needs
 *
 * Called with the cache's lock held: it only compares.
 *
 * Returns: %TRUE if @plan was made for @key
 * Since: 0.2
 */
typedef gboolean (*AxonPlanFits) (gconstpointer plan, gconstpointer key);

/**
 * axon_plan_cache_new: (skip)
 * @capacity: how many plans are kept, at least one
 * @fits: compares a plan with a key
 * @ref: takes a reference of a plan
 * @unref: drops one
 *
 * Returns: (transfer full): an empty cache; free it with axon_plan_cache_free()
 * Since: 0.2
 */
AXON_API AxonPlanCache *axon_plan_cache_new (guint capacity, AxonPlanFits fits, GBoxedCopyFunc ref,
                                             GDestroyNotify unref);

/**
 * axon_plan_cache_free: (skip)
 * @cache: (transfer full): a cache that no thread uses any more
 *
 * Drops the cache's references.
 *
 * Since: 0.2
 */
AXON_API void axon_plan_cache_free (AxonPlanCache *cache);

/**
 * axon_plan_cache_find: (skip)
 * @cache: a cache
 * @key: what a run needs
 *
 * Returns: (transfer full) (nullable): the plan that fits, which now is the latest one used
 * Since: 0.2
 */
AXON_API gpointer axon_plan_cache_find (AxonPlanCache *cache, gconstpointer key);

/**
 * axon_plan_cache_add: (skip)
 * @cache: a cache
 * @plan: (transfer full): a plan made for @key
 * @key: what it was made for
 *
 * Where another thread has added one for @key meanwhile, @plan is dropped and that one returned.
 *
 * Returns: (transfer full): the plan to run
 * Since: 0.2
 */
AXON_API gpointer axon_plan_cache_add (AxonPlanCache *cache, gpointer plan, gconstpointer key);

/**
 * axon_plan_cache_get_latest: (skip)
 * @cache: a cache
 *
 * Returns: (transfer full) (nullable): the plan that was used last; %NULL in an empty cache
 * Since: 0.2
 */
AXON_API gpointer axon_plan_cache_get_latest (AxonPlanCache *cache);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonPlanCache, axon_plan_cache_free)

G_END_DECLS
