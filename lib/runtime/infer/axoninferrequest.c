/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Infer request: what its user binds and gets. What the device sees of it: axonbinding.c. The run
 * itself: axoninferrun.c.
 *
 * Threads: one user at a time, except wait and cancel, which any thread may call. */
#include "axoninferrequest-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

/**
 * AxonInferRequest:
 *
 * One run of a compiled model at a time: inputs, outputs, start, wait.
 *
 * Since: 1.0
 */
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
  r->inputs = g_new0 (AxonBinding, r->n_inputs + 1);
  r->outputs = g_new0 (AxonBinding, r->n_outputs + 1);
  if (AXON_COMPILED_MODEL_GET_CLASS (r->compiled)->init_request != NULL)
    AXON_COMPILED_MODEL_GET_CLASS (r->compiled)->init_request (r->compiled, r);
}

void
axon_binding_clear (AxonBinding *b)
{
  g_clear_pointer (&b->tensor, axon_tensor_unref);
  g_clear_pointer (&b->dense, axon_tensor_unref);
  g_clear_pointer (&b->batch, g_ptr_array_unref);
}

static void
axon_infer_request_finalize (GObject *object)
{
  AxonInferRequest *r = AXON_INFER_REQUEST (object);
  if (r->data_destroy != NULL)
    r->data_destroy (r->data);
  for (guint i = 0; i < r->n_inputs; i++)
    axon_binding_clear (&r->inputs[i]);
  for (guint i = 0; i < r->n_outputs; i++)
    axon_binding_clear (&r->outputs[i]);
  g_free (r->inputs);
  g_free (r->outputs);
  g_array_unref (r->profiling);
  g_clear_pointer (&r->names, g_string_chunk_free);
  g_clear_pointer (&r->callback_executor, axon_executor_unref);
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

gboolean
axon_infer_request_check_idle (AxonInferRequest *r, GError **error)
{
  gboolean busy;
  g_mutex_lock (&r->lock);
  busy = r->busy || r->abandoned;
  g_mutex_unlock (&r->lock);
  if (busy)
    g_set_error (error, AXON_ERROR, AXON_ERROR_BUSY, _ ("the request is running"));
  return !busy;
}

/* A tensor in a device's memory fits models of that device only. */
static gboolean
check_place (AxonInferRequest *r, const gchar *what, const gchar *name, const AxonTensor *tensor,
             GError **error)
{
  AxonRemoteContext *context = axon_remote_context_of_tensor (tensor);
  const gchar *device = axon_compiled_model_get_device_name (r->compiled);
  const gchar *theirs = context ? axon_remote_context_get_device_name (context) : NULL;
  gsize n = strlen (device);
  if (context == NULL || axon_compiled_model_accepts_any_place (r->compiled) ||
      (g_str_has_prefix (theirs, device) && (theirs[n] == '\0' || theirs[n] == '.')))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("%s \"%s\": the tensor lies in memory of %s, the model runs on %s; copy it with "
                  "axon_tensor_copy_to()"),
               _ (what), name, theirs, device);
  return FALSE;
}

gboolean
axon_infer_request_check_tensor (const gchar *what, const gchar *name, AxonDType dtype,
                                 const AxonShape *shape, const AxonTensor *tensor, GError **error)
{
  g_autofree gchar *expected = NULL;
  g_autofree gchar *got = NULL;
  if (axon_tensor_get_dtype (tensor) == dtype &&
      axon_shape_accepts (shape, axon_tensor_get_shape (tensor)))
    return TRUE;
  expected = axon_shape_to_string (shape);
  got = axon_shape_to_string (axon_tensor_get_shape (tensor));
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s \"%s\": expected %s%s, got %s%s"),
               _ (what), name, axon_dtype_get_name (dtype), expected,
               axon_dtype_get_name (axon_tensor_get_dtype (tensor)), got);
  return FALSE;
}

static gboolean
check_input (AxonInferRequest *r, guint index, const AxonTensor *tensor, GError **error)
{
  const gchar *name = axon_compiled_model_get_input_name (r->compiled, index);
  return axon_infer_request_check_idle (r, error) &&
         axon_infer_request_check_tensor (
             N_ ("input"), name, axon_compiled_model_get_input_dtype (r->compiled, index),
             axon_compiled_model_get_input_shape (r->compiled, index), tensor, error) &&
         check_place (r, N_ ("input"), name, tensor, error);
}

static gboolean
check_output (AxonInferRequest *r, guint index, const AxonTensor *tensor, GError **error)
{
  const gchar *name = axon_compiled_model_get_output_name (r->compiled, index);
  return axon_infer_request_check_idle (r, error) &&
         axon_infer_request_check_tensor (
             N_ ("output"), name, axon_compiled_model_get_output_dtype (r->compiled, index),
             axon_compiled_model_get_output_shape (r->compiled, index), tensor, error) &&
         check_place (r, N_ ("output"), name, tensor, error);
}

/**
 * axon_infer_request_set_input_tensor:
 * @request: a request
 * @index: an input
 * @tensor: its value, with whatever strides; read at each run, never written
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
  if (!check_input (request, index, tensor, error))
    return FALSE;
  axon_tensor_ref (tensor);
  axon_binding_clear (&request->inputs[index]);
  request->inputs[index].tensor = tensor;
  return TRUE;
}

static gboolean
check_batch (AxonInferRequest *r, guint index, AxonTensor *const *tensors, guint n, GError **error)
{
  const gchar *name = axon_compiled_model_get_input_name (r->compiled, index);
  AxonShape item = *axon_compiled_model_get_input_shape (r->compiled, index);
  const gchar *layout = axon_compiled_model_get_input_layout (r->compiled, index);
  if (item.rank < 1 || (layout != NULL && layout[0] != 'N')) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("input \"%s\": several tensors need a batch as first dimension, the layout is %s"), name,
        layout ? layout : "[]");
    return FALSE;
  }
  if (n == 0 || (item.dims[0] >= 0 && item.dims[0] != n)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("input \"%s\": expected %lld tensors, one for each of the batch, got %u"), name,
                 (long long)MAX (item.dims[0], 1), n);
    return FALSE;
  }
  item.dims[0] = 1;
  for (guint i = 0; i < n; i++) {
    if (!axon_infer_request_check_tensor (N_ ("input"), name,
                                          axon_compiled_model_get_input_dtype (r->compiled, index),
                                          &item, tensors[i], error))
      return FALSE;
    if (!axon_shape_equal (axon_tensor_get_shape (tensors[i]),
                           axon_tensor_get_shape (tensors[0]))) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   _ ("input \"%s\": tensor %u of the batch has another shape than the first"),
                   name, i);
      return FALSE;
    }
  }
  return TRUE;
}

/**
 * axon_infer_request_set_input_tensors:
 * @request: a request
 * @index: an input whose first dimension is the batch
 * @tensors: (array length=n_tensors): its parts, each with a batch of 1; read at each run
 * @n_tensors: as many as the model's batch
 * @error: return location
 *
 * Binds one tensor for each member of a batch. axon_infer_request_set_input_tensor() replaces them.
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where number, type, shape or layout do not fit,
 *   %AXON_ERROR_BUSY while the request runs
 *
 * Since: 1.0
 */
gboolean
axon_infer_request_set_input_tensors (AxonInferRequest *request, guint index, AxonTensor **tensors,
                                      guint n_tensors, GError **error)
{
  g_autoptr (GPtrArray) batch = NULL;
  g_return_val_if_fail (index < request->n_inputs, FALSE);
  if (!axon_infer_request_check_idle (request, error) ||
      !check_batch (request, index, tensors, n_tensors, error))
    return FALSE;
  if (n_tensors == 1)
    return axon_infer_request_set_input_tensor (request, index, tensors[0], error);
  batch = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (guint i = 0; i < n_tensors; i++)
    g_ptr_array_add (batch, axon_tensor_ref (tensors[i]));
  axon_binding_clear (&request->inputs[index]);
  request->inputs[index].batch = g_steal_pointer (&batch);
  return TRUE;
}

/**
 * axon_infer_request_set_output_tensor:
 * @request: a request
 * @index: an output
 * @tensor: where later runs write this output, with whatever strides
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
  if (!check_output (request, index, tensor, error))
    return FALSE;
  axon_tensor_ref (tensor);
  axon_binding_clear (&request->outputs[index]);
  request->outputs[index].tensor = tensor;
  request->outputs[index].is_own = TRUE;
  return TRUE;
}

/**
 * axon_infer_request_get_input_tensor:
 * @request: a request
 * @index: an input
 *
 * Where nothing is bound and the shape is known, binds a new tensor of zeros, to be written to.
 *
 * Returns: (transfer full) (nullable): the bound tensor; %NULL while the request runs, where
 * several tensors are bound, and where none is and the shape is free
 *
 * Since: 1.0
 */
AxonTensor *
axon_infer_request_get_input_tensor (AxonInferRequest *request, guint index)
{
  AxonBinding *b = &request->inputs[index];
  const AxonShape *shape;
  g_return_val_if_fail (index < request->n_inputs, NULL);
  if (!axon_infer_request_check_idle (request, NULL) || b->batch != NULL)
    return NULL;
  shape = axon_compiled_model_get_input_shape (request->compiled, index);
  if (b->tensor == NULL && axon_shape_is_static (shape)) {
    b->tensor = axon_compiled_model_new_tensor (
        request->compiled, axon_compiled_model_get_input_dtype (request->compiled, index), shape,
        NULL);
    if (b->tensor != NULL)
      memset (axon_tensor_get_data (b->tensor), 0, axon_tensor_get_n_bytes (b->tensor));
  }
  return b->tensor ? axon_tensor_ref (b->tensor) : NULL;
}

/**
 * axon_infer_request_get_output_tensor:
 * @request: a request
 * @index: an output
 *
 * Returns: (transfer full) (nullable): the result of the last run; %NULL while the request runs and
 * before the first run. While the reference is held, later runs write elsewhere, unless it is a
 * tensor from axon_infer_request_set_output_tensor().
 *
 * Since: 1.0
 */
AxonTensor *
axon_infer_request_get_output_tensor (AxonInferRequest *request, guint index)
{
  g_return_val_if_fail (index < request->n_outputs, NULL);
  if (!axon_infer_request_check_idle (request, NULL) || request->outputs[index].tensor == NULL)
    return NULL;
  return axon_tensor_ref (request->outputs[index].tensor);
}

gboolean
axon_infer_request_is_cancelled (AxonInferRequest *request)
{
  return g_atomic_int_get (&request->cancelled);
}

gboolean
axon_infer_request_goes_on (AxonInferRequest *request, GError **error)
{
  gboolean cancelled = g_atomic_int_get (&request->cancelled);
  if (cancelled)
    g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, _ ("inference was cancelled"));
  return !cancelled;
}

gpointer
axon_infer_request_get_data (AxonInferRequest *request)
{
  return request->data;
}

void
axon_infer_request_set_data (AxonInferRequest *request, gpointer data, GDestroyNotify destroy)
{
  request->data = data;
  request->data_destroy = destroy;
}
