/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axonguard-private.h"
#include "axoncompilecall-private.h"
#include "../infer/axoncompiledmodel-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

static gboolean
is_cancelled (gpointer user_data)
{
  return g_cancellable_is_cancelled (user_data);
}

static void
pass_on (G_GNUC_UNUSED GCancellable *given, gpointer user_data)
{
  g_cancellable_cancel (user_data);
}

/* Only where MAX_COMPILE_TIME is set: a device asks a cancellable, not a clock. */
static gpointer
watch_clock (gpointer user_data)
{
  AxonGuard *guard = user_data;
  gboolean in_time = TRUE;
  g_mutex_lock (&guard->lock);
  while (!guard->is_done && in_time)
    in_time = g_cond_wait_until (&guard->changed, &guard->lock, guard->deadline);
  guard->is_late = !guard->is_done;
  g_mutex_unlock (&guard->lock);
  if (!in_time)
    g_cancellable_cancel (guard->cancellable);
  return NULL;
}

/* Parts of a model have the time of the whole. */
static __thread guint inherited;

void
axon_guard_enter (AxonGuard *guard, const AxonTarget *target, GCancellable *cancellable)
{
  gsize mib = (gsize)axon_config_get_int (target->core_config, "MAX_MEMORY");
  *guard = (AxonGuard){ .cancellable = g_cancellable_new (),
                        .given = cancellable ? g_object_ref (cancellable) : NULL };
  guard->outer_timeout = inherited;
  guard->outer_max_time = axon_compile_time_get ();
  guard->timeout = (guint)axon_config_get_int (target->core_config, "INFERENCE_TIMEOUT");
  if (guard->timeout == 0)
    guard->timeout = inherited;
  inherited = guard->timeout;
  g_mutex_init (&guard->lock);
  g_cond_init (&guard->changed);
  guard->work = (AxonWork){ is_cancelled, guard->cancellable,
                            axon_budget_new (axon_work_get_budget (), mib << 20) };
  guard->before = axon_work_enter (&guard->work);
  if (cancellable != NULL)
    guard->handler = g_cancellable_connect (cancellable, G_CALLBACK (pass_on),
                                            g_object_ref (guard->cancellable), g_object_unref);
  guard->max_time = axon_config_get_int (target->core_config, "MAX_COMPILE_TIME");
  axon_compile_time_set ((guint)MAX (guard->max_time, 0));
  if (guard->max_time <= 0)
    return;
  guard->deadline = g_get_monotonic_time () + guard->max_time * (gint64)1000;
  guard->timer = g_thread_try_new ("axon-clock", watch_clock, guard, NULL);
  if (guard->timer == NULL)
    g_message ("MAX_COMPILE_TIME is not watched: no thread can be made");
}

AxonCompiledModel *
axon_guard_leave (AxonGuard *guard, AxonCompiledModel *compiled, GError **error)
{
  axon_work_enter (guard->before);
  inherited = guard->outer_timeout;
  axon_compile_time_set (guard->outer_max_time);
  if (compiled != NULL)
    axon_compiled_model_private (compiled)->timeout = guard->timeout;
  g_mutex_lock (&guard->lock);
  guard->is_done = TRUE;
  g_cond_signal (&guard->changed);
  g_mutex_unlock (&guard->lock);
  g_clear_pointer (&guard->timer, g_thread_join);
  if (guard->handler != 0)
    g_cancellable_disconnect (guard->given, guard->handler);
  if (g_cancellable_is_cancelled (guard->cancellable)) {
    g_clear_object (&compiled);
    g_clear_error (error);
    if (guard->is_late)
      g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                   _ ("compiling took longer than %d ms (MAX_COMPILE_TIME)"), guard->max_time);
    else
      g_cancellable_set_error_if_cancelled (guard->cancellable, error);
  }
  axon_budget_unref (guard->work.budget);
  g_clear_object (&guard->cancellable);
  g_clear_object (&guard->given);
  g_mutex_clear (&guard->lock);
  g_cond_clear (&guard->changed);
  return compiled;
}
