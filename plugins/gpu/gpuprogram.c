/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpuprogram.h"
#include "gpupocl.h"
#include "gpuweights.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/* What is known of a program's weights while it is made. */
typedef struct {
  gchar **keys;               /* of prepared buffers, by index */
  gboolean *shared;           /* by index: an earlier plan has prepared it */
  gboolean *lasting, *needed; /* constants, by index: of steps that run again; of those run now */
} Weights;

static gboolean
runs_now (const Weights *w, const GpuStep *step)
{
  return step->once && !(step->makes != NULL && w->shared[step->makes->index]);
}

static void
weights_init (Weights *w, GpuProgram *self)
{
  const GpuPlan *plan = self->plan;
  w->keys = g_new0 (gchar *, plan->n_prepared + 1);
  w->shared = g_new0 (gboolean, plan->n_prepared + 1);
  w->lasting = g_new0 (gboolean, plan->constants->len + 1);
  w->needed = g_new0 (gboolean, plan->constants->len + 1);
  for (guint i = 0; i < plan->buffers->len; i++) {
    const GpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    if (b->place != GPU_PREPARED)
      continue;
    w->keys[b->index] = gpu_prepared_key (plan, b);
    self->prepared[b->index] = gpu_store_find_prepared (self->store, w->keys[b->index]);
    w->shared[b->index] = self->prepared[b->index] != NULL;
  }
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    for (guint k = 0; k < step->args->len; k++) {
      const GpuBuffer *b = g_array_index (step->args, GpuArg, k).buffer;
      if (b != NULL && b->place == GPU_CONSTANT) {
        w->lasting[b->index] |= !step->once;
        w->needed[b->index] |= runs_now (w, step);
      }
    }
  }
}

static void
weights_clear (Weights *w)
{
  g_strfreev (w->keys);
  g_free (w->shared);
  g_free (w->lasting);
  g_free (w->needed);
}

/* Weights that are used as they are belong to the store; the others are forgotten after setup. */
static gboolean
upload_constants (GpuProgram *self, const Weights *w, GError **error)
{
  const GpuPlan *plan = self->plan;
  for (guint i = 0; i < plan->constants->len; i++) {
    if (!w->lasting[i] && !w->needed[i])
      continue;
    self->constants[i] =
        w->lasting[i]
            ? gpu_store_get_weights (self->store, plan, i, error)
            : gpu_store_upload_tensor (self->store, g_ptr_array_index (plan->constants, i), error);
    if (self->constants[i] == NULL)
      return FALSE;
  }
  return TRUE;
}

static gboolean
make_prepared (GpuProgram *self, GError **error)
{
  for (guint i = 0; i < self->plan->buffers->len; i++) {
    const GpuBuffer *b = g_ptr_array_index (self->plan->buffers, i);
    cl_int status;
    if (b->place != GPU_PREPARED || self->prepared[b->index] != NULL)
      continue;
    self->prepared[b->index] = gpu_cl.CreateBuffer (gpu_store_get_context (self->store),
                                                    CL_MEM_READ_WRITE, b->n_bytes, NULL, &status);
    if (!gpu_cl_ok (status, N_ ("prepared weights"), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
run_once (GpuProgram *self, const GpuStep *step, cl_command_queue queue, GError **error)
{
  cl_int status;
  cl_kernel kernel = gpu_cl.CreateKernel (self->program, step->kernel, &status);
  for (guint i = 0; i < step->args->len && status == CL_SUCCESS; i++) {
    const GpuBuffer *buffer = g_array_index (step->args, GpuArg, i).buffer;
    status = gpu_step_set_arg (step, kernel, i, buffer ? gpu_program_get_mem (self, buffer) : NULL);
  }
  if (status == CL_SUCCESS)
    status = gpu_cl.EnqueueNDRangeKernel (queue, kernel, 3, NULL, step->global, step->local, 0,
                                          NULL, NULL);
  if (kernel != NULL)
    gpu_cl.ReleaseKernel (kernel);
  return gpu_cl_ok (status, step->kernel, error);
}

static gboolean
run_steps (GpuProgram *self, const Weights *w, cl_command_queue queue, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < self->plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (self->plan->steps, i);
    if (runs_now (w, step))
      ok = run_once (self, step, queue, error);
  }
  return ok;
}

static gboolean
prepare (GpuProgram *self, const Weights *w, GError **error)
{
  cl_int status;
  cl_command_queue queue;
  gboolean ok;
  if (self->plan->n_prepared == 0)
    return TRUE;
  queue = gpu_cl.CreateCommandQueue (gpu_store_get_context (self->store),
                                     gpu_store_get_device (self->store)->id, 0, &status);
  if (!gpu_cl_ok (status, "clCreateCommandQueue", error))
    return FALSE;
  gpu_pocl_begin ();
  ok = make_prepared (self, error) && run_steps (self, w, queue, error);
  status = gpu_cl.Finish (queue);
  gpu_pocl_end ();
  gpu_cl.ReleaseCommandQueue (queue);
  ok = ok && gpu_cl_ok (status, N_ ("preparing weights"), error);
  for (guint i = 0; ok && i < self->plan->n_prepared; i++)
    gpu_store_keep_prepared (self->store, w->keys[i], self->prepared[i]);
  return ok;
}

GpuProgram *
gpu_program_new (GpuStore *store, const GpuPlan *plan, GError **error)
{
  GpuProgram *self = g_new0 (GpuProgram, 1);
  Weights w;
  gboolean ok;
  self->plan = plan;
  self->store = gpu_store_ref (store);
  self->constants = g_new0 (cl_mem, plan->constants->len + 1);
  self->prepared = g_new0 (cl_mem, plan->n_prepared + 1);
  self->program = gpu_store_get_program (store, plan->source->str, error);
  if (self->program != NULL)
    self->params =
        gpu_store_upload (store, plan->params->data, plan->params->len * sizeof (gint32), error);
  weights_init (&w, self);
  ok = self->params != NULL && upload_constants (self, &w, error) && prepare (self, &w, error);
  for (guint i = 0; i < plan->constants->len; i++)
    if (!w.lasting[i] && self->constants[i] != NULL) {
      gpu_cl.ReleaseMemObject (self->constants[i]);
      self->constants[i] = NULL;
    }
  weights_clear (&w);
  if (ok)
    return self;
  gpu_program_free (self);
  return NULL;
}

cl_mem
gpu_program_get_mem (const GpuProgram *self, const GpuBuffer *buffer)
{
  switch (buffer->place) {
  case GPU_CONSTANT:
    return self->constants[buffer->index];
  case GPU_PREPARED:
    return self->prepared[buffer->index];
  case GPU_PARAMS:
    return self->params;
  default:
    return NULL;
  }
}

/* Programs and weights belong to the store. */
void
gpu_program_free (GpuProgram *self)
{
  for (guint i = 0; i < self->plan->n_prepared; i++)
    if (self->prepared[i] != NULL)
      gpu_cl.ReleaseMemObject (self->prepared[i]);
  if (self->params != NULL)
    gpu_cl.ReleaseMemObject (self->params);
  g_free (self->constants);
  g_free (self->prepared);
  gpu_store_unref (self->store);
  g_free (self);
}
