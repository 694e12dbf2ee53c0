/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plan's tensors: representations of values, their buffers, inputs and outputs. */
#include "cputensors.h"

#include "kernels/kernels.h"
#include "kernels/placed.h"

void
cpu_tensor_free (gpointer data)
{
  CpuTensor *tensor = data;
  cpu_md_free (tensor->md);
  g_free (tensor);
}

void
cpu_buffer_free (gpointer data)
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

gboolean
cpu_md_is_row_major (const CpuMd *md, const AxonShape *shape)
{
  gint64 strides[AXON_MAX_RANK], dense = 1;
  gboolean plain = md == NULL || cpu_md_get_strides (md, shape, strides);
  for (gint i = shape->rank - 1; md != NULL && plain && i >= 0; i--) {
    plain = shape->dims[i] <= 1 || strides[i] == dense;
    dense *= MAX (shape->dims[i], 1);
  }
  return plain;
}

/* A dense row-major layout has no descriptor. */
static CpuMd *
normalise (const CpuMd *md, const AxonShape *shape)
{
  return cpu_md_is_row_major (md, shape) ? NULL : cpu_md_copy (md);
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

gsize
cpu_tensor_get_bytes (const CpuTensor *t)
{
  return bytes_of (t->dtype, &t->shape, t->md);
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

gboolean
cpu_tensor_has_layout (const CpuTensor *t, const CpuMd *md)
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
  if (tensor->dtype == dtype && cpu_tensor_has_layout (tensor, md))
    return tensor;
  converted = cpu_plan_scratch (plan, dtype, &tensor->shape, md);
  cpu_add_reorder (plan, tensor, converted);
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
    if (rep->dtype == dtype && cpu_tensor_has_layout (rep, md))
      return rep;
  }
  converted = convert (plan, first, dtype, md);
  converted->buffer->pending = first->buffer->pending; /* who reads the value may read it so */
  g_ptr_array_add (reps, converted);
  return converted;
}

void
cpu_plan_end_input (CpuPlan *plan, const AxonNode *node, guint index)
{
  const AxonValue *value = axon_node_get_input (node, index);
  GPtrArray *reps = value && value->type.value == NULL ? reps_of (plan, value) : NULL;
  for (guint i = 0; reps != NULL && i < reps->len; i++)
    ((CpuTensor *)g_ptr_array_index (reps, i))->buffer->pending--;
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
  CpuTensor *t = cpu_plan_place (plan, node, index, md);
  if (t != NULL)
    return t;
  t = cpu_plan_scratch (plan, value->type.dtype, &value->type.shape, md);
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

void
cpu_plan_add_inputs (CpuPlan *plan)
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
void
cpu_plan_add_outputs (CpuPlan *plan)
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
      cpu_add_reorder (plan, t, out);
    else
      cpu_plan_add_copy (plan, t, out);
  }
}
