/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the tensors of a graph lie. */
#include "graph.h"
#include "status.h"

static void
graph_io_free (gpointer data)
{
  GraphIO *io = data;
  for (guint i = 0; i < io->n_inputs; i++)
    g_clear_pointer (&io->inputs[i], axon_tensor_unref);
  for (guint i = 0; i < io->n_outputs; i++)
    g_clear_pointer (&io->outputs[i], axon_tensor_unref);
  g_free (io->inputs);
  g_free (io->outputs);
  g_free (io);
}

static GraphIO *
graph_io_new (const Graph *graph)
{
  GraphIO *io = g_new0 (GraphIO, 1);
  object_init (io, graph_io_free);
  io->n_inputs = axon_compiled_model_get_n_inputs (graph->compiled);
  io->n_outputs = axon_compiled_model_get_n_outputs (graph->compiled);
  io->inputs = g_new0 (AxonTensor *, io->n_inputs + 1);
  io->outputs = g_new0 (AxonTensor *, io->n_outputs + 1);
  g_queue_init (&io->waiting);
  return io;
}

/* The caller's memory; it stays the caller's. */
static onnxStatus
wrap (const Graph *graph, const onnxTensorDescriptorV1 *d, AxonDType dtype, const AxonShape *shape,
      AxonTensor **tensor)
{
  gsize n_bytes = (gsize)axon_shape_get_numel (shape) * axon_dtype_get_size (dtype);
  AxonRemoteContext *context = graph->backend->context;
  GError *error = NULL;
  if (d->memoryType == ONNXIFI_MEMORY_TYPE_CPU) {
    *tensor = axon_tensor_new_wrapped (dtype, shape, GSIZE_TO_POINTER ((gsize)d->buffer), n_bytes,
                                       NULL, NULL, &error);
    return *tensor ? ONNXIFI_STATUS_SUCCESS : status_of_device (error);
  }
  if (d->memoryType != ONNXIFI_MEMORY_TYPE_OPENCL_BUFFER || context == NULL)
    return ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE;
  *tensor = axon_remote_context_create_tensor (
      context, dtype, shape, g_variant_new_parsed ("{'MEM_HANDLE': <%t>}", (guint64)d->buffer),
      &error);
  if (*tensor != NULL)
    return ONNXIFI_STATUS_SUCCESS;
  g_error_free (error);
  return ONNXIFI_STATUS_INVALID_MEMORY_LOCATION;
}

/* One side of a graph, as the tables of both sides say. */
typedef struct {
  gint (*find) (AxonCompiledModel *compiled, const gchar *name);
  AxonDType (*get_dtype) (AxonCompiledModel *compiled, guint index);
  const AxonShape *(*get_shape) (AxonCompiledModel *compiled, guint index);
} Side;

static const Side input_side = { axon_compiled_model_find_input,
                                 axon_compiled_model_get_input_dtype,
                                 axon_compiled_model_get_input_shape };
static const Side output_side = { axon_compiled_model_find_output,
                                  axon_compiled_model_get_output_dtype,
                                  axon_compiled_model_get_output_shape };

static onnxStatus
bind (const Graph *graph, const Side *side, const onnxTensorDescriptorV1 *d, AxonTensor **tensors)
{
  onnxStatus status;
  AxonDType dtype;
  AxonShape shape;
  gint index;
  if (d->tag != ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1)
    return ONNXIFI_STATUS_UNSUPPORTED_TAG;
  index = d->name ? side->find (graph->compiled, d->name) : -1;
  if (index < 0 || tensors[index] != NULL)
    return ONNXIFI_STATUS_INVALID_NAME;
  status = descriptor_read (d, &dtype, &shape);
  if (status != ONNXIFI_STATUS_SUCCESS)
    return status;
  if (side->get_dtype (graph->compiled, (guint)index) != dtype)
    return ONNXIFI_STATUS_MISMATCHING_DATATYPE;
  if (!shape_fits (side->get_shape (graph->compiled, (guint)index), &shape))
    return ONNXIFI_STATUS_MISMATCHING_SHAPE;
  return wrap (graph, d, dtype, &shape, &tensors[index]);
}

static onnxStatus
bind_all (const Graph *graph, const Side *side, guint n, const onnxTensorDescriptorV1 *descriptors,
          guint n_tensors, AxonTensor **tensors)
{
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  for (guint i = 0; i < n && status == ONNXIFI_STATUS_SUCCESS; i++)
    status = bind (graph, side, &descriptors[i], tensors);
  for (guint i = 0; i < n_tensors && status == ONNXIFI_STATUS_SUCCESS; i++)
    if (tensors[i] == NULL)
      status = ONNXIFI_STATUS_UNIDENTIFIED_NAME;
  return status;
}

static gboolean
has_free_inputs (const Graph *graph)
{
  for (guint i = 0; i < axon_model_get_n_inputs (graph->model); i++)
    if (!axon_shape_is_static (axon_model_get_input_shape (graph->model, i)))
      return TRUE;
  return FALSE;
}

/* Symbolic dimensions mean something now: outputs must be as large as the inputs make them. */
static onnxStatus
check_free_shapes (const Graph *graph, const GraphIO *io)
{
  g_autoptr (AxonModel) clone = NULL;
  if (!has_free_inputs (graph))
    return ONNXIFI_STATUS_SUCCESS;
  clone = axon_model_clone (graph->model);
  for (guint i = 0; i < io->n_inputs; i++)
    if (!axon_model_reshape (clone, i, axon_tensor_get_shape (io->inputs[i]), NULL))
      return ONNXIFI_STATUS_MISMATCHING_SHAPE;
  for (guint i = 0; i < io->n_outputs; i++)
    if (!shape_fits (axon_model_get_output_shape (clone, i),
                     axon_tensor_get_shape (io->outputs[i])))
      return ONNXIFI_STATUS_MISMATCHING_SHAPE;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus
graph_set_io (Graph *graph, guint n_inputs, const onnxTensorDescriptorV1 *inputs, guint n_outputs,
              const onnxTensorDescriptorV1 *outputs, GraphIO **set)
{
  GraphIO *io = graph_io_new (graph), *old;
  onnxStatus status =
      (n_inputs > 0 && inputs == NULL) || outputs == NULL || n_outputs == 0
          ? ONNXIFI_STATUS_INVALID_POINTER
          : bind_all (graph, &input_side, n_inputs, inputs, io->n_inputs, io->inputs);
  if (status == ONNXIFI_STATUS_SUCCESS)
    status = bind_all (graph, &output_side, n_outputs, outputs, io->n_outputs, io->outputs);
  if (status == ONNXIFI_STATUS_SUCCESS)
    status = check_free_shapes (graph, io);
  if (status != ONNXIFI_STATUS_SUCCESS)
    g_clear_pointer (&io, object_unref);
  if (set != NULL)
    *set = io ? object_ref (io) : NULL;
  g_mutex_lock (&graph->lock);
  old = graph->io;
  graph->io = io;
  g_mutex_unlock (&graph->lock);
  g_clear_pointer (&old, object_unref);
  return status;
}

onnxStatus
onnxSetGraphIO (onnxGraph graph, uint32_t inputsCount,
                const onnxTensorDescriptorV1 *inputDescriptors, uint32_t outputsCount,
                const onnxTensorDescriptorV1 *outputDescriptors)
{
  Graph *self = handle_find (OBJECT_GRAPH, graph);
  onnxStatus status;
  if (self == NULL)
    return ONNXIFI_STATUS_INVALID_GRAPH;
  status =
      graph_set_io (self, inputsCount, inputDescriptors, outputsCount, outputDescriptors, NULL);
  object_unref (self);
  return status;
}
