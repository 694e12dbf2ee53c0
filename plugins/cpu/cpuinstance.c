/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One stream's view of a plan. Used by one thread at a time; a run allocates nothing of ours. */
#include "cpuplan.h"
#include "cpupages.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <stdlib.h>

/* Caller: the stream's thread. */
CpuInstance *
cpu_instance_new (const CpuPlan *plan, GError **error)
{
  CpuInstance *instance = g_new0 (CpuInstance, 1);
  gpointer arena;
  if (!axon_budget_take (plan->budget, plan->arena_size, error)) {
    g_free (instance);
    return NULL;
  }
  arena = cpu_pages_new (plan->arena_size + 64);
  if (arena == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY,
                 _ ("out of memory: the plan needs %zu bytes"), plan->arena_size);
    axon_budget_give (plan->budget, plan->arena_size);
    g_free (instance);
    return NULL;
  }
  instance->plan = plan;
  instance->error = &instance->failure;
  instance->arena = arena;
  instance->inputs = g_new0 (gpointer, plan->model->inputs->len + 1);
  instance->outputs = g_new0 (gpointer, plan->model->outputs->len + 1);
  instance->step_data = g_new0 (gpointer, plan->steps->len + 1);
  for (guint i = 0; i < plan->steps->len; i++) {
    const CpuStep *step = g_ptr_array_index (plan->steps, i);
    if (step->new_instance != NULL)
      instance->step_data[i] = step->new_instance (step, instance);
  }
  return instance;
}

void
cpu_instance_free (CpuInstance *instance)
{
  for (guint i = 0; i < instance->plan->steps->len; i++) {
    const CpuStep *step = g_ptr_array_index (instance->plan->steps, i);
    if (step->free_instance != NULL)
      step->free_instance (step, instance->step_data[i]);
  }
  free (instance->arena);
  axon_budget_give (instance->plan->budget, instance->plan->arena_size);
  g_free (instance->inputs);
  g_free (instance->outputs);
  g_free (instance->step_data);
  g_free (instance);
}

static gboolean
bind (CpuInstance *instance, AxonInferRequest *request, GError **error)
{
  const AxonModel *model = instance->plan->model;
  for (guint i = 0; i < model->inputs->len; i++)
    instance->inputs[i] = axon_tensor_get_data (axon_infer_request_peek_input (request, i));
  for (guint i = 0; i < model->outputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->outputs, i);
    AxonTensor *out = axon_infer_request_prepare_output (request, i, &value->type.shape, error);
    if (out == NULL)
      return FALSE;
    instance->outputs[i] = axon_tensor_get_data (out);
  }
  return TRUE;
}

/* Walks the plan. @times (nullable): microseconds per step. */
static gboolean
walk (CpuInstance *instance, AxonInferRequest *request, gdouble *times, GError **error)
{
  instance->request = request;
  for (guint i = 0; i < instance->plan->steps->len; i++) {
    const CpuStep *step = g_ptr_array_index (instance->plan->steps, i);
    gint64 start = times ? g_get_monotonic_time () : 0;
    step->run (step, instance);
    if (times != NULL)
      times[i] = (gdouble)(g_get_monotonic_time () - start);
    if (instance->failure != NULL) {
      g_propagate_error (error, g_steal_pointer (&instance->failure));
      return FALSE;
    }
    if (!axon_infer_request_goes_on (request, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
cpu_instance_run (CpuInstance *instance, AxonInferRequest *request, gdouble *times, GError **error)
{
  return bind (instance, request, error) && walk (instance, request, times, error);
}

/* On tensors of the plan's shapes instead of the request's; row-major. */
gboolean
cpu_instance_run_on (CpuInstance *instance, AxonInferRequest *request, AxonTensor *const *in,
                     AxonTensor *const *out, gdouble *times, GError **error)
{
  for (guint i = 0; i < instance->plan->model->inputs->len; i++)
    instance->inputs[i] = axon_tensor_get_data (in[i]);
  for (guint i = 0; i < instance->plan->model->outputs->len; i++)
    instance->outputs[i] = axon_tensor_get_data (out[i]);
  return walk (instance, request, times, error);
}
