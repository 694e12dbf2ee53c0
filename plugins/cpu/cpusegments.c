/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpusegments.h"

#include <axon/axon-plugin.h>

/* Values that pass between segments have a slot each. */
typedef struct {
  AxonModel *model;
  CpuPlan *plan;           /* NULL: interpreted */
  GPtrArray *idle;         /* lock: CpuInstance */
  guint *inputs, *outputs; /* slots */
} Segment;

struct _CpuSegments {
  GMutex lock;
  GPtrArray *segments;
  guint n_slots;
  guint *inputs, *outputs; /* slots of the whole graph's */
  AxonTensor **constants;  /* by slot: outputs of the graph that no node makes */
};

static gboolean
is_static (const AxonValue *value)
{
  return value == NULL ||
         (axon_shape_is_static (&value->type.shape) && !axon_dtype_is_boxed (value->type.dtype) &&
          axon_dtype_get_size (value->type.dtype) > 0);
}

gboolean
cpu_node_is_static (const AxonNode *node)
{
  gboolean known = node->op->run == NULL;
  for (guint i = 0; known && i < node->n_inputs; i++)
    known = is_static (node->inputs[i]) ||
            (node->inputs[i]->is_input && (node->op->flags & AXON_OP_ANY_INPUT_SIZE));
  for (guint i = 0; known && i < node->n_outputs; i++)
    known = is_static (node->outputs[i]);
  return known;
}

static void
segment_free (gpointer data)
{
  Segment *segment = data;
  g_ptr_array_unref (segment->idle);
  g_clear_pointer (&segment->plan, cpu_plan_free);
  g_clear_object (&segment->model);
  g_free (segment->inputs);
  g_free (segment->outputs);
  g_free (segment);
}

static guint
slot_of (GHashTable *slots, const AxonValue *value)
{
  gpointer slot;
  if (!g_hash_table_lookup_extended (slots, value->name, NULL, &slot)) {
    slot = GUINT_TO_POINTER (g_hash_table_size (slots));
    g_hash_table_insert (slots, g_strdup (value->name), slot);
  }
  return GPOINTER_TO_UINT (slot);
}

static guint *
slots_of (GHashTable *slots, const GPtrArray *values)
{
  guint *list = g_new (guint, values->len + 1);
  for (guint i = 0; i < values->len; i++)
    list[i] = slot_of (slots, g_ptr_array_index (values, i));
  return list;
}

static Segment *
segment_new (const AxonPart *part, GHashTable *slots, GPtrArray *extensions,
             const CpuPlanOptions *options, const CpuCompile *call, GError **error)
{
  Segment *s = g_new0 (Segment, 1);
  gboolean planned = g_str_equal (part->device, "plan");
  s->idle = g_ptr_array_new_with_free_func ((GDestroyNotify)cpu_instance_free);
  s->inputs = slots_of (slots, part->model->inputs);
  s->outputs = slots_of (slots, part->model->outputs);
  s->model = planned ? cpu_lower_model (part->model, call->cancellable, error)
                     : g_object_ref (part->model);
  for (guint i = 0; s->model != NULL && i < s->model->values->len; i++)
    ((AxonValue *)g_ptr_array_index (s->model->values, i))->index = i;
  if (s->model != NULL && planned)
    s->plan = cpu_plan_new (s->model, extensions, options, call->cancellable, NULL, NULL, error);
  if (s->model == NULL || (planned && s->plan == NULL)) {
    segment_free (s);
    return NULL;
  }
  return s;
}

/* Caller: has set the number of threads that plans are made for. */
CpuSegments *
cpu_segments_new (AxonModel *model, GPtrArray *extensions, const CpuPlanOptions *options,
                  const CpuCompile *call, GError **error)
{
  g_autoptr (AxonModel) marked = axon_model_clone (model);
  g_autoptr (GHashTable) slots = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) parts = NULL;
  CpuSegments *self = g_new0 (CpuSegments, 1);
  gboolean ok;
  g_mutex_init (&self->lock);
  self->segments = g_ptr_array_new_with_free_func (segment_free);
  for (guint i = 0; i < marked->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (marked->nodes, i);
    axon_node_set_affinity (node, cpu_node_is_static (node) ? "plan" : "eval");
  }
  parts = axon_partition (marked, error);
  ok = parts != NULL;
  for (guint i = 0; ok && i < parts->len; i++) {
    Segment *s =
        segment_new (g_ptr_array_index (parts, i), slots, extensions, options, call, error);
    ok = s != NULL;
    if (ok)
      g_ptr_array_add (self->segments, s);
  }
  self->inputs = slots_of (slots, model->inputs);
  self->outputs = slots_of (slots, model->outputs);
  self->n_slots = g_hash_table_size (slots);
  self->constants = g_new0 (AxonTensor *, self->n_slots + 1);
  for (guint i = 0; i < model->outputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->outputs, i);
    if (value->type.value != NULL)
      self->constants[self->outputs[i]] = axon_tensor_ref (value->type.value);
  }
  if (!ok)
    g_clear_pointer (&self, cpu_segments_free);
  return self;
}

void
cpu_segments_free (CpuSegments *self)
{
  for (guint i = 0; i < self->n_slots; i++)
    g_clear_pointer (&self->constants[i], axon_tensor_unref);
  g_ptr_array_unref (self->segments);
  g_mutex_clear (&self->lock);
  g_free (self->constants);
  g_free (self->inputs);
  g_free (self->outputs);
  g_free (self);
}

/* One run. Rows of the profile gather where one is wanted. */
typedef struct {
  CpuSegments *self;
  AxonInferRequest *request;
  AxonTensor **slots;
  GArray *info, *times; /* AxonProfilingInfo and microseconds, or NULL */
} Run;

static gboolean
run_planned (Run *run, Segment *s, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  CpuSegments *self = run->self;
  g_autofree gdouble *times = run->times ? g_new0 (gdouble, s->plan->steps->len + 1) : NULL;
  CpuInstance *instance = NULL;
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < s->model->outputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (s->model->outputs, i);
    out[i] = axon_tensor_new (value->type.dtype, &value->type.shape, error);
    ok = out[i] != NULL;
  }
  if (!ok)
    return FALSE;
  g_mutex_lock (&self->lock);
  if (s->idle->len > 0)
    instance = g_ptr_array_steal_index_fast (s->idle, s->idle->len - 1);
  g_mutex_unlock (&self->lock);
  if (instance == NULL)
    instance = cpu_instance_new (s->plan, error);
  if (instance == NULL)
    return FALSE;
  ok = cpu_instance_run_on (instance, run->request, in, out, times, error);
  if (ok && times != NULL) {
    g_array_append_vals (run->info, s->plan->info->data, s->plan->steps->len);
    g_array_append_vals (run->times, times, s->plan->steps->len);
  }
  g_mutex_lock (&self->lock);
  g_ptr_array_add (s->idle, instance);
  g_mutex_unlock (&self->lock);
  return ok;
}

static gboolean
after_node (const AxonNode *node, G_GNUC_UNUSED guint index, gdouble microseconds,
            gpointer user_data, GError **error)
{
  Run *run = user_data;
  AxonProfilingInfo info = { node->name ? node->name : "", node->op->name, "reference" };
  if (run->times != NULL) {
    g_array_append_val (run->info, info);
    g_array_append_val (run->times, microseconds);
  }
  if (!axon_infer_request_is_cancelled (run->request))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, "inference was cancelled");
  return FALSE;
}

static gboolean
run_segment (Run *run, Segment *s, GError **error)
{
  guint n_in = s->model->inputs->len, n_out = s->model->outputs->len;
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, n_in + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, n_out + 1);
  gboolean ok;
  for (guint i = 0; i < n_in; i++)
    in[i] = run->slots[s->inputs[i]];
  ok = s->plan ? run_planned (run, s, in, out, error)
               : axon_eval_model (s->model, in, out, after_node, run, error);
  for (guint i = 0; i < n_out; i++) {
    if (ok)
      run->slots[s->outputs[i]] = g_steal_pointer (&out[i]);
    g_clear_pointer (&out[i], axon_tensor_unref);
  }
  return ok;
}

gboolean
cpu_segments_run (CpuSegments *self, AxonInferRequest *request, gboolean profile, GError **error)
{
  AxonCompiledModel *compiled = axon_infer_request_get_compiled_model (request);
  guint n_in = axon_compiled_model_get_n_inputs (compiled);
  guint n_out = axon_compiled_model_get_n_outputs (compiled);
  g_autofree AxonTensor **slots = g_new0 (AxonTensor *, self->n_slots + 1);
  g_autoptr (GArray) info = g_array_new (FALSE, FALSE, sizeof (AxonProfilingInfo));
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  Run run = { self, request, slots, profile ? info : NULL, profile ? times : NULL };
  gboolean ok = TRUE;
  for (guint i = 0; i < self->n_slots; i++)
    slots[i] = self->constants[i] ? axon_tensor_ref (self->constants[i]) : NULL;
  for (guint i = 0; i < n_in; i++)
    slots[self->inputs[i]] = axon_tensor_ref (axon_infer_request_peek_input (request, i));
  for (guint i = 0; ok && i < self->segments->len; i++)
    ok = run_segment (&run, g_ptr_array_index (self->segments, i), error);
  for (guint i = 0; ok && i < n_out; i++)
    ok = axon_infer_request_take_output (request, i, axon_tensor_ref (slots[self->outputs[i]]),
                                         error);
  for (guint i = 0; i < self->n_slots; i++)
    g_clear_pointer (&slots[i], axon_tensor_unref);
  if (ok && profile)
    axon_infer_request_set_profiling (request, info->len, (AxonProfilingInfo *)(gpointer)info->data,
                                      (const gdouble *)(gpointer)times->data);
  return ok;
}
