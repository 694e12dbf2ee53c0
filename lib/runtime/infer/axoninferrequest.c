/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Infer request: bindings and the state machine of a run.
 *
 * Threads: one user at a time, except wait and cancel, which any thread may call. A run holds the
 * request until its callback has returned. `wait` returns after the callback has; started and
 * finished count runs, so a start from inside the callback is waited for separately. */
#include "axoninferrequest.h"
#include "../../base/axontrace-private.h"

/**
 * AxonInferRequest:
 *
 * One run of a compiled model at a time: inputs, outputs, start, wait.
 *
 * Since: 1.0
 */
struct _AxonInferRequest {
  GObject parent_instance;
  AxonCompiledModel *compiled;
  guint n_inputs, n_outputs;
  AxonTensor **inputs;
  AxonTensor **outputs;    /* result of the last run, or the user's */
  gboolean *output_is_own; /* set by the user: written in place */
  gint cancelled;          /* atomic */

  GArray *profiling; /* AxonProfilingInfo, of the last run */

  GMutex lock;
  GCond idle;
  gboolean busy;                  /* lock: between start and the callback */
  guint64 started, finished;      /* lock */
  GError *error;                  /* lock: of the last run */
  AxonInferCallback callback;     /* lock */
  gpointer callback_data;         /* lock */
  GDestroyNotify callback_notify; /* lock */
};

G_DEFINE_TYPE (AxonInferRequest, axon_infer_request, G_TYPE_OBJECT)

enum { PROP_COMPILED_MODEL = 1 };

static void
axon_infer_request_init (AxonInferRequest *r)
{
  g_mutex_init (&r->lock);
  g_cond_init (&r->idle);
  r->profiling = g_array_new (FALSE, FALSE, sizeof (AxonProfilingInfo));
}

static void
axon_infer_request_set_property (GObject *object, G_GNUC_UNUSED guint id, const GValue *value,
                                 G_GNUC_UNUSED GParamSpec *pspec)
{
  AxonInferRequest *r = AXON_INFER_REQUEST (object);
  r->compiled = g_value_dup_object (value);
  r->n_inputs = axon_compiled_model_get_n_inputs (r->compiled);
  r->n_outputs = axon_compiled_model_get_n_outputs (r->compiled);
  r->inputs = g_new0 (AxonTensor *, r->n_inputs + 1);
  r->outputs = g_new0 (AxonTensor *, r->n_outputs + 1);
  r->output_is_own = g_new0 (gboolean, r->n_outputs + 1);
}

static void
axon_infer_request_finalize (GObject *object)
{
  AxonInferRequest *r = AXON_INFER_REQUEST (object);
  for (guint i = 0; i < r->n_inputs; i++)
    g_clear_pointer (&r->inputs[i], axon_tensor_unref);
  for (guint i = 0; i < r->n_outputs; i++)
    g_clear_pointer (&r->outputs[i], axon_tensor_unref);
  g_free (r->inputs);
  g_free (r->outputs);
  g_free (r->output_is_own);
  g_array_unref (r->profiling);
  g_clear_error (&r->error);
  if (r->callback_notify != NULL)
    r->callback_notify (r->callback_data);
  g_mutex_clear (&r->lock);
  g_cond_clear (&r->idle);
  g_clear_object (&r->compiled);
  G_OBJECT_CLASS (axon_infer_request_parent_class)->finalize (object);
}

static void
axon_infer_request_class_init (AxonInferRequestClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = axon_infer_request_set_property;
  object_class->finalize = axon_infer_request_finalize;
  g_object_class_install_property (
      object_class, PROP_COMPILED_MODEL,
      g_param_spec_object ("compiled-model", "Compiled model", "The model that this request runs",
                           AXON_TYPE_COMPILED_MODEL,
                           G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

static gboolean
check_idle (AxonInferRequest *r, GError **error)
{
  gboolean busy;
  g_mutex_lock (&r->lock);
  busy = r->busy;
  g_mutex_unlock (&r->lock);
  if (busy)
    g_set_error (error, AXON_ERROR, AXON_ERROR_BUSY, "the request is running");
  return !busy;
}

static gboolean
check_tensor (const gchar *what, const gchar *name, AxonDType dtype, const AxonShape *shape,
              const AxonTensor *tensor, GError **error)
{
  g_autofree gchar *expected = axon_shape_to_string (shape);
  g_autofree gchar *got = axon_shape_to_string (axon_tensor_get_shape (tensor));
  if (axon_tensor_get_dtype (tensor) == dtype &&
      axon_shape_accepts (shape, axon_tensor_get_shape (tensor)))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "%s \"%s\": expected %s%s, got %s%s", what,
               name, axon_dtype_get_name (dtype), expected,
               axon_dtype_get_name (axon_tensor_get_dtype (tensor)), got);
  return FALSE;
}

/**
 * axon_infer_request_set_input_tensor:
 * @request: a request
 * @index: an input
 * @tensor: its value; read at each run, never written
 * @error: return location
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where type or shape differ from the port's,
 *   %AXON_ERROR_BUSY while the request runs
 *
 * Since: 1.0
 */
gboolean
axon_infer_request_set_input_tensor (AxonInferRequest *request, guint index, AxonTensor *tensor,
                                     GError **error)
{
  g_return_val_if_fail (index < request->n_inputs && tensor != NULL, FALSE);
  if (!check_idle (request, error) ||
      !check_tensor ("input", axon_compiled_model_get_input_name (request->compiled, index),
                     axon_compiled_model_get_input_dtype (request->compiled, index),
                     axon_compiled_model_get_input_shape (request->compiled, index), tensor, error))
    return FALSE;
  axon_tensor_ref (tensor);
  g_clear_pointer (&request->inputs[index], axon_tensor_unref);
  request->inputs[index] = tensor;
  return TRUE;
}

/**
 * axon_infer_request_set_output_tensor:
 * @request: a request
 * @index: an output
 * @tensor: where later runs write this output
 * @error: return location
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where type or shape differ from the port's,
 *   %AXON_ERROR_BUSY while the request runs
 *
 * Since: 1.0
 */
gboolean
axon_infer_request_set_output_tensor (AxonInferRequest *request, guint index, AxonTensor *tensor,
                                      GError **error)
{
  g_return_val_if_fail (index < request->n_outputs && tensor != NULL, FALSE);
  if (!check_idle (request, error) ||
      !check_tensor ("output", axon_compiled_model_get_output_name (request->compiled, index),
                     axon_compiled_model_get_output_dtype (request->compiled, index),
                     axon_compiled_model_get_output_shape (request->compiled, index), tensor,
                     error))
    return FALSE;
  axon_tensor_ref (tensor);
  g_clear_pointer (&request->outputs[index], axon_tensor_unref);
  request->outputs[index] = tensor;
  request->output_is_own[index] = TRUE;
  return TRUE;
}

/**
 * axon_infer_request_get_input_tensor:
 * @request: a request
 * @index: an input
 *
 * Returns: (transfer full) (nullable): the bound tensor
 *
 * Since: 1.0
 */
AxonTensor *
axon_infer_request_get_input_tensor (AxonInferRequest *request, guint index)
{
  g_return_val_if_fail (index < request->n_inputs, NULL);
  return request->inputs[index] ? axon_tensor_ref (request->inputs[index]) : NULL;
}

/**
 * axon_infer_request_get_output_tensor:
 * @request: a request
 * @index: an output
 *
 * Returns: (transfer full) (nullable): the result of the last run. While the reference is held,
 * later runs write elsewhere, unless it is a tensor from axon_infer_request_set_output_tensor().
 *
 * Since: 1.0
 */
AxonTensor *
axon_infer_request_get_output_tensor (AxonInferRequest *request, guint index)
{
  g_return_val_if_fail (index < request->n_outputs, NULL);
  return request->outputs[index] ? axon_tensor_ref (request->outputs[index]) : NULL;
}

static gboolean
check_bound (AxonInferRequest *r, GError **error)
{
  for (guint i = 0; i < r->n_inputs; i++)
    if (r->inputs[i] == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "input \"%s\" has no tensor",
                   axon_compiled_model_get_input_name (r->compiled, i));
      return FALSE;
    }
  return TRUE;
}

/* Ends a run: state first, so that the callback may start again; then those who wait. */
static void
finish (AxonInferRequest *r, GError *error)
{
  AxonInferCallback callback;
  gpointer data;
  g_autoptr (GError) for_callback = error ? g_error_copy (error) : NULL;
  g_mutex_lock (&r->lock);
  g_clear_error (&r->error);
  r->error = error;
  r->busy = FALSE;
  callback = r->callback;
  data = r->callback_data;
  g_mutex_unlock (&r->lock);
  if (callback != NULL)
    callback (r, for_callback, data);
  g_mutex_lock (&r->lock);
  r->finished++;
  g_cond_broadcast (&r->idle);
  g_mutex_unlock (&r->lock);
  g_object_unref (r);
}

static void
run (guint stream, gpointer user_data)
{
  AxonInferRequest *r = user_data;
  GError *error = NULL;
  gboolean ok = FALSE;
  AXON_TRACE_BEGIN (start);
  if (!g_atomic_int_get (&r->cancelled))
    ok = AXON_COMPILED_MODEL_GET_CLASS (r->compiled)->infer (r->compiled, r, stream, &error);
  if (g_atomic_int_get (&r->cancelled)) {
    g_clear_error (&error);
    g_set_error (&error, AXON_ERROR, AXON_ERROR_CANCELLED, "inference was cancelled");
  }
  g_assert (ok || error != NULL);
  AXON_TRACE_END (start, "infer", NULL);
  finish (r, error);
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
  gboolean busy;
  if (!check_bound (request, error))
    return FALSE;
  g_mutex_lock (&request->lock);
  busy = request->busy;
  if (!busy) {
    request->busy = TRUE;
    request->started++;
    g_atomic_int_set (&request->cancelled, FALSE);
  }
  g_mutex_unlock (&request->lock);
  if (busy) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_BUSY, "the request is running");
    return FALSE;
  }
  axon_executor_run (axon_compiled_model_get_executor (request->compiled), run,
                     g_object_ref (request));
  return TRUE;
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
 * Runs and waits. The callback is not called.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
axon_infer_request_infer (AxonInferRequest *request, GError **error)
{
  AxonInferCallback callback;
  gboolean ok;
  if (!check_idle (request, error))
    return FALSE;
  g_mutex_lock (&request->lock);
  callback = request->callback;
  request->callback = NULL;
  g_mutex_unlock (&request->lock);
  ok = axon_infer_request_start_async (request, error) && axon_infer_request_wait (request, error);
  g_mutex_lock (&request->lock);
  request->callback = callback;
  g_mutex_unlock (&request->lock);
  return ok;
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
  g_mutex_lock (&request->lock);
  if (request->busy)
    g_atomic_int_set (&request->cancelled, TRUE);
  g_mutex_unlock (&request->lock);
}

/**
 * axon_infer_request_set_callback:
 * @request: an idle request
 * @callback: (nullable) (scope notified): what to call at the end of each asynchronous run
 * @user_data: for @callback
 * @notify: (nullable): called with @user_data when it is no longer needed
 *
 * Since: 1.0
 */
void
axon_infer_request_set_callback (AxonInferRequest *request, AxonInferCallback callback,
                                 gpointer user_data, GDestroyNotify notify)
{
  GDestroyNotify old_notify;
  gpointer old_data;
  g_mutex_lock (&request->lock);
  old_notify = request->callback_notify;
  old_data = request->callback_data;
  request->callback = callback;
  request->callback_data = user_data;
  request->callback_notify = notify;
  g_mutex_unlock (&request->lock);
  if (old_notify != NULL)
    old_notify (old_data);
}

/**
 * axon_infer_request_get_n_profiling:
 * @request: an idle request
 *
 * Returns: rows of the last run's profile; 0 unless compiled with `PERF_COUNT`
 *
 * Since: 1.0
 */
guint
axon_infer_request_get_n_profiling (AxonInferRequest *request)
{
  return request->profiling->len;
}

/**
 * axon_infer_request_get_profiling: (skip)
 * @request: an idle request
 * @index: a row, in execution order
 *
 * Returns: (transfer none): the row; valid until the next run
 *
 * Since: 1.0
 */
const AxonProfilingInfo *
axon_infer_request_get_profiling (AxonInferRequest *request, guint index)
{
  g_return_val_if_fail (index < request->profiling->len, NULL);
  return &g_array_index (request->profiling, AxonProfilingInfo, index);
}

AxonTensor *
axon_infer_request_peek_input (AxonInferRequest *request, guint index)
{
  return request->inputs[index];
}

/* The user's tensor, or the last one where nobody else holds it, or a new one. */
AxonTensor *
axon_infer_request_prepare_output (AxonInferRequest *request, guint index, const AxonShape *shape,
                                   GError **error)
{
  AxonTensor *t = request->outputs[index];
  AxonDType dtype = axon_compiled_model_get_output_dtype (request->compiled, index);
  gboolean fits = t != NULL && axon_shape_equal (axon_tensor_get_shape (t), shape);
  if (request->output_is_own[index] && !fits) {
    check_tensor ("output", axon_compiled_model_get_output_name (request->compiled, index), dtype,
                  shape, t, error);
    return NULL;
  }
  if (request->output_is_own[index] || (fits && !axon_tensor_is_shared (t)))
    return t;
  g_clear_pointer (&request->outputs[index], axon_tensor_unref);
  request->outputs[index] = axon_tensor_new (dtype, shape, error);
  return request->outputs[index];
}

/* Takes @tensor (transfer full) as the result; copies it where the user set one. */
void
axon_infer_request_take_output (AxonInferRequest *request, guint index, AxonTensor *tensor)
{
  if (request->output_is_own[index]) {
    memcpy (
        axon_tensor_get_data (request->outputs[index]), axon_tensor_get_data (tensor),
        MIN (axon_tensor_get_n_bytes (tensor), axon_tensor_get_n_bytes (request->outputs[index])));
    axon_tensor_unref (tensor);
    return;
  }
  g_clear_pointer (&request->outputs[index], axon_tensor_unref);
  request->outputs[index] = tensor;
}

gboolean
axon_infer_request_is_cancelled (AxonInferRequest *request)
{
  return g_atomic_int_get (&request->cancelled);
}

void
axon_infer_request_set_profiling (AxonInferRequest *request, guint n, const AxonProfilingInfo *info,
                                  const gdouble *times)
{
  g_array_set_size (request->profiling, n);
  for (guint i = 0; i < n; i++) {
    AxonProfilingInfo *row = &g_array_index (request->profiling, AxonProfilingInfo, i);
    *row = info[i];
    row->real_time_us = times[i];
  }
}
