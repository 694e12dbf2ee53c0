/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that cannot be reached at the moment (AXON_REASON_UNREACHABLE) are compiled on again, at
 * growing intervals, and get requests again at their old place. A thread lives while one is gone;
 * it holds the scheduler, nobody waits for it. */
#include <axon/plugin/axoncandidates.h>
#include "axonscheduler-private.h"

#define FIRST_PAUSE 500u /* milliseconds */
#define LONGEST_PAUSE 15000u

struct _AxonReturns {
  gatomicrefcount ref_count;
  AxonPlugin *plugin;
  AxonModel *model;
  AxonConfig *config;
  const gchar *hint;  /* static */
  GPtrArray *devices; /* AxonDeviceRef, by priority */
  GCancellable *cancellable;
  GMutex lock;
  GCond changed;
  GPtrArray *gone;    /* lock: AxonDeviceRef of devices */
  gboolean is_waited; /* lock: the thread lives */
};

static AxonReturns *
returns_ref (AxonReturns *r)
{
  g_atomic_ref_count_inc (&r->ref_count);
  return r;
}

void
axon_returns_unref (AxonReturns *r)
{
  if (!g_atomic_ref_count_dec (&r->ref_count))
    return;
  g_object_unref (r->plugin);
  g_object_unref (r->model);
  axon_config_free (r->config);
  g_ptr_array_unref (r->devices);
  g_ptr_array_unref (r->gone);
  g_object_unref (r->cancellable);
  g_mutex_clear (&r->lock);
  g_cond_clear (&r->changed);
  g_free (r);
}

static AxonDeviceRef *
ref_copy (const AxonDeviceRef *ref)
{
  AxonDeviceRef *copy = g_new (AxonDeviceRef, 1);
  *copy = *ref;
  copy->device = g_strdup (ref->device);
  copy->name = g_strdup (ref->name);
  copy->id = g_strdup (ref->id);
  return copy;
}

void
axon_candidates_await (AxonScheduler *scheduler, AxonPlugin *plugin, AxonModel *model,
                       GPtrArray *devices, const AxonConfig *config, const gchar *hint)
{
  AxonReturns *r = g_new0 (AxonReturns, 1);
  g_atomic_ref_count_init (&r->ref_count);
  g_mutex_init (&r->lock);
  g_cond_init (&r->changed);
  r->plugin = g_object_ref (plugin);
  r->model = g_object_ref (model);
  r->config = axon_config_copy (config);
  r->hint = hint;
  r->devices = g_ptr_array_new_with_free_func (axon_device_ref_free);
  for (guint i = 0; i < devices->len; i++)
    g_ptr_array_add (r->devices, ref_copy (devices->pdata[i]));
  r->gone = g_ptr_array_new ();
  r->cancellable = g_cancellable_new ();
  scheduler->returns = r;
}

void
axon_candidates_stop_awaiting (AxonScheduler *scheduler)
{
  AxonReturns *r = scheduler->returns;
  if (r == NULL)
    return;
  g_mutex_lock (&r->lock);
  g_cancellable_cancel (r->cancellable);
  g_cond_signal (&r->changed);
  g_mutex_unlock (&r->lock);
}

guint
axon_returns_place (const AxonReturns *r, const gchar *device)
{
  for (guint i = 0; r != NULL && i < r->devices->len; i++)
    if (g_str_equal (((AxonDeviceRef *)r->devices->pdata[i])->device, device))
      return i;
  return G_MAXUINT;
}

/* What the thread works on. */
typedef struct {
  AxonReturns *returns;
  AxonScheduler *scheduler;
} Wait;

/* TRUE if the device is back. */
static gboolean
try_device (const Wait *wait, const AxonDeviceRef *ref)
{
  AxonReturns *r = wait->returns;
  g_autoptr (AxonCore) core = axon_plugin_get_core (r->plugin, NULL);
  g_autoptr (GVariant) config =
      core ? axon_candidates_config (core, r->config, ref->device, r->hint) : NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  if (core == NULL)
    return FALSE;
  compiled = axon_core_compile_model (core, r->model, ref->device, config, r->cancellable, NULL,
                                      NULL, &error);
  if (compiled == NULL) {
    axon_plugin_log (r->plugin, r->config, "LOG_INFO", "%s is still away: %s", ref->device,
                     error->message);
    return FALSE;
  }
  axon_plugin_log (r->plugin, r->config, "LOG_INFO", "%s is back", ref->device);
  axon_scheduler_add (wait->scheduler, ref->device, ref->device, compiled, (guint)ref->number);
  return TRUE;
}

static gboolean
try_all (const Wait *wait)
{
  AxonReturns *r = wait->returns;
  gboolean any = FALSE;
  g_autoptr (GPtrArray) gone = NULL;
  g_mutex_lock (&r->lock);
  gone = g_ptr_array_copy (r->gone, NULL, NULL);
  g_ptr_array_set_size (r->gone, 0); /* who is lost again meanwhile is noted again */
  g_mutex_unlock (&r->lock);
  for (guint i = 0; i < gone->len; i++) {
    if (try_device (wait, gone->pdata[i])) {
      any = TRUE;
      continue;
    }
    g_mutex_lock (&r->lock);
    g_ptr_array_add (r->gone, gone->pdata[i]);
    g_mutex_unlock (&r->lock);
  }
  return any;
}

/* lock held. FALSE: nothing is left to wait for. */
static gboolean
pause_for (AxonReturns *r, guint milliseconds)
{
  gint64 end = g_get_monotonic_time () + (gint64)milliseconds * 1000;
  while (!g_cancellable_is_cancelled (r->cancellable) &&
         g_cond_wait_until (&r->changed, &r->lock, end))
    continue;
  return !g_cancellable_is_cancelled (r->cancellable);
}

static gpointer
wait_main (gpointer data)
{
  Wait *wait = data;
  AxonReturns *r = wait->returns;
  guint pause = FIRST_PAUSE;
  g_mutex_lock (&r->lock);
  while (r->gone->len > 0 && pause_for (r, pause)) {
    g_mutex_unlock (&r->lock);
    pause = try_all (wait) ? FIRST_PAUSE : MIN (pause * 2, LONGEST_PAUSE);
    g_mutex_lock (&r->lock);
  }
  r->is_waited = FALSE;
  g_mutex_unlock (&r->lock);
  axon_scheduler_unref (wait->scheduler);
  axon_returns_unref (r);
  g_free (wait);
  return NULL;
}

void
axon_candidates_lose (AxonScheduler *scheduler, const gchar *device, const GError *error)
{
  AxonReturns *r = scheduler->returns;
  guint place = axon_returns_place (r, device);
  Wait *wait = NULL;
  if (place == G_MAXUINT || axon_error_get_reason (error) != AXON_REASON_UNREACHABLE)
    return;
  g_mutex_lock (&r->lock);
  g_ptr_array_add (r->gone, r->devices->pdata[place]);
  if (!r->is_waited) {
    wait = g_new (Wait, 1);
    *wait = (Wait){ returns_ref (r), axon_scheduler_ref (scheduler) };
    r->is_waited = TRUE;
  }
  g_mutex_unlock (&r->lock);
  if (wait != NULL)
    g_thread_unref (g_thread_new ("axon-return", wait_main, wait));
}
