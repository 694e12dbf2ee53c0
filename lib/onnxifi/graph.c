/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "graph.h"
#include "status.h"

#include <string.h>

gboolean
shape_fits (const AxonShape *declared, const AxonShape *shape)
{
  if (declared->rank < 0)
    return TRUE;
  if (declared->rank != shape->rank)
    return FALSE;
  for (gint i = 0; i < shape->rank; i++)
    if (declared->dims[i] >= 0 && declared->dims[i] != shape->dims[i])
      return FALSE;
  return TRUE;
}

static gboolean
is_memory_type (onnxEnum type)
{
  return type == ONNXIFI_MEMORY_TYPE_CPU || type == ONNXIFI_MEMORY_TYPE_CUDA_BUFFER ||
         type == ONNXIFI_MEMORY_TYPE_OPENCL_BUFFER ||
         type == ONNXIFI_MEMORY_TYPE_OPENGLES_TEXTURE_2D ||
         type == ONNXIFI_MEMORY_TYPE_D3D_RESOURCE;
}

onnxStatus
descriptor_read (const onnxTensorDescriptorV1 *d, AxonDType *dtype, AxonShape *shape)
{
  if (!status_knows_dtype (d->dataType))
    return ONNXIFI_STATUS_INVALID_DATATYPE;
  if (!is_memory_type (d->memoryType))
    return ONNXIFI_STATUS_INVALID_MEMORY_TYPE;
  if (d->buffer == 0)
    return ONNXIFI_STATUS_INVALID_MEMORY_LOCATION;
  if (d->dimensions > 0 && d->shape == NULL)
    return ONNXIFI_STATUS_INVALID_POINTER;
  if (d->dimensions > AXON_MAX_RANK)
    return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
  *dtype = (AxonDType)d->dataType;
  *shape = (AxonShape){ .rank = (gint)d->dimensions };
  for (guint i = 0; i < d->dimensions; i++) {
    if (d->shape[i] == 0)
      return ONNXIFI_STATUS_INVALID_SHAPE;
    if (d->shape[i] > G_MAXINT64)
      return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
    shape->dims[i] = (gint64)d->shape[i];
  }
  return axon_shape_get_numel (shape) < 0 ? ONNXIFI_STATUS_UNSUPPORTED_SHAPE
                                          : ONNXIFI_STATUS_SUCCESS;
}

static gint
find_input (AxonModel *model, const gchar *name)
{
  for (guint i = 0; name != NULL && i < axon_model_get_n_inputs (model); i++)
    if (g_str_equal (axon_model_get_input_name (model, i), name))
      return (gint)i;
  return -1;
}

/* A weight is no input of this model, or was given twice: the model and its weights do not belong
 * together, and no other status says so here. */
static onnxStatus
fix_weight (AxonModel *model, const onnxTensorDescriptorV1 *d)
{
  g_autoptr (AxonTensor) tensor = NULL;
  GError *error = NULL;
  onnxStatus status;
  AxonDType dtype;
  AxonShape shape;
  gint input;
  if (d->tag != ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1)
    return ONNXIFI_STATUS_INVALID_POINTER;
  status = descriptor_read (d, &dtype, &shape);
  if (status != ONNXIFI_STATUS_SUCCESS)
    return status;
  if (d->memoryType != ONNXIFI_MEMORY_TYPE_CPU)
    return ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE;
  input = find_input (model, d->name);
  if (input < 0)
    return ONNXIFI_STATUS_INVALID_MODEL;
  if (axon_model_get_input_dtype (model, (guint)input) != dtype)
    return ONNXIFI_STATUS_MISMATCHING_DATATYPE;
  if (!shape_fits (axon_model_get_input_shape (model, (guint)input), &shape))
    return ONNXIFI_STATUS_MISMATCHING_SHAPE;
  tensor = axon_tensor_new (dtype, &shape, &error);
  if (tensor == NULL)
    return status_of_device (error);
  memcpy (axon_tensor_get_data (tensor), GSIZE_TO_POINTER ((gsize)d->buffer),
          axon_tensor_get_n_bytes (tensor));
  return axon_model_fix_input (model, (guint)input, tensor, &error) ? ONNXIFI_STATUS_SUCCESS
                                                                    : status_of_model (error);
}

static onnxStatus
fix_weights (AxonModel *model, guint n, const onnxTensorDescriptorV1 *weights)
{
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  if (n > 0 && axon_model_get_n_initializers (model) > 0)
    return ONNXIFI_STATUS_INVALID_MODEL; /* one way or the other */
  for (guint i = 0; i < n && status == ONNXIFI_STATUS_SUCCESS; i++)
    status = fix_weight (model, &weights[i]);
  return status;
}

static void
graph_free (gpointer data)
{
  Graph *self = data;
  g_clear_pointer (&self->io, object_unref);
  g_ptr_array_unref (self->requests);
  g_clear_object (&self->compiled);
  g_clear_object (&self->model);
  object_unref (self->backend);
  g_cond_clear (&self->changed);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Takes @backend. */
static Graph *
graph_new (Backend *backend)
{
  Graph *self = g_new0 (Graph, 1);
  object_init (self, graph_free);
  self->backend = backend;
  self->requests = g_ptr_array_new_with_free_func (g_object_unref);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  return self;
}

static onnxStatus
compile (Graph *self)
{
  AxonCore *core = onnxifi_core ();
  const Backend *b = self->backend;
  GError *error = NULL;
  self->compiled = b->context
                       ? axon_core_compile_model_with_context (core, self->model, b->context,
                                                               b->config, NULL, NULL, NULL, &error)
                       : axon_core_compile_model (core, self->model, b->id->device, b->config, NULL,
                                                  NULL, NULL, &error);
  if (self->compiled == NULL)
    return status_of_model (error);
  return backend_runs_in_own_kernels (b->id, self->model) ? ONNXIFI_STATUS_SUCCESS
                                                          : ONNXIFI_STATUS_FALLBACK;
}

static onnxStatus
load (Graph *self, GBytes *bytes, guint n_weights, const onnxTensorDescriptorV1 *weights)
{
  GError *error = NULL;
  onnxStatus status;
  self->model = axon_core_read_model_from_bytes (onnxifi_core (), bytes, NULL, &error);
  if (self->model == NULL)
    return status_of_model (error);
  status = fix_weights (self->model, n_weights, weights);
  if (status != ONNXIFI_STATUS_SUCCESS)
    return status;
  status = backend_check_ports (self->model);
  return status == ONNXIFI_STATUS_SUCCESS ? compile (self) : status;
}

onnxStatus
onnxInitGraph (onnxBackend backend, const uint64_t *auxPropertiesList, size_t onnxModelSize,
               const void *onnxModel, uint32_t weightsCount,
               const onnxTensorDescriptorV1 *weightDescriptors, onnxGraph *graph)
{
  g_autoptr (GBytes) bytes = NULL;
  onnxStatus status;
  Backend *b;
  Graph *self;
  if (graph != NULL)
    *graph = NULL;
  if (graph == NULL || onnxModel == NULL || (weightsCount > 0 && weightDescriptors == NULL))
    return ONNXIFI_STATUS_INVALID_POINTER;
  if (onnxModelSize == 0)
    return ONNXIFI_STATUS_INVALID_SIZE;
  b = handle_find (OBJECT_BACKEND, backend);
  if (b == NULL)
    return ONNXIFI_STATUS_INVALID_BACKEND;
  self = graph_new (b);
  bytes = g_bytes_new_static (onnxModel, onnxModelSize);
  status = auxPropertiesList != NULL && *auxPropertiesList != ONNXIFI_GRAPH_PROPERTY_NONE
               ? ONNXIFI_STATUS_UNSUPPORTED_PROPERTY
               : load (self, bytes, weightsCount, weightDescriptors);
  if (status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK)
    *graph = handle_new (OBJECT_GRAPH, self);
  object_unref (self);
  return status;
}

onnxStatus
onnxReleaseGraph (onnxGraph graph)
{
  Graph *self = handle_take (OBJECT_GRAPH, graph);
  if (self == NULL)
    return ONNXIFI_STATUS_INVALID_GRAPH;
  g_mutex_lock (&self->lock);
  while (self->n_runs > 0)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
  object_unref (self);
  return ONNXIFI_STATUS_SUCCESS;
}
