/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpuentry.h"

#include "cpumodel.h"
#include "cpusegments.h"
#include "cputune.h"

static gboolean
has_static_shapes (const AxonModel *model)
{
  for (guint i = 0; i < model->nodes->len; i++)
    if (!cpu_node_is_static (g_ptr_array_index (model->nodes, i)))
      return FALSE;
  return TRUE;
}

static CpuPlan *
make_plan (AxonModel *lowered, const CpuContext *context, const CpuCompile *call, GError **error)
{
  return context->tuning ? cpu_tune (lowered, context, call, error)
                         : cpu_plan_new (lowered, context->extensions, &context->options,
                                         context->packed, call, error);
}

CpuEntry *
cpu_entry_new (AxonModel *model, gboolean planned, const CpuContext *context,
               const CpuCompile *call, GError **error)
{
  g_autoptr (AxonModel) lowered = cpu_lower_model (model, call->cancellable, error);
  CpuPlan *plan = NULL;
  CpuSegments *segments = NULL;
  CpuEntry *self;
  if (lowered == NULL)
    return NULL;
  if (planned || has_static_shapes (lowered))
    plan = make_plan (lowered, context, call, error);
  else
    segments = cpu_segments_new (model, context, call, error);
  if (plan == NULL && segments == NULL)
    return NULL;
  self = g_new0 (CpuEntry, 1);
  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->lock);
  self->model = g_object_ref (plan ? plan->model : model);
  self->plan = plan;
  self->segments = segments;
  self->idle = g_ptr_array_new_with_free_func ((GDestroyNotify)cpu_instance_free);
  return self;
}

CpuEntry *
cpu_entry_new_for (AxonModel *model, const AxonShape *shapes, const CpuContext *context,
                   const CpuCompile *call, GError **error)
{
  g_autoptr (AxonModel) special = axon_model_specialize (model, shapes, error);
  CpuEntry *self = special ? cpu_entry_new (special, FALSE, context, call, error) : NULL;
  if (self == NULL)
    return NULL;
  self->n_inputs = model->inputs->len;
  self->shapes = g_memdup2 (shapes, (self->n_inputs + 1) * sizeof *shapes);
  return self;
}

gpointer
cpu_entry_ref (gpointer data)
{
  CpuEntry *self = data;
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
cpu_entry_unref (gpointer data)
{
  CpuEntry *self = data;
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_ptr_array_unref (self->idle);
  g_mutex_clear (&self->lock);
  g_clear_pointer (&self->plan, cpu_plan_free);
  g_clear_pointer (&self->segments, cpu_segments_free);
  g_clear_object (&self->model);
  if (self->release != NULL)
    self->release ((gpointer)self->graph);
  g_free (self->kinds);
  g_free (self->shapes);
  g_free (self);
}

gboolean
cpu_entry_fits (gconstpointer data, gconstpointer wanted)
{
  const CpuEntry *self = data;
  const CpuKey *key = wanted;
  if (self->graph != key->graph)
    return FALSE;
  for (guint i = 0; i < self->n_inputs; i++)
    if (!axon_shape_equal (&self->shapes[i], &key->shapes[i]))
      return FALSE;
  return TRUE;
}

CpuInstance *
cpu_entry_borrow (CpuEntry *self, GError **error)
{
  CpuInstance *instance = NULL;
  g_mutex_lock (&self->lock);
  if (self->idle->len > 0)
    instance = g_ptr_array_steal_index_fast (self->idle, self->idle->len - 1);
  g_mutex_unlock (&self->lock);
  return instance ? instance : cpu_instance_new (self->plan, error);
}

void
cpu_entry_give_back (CpuEntry *self, CpuInstance *instance)
{
  g_mutex_lock (&self->lock);
  g_ptr_array_add (self->idle, instance);
  g_mutex_unlock (&self->lock);
}

static gboolean
run_plan (CpuEntry *self, CpuRun *run, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  guint n = self->plan->steps->len;
  g_autofree gdouble *times = run->times ? g_new0 (gdouble, n + 1) : NULL;
  CpuInstance *instance;
  gboolean ok;
  for (guint i = 0; i < self->model->outputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (self->model->outputs, i);
    out[i] = axon_tensor_new (value->type.dtype, &value->type.shape, error);
    if (out[i] == NULL)
      return FALSE;
  }
  instance = cpu_entry_borrow (self, error);
  if (instance == NULL)
    return FALSE;
  ok = cpu_instance_run_on (instance, run->request, in, out, times, error);
  if (ok && times != NULL) {
    g_array_append_vals (run->info, self->plan->info->data, n);
    g_array_append_vals (run->times, times, n);
    g_ptr_array_add (run->kept, cpu_entry_ref (self));
  }
  cpu_entry_give_back (self, instance);
  return ok;
}

gboolean
cpu_entry_run (CpuEntry *self, CpuRun *run, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  return self->plan ? run_plan (self, run, in, out, error)
                    : cpu_segments_run (self->segments, run, in, out, error);
}
