/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpuinstance-private.h"
#include "gpuframe.h"
#include "gpupocl.h"

#include "config.h"
#include <glib/gi18n-lib.h>

cl_mem
gpu_instance_new_buffer (GpuInstance *self, gsize n_bytes, GError **error)
{
  cl_int status;
  cl_mem mem = gpu_cl.CreateBuffer (gpu_store_get_context (self->program->store), CL_MEM_READ_WRITE,
                                    MAX (n_bytes, 8), NULL, &status);
  return gpu_cl_ok (status, N_ ("device memory of a request"), error) ? mem : NULL;
}

/* Kernels run before a frame was described, too. */
static cl_mem
frame_buffer (GpuInstance *self, gsize n_bytes, GError **error)
{
  g_autofree guint8 *nothing = g_malloc0 (n_bytes);
  cl_int status;
  cl_mem mem =
      gpu_cl.CreateBuffer (gpu_store_get_context (self->program->store),
                           CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, n_bytes, nothing, &status);
  return gpu_cl_ok (status, N_ ("device memory of a frame"), error) ? mem : NULL;
}

static gboolean
make_buffers (GpuInstance *self, GError **error)
{
  const GpuPlan *plan = self->program->plan;
  self->status = gpu_instance_new_buffer (self, sizeof self->complaint, error);
  if (self->status == NULL)
    return FALSE;
  if (plan->arena_size > 0 &&
      (self->arena = gpu_instance_new_buffer (self, plan->arena_size, error)) == NULL)
    return FALSE;
  for (guint i = 0; i < plan->buffers->len; i++) {
    const GpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    if (b->place == GPU_FRAME)
      self->buffers[i] = frame_buffer (self, b->n_bytes, error);
    else if (b->place == GPU_INPUT || b->place == GPU_OUTPUT)
      self->buffers[i] = gpu_instance_new_buffer (self, b->n_bytes, error);
    else
      continue;
    if (self->buffers[i] == NULL)
      return FALSE;
  }
  return TRUE;
}

static cl_mem
memory_of (const GpuInstance *self, const GpuBuffer *b)
{
  cl_mem mem = gpu_program_get_mem (self->program, b);
  if (b->place == GPU_ARENA)
    return self->arena;
  return mem ? mem : b->place == GPU_STATUS ? self->status : self->buffers[b->id];
}

static gboolean
set_args (GpuInstance *self, guint at, GError **error)
{
  const GpuStep *step = g_ptr_array_index (self->program->plan->steps, at);
  cl_kernel kernel = self->kernels[at];
  cl_int status = CL_SUCCESS;
  for (guint i = 0; i < step->args->len && status == CL_SUCCESS; i++) {
    const GpuBuffer *buffer = g_array_index (step->args, GpuArg, i).buffer;
    cl_mem mem = buffer ? memory_of (self, buffer) : NULL;
    status = gpu_step_set_arg (step, kernel, i, mem);
    if (buffer != NULL)
      self->bound[buffer->id] = mem;
  }
  return gpu_cl_ok (status, step->kernel, error);
}

static gboolean
make_kernels (GpuInstance *self, GError **error)
{
  const GpuPlan *plan = self->program->plan;
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    cl_int status;
    if (step->once)
      continue;
    self->kernels[i] = gpu_cl.CreateKernel (self->program->program, step->kernel, &status);
    if (!gpu_cl_ok (status, step->kernel, error) || !set_args (self, i, error))
      return FALSE;
  }
  return TRUE;
}

GpuInstance *
gpu_instance_new (const GpuProgram *program, GError **error)
{
  GpuInstance *self = g_new0 (GpuInstance, 1);
  guint n_steps = program->plan->steps->len, n_buffers = program->plan->buffers->len;
  self->program = program;
  self->buffers = g_new0 (cl_mem, n_buffers + 1);
  self->bound = g_new0 (cl_mem, n_buffers + 1);
  self->kernels = g_new0 (cl_kernel, n_steps + 1);
  self->events = g_new0 (cl_event, n_steps + 1);
  self->capacity = g_new0 (gsize, n_buffers + 1);
  self->frames = g_ptr_array_new_with_free_func ((GDestroyNotify)gpu_frame_state_free);
  for (guint i = 0; i < program->plan->frames->len; i++)
    g_ptr_array_add (self->frames,
                     gpu_frame_state_new (g_ptr_array_index (program->plan->frames, i)));
  if (make_buffers (self, error) && make_kernels (self, error))
    return self;
  gpu_instance_free (self);
  return NULL;
}

static void
forget_events (GpuInstance *self)
{
  for (guint i = 0; i < self->program->plan->steps->len; i++)
    if (self->events[i] != NULL) {
      gpu_cl.ReleaseEvent (self->events[i]);
      self->events[i] = NULL;
    }
  if (self->last != NULL)
    gpu_cl.ReleaseEvent (self->last);
  self->last = NULL;
}

void
gpu_instance_free (GpuInstance *self)
{
  const GpuPlan *plan = self->program->plan;
  forget_events (self);
  for (guint i = 0; i < plan->steps->len; i++)
    if (self->kernels[i] != NULL)
      gpu_cl.ReleaseKernel (self->kernels[i]);
  for (guint i = 0; i < plan->buffers->len; i++)
    if (self->buffers[i] != NULL)
      gpu_cl.ReleaseMemObject (self->buffers[i]);
  if (self->arena != NULL)
    gpu_cl.ReleaseMemObject (self->arena);
  if (self->status != NULL)
    gpu_cl.ReleaseMemObject (self->status);
  g_ptr_array_unref (self->frames);
  g_free (self->capacity);
  g_free (self->buffers);
  g_free (self->bound);
  g_free (self->kernels);
  g_free (self->events);
  g_free (self);
}

static gboolean
enqueue_frames (GpuInstance *self, AxonInferRequest *request, GError **error)
{
  for (guint i = 0; i < self->frames->len; i++) {
    GpuFrameState *state = g_ptr_array_index (self->frames, i);
    gboolean changed;
    if (!gpu_frame_state_update (state, request, &changed, error))
      return FALSE;
    if (changed && !gpu_cl_ok (gpu_cl.EnqueueWriteBuffer (
                                   self->queue, self->buffers[state->frame->numbers->id], CL_FALSE,
                                   0, gpu_frame_get_size (), state->params, 0, NULL, NULL),
                               "description of a frame", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
enqueue_steps (GpuInstance *self, gboolean profile, AxonInferRequest *request, GError **error)
{
  const GpuPlan *plan = self->program->plan;
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    cl_int status;
    if (step->once || step->global[0] * step->global[1] * step->global[2] == 0)
      continue;
    status = gpu_cl.EnqueueNDRangeKernel (self->queue, self->kernels[i], 3, NULL, step->global,
                                          step->local, 0, NULL, profile ? &self->events[i] : NULL);
    if (!gpu_cl_ok (status, step->kernel, error))
      return FALSE;
    if (request != NULL && !axon_infer_request_goes_on (request, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
enqueue_status (GpuInstance *self, gboolean after, GError **error)
{
  const gint32 none = 0;
  cl_int status;
  if (self->program->plan->complaints->len == 0)
    return TRUE;
  status = after
               ? gpu_cl.EnqueueReadBuffer (self->queue, self->status, CL_FALSE, 0,
                                           sizeof self->complaint, &self->complaint, 0, NULL, NULL)
               : gpu_cl.EnqueueFillBuffer (self->queue, self->status, &none, sizeof none, 0,
                                           sizeof none, 0, NULL, NULL);
  return gpu_cl_ok (status, N_ ("status of a run"), error);
}

static gboolean
enqueue (GpuInstance *self, gboolean profile, AxonInferRequest *request, GError **error)
{
  return enqueue_status (self, FALSE, error) && enqueue_frames (self, request, error) &&
         gpu_instance_enqueue_ports (self, GPU_INPUT, request, error) &&
         enqueue_steps (self, profile, request, error) &&
         gpu_instance_enqueue_ports (self, GPU_OUTPUT, request, error) &&
         enqueue_status (self, TRUE, error) &&
         gpu_cl_ok (gpu_cl.EnqueueMarkerWithWaitList (self->queue, 0, NULL, &self->last),
                    "clEnqueueMarkerWithWaitList", error) &&
         gpu_cl_ok (gpu_cl.Flush (self->queue), "clFlush", error);
}

gboolean
gpu_instance_start (GpuInstance *self, cl_command_queue queue, gboolean profile,
                    AxonInferRequest *request, GError **error)
{
  gboolean ok;
  self->queue = queue;
  self->complaint = 0;
  if (!self->ran) /* the driver may compile what it runs first */
    gpu_pocl_begin ();
  ok = gpu_instance_prepare_outputs (self, request, error) &&
       enqueue (self, profile, request, error);
  if (ok)
    return TRUE;
  gpu_cl.Finish (queue);
  forget_events (self);
  if (!self->ran)
    gpu_pocl_end ();
  self->ran = TRUE;
  return FALSE;
}

static gdouble
microseconds (cl_event event)
{
  cl_ulong start = 0, end = 0;
  gpu_cl.GetEventProfilingInfo (event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
  gpu_cl.GetEventProfilingInfo (event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  return end > start ? (gdouble)(end - start) / 1000 : 0;
}

static void
report_times (GpuInstance *self, AxonInferRequest *request)
{
  const GpuPlan *plan = self->program->plan;
  g_autofree AxonProfilingInfo *info = g_new0 (AxonProfilingInfo, plan->steps->len + 1);
  g_autofree gdouble *times = g_new0 (gdouble, plan->steps->len + 1);
  guint n = 0;
  for (guint i = 0; i < plan->steps->len; i++) {
    if (self->events[i] == NULL)
      continue;
    info[n] = ((GpuStep *)g_ptr_array_index (plan->steps, i))->info;
    times[n++] = microseconds (self->events[i]);
  }
  if (n > 0)
    axon_infer_request_set_profiling (request, n, info, times);
}

gboolean
gpu_instance_measure (GpuInstance *self, cl_command_queue queue, gdouble *times, GError **error)
{
  gboolean ok;
  self->queue = queue;
  gpu_pocl_begin ();
  ok = enqueue_steps (self, times != NULL, NULL, error);
  ok = gpu_cl_ok (gpu_cl.Finish (queue), N_ ("measuring kernels"), error) && ok;
  gpu_pocl_end ();
  for (guint i = 0; ok && times != NULL && i < self->program->plan->steps->len; i++)
    times[i] = self->events[i] ? microseconds (self->events[i]) : 0;
  forget_events (self);
  return ok;
}

gboolean
gpu_instance_finish (GpuInstance *self, AxonInferRequest *request, GError **error)
{
  gboolean ok =
      gpu_cl_ok (gpu_cl.WaitForEvents (1, &self->last), N_ ("a run on the device"), error);
  if (!self->ran)
    gpu_pocl_end ();
  self->ran = TRUE;
  if (ok)
    report_times (self, request);
  forget_events (self);
  ok = ok && axon_infer_request_goes_on (request, error);
  if (ok && self->complaint > 0) {
    g_set_error_literal (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        g_ptr_array_index (self->program->plan->complaints, (guint)self->complaint - 1));
    return FALSE;
  }
  return ok;
}
