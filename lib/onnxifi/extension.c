/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two functions of ONNXIFI's extension header. */
#include "graph.h"

#include <string.h>

#define FUNCTION(name)                                                                             \
  {                                                                                                \
#name, (onnxExtensionFunctionPointer)name                                                      \
  }

static const struct {
  const gchar *name;
  onnxExtensionFunctionPointer function;
} functions[] = { FUNCTION (onnxGetExtensionFunctionAddress), FUNCTION (onnxSetIOAndRunGraph) };

onnxStatus
onnxGetExtensionFunctionAddress (onnxBackendID backendID, const char *name,
                                 onnxExtensionFunctionPointer *function)
{
  BackendID *id;
  if (function != NULL)
    *function = NULL;
  if (function == NULL || name == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  id = backend_id_find (backendID);
  if (id == NULL)
    return ONNXIFI_STATUS_INVALID_ID;
  object_unref (id);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (g_str_equal (functions[i].name, name))
      *function = functions[i].function;
  return *function ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_UNIDENTIFIED_NAME;
}

onnxStatus
onnxSetIOAndRunGraph (onnxGraph graph, uint32_t inputsCount,
                      const onnxTensorDescriptorV1 *inputDescriptors, uint32_t outputsCount,
                      const onnxTensorDescriptorV1 *outputDescriptors,
                      onnxMemoryFenceV1 *outputFence)
{
  onnxStatus status;
  GraphIO *io = NULL;
  Graph *self;
  Event *now;
  if (outputFence == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  status = fence_check (outputFence);
  if (status != ONNXIFI_STATUS_SUCCESS)
    return status;
  outputFence->event = NULL;
  self = handle_find (OBJECT_GRAPH, graph);
  if (self == NULL)
    return ONNXIFI_STATUS_INVALID_GRAPH;
  status = graph_set_io (self, inputsCount, inputDescriptors, outputsCount, outputDescriptors, &io);
  now = event_new (TRUE);
  event_signal (now, TRUE);
  if (status == ONNXIFI_STATUS_SUCCESS)
    graph_run (self, io, now, outputFence);
  object_unref (now);
  object_unref (self);
  return status;
}
