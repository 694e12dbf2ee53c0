/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds plans: kernel choice per node, representations of values, liveness, arena. */
#include "cpuplan.h"

#include "cpuopenmp.h"
#include "kernels/convchoice.h"
#include "kernels/kernels.h"
#include "onednn/cpudnn.h"

#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Axon-CPU"

#define ALIGNMENT 64

static void
step_free (gpointer data)
{
  CpuStep *step = data;
  if (step->destroy != NULL)
    step->destroy (step->data);
  g_free (step->in);
  g_free (step->out);
  g_free (step);
}

static void
tensor_free (gpointer data)
{
  CpuTensor *tensor = data;
  cpu_md_free (tensor->md);
  g_free (tensor);
}

static void
buffer_free (gpointer data)
{
  CpuBuffer *buffer = data;
  if (buffer->tensor != NULL)
    axon_tensor_unref (buffer->tensor);
  else if (buffer->place == CPU_CONSTANT)
    free (buffer->data);
  g_free (buffer);
}

static CpuBuffer *
buffer_new (CpuPlan *plan, CpuPlace place, gsize n_bytes)
{
  CpuBuffer *buffer = g_new0 (CpuBuffer, 1);
  buffer->place = place;
  buffer->n_bytes = n_bytes;
  buffer->first = G_MAXUINT;
  g_ptr_array_add (plan->buffers, buffer);
  return buffer;
}

/* A dense row-major layout has no descriptor. */
static CpuMd *
normalise (const CpuMd *md, const AxonShape *shape)
{
  gint64 strides[AXON_MAX_RANK], dense = 1;
  gboolean plain = md == NULL || cpu_md_get_strides (md, shape, strides);
  for (gint i = shape->rank - 1; md != NULL && plain && i >= 0; i--) {
    plain = shape->dims[i] <= 1 || strides[i] == dense;
    dense *= MAX (shape->dims[i], 1);
  }
  return plain ? NULL : cpu_md_copy (md);
}

static CpuTensor *
tensor_new (CpuPlan *plan, AxonDType dtype, const AxonShape *shape, const CpuMd *md,
            CpuBuffer *buffer)
{
  CpuTensor *t = g_new0 (CpuTensor, 1);
  t->dtype = dtype;
  t->shape = *shape;
  t->md = normalise (md, shape);
  t->buffer = buffer;
  g_ptr_array_add (plan->tensors, t);
  return t;
}

static gsize
bytes_of (AxonDType dtype, const AxonShape *shape, const CpuMd *md)
{
  return md ? cpu_md_get_bytes (md)
            : (gsize)axon_shape_get_numel (shape) * axon_dtype_get_size (dtype);
}

CpuTensor *
cpu_plan_scratch (CpuPlan *plan, AxonDType dtype, const AxonShape *shape, const CpuMd *md)
{
  return tensor_new (plan, dtype, shape, md,
                     buffer_new (plan, CPU_ARENA, bytes_of (dtype, shape, md)));
}

CpuTensor *
cpu_plan_scratch_bytes (CpuPlan *plan, gsize n_bytes)
{
  AxonShape shape = AXON_SHAPE ((gint64)n_bytes);
  return cpu_plan_scratch (plan, AXON_DTYPE_U8, &shape, NULL);
}

/* Takes over @data (posix_memalign or malloc). */
CpuTensor *
cpu_plan_constant_md (CpuPlan *plan, AxonDType dtype, const AxonShape *shape, const CpuMd *md,
                      gpointer data)
{
  CpuBuffer *buffer = buffer_new (plan, CPU_CONSTANT, bytes_of (dtype, shape, md));
  buffer->data = data;
  return tensor_new (plan, dtype, shape, md, buffer);
}

CpuTensor *
cpu_plan_constant (CpuPlan *plan, AxonDType dtype, const AxonShape *shape, gpointer data)
{
  return cpu_plan_constant_md (plan, dtype, shape, NULL, data);
}

/* Bytes that others may hold, too (transfer full). */
CpuTensor *
cpu_plan_constant_tensor (CpuPlan *plan, AxonTensor *tensor)
{
  CpuBuffer *buffer = buffer_new (plan, CPU_CONSTANT, axon_tensor_get_n_bytes (tensor));
  buffer->tensor = tensor;
  buffer->data = axon_tensor_get_data (tensor);
  return tensor_new (plan, AXON_DTYPE_U8, axon_tensor_get_shape (tensor), NULL, buffer);
}

static GPtrArray *
reps_of (CpuPlan *plan, const AxonValue *value)
{
  if (plan->reps[value->index] == NULL)
    plan->reps[value->index] = g_ptr_array_new ();
  return plan->reps[value->index];
}

/* What the producer wrote, in whatever layout. */
CpuTensor *
cpu_plan_input (CpuPlan *plan, const AxonNode *node, guint index)
{
  const AxonValue *value = axon_node_get_input (node, index);
  GPtrArray *reps;
  if (value == NULL)
    return NULL;
  reps = reps_of (plan, value);
  if (reps->len == 0) { /* a constant, met for the first time */
    CpuBuffer *buffer = buffer_new (plan, CPU_CONSTANT, 0);
    g_assert (value->type.value != NULL);
    buffer->tensor = axon_tensor_ref (value->type.value);
    buffer->data = axon_tensor_get_data (value->type.value);
    buffer->pending = G_MAXUINT / 2;
    g_ptr_array_add (reps, tensor_new (plan, value->type.dtype, &value->type.shape, NULL, buffer));
  }
  return g_ptr_array_index (reps, 0);
}

static gboolean
same_layout (const CpuTensor *t, const CpuMd *md)
{
  CpuMd *wanted = normalise (md, &t->shape);
  gboolean same = t->md == NULL ? wanted == NULL : wanted != NULL && cpu_md_equal (t->md, wanted);
  cpu_md_free (wanted);
  return same;
}

static CpuTensor *
convert (CpuPlan *plan, CpuTensor *tensor, AxonDType dtype, const CpuMd *md)
{
  CpuTensor *converted;
  if (tensor->dtype == dtype && same_layout (tensor, md))
    return tensor;
  converted = cpu_plan_scratch (plan, dtype, &tensor->shape, md);
  cpu_dnn_add_reorder (plan, tensor, converted);
  return converted;
}

/* The input as @dtype, in layout @md (NULL: row-major); a conversion is made once and kept. */
CpuTensor *
cpu_plan_input_of (CpuPlan *plan, const AxonNode *node, guint index, AxonDType dtype,
                   const CpuMd *md)
{
  CpuTensor *first = cpu_plan_input (plan, node, index), *converted;
  GPtrArray *reps;
  if (first == NULL)
    return NULL;
  reps = reps_of (plan, axon_node_get_input (node, index));
  for (guint i = 0; i < reps->len; i++) {
    CpuTensor *rep = g_ptr_array_index (reps, i);
    if (rep->dtype == dtype && same_layout (rep, md))
      return rep;
  }
  converted = convert (plan, first, dtype, md);
  g_ptr_array_add (reps, converted);
  return converted;
}

CpuTensor *
cpu_plan_input_as (CpuPlan *plan, const AxonNode *node, guint index, const CpuMd *md)
{
  const CpuTensor *first = cpu_plan_input (plan, node, index);
  return first ? cpu_plan_input_of (plan, node, index, first->dtype, md) : NULL;
}

CpuTensor *
cpu_plan_convert (CpuPlan *plan, CpuTensor *tensor, const CpuMd *md)
{
  return convert (plan, tensor, tensor->dtype, md);
}

CpuTensor *
cpu_plan_output (CpuPlan *plan, const AxonNode *node, guint index, const CpuMd *md)
{
  const AxonValue *value = node->outputs[index];
  CpuTensor *t = cpu_plan_scratch (plan, value->type.dtype, &value->type.shape, md);
  t->buffer->pending = value->users->len + (value->is_output ? G_MAXUINT / 4 : 0);
  g_ptr_array_add (reps_of (plan, value), t);
  return t;
}

/* The output stands on @source's memory: a view, or a result computed in place. */
CpuTensor *
cpu_plan_alias (CpuPlan *plan, const AxonNode *node, guint index, CpuTensor *source,
                const CpuMd *md)
{
  const AxonValue *value = node->outputs[index];
  CpuTensor *t = tensor_new (plan, value->type.dtype, &value->type.shape, md, source->buffer);
  t->offset = source->offset;
  t->buffer->pending += value->users->len + (value->is_output ? G_MAXUINT / 4 : 0);
  g_ptr_array_add (reps_of (plan, value), t);
  return t;
}

/* TRUE while building the node that uses @tensor's memory last: it may be overwritten. */
gboolean
cpu_plan_is_last_use (G_GNUC_UNUSED CpuPlan *plan, const CpuTensor *tensor)
{
  return tensor->buffer->place == CPU_ARENA && tensor->buffer->pending == 1;
}

static void
touch (CpuTensor *const *tensors, guint n, guint step)
{
  for (guint i = 0; i < n; i++) {
    CpuBuffer *b = tensors[i] ? tensors[i]->buffer : NULL;
    if (b == NULL)
      continue;
    b->first = MIN (b->first, step);
    b->last = MAX (b->last, step);
  }
}

CpuStep *
cpu_plan_add_step (CpuPlan *plan, CpuStepFunc run, gpointer data, GDestroyNotify destroy,
                   const gchar *impl, CpuTensor *const *in, guint n_in, CpuTensor *const *out,
                   guint n_out)
{
  CpuStep *step = g_new0 (CpuStep, 1);
  AxonProfilingInfo info = { plan->node ? plan->node->name : "output",
                             plan->node ? plan->node->op->name : "Reorder", impl };
  step->run = run;
  step->data = data;
  step->destroy = destroy;
  step->in = g_memdup2 (in, n_in * sizeof *in);
  step->out = g_memdup2 (out, n_out * sizeof *out);
  step->n_in = n_in;
  step->n_out = n_out;
  step->index = plan->steps->len;
  touch (in, n_in, step->index);
  touch (out, n_out, step->index);
  g_ptr_array_add (plan->steps, step);
  g_array_append_val (plan->info, info);
  return step;
}

const AxonTensor *
cpu_node_constant (const AxonNode *node, guint index)
{
  const AxonValue *value = axon_node_get_input (node, index);
  return value ? value->type.value : NULL;
}

gboolean
cpu_node_axes (const AxonNode *node, gint64 *axes, guint *n)
{
  /* a file may say the attribute where the operator has none any more */
  const gint64 *attr =
      axon_node_has_form (node, AXON_FORM_ATTRIBUTES) ? axon_node_get_ints (node, "axes", n) : NULL;
  const AxonTensor *input = cpu_node_constant (node, 1);
  if (attr == NULL)
    *n = 0;
  if (attr == NULL && axon_node_get_input (node, 1) != NULL) {
    if (input == NULL)
      return FALSE;
    *n = (guint)axon_tensor_get_numel (input);
  }
  if (*n > AXON_MAX_RANK)
    return FALSE;
  for (guint i = 0; i < *n; i++)
    axes[i] = attr ? attr[i] : (gint64)axon_tensor_get_value (input, i);
  return TRUE;
}

/* Forms that only reference kernels know. */
#define REFERENCE_FORMS                                                                            \
  (AXON_FORM_AXIS_BROADCAST | AXON_FORM_CHANNEL_SLOPES | AXON_FORM_SIDE_SCALES)

gboolean
cpu_knows_form (const AxonOp *op)
{
  return (op->form & REFERENCE_FORMS) == 0;
}

static gboolean
matches (const CpuKernel *kernel, const AxonNode *node)
{
  const AxonOp *op = node->op;
  return kernel->name == NULL ||
         (cpu_knows_form (op) && g_strcmp0 (kernel->domain, op->domain) == 0 &&
          g_str_equal (kernel->name, op->name));
}

/* FALSE without error: no row of the table takes the node. */
static gboolean
build_with_family (CpuPlan *plan, const AxonNode *node, const CpuKernel *rows, GError **error)
{
  for (plan->row = rows; plan->row->build != NULL; plan->row++) {
    GError *refusal = NULL;
    if (!matches (plan->row, node))
      continue;
    if (plan->row->build (plan, node, &refusal)) {
      if (plan->row->name == NULL)
        g_debug ("%s \"%s\": no kernel takes it, the reference runs", node->op->name, node->name);
      return TRUE;
    }
    if (refusal != NULL) {
      g_propagate_error (error, refusal);
      return FALSE;
    }
  }
  return FALSE;
}

static gboolean
build_node (CpuPlan *plan, const AxonNode *node, GError **error)
{
  GError *failure = NULL;
  gboolean built;
  plan->node = node;
  if (!cpu_plan_reserve (plan, node, error))
    return FALSE;
  built = cpu_build_extension (plan, node, &failure);
  if (failure != NULL) {
    g_propagate_error (error, failure);
    return FALSE;
  }
  for (const CpuFamily *f = cpu_families; !built && f->name != NULL; f++) {
    if (g_strv_contains ((const gchar *const *)plan->disabled, f->name))
      continue;
    built = build_with_family (plan, node, f->rows, &failure);
    if (failure != NULL) {
      g_propagate_error (error, failure);
      return FALSE;
    }
  }
  if (plan->lacks_memory) {
    g_autofree gchar *what = axon_node_describe (node);
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, "%s: out of memory", what);
    return FALSE;
  }
  g_assert (built); /* the reference kernel takes every node */
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL && node->inputs[i]->type.value == NULL)
      cpu_plan_input (plan, node, i)->buffer->pending--;
  plan->node = NULL;
  return TRUE;
}

static void
add_inputs (CpuPlan *plan)
{
  for (guint i = 0; i < plan->model->inputs->len; i++) {
    AxonValue *value = g_ptr_array_index (plan->model->inputs, i);
    CpuBuffer *buffer = buffer_new (plan, CPU_INPUT, 0);
    buffer->index = i;
    buffer->pending = value->users->len;
    g_ptr_array_add (reps_of (plan, value),
                     tensor_new (plan, value->type.dtype, &value->type.shape, NULL, buffer));
  }
}

/* Before a step uses @tensor: its elements begin @n_bytes later in its memory. */
void
cpu_plan_shift (CpuTensor *tensor, gsize n_bytes)
{
  tensor->offset += n_bytes;
  tensor->buffer->n_bytes += n_bytes;
}

static void
copy_bytes (const CpuStep *step, const CpuInstance *instance)
{
  memcpy (cpu_tensor_data (instance, step->out[0]), cpu_tensor_data (instance, step->in[0]),
          bytes_of (step->out[0]->dtype, &step->out[0]->shape, step->out[0]->md));
}

/* @from and @to: of one type and layout */
void
cpu_plan_add_copy (CpuPlan *plan, CpuTensor *from, CpuTensor *to)
{
  cpu_plan_add_step (plan, copy_bytes, NULL, NULL, "copy", &from, 1, &to, 1);
}

/* Outputs are row-major in the caller's memory. What a step writes last goes there directly. */
static void
add_outputs (CpuPlan *plan)
{
  for (guint i = 0; i < plan->model->outputs->len; i++) {
    AxonValue *value = g_ptr_array_index (plan->model->outputs, i);
    AxonValue *inputs[] = { value };
    AxonNode probe = { .inputs = inputs, .n_inputs = 1 };
    CpuTensor *t = cpu_plan_input (plan, &probe, 0), *out;
    if (t->md == NULL && t->buffer->place == CPU_ARENA && t->offset == 0 &&
        t->buffer->n_bytes == bytes_of (t->dtype, &t->shape, NULL)) {
      t->buffer->place = CPU_OUTPUT;
      t->buffer->index = i;
      continue;
    }
    out = tensor_new (plan, t->dtype, &t->shape, NULL, buffer_new (plan, CPU_OUTPUT, 0));
    out->buffer->index = i;
    if (t->md != NULL)
      cpu_dnn_add_reorder (plan, t, out);
    else
      cpu_plan_add_copy (plan, t, out);
  }
}

static void
plan_memory (CpuPlan *plan)
{
  g_autofree AxonArenaItem *items = g_new0 (AxonArenaItem, plan->buffers->len + 1);
  g_autoptr (GPtrArray) arena = g_ptr_array_new ();
  for (guint i = 0; i < plan->buffers->len; i++) {
    CpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    if (b->place != CPU_ARENA || b->first == G_MAXUINT)
      continue;
    items[arena->len] = (AxonArenaItem){ b->n_bytes, b->first, b->last, 0 };
    g_ptr_array_add (arena, b);
  }
  plan->arena_size = axon_plan_arena (items, arena->len, ALIGNMENT);
  for (guint i = 0; i < arena->len; i++)
    ((CpuBuffer *)g_ptr_array_index (arena, i))->offset = items[i].offset;
}

/* @model: static shapes but for frames. Keeps a reference. */
CpuPlan *
cpu_plan_new (AxonModel *model, GPtrArray *extensions, const CpuPlanOptions *options,
              CpuPacked *packed, const CpuCompile *call, GError **error)
{
  GStrv disabled = cpu_families_disabled (error);
  CpuPlan *plan;
  if (disabled == NULL)
    return NULL;
  plan = g_new0 (CpuPlan, 1);
  plan->disabled = disabled;
  plan->model = g_object_ref (model);
  plan->budget = axon_budget_ref (axon_work_get_budget ());
  plan->extensions = g_ptr_array_ref (extensions);
  plan->n_threads = options->n_threads;
  plan->winograd = options->winograd;
  plan->products = options->products;
  plan->packed = packed;
  plan->channels_last = cpu_conv_prefers_channels_last (model);
  plan->steps = g_ptr_array_new_with_free_func (step_free);
  plan->tensors = g_ptr_array_new_with_free_func (tensor_free);
  plan->buffers = g_ptr_array_new_with_free_func (buffer_free);
  plan->reps = g_new0 (GPtrArray *, model->values->len + 1);
  plan->info = g_array_new (FALSE, FALSE, sizeof (AxonProfilingInfo));
  for (guint i = 0; i < model->values->len; i++)
    ((AxonValue *)g_ptr_array_index (model->values, i))->index = i;
  add_inputs (plan);
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (g_cancellable_set_error_if_cancelled (call->cancellable, error) ||
        !build_node (plan, node, error)) {
      cpu_plan_free (plan);
      return NULL;
    }
    if (call->progress != NULL)
      call->progress (0.1 + 0.9 * i / model->nodes->len, node->name, call->user_data);
  }
  add_outputs (plan);
  plan_memory (plan);
  if (!cpu_plan_check_memory (plan, error)) {
    cpu_plan_free (plan);
    return NULL;
  }
  g_debug ("%s: %u nodes, %u steps, %u threads, oneDNN's by %s, %" G_GSIZE_FORMAT
           " bytes of weights after Winograd",
           axon_model_get_name (model), model->nodes->len, plan->steps->len, plan->n_threads,
           cpu_openmp_is_ours () ? "us" : "libgomp",
           options->winograd.bytes - plan->winograd.bytes);
  return plan;
}

AxonModel *
cpu_plan_describe (const CpuPlan *plan)
{
  AxonModel *model = axon_model_clone (plan->model);
  g_autoptr (GHashTable) nodes = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    g_hash_table_insert (nodes, node->name, node);
  }
  for (guint i = 0; i < plan->info->len; i++) {
    const AxonProfilingInfo *step = &g_array_index (plan->info, AxonProfilingInfo, i);
    AxonNode *node = g_hash_table_lookup (nodes, step->node_name);
    g_autofree gchar *all =
        node && node->exec_type ? g_strconcat (node->exec_type, "+", step->exec_type, NULL) : NULL;
    if (node != NULL)
      axon_node_set_exec_type (node, all ? all : step->exec_type);
  }
  return model;
}

void
cpu_plan_free (CpuPlan *plan)
{
  for (guint i = 0; i < plan->model->values->len; i++)
    g_clear_pointer (&plan->reps[i], g_ptr_array_unref);
  g_free (plan->reps);
  g_ptr_array_unref (plan->steps);
  g_ptr_array_unref (plan->tensors);
  g_ptr_array_unref (plan->buffers);
  g_array_unref (plan->info);
  g_ptr_array_unref (plan->extensions);
  g_object_unref (plan->model);
  axon_budget_give (plan->budget, plan->n_reserved);
  axon_budget_unref (plan->budget);
  g_strfreev (plan->disabled);
  g_free (plan);
}
