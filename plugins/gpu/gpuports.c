/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs and outputs of a run: used where they lie, or copied. */
#include "gpucontext.h"
#include "gpuinstance-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/* Kernels that use @b get @mem, unless they have it. Memory that is not ours may be another one at
 * the same address. */
static gboolean
bind (GpuInstance *self, const GpuBuffer *b, cl_mem mem, GError **error)
{
  const GpuPlan *plan = self->program->plan;
  cl_int status = CL_SUCCESS;
  if (self->bound[b->id] == mem && mem == self->buffers[b->id])
    return TRUE;
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    for (guint k = 0; k < step->args->len && status == CL_SUCCESS && !step->once; k++)
      if (g_array_index (step->args, GpuArg, k).buffer == b)
        status = gpu_step_set_arg (step, self->kernels[i], k, mem);
  }
  self->bound[b->id] = mem;
  return gpu_cl_ok (status, "clSetKernelArg", error);
}

/* A buffer of our own that holds @n_bytes. */
static gboolean
grow (GpuInstance *self, const GpuBuffer *b, gsize n_bytes, GError **error)
{
  cl_mem mem;
  if (!b->any_size || self->capacity[b->id] >= n_bytes)
    return TRUE;
  mem = gpu_instance_new_buffer (self, n_bytes, error);
  if (mem == NULL)
    return FALSE;
  gpu_cl.ReleaseMemObject (self->buffers[b->id]);
  self->buffers[b->id] = mem;
  self->bound[b->id] = NULL;
  self->capacity[b->id] = n_bytes;
  return TRUE;
}

/* Memory that device and host share: the one has written, or is going to read. A driver that has
 * to copy after all, or to empty a cache, does it here; the others do nothing. */
static gboolean
enqueue_turn (GpuInstance *self, cl_mem mem, cl_map_flags flags, gsize n_bytes, GError **error)
{
  cl_int status;
  gpointer data = gpu_cl.EnqueueMapBuffer (self->queue, mem, CL_FALSE, flags, 0, n_bytes, 0, NULL,
                                           NULL, &status);
  return gpu_cl_ok (status, "clEnqueueMapBuffer", error) &&
         gpu_cl_ok (gpu_cl.EnqueueUnmapMemObject (self->queue, mem, data, 0, NULL, NULL),
                    "clEnqueueUnmapMemObject", error);
}

/* Where a tensor lies for the device. */
typedef struct {
  cl_mem remote; /* memory of the device, or NULL */
  gsize offset;  /* in it */
  cl_mem shared; /* memory of both, or NULL */
  cl_mem direct; /* what kernels use as it is, or NULL */
} Place;

static gboolean
find_place (const GpuInstance *self, const AxonTensor *tensor, Place *place, GError **error)
{
  cl_context context = gpu_store_get_context (self->program->store);
  *place = (Place){ .shared = gpu_tensor_get_shared (tensor, context) };
  place->remote = gpu_tensor_get_mem (tensor, &place->offset);
  place->direct = place->remote && place->offset == 0 ? place->remote : place->shared;
  return gpu_tensor_check_place (tensor, context, error);
}

/* Memory that the device reaches is used as it is where the tensor begins with it; what the host
 * has is copied, from its address. */
static gboolean
enqueue_input (GpuInstance *self, const GpuBuffer *b, AxonInferRequest *request, GError **error)
{
  AxonTensor *tensor = axon_infer_request_peek_input (request, b->index);
  gsize n_bytes = axon_tensor_get_n_bytes (tensor);
  cl_mem own;
  cl_int status;
  Place place;
  if (b->first == G_MAXUINT || axon_tensor_get_numel (tensor) == 0)
    return TRUE;
  if (!grow (self, b, n_bytes, error) || !find_place (self, tensor, &place, error))
    return FALSE;
  own = self->buffers[b->id];
  if (!bind (self, b, place.direct ? place.direct : own, error))
    return FALSE;
  if (place.shared != NULL)
    return enqueue_turn (self, place.shared, CL_MAP_WRITE_INVALIDATE_REGION, n_bytes, error);
  if (place.direct != NULL)
    return TRUE;
  status = place.remote ? gpu_cl.EnqueueCopyBuffer (self->queue, place.remote, own, place.offset, 0,
                                                    n_bytes, 0, NULL, NULL)
                        : gpu_cl.EnqueueWriteBuffer (self->queue, own, CL_FALSE, 0, n_bytes,
                                                     axon_tensor_get_data (tensor), 0, NULL, NULL);
  return gpu_cl_ok (status, N_ ("copy of an input"), error);
}

static gboolean
enqueue_output (GpuInstance *self, const GpuBuffer *b, AxonInferRequest *request, GError **error)
{
  AxonTensor *tensor = axon_infer_request_peek_output (request, b->index);
  cl_mem own = self->buffers[b->id];
  cl_int status;
  Place place;
  if (axon_tensor_get_numel (tensor) == 0)
    return TRUE;
  if (!find_place (self, tensor, &place, error))
    return FALSE;
  if (self->bound[b->id] != own)
    return place.shared == NULL ||
           enqueue_turn (self, place.shared, CL_MAP_READ, b->n_bytes, error);
  status = place.remote ? gpu_cl.EnqueueCopyBuffer (self->queue, own, place.remote, 0, place.offset,
                                                    b->n_bytes, 0, NULL, NULL)
                        : gpu_cl.EnqueueReadBuffer (self->queue, own, CL_FALSE, 0, b->n_bytes,
                                                    axon_tensor_get_data (tensor), 0, NULL, NULL);
  return gpu_cl_ok (status, N_ ("copy of an output"), error);
}

/* What a run reads is not written to while it does. */
static gboolean
is_an_input (const GpuInstance *self, AxonInferRequest *request, const AxonTensor *tensor)
{
  AxonMemory *memory = axon_tensor_get_memory (tensor, NULL);
  for (guint i = 0; i < self->program->plan->model->inputs->len; i++)
    if (axon_tensor_get_memory (axon_infer_request_peek_input (request, i), NULL) == memory)
      return TRUE;
  return FALSE;
}

gboolean
gpu_instance_prepare_outputs (GpuInstance *self, AxonInferRequest *request, GError **error)
{
  const GpuPlan *plan = self->program->plan;
  for (guint i = 0; i < plan->buffers->len; i++) {
    const GpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    const AxonValue *value;
    AxonTensor *tensor;
    Place place;
    if (b->place != GPU_OUTPUT)
      continue;
    value = g_ptr_array_index (plan->model->outputs, b->index);
    tensor = axon_infer_request_prepare_output (request, b->index, &value->type.shape, error);
    if (tensor == NULL || !find_place (self, tensor, &place, error))
      return FALSE;
    if (is_an_input (self, request, tensor))
      place.direct = NULL;
    if (!bind (self, b, place.direct ? place.direct : self->buffers[i], error))
      return FALSE;
  }
  return TRUE;
}

gboolean
gpu_instance_enqueue_ports (GpuInstance *self, GpuPlace place, AxonInferRequest *request,
                            GError **error)
{
  const GpuPlan *plan = self->program->plan;
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < plan->buffers->len; i++) {
    const GpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    if (b->place == place)
      ok = place == GPU_INPUT ? enqueue_input (self, b, request, error)
                              : enqueue_output (self, b, request, error);
  }
  return ok;
}
