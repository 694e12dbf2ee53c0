/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With MAX_COMPILE_TIME a device compiles in a thread of its own: a driver that asks nobody whether
 * it is still wanted is left there, with what it works on, and its device is not used until it
 * returns. Virtual devices compile where they are asked, for what they ask is watched itself. */
#include "axoncompilecall-private.h"
#include "../../base/axonwork-private.h"
#include <axon/axoncompiledmodel.h>

#include "config.h"
#include <glib/gi18n-lib.h>

#define GRACE G_TIME_SPAN_SECOND /* of a compile that was cancelled */
#define LOOK (20 * G_TIME_SPAN_MILLISECOND)

typedef struct {
  AxonPlugin *plugin;
  AxonModel *model;
  AxonRemoteContext *context; /* nullable */
  AxonConfig *config;
  GCancellable *cancellable;
  AxonWork work; /* budget: a reference */
  GMutex lock;
  GCond changed;
  AxonProgressFunc progress; /* lock: NULL once the caller is gone */
  gpointer user_data;
  gboolean done, abandoned;    /* lock */
  AxonCompiledModel *compiled; /* lock */
  GError *error;               /* lock */
} Call;

static __thread guint time_of_thread;

guint
axon_compile_time_get (void)
{
  return time_of_thread;
}

void
axon_compile_time_set (guint milliseconds)
{
  time_of_thread = milliseconds;
}

static gboolean
is_cancelled (gpointer user_data)
{
  return g_cancellable_is_cancelled (user_data);
}

static void
call_free (Call *call)
{
  g_clear_object (&call->compiled);
  g_clear_error (&call->error);
  g_clear_object (&call->context);
  g_object_unref (call->model);
  g_object_unref (call->cancellable);
  axon_budget_unref (call->work.budget);
  axon_config_free (call->config);
  g_mutex_clear (&call->lock);
  g_cond_clear (&call->changed);
  g_object_unref (call->plugin);
  g_free (call);
}

static void
tell (gdouble done, const gchar *what, gpointer user_data)
{
  Call *call = user_data;
  g_mutex_lock (&call->lock);
  if (call->progress != NULL)
    call->progress (done, what, call->user_data);
  g_mutex_unlock (&call->lock);
}

static const gchar *
id_of (const Call *call)
{
  const gchar *id = axon_config_get_device_id (call->config);
  return id ? id : "";
}

static gpointer
compile (gpointer data)
{
  Call *call = data;
  GError *error = NULL;
  AxonCompiledModel *compiled;
  gboolean abandoned;
  axon_work_enter (&call->work);
  compiled = AXON_PLUGIN_GET_CLASS (call->plugin)
                 ->compile_model (call->plugin, call->model, call->context, call->config,
                                  call->cancellable, tell, call, &error);
  axon_work_enter (NULL);
  g_mutex_lock (&call->lock);
  call->compiled = compiled;
  call->error = error;
  call->done = TRUE;
  abandoned = call->abandoned;
  g_cond_signal (&call->changed);
  g_mutex_unlock (&call->lock);
  if (abandoned) {
    axon_plugin_count_abandoned (call->plugin, id_of (call), -1);
    call_free (call);
  }
  return NULL;
}

/* FALSE: it is still at work, and is left to it. */
static gboolean
wait_for (Call *call)
{
  gint64 end = G_MAXINT64;
  g_mutex_lock (&call->lock);
  while (!call->done && g_get_monotonic_time () < end) {
    if (end == G_MAXINT64 && g_cancellable_is_cancelled (call->cancellable))
      end = g_get_monotonic_time () + GRACE;
    g_cond_wait_until (&call->changed, &call->lock, g_get_monotonic_time () + LOOK);
  }
  call->abandoned = !call->done;
  call->progress = NULL;
  if (call->abandoned)
    axon_plugin_count_abandoned (call->plugin, id_of (call), 1);
  g_mutex_unlock (&call->lock);
  return !call->abandoned;
}

static Call *
call_new (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
          const AxonConfig *config, GCancellable *cancellable)
{
  Call *call = g_new0 (Call, 1);
  call->plugin = g_object_ref (plugin);
  call->model = g_object_ref (model);
  call->context = context ? g_object_ref (context) : NULL;
  call->config = axon_config_copy (config);
  call->cancellable = g_object_ref (cancellable);
  call->work = (AxonWork){ is_cancelled, cancellable, axon_budget_ref (axon_work_get_budget ()) };
  g_mutex_init (&call->lock);
  g_cond_init (&call->changed);
  return call;
}

static gboolean
is_watched (AxonPlugin *plugin, GCancellable *cancellable)
{
  const AxonPluginInfo *info = axon_plugin_private (plugin)->info;
  return time_of_thread > 0 && cancellable != NULL &&
         (info == NULL || (info->flags & AXON_PLUGIN_VIRTUAL) == 0);
}

AxonCompiledModel *
axon_compile_call (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                   const AxonConfig *config, GCancellable *cancellable, AxonProgressFunc progress,
                   gpointer user_data, GError **error)
{
  Call *call = is_watched (plugin, cancellable)
                   ? call_new (plugin, model, context, config, cancellable)
                   : NULL;
  AxonCompiledModel *compiled = NULL;
  GThread *thread;
  if (call != NULL) {
    call->progress = progress;
    call->user_data = user_data;
  }
  thread = call ? g_thread_try_new ("axon-compile", compile, call, NULL) : NULL;
  if (thread == NULL) { /* none is wanted, or can be made */
    g_clear_pointer (&call, call_free);
    return AXON_PLUGIN_GET_CLASS (plugin)->compile_model (plugin, model, context, config,
                                                          cancellable, progress, user_data, error);
  }
  if (!wait_for (call)) {
    g_thread_unref (thread);
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("device %s does not return from compiling: its call is abandoned"),
                 axon_plugin_get_name (plugin));
    return NULL;
  }
  g_thread_join (thread);
  compiled = g_steal_pointer (&call->compiled);
  if (call->error != NULL)
    g_propagate_error (error, g_steal_pointer (&call->error));
  call_free (call);
  return compiled;
}
