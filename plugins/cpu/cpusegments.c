/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpusegments.h"
#include "cputail.h"

/* What runs a node. */
#define PLAN "plan"
#define TAIL "tail"
#define INTERPRETED "eval"

/* Tails in tails: there another one begins where shapes follow from numbers once more. */
#define MAX_DEPTH 4

/* Mark of values, while nodes are told apart. */
#define COUNTS 1

/* Values that pass between segments have a slot each. */
typedef struct {
  AxonModel *model;
  CpuEntry *entry;         /* of known shapes; or NULL */
  CpuTail *tail;           /* of shapes that follow from its inputs'; or NULL: interpreted */
  guint *inputs, *outputs; /* slots */
} Segment;

struct _CpuSegments {
  GPtrArray *segments;
  guint n_slots, n_inputs, n_outputs;
  guint *inputs, *outputs; /* slots of the whole graph's */
  AxonTensor **constants;  /* by slot: outputs of the graph that no node makes */
};

static gboolean
has_elements (const AxonValue *value)
{
  return value == NULL ||
         (!axon_dtype_is_boxed (value->type.dtype) && axon_dtype_get_size (value->type.dtype) > 0);
}

static gboolean
is_static (const AxonValue *value)
{
  return value == NULL || (axon_shape_is_static (&value->type.shape) && has_elements (value));
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
  g_clear_pointer (&segment->entry, cpu_entry_unref);
  g_clear_pointer (&segment->tail, cpu_tail_unref);
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
segment_new (const AxonPart *part, GHashTable *slots, const CpuContext *context,
             const CpuCompile *call, GError **error)
{
  Segment *s = g_new0 (Segment, 1);
  s->inputs = slots_of (slots, part->model->inputs);
  s->outputs = slots_of (slots, part->model->outputs);
  s->model = g_object_ref (part->model);
  for (guint i = 0; i < s->model->values->len; i++)
    ((AxonValue *)g_ptr_array_index (s->model->values, i))->index = i;
  if (g_str_equal (part->device, TAIL))
    s->tail = cpu_tail_new (s->model, context);
  else if (g_str_equal (part->device, PLAN) &&
           (s->entry = cpu_entry_new (s->model, TRUE, context, call, error)) == NULL) {
    segment_free (s);
    return NULL;
  }
  return s;
}

/* TRUE if a plan can be made as soon as the shapes of inputs are known, for all that is seen. */
static gboolean
waits_for_shapes (const AxonNode *node)
{
  gboolean known = node->op->run == NULL, unknown = FALSE;
  for (guint i = 0; known && i < node->n_inputs; i++) {
    unknown |= !is_static (node->inputs[i]);
    known = has_elements (node->inputs[i]);
  }
  for (guint i = 0; known && i < node->n_outputs; i++)
    known = has_elements (node->outputs[i]);
  return known && unknown;
}

/* Sizes that follow from data: static by themselves, but what is made of them is a shape, which is
 * known before the tail runs only if they are part of it. */
static gboolean
counts (const AxonNode *node)
{
  gboolean sizes = axon_node_is (node, "Shape") || axon_node_is (node, "Size");
  gboolean of_unknown = FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL)
      of_unknown |= sizes ? !is_static (node->inputs[i]) : node->inputs[i]->index == COUNTS;
  for (guint i = 0; of_unknown && i < node->n_outputs; i++)
    if (node->outputs[i] != NULL)
      of_unknown = is_static (node->outputs[i]) &&
                   (node->outputs[i]->type.dtype == AXON_DTYPE_I64 ||
                    node->outputs[i]->type.dtype == AXON_DTYPE_I32) &&
                   axon_shape_get_numel (&node->outputs[i]->type.shape) <= AXON_MAX_RANK;
  return of_unknown;
}

static const gchar *
kind_of (const AxonNode *node, const CpuContext *context)
{
  gboolean tail = context->depth < MAX_DEPTH;
  if (tail && node->op->run == NULL && counts (node)) {
    for (guint i = 0; i < node->n_outputs; i++)
      if (node->outputs[i] != NULL)
        node->outputs[i]->index = COUNTS;
    return TAIL;
  }
  return cpu_node_is_static (node) ? PLAN : tail && waits_for_shapes (node) ? TAIL : INTERPRETED;
}

/* Caller: has set the number of threads that plans are made for. */
CpuSegments *
cpu_segments_new (AxonModel *model, const CpuContext *context, const CpuCompile *call,
                  GError **error)
{
  g_autoptr (AxonModel) marked = axon_model_clone (model);
  g_autoptr (GHashTable) slots = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) parts = NULL;
  CpuSegments *self = g_new0 (CpuSegments, 1);
  gboolean ok;
  self->segments = g_ptr_array_new_with_free_func (segment_free);
  for (guint i = 0; i < marked->values->len; i++)
    ((AxonValue *)g_ptr_array_index (marked->values, i))->index = 0;
  for (guint i = 0; i < marked->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (marked->nodes, i);
    axon_node_set_affinity (node, kind_of (node, context));
  }
  parts = axon_partition (marked, error);
  ok = parts != NULL;
  for (guint i = 0; ok && i < parts->len; i++) {
    Segment *s = segment_new (g_ptr_array_index (parts, i), slots, context, call, error);
    ok = s != NULL;
    if (ok)
      g_ptr_array_add (self->segments, s);
  }
  self->inputs = slots_of (slots, model->inputs);
  self->outputs = slots_of (slots, model->outputs);
  self->n_inputs = model->inputs->len;
  self->n_outputs = model->outputs->len;
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
  g_free (self->constants);
  g_free (self->inputs);
  g_free (self->outputs);
  g_free (self);
}

static gboolean
run_segment (const Segment *s, CpuRun *run, AxonTensor **slots, GError **error)
{
  guint n_in = s->model->inputs->len, n_out = s->model->outputs->len;
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, n_in + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, n_out + 1);
  gboolean ok;
  for (guint i = 0; i < n_in; i++)
    in[i] = slots[s->inputs[i]];
  ok = s->entry  ? cpu_entry_run (s->entry, run, in, out, error)
       : s->tail ? cpu_tail_run (s->tail, run, in, out, error)
                 : cpu_interpret (s->model, run, in, out, error);
  for (guint i = 0; i < n_out; i++) {
    if (ok)
      slots[s->outputs[i]] = g_steal_pointer (&out[i]);
    g_clear_pointer (&out[i], axon_tensor_unref);
  }
  return ok;
}

gboolean
cpu_segments_run (CpuSegments *self, CpuRun *run, AxonTensor *const *in, AxonTensor **out,
                  GError **error)
{
  g_autofree AxonTensor **slots = g_new0 (AxonTensor *, self->n_slots + 1);
  gboolean ok = TRUE;
  for (guint i = 0; i < self->n_slots; i++)
    slots[i] = self->constants[i] ? axon_tensor_ref (self->constants[i]) : NULL;
  for (guint i = 0; i < self->n_inputs; i++)
    slots[self->inputs[i]] = axon_tensor_ref (in[i]);
  for (guint i = 0; ok && i < self->segments->len; i++)
    ok = run_segment (g_ptr_array_index (self->segments, i), run, slots, error);
  for (guint i = 0; ok && i < self->n_outputs; i++)
    out[i] = axon_tensor_ref (slots[self->outputs[i]]);
  for (guint i = 0; i < self->n_slots; i++)
    g_clear_pointer (&slots[i], axon_tensor_unref);
  return ok;
}
