/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs that have a time (INFERENCE_TIMEOUT). One thread for the process looks at them; it is made
 * with the first of them and stays. A run whose device does not return in time ends with an error,
 * while the call goes on in its thread: it keeps the request, the tensors that it sees (none of
 * which the application may free, for what is borrowed was copied) and the compiled model. Until it
 * returns, the device is dead: it takes neither runs nor models. A run that is cancelled has a
 * little time left to notice it.
 *
 * Order of locks: that of the list, a request's, the plugin's. */
#include "axonwatchdog-private.h"
#include "../core/axonplugin-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define GRACE (250 * G_TIME_SPAN_MILLISECOND) /* of a run that was cancelled */

static GMutex lock;
static GCond changed;
static GPtrArray *watched; /* lock: requests, held by their runs; NULL: there was none yet */

guint
axon_watchdog_timeout (const AxonInferRequest *r)
{
  return AXON_COMPILED_MODEL_GET_CLASS (r->compiled)->start == NULL
             ? axon_compiled_model_private (r->compiled)->timeout
             : 0;
}

static const gchar *
id_of (const AxonInferRequest *r)
{
  const gchar *id = axon_config_get_device_id (axon_compiled_model_private (r->compiled)->config);
  return id ? id : "";
}

/* With the request's lock. A run that waits behind one which does not return will not be begun. */
static gboolean
is_lost (AxonInferRequest *r)
{
  AxonPlugin *plugin = axon_compiled_model_private (r->compiled)->plugin;
  return r->busy && !r->finishing &&
         (r->entered || g_atomic_int_get (&r->cancelled) ||
          !axon_plugin_check_alive (plugin, id_of (r), NULL));
}

/* Unless @run has ended meanwhile. */
static void
abandon (AxonInferRequest *r, guint64 run)
{
  AxonPlugin *plugin = axon_compiled_model_private (r->compiled)->plugin;
  guint timeout = axon_watchdog_timeout (r);
  GError *error = NULL;
  gboolean lost;
  g_mutex_lock (&r->lock);
  lost = r->started == run && is_lost (r);
  if (lost) {
    r->abandoned = TRUE;
    r->counted = r->entered;
  }
  if (lost && r->entered)
    axon_plugin_count_abandoned (plugin, id_of (r), 1);
  g_mutex_unlock (&r->lock);
  if (!lost)
    return;
  g_set_error (
      &error, AXON_ERROR, AXON_ERROR_DEVICE,
      _ ("device %s did not return within %u ms (INFERENCE_TIMEOUT): its call is abandoned, and "
         "the device is not used until it returns"),
      axon_plugin_get_name (plugin), timeout);
  g_object_ref (r); /* the end of the run lets go of one; the call keeps the other */
  axon_infer_request_end (r, error);
  g_atomic_int_set (&r->cancelled, TRUE); /* where the call asks after all */
}

/* With the lock of the list: who is late (transfer full), out of the list; else when to look again.
 */
static AxonInferRequest *
take_late (guint64 *run, gint64 *next)
{
  gint64 now = g_get_monotonic_time ();
  *next = G_MAXINT64;
  for (guint i = 0; i < watched->len; i++) {
    AxonInferRequest *r = g_ptr_array_index (watched, i);
    gboolean lost;
    if (r->deadline > now) {
      *next = MIN (*next, r->deadline);
      continue;
    }
    g_mutex_lock (&r->lock);
    lost = is_lost (r);
    *run = r->started;
    g_mutex_unlock (&r->lock);
    if (lost) {
      g_ptr_array_remove_index_fast (watched, i);
      return g_object_ref (r);
    }
    r->deadline = now + axon_watchdog_timeout (r) * G_TIME_SPAN_MILLISECOND;
    *next = MIN (*next, r->deadline);
  }
  return NULL;
}

static gpointer
watch (G_GNUC_UNUSED gpointer data)
{
  g_mutex_lock (&lock);
  for (;;) {
    gint64 next;
    guint64 run;
    AxonInferRequest *late = take_late (&run, &next);
    if (late != NULL) {
      g_mutex_unlock (&lock);
      abandon (late, run);
      g_object_unref (late);
      g_mutex_lock (&lock);
    } else if (next == G_MAXINT64) {
      g_cond_wait (&changed, &lock);
    } else {
      g_cond_wait_until (&changed, &lock, next);
    }
  }
  return NULL;
}

/* With the lock. FALSE: no thread can be made, and nobody is watched. */
static gboolean
begin (void)
{
  GThread *thread;
  if (watched != NULL)
    return TRUE;
  thread = g_thread_try_new ("axon-watchdog", watch, NULL, NULL);
  if (thread == NULL) {
    g_message ("INFERENCE_TIMEOUT is not watched: no thread can be made");
    return FALSE;
  }
  g_thread_unref (thread);
  watched = g_ptr_array_new ();
  return TRUE;
}

void
axon_watchdog_add (AxonInferRequest *r)
{
  guint timeout = axon_watchdog_timeout (r);
  if (timeout == 0)
    return;
  g_mutex_lock (&lock);
  r->deadline = g_get_monotonic_time () + timeout * G_TIME_SPAN_MILLISECOND;
  if (begin ()) {
    g_ptr_array_add (watched, r);
    g_cond_signal (&changed);
  }
  g_mutex_unlock (&lock);
}

/* What waited for its turn has all its time from now on. */
void
axon_watchdog_enter (AxonInferRequest *r)
{
  guint timeout = axon_watchdog_timeout (r);
  if (timeout == 0)
    return;
  g_mutex_lock (&lock);
  g_mutex_lock (&r->lock);
  r->entered = TRUE;
  g_mutex_unlock (&r->lock);
  r->deadline = g_get_monotonic_time () + timeout * G_TIME_SPAN_MILLISECOND;
  g_mutex_unlock (&lock);
}

void
axon_watchdog_hurry (AxonInferRequest *r)
{
  if (axon_watchdog_timeout (r) == 0)
    return;
  g_mutex_lock (&lock);
  r->deadline = MIN (r->deadline, g_get_monotonic_time () + GRACE);
  g_cond_signal (&changed);
  g_mutex_unlock (&lock);
}

gboolean
axon_watchdog_remove (AxonInferRequest *r)
{
  AxonPlugin *plugin = axon_compiled_model_private (r->compiled)->plugin;
  gboolean abandoned, counted;
  if (axon_watchdog_timeout (r) == 0)
    return TRUE;
  g_mutex_lock (&lock);
  if (watched != NULL)
    g_ptr_array_remove_fast (watched, r);
  g_mutex_unlock (&lock);
  g_mutex_lock (&r->lock);
  abandoned = r->abandoned;
  counted = r->counted;
  r->abandoned = r->entered = r->counted = FALSE;
  r->finishing = !abandoned;
  g_mutex_unlock (&r->lock);
  if (counted)
    axon_plugin_count_abandoned (plugin, id_of (r), -1);
  return !abandoned;
}

gboolean
axon_watchdog_finish (AxonInferRequest *r)
{
  gboolean abandoned;
  if (axon_watchdog_timeout (r) == 0)
    return TRUE;
  g_mutex_lock (&r->lock);
  abandoned = r->abandoned;
  r->finishing = !abandoned;
  g_mutex_unlock (&r->lock);
  return !abandoned;
}

gboolean
axon_watchdog_check_alive (AxonInferRequest *r, GError **error)
{
  return axon_plugin_check_alive (axon_compiled_model_private (r->compiled)->plugin, id_of (r),
                                  error);
}
