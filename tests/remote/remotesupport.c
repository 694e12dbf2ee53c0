/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remotesupport.h"

#include <string.h>

static gchar *
config_text (InferenceServer *server, const gchar *more)
{
  g_autofree gchar *url = inference_server_url (server);
  return g_strdup_printf ("{%s 'URL': <'%s'>, 'REMOTE_MODEL': <'m'>}", more, url);
}

GVariant *
remote_config (InferenceServer *server, const gchar *more)
{
  g_autofree gchar *text = config_text (server, more);
  return g_variant_new_parsed (text);
}

GVariant *
remote_config_behind (InferenceServer *server, const gchar *more)
{
  g_autofree gchar *own = config_text (server, more);
  g_autofree gchar *text = g_strdup_printf ("{'DEVICE_PROPERTIES_REMOTE': <%s>}", own);
  return g_variant_new_parsed (text);
}

AxonCompiledModel *
remote_compile (AxonModel *model, const gchar *device, InferenceServer *server, const gchar *more)
{
  g_autoptr (GError) error = NULL;
  gboolean behind = strchr (device, ':') != NULL;
  AxonCompiledModel *compiled = axon_core_compile_model (
      axon_core_get_default (), model, device,
      behind ? remote_config_behind (server, more) : remote_config (server, more), NULL, NULL, NULL,
      &error);
  g_assert_no_error (error);
  return compiled;
}

AxonTensor *
remote_run (AxonCompiledModel *compiled, AxonTensor *in, GError **error)
{
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GError) failed = NULL;
  axon_infer_request_set_input_tensor (request, 0, in, &failed);
  g_assert_no_error (failed);
  if (axon_infer_request_infer (request, &failed))
    return axon_infer_request_get_output_tensor (request, 0);
  if (error == NULL)
    g_assert_no_error (failed);
  g_propagate_error (error, g_steal_pointer (&failed));
  return NULL;
}

void
remote_run_many (AxonCompiledModel *compiled, guint n_requests, guint n_rounds)
{
  AxonShape s = AXON_SHAPE (1, 4);
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < n_requests; i++) {
    g_ptr_array_add (requests, axon_compiled_model_create_infer_request (compiled));
    g_ptr_array_add (inputs, test_random (&s, i));
    axon_infer_request_set_input_tensor (requests->pdata[i], 0, inputs->pdata[i], NULL);
  }
  for (guint round = 0; round < n_rounds; round++) {
    for (guint i = 0; i < n_requests; i++) {
      axon_infer_request_start_async (requests->pdata[i], &error);
      g_assert_no_error (error);
    }
    for (guint i = 0; i < n_requests; i++) {
      g_autoptr (AxonTensor) out = NULL;
      axon_infer_request_wait (requests->pdata[i], &error);
      g_assert_no_error (error);
      out = axon_infer_request_get_output_tensor (requests->pdata[i], 0);
      for (gsize k = 0; k < 4; k++)
        g_assert_cmpfloat (axon_tensor_get_value (out, k), ==,
                           MAX (axon_tensor_get_value (inputs->pdata[i], k), 0));
    }
  }
}
