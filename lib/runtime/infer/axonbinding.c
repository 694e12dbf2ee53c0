/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bindings as a device sees them: always dense tensors that it can reach. Regions, batches and
 * memory of other kinds are copied at each run. */
#include "../../tensor/axontensorview-private.h"
#include "../../tensor/axontensor-private.h"
#include "axonwatchdog-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

/* Sequences and optionals that axon_tensor_new() made are not filled. */
static gboolean
check_items (AxonInferRequest *r, guint index, const AxonTensor *t, GError **error)
{
  AxonDType dtype = axon_tensor_get_dtype (t);
  gsize n =
      dtype == AXON_DTYPE_SEQUENCE || dtype == AXON_DTYPE_OPTIONAL ? axon_tensor_get_numel (t) : 0;
  for (gsize i = 0; i < n; i++)
    if (axon_tensor_get_item (t, i) == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   _ ("input \"%s\": item %u of its %s is missing"),
                   axon_compiled_model_get_input_name (r->compiled, index), (guint)i,
                   axon_dtype_get_name (dtype));
      return FALSE;
    }
  return TRUE;
}

gboolean
axon_infer_request_check_bound (AxonInferRequest *r, GError **error)
{
  for (guint i = 0; i < r->n_inputs; i++) {
    const AxonBinding *b = &r->inputs[i];
    if (b->tensor != NULL && !check_items (r, i, b->tensor, error))
      return FALSE;
    if (b->tensor == NULL && b->batch == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("input \"%s\" has no tensor"),
                   axon_compiled_model_get_input_name (r->compiled, i));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
is_plain (const AxonTensor *tensor)
{
  return axon_tensor_is_contiguous (tensor) && !axon_tensor_is_remote (tensor);
}

/* What the application may free is not shown to a device that may be left alone with it. */
static gboolean
can_show (const AxonInferRequest *r, const AxonTensor *tensor)
{
  return is_plain (tensor) && (axon_watchdog_timeout (r) == 0 || !axon_tensor_is_borrowed (tensor));
}

/* b->dense of @shape, kept from run to run. */
static AxonTensor *
dense_for (AxonInferRequest *r, AxonBinding *b, AxonDType dtype, const AxonShape *shape,
           GError **error)
{
  if (b->dense == NULL || !axon_shape_equal (axon_tensor_get_shape (b->dense), shape)) {
    g_clear_pointer (&b->dense, axon_tensor_unref);
    b->dense = axon_compiled_model_new_tensor (r->compiled, dtype, shape, error);
  }
  return b->dense;
}

static gboolean
gather_batch (AxonInferRequest *r, AxonBinding *b, GError **error)
{
  AxonTensor *first = g_ptr_array_index (b->batch, 0);
  AxonShape shape = *axon_tensor_get_shape (first), begin = { .rank = shape.rank }, size = shape;
  AxonTensor *dense;
  shape.dims[0] = b->batch->len;
  dense = dense_for (r, b, axon_tensor_get_dtype (first), &shape, error);
  for (guint i = 0; dense != NULL && i < b->batch->len; i++) {
    g_autoptr (AxonTensor) part = NULL;
    begin.dims[0] = i;
    part = axon_tensor_new_roi (dense, &begin, &size, error);
    if (part == NULL || !axon_tensor_copy_to (g_ptr_array_index (b->batch, i), part, error))
      return FALSE;
  }
  return dense != NULL;
}

static gboolean
reach_input (AxonInferRequest *r, AxonBinding *b, GError **error)
{
  AxonTensor *t = b->tensor;
  if (axon_tensor_is_remote (t) && axon_tensor_is_contiguous (t)) {
    if (axon_compiled_model_accepts_remote (r->compiled))
      return TRUE;
    g_clear_pointer (&b->dense, axon_tensor_unref);
    b->dense = axon_tensor_map_remote (t);
    if (b->dense != NULL)
      return TRUE;
  }
  return dense_for (r, b, axon_tensor_get_dtype (t), axon_tensor_get_shape (t), error) != NULL &&
         axon_tensor_copy_to (t, b->dense, error);
}

/* First stage of a run: everything that is not dense host memory already. */
gboolean
axon_infer_request_prepare_inputs (AxonInferRequest *r, GError **error)
{
  for (guint i = 0; i < r->n_inputs; i++) {
    AxonBinding *b = &r->inputs[i];
    if (b->batch != NULL ? !gather_batch (r, b, error)
                         : !can_show (r, b->tensor) && !reach_input (r, b, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
axon_infer_request_finish_outputs (AxonInferRequest *r, GError **error)
{
  for (guint i = 0; i < r->n_outputs; i++) {
    AxonBinding *b = &r->outputs[i];
    if (b->is_own && b->dense != NULL && !axon_tensor_copy_to (b->dense, b->tensor, error))
      return FALSE;
  }
  return TRUE;
}

AxonTensor *
axon_infer_request_peek_input (AxonInferRequest *request, guint index)
{
  AxonBinding *b = &request->inputs[index];
  return b->dense ? b->dense : b->tensor;
}

AxonTensor *
axon_infer_request_peek_output (AxonInferRequest *request, guint index)
{
  AxonBinding *b = &request->outputs[index];
  return b->is_own && b->dense ? b->dense : b->tensor;
}

AxonCompiledModel *
axon_infer_request_get_compiled_model (AxonInferRequest *request)
{
  return request->compiled;
}

/* The tensor that the user set for an output; NULL: none. */
AxonTensor *
axon_infer_request_peek_own_output (AxonInferRequest *request, guint index)
{
  AxonBinding *b = &request->outputs[index];
  return b->is_own ? b->tensor : NULL;
}

AxonTensor *
axon_infer_request_prepare_output (AxonInferRequest *request, guint index, const AxonShape *shape,
                                   GError **error)
{
  AxonBinding *b = &request->outputs[index];
  AxonDType dtype = axon_compiled_model_get_output_dtype (request->compiled, index);
  gboolean fits = b->tensor != NULL && axon_shape_equal (axon_tensor_get_shape (b->tensor), shape);
  if (b->is_own && !fits) {
    axon_infer_request_check_tensor (N_ ("output"),
                                     axon_compiled_model_get_output_name (request->compiled, index),
                                     dtype, shape, b->tensor, error);
    return NULL;
  }
  if (b->is_own && is_plain (b->tensor) && axon_watchdog_timeout (request) == 0)
    return b->tensor;
  if (b->is_own && axon_tensor_is_remote (b->tensor) &&
      axon_compiled_model_accepts_remote (request->compiled) &&
      axon_tensor_is_contiguous (b->tensor)) {
    g_clear_pointer (&b->dense, axon_tensor_unref);
    return b->tensor;
  }
  if (b->is_own)
    return dense_for (request, b, dtype, shape, error);
  if (fits && !axon_tensor_is_shared (b->tensor))
    return b->tensor;
  g_clear_pointer (&b->tensor, axon_tensor_unref);
  b->tensor = axon_compiled_model_new_tensor (request->compiled, dtype, shape, error);
  return b->tensor;
}

gboolean
axon_infer_request_take_output (AxonInferRequest *request, guint index, AxonTensor *tensor,
                                GError **error)
{
  g_autoptr (AxonTensor) owned = tensor;
  AxonBinding *b = &request->outputs[index];
  if (b->is_own)
    return b->tensor == tensor || b->dense == tensor ||
           axon_tensor_copy_to (tensor, b->tensor, error);
  g_clear_pointer (&b->tensor, axon_tensor_unref);
  b->tensor = g_steal_pointer (&owned);
  return TRUE;
}

/* Gives the result away, so that the next run makes a new one: for requests behind requests. */
AxonTensor *
axon_infer_request_steal_output (AxonInferRequest *request, guint index)
{
  AxonBinding *b = &request->outputs[index];
  return b->is_own && b->tensor ? axon_tensor_ref (b->tensor) : g_steal_pointer (&b->tensor);
}

void
axon_infer_request_unbind_inputs (AxonInferRequest *request)
{
  for (guint i = 0; i < request->n_inputs; i++)
    axon_binding_clear (&request->inputs[i]);
}

void
axon_infer_request_unbind (AxonInferRequest *request)
{
  if (!axon_infer_request_check_idle (request, NULL))
    return; /* a call that was abandoned reads it */
  axon_infer_request_unbind_inputs (request);
  for (guint i = 0; i < request->n_outputs; i++)
    if (request->outputs[i].is_own) {
      axon_binding_clear (&request->outputs[i]);
      request->outputs[i].is_own = FALSE;
    }
}
