/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A request that another one runs for: virtual devices. Tensors are handed on, not copied. */
#include "../runtime/infer/axoninferrequest-private.h"
#include <axon/plugin/axonscheduler.h>

gboolean
axon_infer_request_forward (AxonInferRequest *outer, AxonInferRequest *inner, GError **error)
{
  for (guint i = 0; i < outer->n_inputs; i++)
    if (!axon_infer_request_set_input_tensor (inner, i, axon_infer_request_peek_input (outer, i),
                                              error))
      return FALSE;
  for (guint i = 0; i < outer->n_outputs; i++) {
    const AxonShape *shape = axon_compiled_model_get_output_shape (outer->compiled, i);
    AxonTensor *t = axon_infer_request_peek_own_output (outer, i);
    if (t == NULL && axon_shape_is_static (shape)) {
      t = axon_infer_request_prepare_output (outer, i, shape, error);
      if (t == NULL)
        return FALSE;
    }
    if (t != NULL && !axon_infer_request_set_output_tensor (inner, i, t, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
axon_infer_request_gather (AxonInferRequest *outer, AxonInferRequest *inner, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < outer->n_outputs; i++) {
    AxonTensor *result = axon_infer_request_steal_output (inner, i);
    ok = result == NULL || axon_infer_request_take_output (outer, i, result, error);
  }
  axon_infer_request_set_profiling (outer, 0, NULL, NULL);
  axon_infer_request_add_profiling (outer, "", inner);
  axon_infer_request_unbind (inner);
  return ok;
}
