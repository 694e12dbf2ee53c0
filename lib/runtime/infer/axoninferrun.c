/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run of a request: a pipeline of (executor, stage), then the callback.
 *
 * A run holds its request until its callback has returned. `wait` returns after the callback has;
 * started and finished count runs, so a start from inside the callback is waited for separately.
 * The callback runs on the process's callback executor, so that a slow one holds no stream; a
 * direct one (requests behind requests) runs in the thread that ended the run. */
#include "axoninferrequest-private.h"
#include "axoncompiledmodel-private.h"
#include "axonwatchdog-private.h"
#include "../../base/axontrace-private.h"
#include "../../base/axonwork-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

typedef struct {
  AxonInferRequest *request;
  AxonInferCallback callback;
  gpointer data;
  GError *error;
} Ending;

static void
end_run (AxonInferRequest *r)
{
  g_mutex_lock (&r->lock);
  r->finished++;
  g_cond_broadcast (&r->idle);
  g_mutex_unlock (&r->lock);
  g_object_unref (r);
}

static void
call_back (G_GNUC_UNUSED guint stream, gpointer user_data)
{
  Ending *ending = user_data;
  ending->callback (ending->request, ending->error, ending->data);
  end_run (ending->request);
  g_clear_error (&ending->error);
  g_free (ending);
}

void
axon_infer_request_end (AxonInferRequest *r, GError *error)
{
  Ending ending = { .request = r };
  gboolean direct;
  if (g_atomic_int_get (&r->cancelled)) {
    g_clear_error (&error);
    axon_infer_request_goes_on (r, &error);
  }
  g_mutex_lock (&r->lock);
  g_clear_error (&r->error);
  r->error = error;
  r->busy = FALSE;
  direct = r->direct;
  if (!r->silent) {
    ending.callback = r->callback;
    ending.data = r->callback_data;
    ending.error = r->callback && error ? g_error_copy (error) : NULL;
  }
  r->silent = FALSE;
  g_mutex_unlock (&r->lock);
  if (ending.callback == NULL) {
    end_run (r);
  } else if (direct) {
    ending.callback (r, ending.error, ending.data);
    g_clear_error (&ending.error);
    end_run (r);
  } else {
    axon_executor_run (r->callback_executor, call_back, g_memdup2 (&ending, sizeof ending));
  }
}

void
axon_infer_request_complete (AxonInferRequest *r, GError *error)
{
  if (axon_watchdog_remove (r))
    return axon_infer_request_end (r, error);
  g_clear_error (&error);
  g_object_unref (r);
}

static void run_stage (guint stream, gpointer user_data);

static gboolean
is_cancelled (gpointer user_data)
{
  return g_atomic_int_get (&((AxonInferRequest *)user_data)->cancelled);
}

static gboolean
run_body (AxonInferRequest *r, AxonStageFunc func, guint stream, GError **error)
{
  guint n_stages = axon_compiled_model_get_n_stages (r->compiled);
  if (!axon_infer_request_goes_on (r, error))
    return FALSE;
  if (r->stage == 0 && !axon_infer_request_prepare_inputs (r, error))
    return FALSE;
  if (!func (r->compiled, r, stream, error))
    return FALSE;
  if (!axon_infer_request_goes_on (r, error)) /* a kernel may have seen it and stopped */
    return FALSE;
  if (r->stage + 1 == n_stages && !axon_watchdog_finish (r))
    return g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, _ ("too late")), FALSE;
  return r->stage + 1 < n_stages || axon_infer_request_finish_outputs (r, error);
}

static void
run_stage (guint stream, gpointer user_data)
{
  AxonInferRequest *r = user_data;
  const AxonWork work = { is_cancelled, r, axon_compiled_model_get_budget (r->compiled) };
  const AxonWork *before;
  GError *error = NULL;
  AxonStageFunc func;
  AxonExecutor *next;
  gboolean ok;
  AXON_TRACE_BEGIN (start);
  axon_compiled_model_get_stage (r->compiled, r->stage, &func);
  if (r->stage == 0)
    axon_watchdog_enter (r);
  before = axon_work_enter (&work);
  ok = run_body (r, func, stream, &error);
  axon_work_enter (before);
  g_assert (ok || error != NULL);
  AXON_TRACE_END (start, "infer", NULL);
  if (ok && ++r->stage < axon_compiled_model_get_n_stages (r->compiled)) {
    next = axon_compiled_model_get_stage (r->compiled, r->stage, &func);
    axon_executor_run (next, run_stage, r);
    return;
  }
  axon_infer_request_complete (r, error);
}

static gboolean
begin_run (AxonInferRequest *r, gboolean silent, GError **error)
{
  gboolean busy;
  if (!axon_watchdog_check_alive (r, error))
    return FALSE;
  g_mutex_lock (&r->lock);
  busy = r->busy || r->abandoned;
  if (!busy) {
    r->busy = TRUE;
    r->finishing = FALSE;
    r->silent = silent;
    r->started++;
    g_atomic_int_set (&r->cancelled, FALSE);
  }
  g_mutex_unlock (&r->lock);
  if (busy)
    g_set_error (error, AXON_ERROR, AXON_ERROR_BUSY, _ ("the request is running"));
  return !busy;
}

/* The plugin runs it itself; where it cannot, nothing was started. */
static gboolean
start_by_plugin (AxonInferRequest *r, GError **error)
{
  gboolean ok = axon_infer_request_prepare_inputs (r, error) &&
                AXON_COMPILED_MODEL_GET_CLASS (r->compiled)->start (r->compiled, r, error);
  if (ok)
    return TRUE;
  g_mutex_lock (&r->lock);
  r->busy = FALSE;
  r->silent = FALSE;
  r->finished++;
  g_cond_broadcast (&r->idle);
  g_mutex_unlock (&r->lock);
  g_object_unref (r);
  return FALSE;
}

/* @here: the caller waits for it, so its thread may do it */
static gboolean
start_run (AxonInferRequest *r, gboolean here, GError **error)
{
  AxonStageFunc func;
  AxonExecutor *executor;
  if (!axon_infer_request_check_bound (r, error) || !begin_run (r, here, error))
    return FALSE;
  g_object_ref (r);
  r->stage = 0;
  if (AXON_COMPILED_MODEL_GET_CLASS (r->compiled)->start != NULL)
    return start_by_plugin (r, error);
  axon_watchdog_add (r);
  executor = axon_compiled_model_get_stage (r->compiled, 0, &func);
  if (!here || axon_watchdog_timeout (r) > 0 || !axon_compiled_model_runs_in_caller (r->compiled) ||
      !axon_executor_try_run_here (executor, run_stage, r))
    axon_executor_run (executor, run_stage, r);
  return TRUE;
}

/**
 * axon_infer_request_start_async:
 * @request: a request with every input bound
 * @error: return location
 *
 * Starts a run and returns. The callback is called once if and only if this returns %TRUE.
 *
 * Returns: %TRUE if the run started; %AXON_ERROR_BUSY while another runs, %AXON_ERROR_ARGUMENT
 * where an input is not bound
 *
 * Since: 1.0
 */
gboolean
axon_infer_request_start_async (AxonInferRequest *request, GError **error)
{
  return start_run (request, FALSE, error);
}

/**
 * axon_infer_request_wait:
 * @request: a request
 * @error: return location
 *
 * Waits until the last run and its callback have ended; returns at once where none was started.
 *
 * Returns: %TRUE if the last run succeeded; else its error
 *
 * Since: 1.0
 */
gboolean
axon_infer_request_wait (AxonInferRequest *request, GError **error)
{
  gboolean done;
  return axon_infer_request_wait_for (request, G_MAXUINT, &done, error);
}

/**
 * axon_infer_request_wait_for:
 * @request: a request
 * @milliseconds: how long; %G_MAXUINT for ever
 * @done: (out): %FALSE if the time ran out
 * @error: return location
 *
 * Returns: %TRUE unless a run ended within the time and failed
 *
 * Since: 1.0
 */
gboolean
axon_infer_request_wait_for (AxonInferRequest *request, guint milliseconds, gboolean *done,
                             GError **error)
{
  gint64 end = g_get_monotonic_time () + (gint64)milliseconds * 1000;
  gboolean ok = TRUE;
  guint64 target;
  g_mutex_lock (&request->lock);
  target = request->started;
  *done = TRUE;
  while (*done && request->finished < target)
    if (milliseconds == G_MAXUINT)
      g_cond_wait (&request->idle, &request->lock);
    else
      *done =
          g_cond_wait_until (&request->idle, &request->lock, end) || request->finished >= target;
  if (*done && request->error != NULL) {
    ok = FALSE;
    if (error != NULL)
      *error = g_error_copy (request->error);
  }
  g_mutex_unlock (&request->lock);
  return ok;
}

/**
 * axon_infer_request_infer:
 * @request: a request with every input bound
 * @error: return location
 *
 * Runs and waits. The callback is not called. Where the device allows it and has a stream that is
 * not at work, the run takes place in the caller's thread.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
axon_infer_request_infer (AxonInferRequest *request, GError **error)
{
  return start_run (request, TRUE, error) && axon_infer_request_wait (request, error);
}

/**
 * axon_infer_request_cancel:
 * @request: a request
 *
 * Asks a running request to stop soon; it then fails with %AXON_ERROR_CANCELLED and can be started
 * again. Harmless when idle. Any thread.
 *
 * Since: 1.0
 */
void
axon_infer_request_cancel (AxonInferRequest *request)
{
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (request->compiled);
  gboolean running;
  g_mutex_lock (&request->lock);
  running = request->busy;
  if (running)
    g_atomic_int_set (&request->cancelled, TRUE);
  g_mutex_unlock (&request->lock);
  if (running)
    axon_watchdog_hurry (request);
  if (running && klass->cancel != NULL)
    klass->cancel (request->compiled, request);
}

static void
set_callback (AxonInferRequest *request, AxonInferCallback callback, gpointer user_data,
              GDestroyNotify notify, gboolean direct)
{
  GDestroyNotify old_notify;
  gpointer old_data;
  if (callback != NULL && !direct && request->callback_executor == NULL)
    request->callback_executor = axon_executor_manager_get ("axon-callback", 1);
  g_mutex_lock (&request->lock);
  old_notify = request->callback_notify;
  old_data = request->callback_data;
  request->callback = callback;
  request->callback_data = user_data;
  request->callback_notify = notify;
  request->direct = direct;
  g_mutex_unlock (&request->lock);
  if (old_notify != NULL)
    old_notify (old_data);
}

/**
 * axon_infer_request_set_callback:
 * @request: an idle request, or one whose callback this is called from
 * @callback: (nullable) (scope notified): what to call at the end of each asynchronous run
 * @user_data: for @callback
 * @notify: (nullable): called with @user_data when it is no longer needed
 *
 * Callbacks of all requests run one after another in a thread of their own: they may start this
 * request again, but must not wait for one.
 *
 * Since: 1.0
 */
void
axon_infer_request_set_callback (AxonInferRequest *request, AxonInferCallback callback,
                                 gpointer user_data, GDestroyNotify notify)
{
  set_callback (request, callback, user_data, notify, FALSE);
}

/**
 * axon_infer_request_set_direct_callback: (skip)
 * @request: a request
 * @callback: (nullable): called once per successful start; must not block
 * @user_data: for @callback
 *
 * As axon_infer_request_set_callback(), but in the thread of the device that ended the run, not in
 * that of callbacks.
 *
 * Since: 1.0
 */
void
axon_infer_request_set_direct_callback (AxonInferRequest *request, AxonInferCallback callback,
                                        gpointer user_data)
{
  set_callback (request, callback, user_data, NULL, TRUE);
}
