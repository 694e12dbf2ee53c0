/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every device has workers, requests of its own. A request takes an idle one, or waits in one queue
 * for all. Nothing is started or freed with the lock held. */
#include <axon/plugin/axoncandidates.h>
#include "axonscheduler-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

static void
device_free (gpointer data)
{
  Device *d = data;
  g_ptr_array_unref (d->idle);
  g_clear_object (&d->compiled);
  g_free (d->name);
  g_free (d->shown);
  g_free (d);
}

static void
worker_free (gpointer data)
{
  Worker *w = data;
  g_object_unref (w->inner);
  g_free (w);
}

AxonScheduler *
axon_scheduler_new (AxonSchedulerFlags flags)
{
  AxonScheduler *s = g_new0 (AxonScheduler, 1);
  g_atomic_ref_count_init (&s->ref_count);
  g_mutex_init (&s->lock);
  s->flags = flags;
  s->devices = g_ptr_array_new_with_free_func (device_free);
  s->graveyard = g_ptr_array_new_with_free_func (device_free);
  s->workers = g_ptr_array_new_with_free_func (worker_free);
  return s;
}

AxonScheduler *
axon_scheduler_ref (AxonScheduler *scheduler)
{
  g_atomic_ref_count_inc (&scheduler->ref_count);
  return scheduler;
}

void
axon_scheduler_unref (AxonScheduler *s)
{
  if (!g_atomic_ref_count_dec (&s->ref_count))
    return;
  g_assert (g_queue_is_empty (&s->waiting)); /* a waiting request holds the scheduler */
  g_ptr_array_unref (s->workers);
  g_ptr_array_unref (s->devices);
  g_ptr_array_unref (s->graveyard);
  g_clear_pointer (&s->returns, axon_returns_unref);
  g_mutex_clear (&s->lock);
  g_free (s);
}

void
axon_scheduler_set_empty_func (AxonScheduler *scheduler, AxonSchedulerEmptyFunc func,
                               gpointer user_data)
{
  g_mutex_lock (&scheduler->lock);
  scheduler->empty = func;
  scheduler->empty_data = user_data;
  g_mutex_unlock (&scheduler->lock);
}

/* Tensors in a device's memory tie a request to that device. */
static const gchar *
required_device (AxonInferRequest *outer, guint n_inputs)
{
  for (guint i = 0; i < n_inputs; i++) {
    AxonTensor *t = axon_infer_request_peek_input (outer, i);
    AxonRemoteContext *context = t ? axon_remote_context_of_tensor (t) : NULL;
    if (context != NULL)
      return axon_remote_context_get_device_name (context);
  }
  return NULL;
}

static gboolean
suits (const Device *d, AxonInferRequest *outer)
{
  const gchar *device = required_device (outer, axon_compiled_model_get_n_inputs (d->compiled));
  gsize n = strlen (d->name);
  return !d->retired && (device == NULL || (g_str_has_prefix (device, d->name) &&
                                            (device[n] == '\0' || device[n] == '.')));
}

/* lock held. TRUE if a busy device would be done with the request sooner. */
static gboolean
better_to_wait (AxonScheduler *s, const Device *idle, AxonInferRequest *outer)
{
  guint ahead = s->waiting.length + 1;
  for (guint i = 0; i < s->devices->len; i++) {
    const Device *d = g_ptr_array_index (s->devices, i);
    gdouble wait = d->latency * ahead / MAX (d->n_workers, 1);
    if (d != idle && d->n_busy > 0 && d->runs > 2 && idle->runs > 2 && suits (d, outer) &&
        wait + d->latency < idle->latency)
      return TRUE;
  }
  return FALSE;
}

/* lock held */
static Worker *
take_worker (AxonScheduler *s, AxonInferRequest *outer)
{
  guint n = s->devices->len;
  guint first = s->flags & AXON_SCHEDULER_ROUND_ROBIN ? s->next : 0;
  for (guint i = 0; i < n; i++) {
    Device *d = g_ptr_array_index (s->devices, (first + i) % n);
    Worker *w;
    if (!suits (d, outer))
      continue;
    if (d->idle->len == 0 && (s->flags & AXON_SCHEDULER_FIRST))
      return NULL;
    if (d->idle->len == 0)
      continue;
    if (!(s->flags & AXON_SCHEDULER_ROUND_ROBIN) && better_to_wait (s, d, outer))
      continue;
    s->next = (first + i + 1) % n;
    w = g_ptr_array_steal_index (d->idle, d->idle->len - 1);
    d->n_busy++;
    w->outer = outer;
    return w;
  }
  return NULL;
}

/* lock held. With BIND, the request's data is its device's worker. */
static Worker *
take_bound (AxonScheduler *s, AxonInferRequest *outer)
{
  Worker *w = axon_infer_request_get_data (outer);
  if (w == NULL)
    w = take_worker (s, outer);
  else if (!g_ptr_array_remove (w->device->idle, w))
    return NULL;
  else
    w->device->n_busy++;
  if (w != NULL) {
    axon_infer_request_set_data (outer, w, NULL);
    w->outer = outer;
  }
  return w;
}

/* lock held */
static Worker *
take (AxonScheduler *s, AxonInferRequest *outer)
{
  return s->flags & AXON_SCHEDULER_BIND ? take_bound (s, outer) : take_worker (s, outer);
}

static void end_job (Worker *w, GError *error);

static void
run_job (Worker *w)
{
  GError *error = NULL;
  w->started = g_get_monotonic_time ();
  if (!axon_infer_request_forward (w->outer, w->inner, &error) ||
      !axon_infer_request_start_async (w->inner, &error))
    end_job (w, error);
}

static void
on_worker_done (G_GNUC_UNUSED AxonInferRequest *inner, const GError *error, gpointer user_data)
{
  end_job (user_data, error ? g_error_copy (error) : NULL);
}

/* lock held */
static Worker *
next_job (AxonScheduler *s)
{
  for (GList *l = s->waiting.head; l != NULL; l = l->next) {
    Worker *w = take (s, l->data);
    if (w != NULL) {
      g_queue_delete_link (&s->waiting, l);
      return w;
    }
  }
  return NULL;
}

static void
pump (AxonScheduler *s)
{
  for (;;) {
    Worker *w;
    g_mutex_lock (&s->lock);
    w = next_job (s);
    g_mutex_unlock (&s->lock);
    if (w == NULL)
      return;
    run_job (w);
  }
}

/* lock held */
static void
retire_device (AxonScheduler *s, Device *d)
{
  guint at;
  d->retired = TRUE;
  if (g_ptr_array_find (s->devices, d, &at))
    g_ptr_array_add (s->graveyard, g_ptr_array_steal_index (s->devices, at));
}

/* The caller's mistake, or a cancelled run, says nothing about the device. */
static gboolean
is_device_failure (const GError *error)
{
  return error != NULL && !g_error_matches (error, AXON_ERROR, AXON_ERROR_CANCELLED) &&
         !g_error_matches (error, AXON_ERROR, AXON_ERROR_ARGUMENT) &&
         !g_error_matches (error, AXON_ERROR, AXON_ERROR_BUSY) &&
         !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* lock held: the worker is idle again; what it ran for (still referenced by its run) */
static AxonInferRequest *
release_worker (Worker *w, const GError *error)
{
  Device *d = w->device;
  gdouble us = (gdouble)(g_get_monotonic_time () - w->started);
  AxonInferRequest *outer = g_steal_pointer (&w->outer);
  d->n_busy--;
  g_ptr_array_add (d->idle, w);
  if (error == NULL) {
    d->latency = d->runs == 0 ? us : 0.8 * d->latency + 0.2 * us;
    d->runs++;
  }
  return outer;
}

/* Retired devices that have finished go, with their workers. */
static void
bury (AxonScheduler *s)
{
  g_autoptr (GPtrArray) workers = g_ptr_array_new_with_free_func (worker_free);
  g_autoptr (GPtrArray) devices = g_ptr_array_new_with_free_func (device_free);
  g_mutex_lock (&s->lock);
  for (guint i = s->graveyard->len; i-- > 0;) {
    Device *d = g_ptr_array_index (s->graveyard, i);
    if (d->n_busy > 0)
      continue;
    for (guint k = s->workers->len; k-- > 0;)
      if (((Worker *)g_ptr_array_index (s->workers, k))->device == d)
        g_ptr_array_add (workers, g_ptr_array_steal_index_fast (s->workers, k));
    g_ptr_array_add (devices, g_ptr_array_steal_index_fast (s->graveyard, i));
  }
  g_mutex_unlock (&s->lock);
}

/* The worker is idle again. A failed device gets nothing more, and its request waits for another:
 * then @outer is NULL. */
static gboolean
release_or_retry (AxonScheduler *s, Worker *w, const GError *error, AxonInferRequest **outer)
{
  gboolean failed = (s->flags & AXON_SCHEDULER_RETRY) && is_device_failure (error) &&
                    !axon_infer_request_is_cancelled (w->outer);
  gboolean any, again, lost;
  AxonSchedulerEmptyFunc empty;
  Device *d = w->device;
  g_autofree gchar *device = g_strdup (d->shown); /* who is retired may be gone */
  g_mutex_lock (&s->lock);
  *outer = release_worker (w, error);
  lost = failed && !d->retired;
  if (lost) {
    g_info ("device %s failed and is not used any more: %s", d->shown, error->message);
    retire_device (s, d);
  }
  any = s->devices->len > 0;
  empty = s->empty;
  again = failed && (any || empty != NULL);
  if (again)
    g_queue_push_head (&s->waiting, *outer);
  g_mutex_unlock (&s->lock);
  if (lost)
    axon_candidates_lose (s, device, error);
  if (again && !any && !empty (error, s->empty_data)) {
    g_mutex_lock (&s->lock);
    again = !g_queue_remove (&s->waiting, *outer);
    g_mutex_unlock (&s->lock);
  }
  return again;
}

static void
end_job (Worker *w, GError *error)
{
  g_autoptr (AxonScheduler) s = axon_scheduler_ref (w->scheduler);
  AxonInferRequest *outer;
  gboolean again;
  if (error == NULL)
    axon_infer_request_gather (w->outer, w->inner, &error);
  else
    axon_infer_request_unbind (w->inner);
  again = release_or_retry (s, w, error, &outer);
  pump (s);
  bury (s);
  if (again) {
    g_error_free (error);
    return;
  }
  if (error == NULL)
    axon_infer_request_finish_outputs (outer, &error);
  axon_infer_request_complete (outer, error);
}

void
axon_scheduler_add (AxonScheduler *s, const gchar *device, const gchar *shown,
                    AxonCompiledModel *compiled, guint n_workers)
{
  Device *d = g_new0 (Device, 1);
  g_autoptr (GVariant) optimal =
      axon_compiled_model_get_property (compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", NULL);
  guint at;
  d->name = g_strdup (device);
  d->shown = g_strdup (shown);
  d->place = axon_returns_place (s->returns, shown);
  d->compiled = g_object_ref (compiled);
  d->n_workers = n_workers > 0 ? n_workers : optimal ? (guint)g_variant_get_int32 (optimal) : 1;
  d->idle = g_ptr_array_new ();
  for (guint i = 0; i < d->n_workers; i++) {
    Worker *w = g_new0 (Worker, 1);
    w->scheduler = s;
    w->device = d;
    w->inner = axon_compiled_model_create_infer_request (compiled);
    axon_infer_request_set_direct_callback (w->inner, on_worker_done, w);
    g_ptr_array_add (d->idle, w);
  }
  g_mutex_lock (&s->lock);
  for (guint i = 0; i < d->n_workers; i++)
    g_ptr_array_add (s->workers, g_ptr_array_index (d->idle, i));
  at = s->devices->len;
  while (at > 0 && ((Device *)s->devices->pdata[at - 1])->place > d->place)
    at--;
  g_ptr_array_insert (s->devices, (gint)at, d);
  g_mutex_unlock (&s->lock);
  pump (s);
}

void
axon_scheduler_retire (AxonScheduler *s, const gchar *shown)
{
  g_mutex_lock (&s->lock);
  for (guint i = s->devices->len; i-- > 0;) {
    Device *d = g_ptr_array_index (s->devices, i);
    if (g_str_equal (d->shown, shown))
      retire_device (s, d);
  }
  g_mutex_unlock (&s->lock);
  bury (s);
}

void
axon_scheduler_fail (AxonScheduler *s, const GError *error)
{
  AxonInferRequest *outer;
  do {
    g_mutex_lock (&s->lock);
    outer = g_queue_pop_head (&s->waiting);
    g_mutex_unlock (&s->lock);
    if (outer != NULL)
      axon_infer_request_complete (outer, g_error_copy (error));
  } while (outer != NULL);
}

static gboolean
check_place (AxonScheduler *s, AxonInferRequest *outer, GError **error)
{
  gboolean any = s->devices->len == 0;
  for (guint i = 0; i < s->devices->len && !any; i++)
    any = suits (g_ptr_array_index (s->devices, i), outer);
  if (!any)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("an input lies in memory of a device that does not run this model"));
  return any;
}

gboolean
axon_scheduler_start (AxonScheduler *s, AxonInferRequest *request, GError **error)
{
  Worker *w = NULL;
  gboolean ok;
  g_mutex_lock (&s->lock);
  ok = check_place (s, request, error);
  if (ok && s->devices->len == 0 && s->empty == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("no device is left that runs the model"));
    ok = FALSE;
  }
  if (ok) {
    w = g_queue_is_empty (&s->waiting) ? take (s, request) : NULL;
    if (w == NULL)
      g_queue_push_tail (&s->waiting, request);
  }
  g_mutex_unlock (&s->lock);
  if (w != NULL)
    run_job (w);
  return ok;
}

void
axon_scheduler_cancel (AxonScheduler *s, AxonInferRequest *request)
{
  g_autoptr (AxonInferRequest) inner = NULL;
  gboolean waited;
  g_mutex_lock (&s->lock);
  waited = g_queue_remove (&s->waiting, request);
  for (guint i = 0; i < s->workers->len && !waited && inner == NULL; i++) {
    Worker *w = g_ptr_array_index (s->workers, i);
    if (w->outer == request)
      inner = g_object_ref (w->inner);
  }
  g_mutex_unlock (&s->lock);
  if (waited)
    axon_infer_request_complete (request, NULL); /* says that it was cancelled */
  else if (inner != NULL)
    axon_infer_request_cancel (inner);
}
