/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds plans: a kernel per node, memory by liveness, one program. */
#include "gpuplan.h"
#include "gpuelement.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Axon-GPU"

#define MOST_ELEMENTS G_MAXINT32
#define DYNAMIC "a shape is " GPU_NOT_CONSTANT

static GpuTensor *
tensor_new (GpuPlan *plan, AxonDType dtype, const AxonShape *shape, GpuPlace place)
{
  GpuTensor *t = g_new0 (GpuTensor, 1);
  GpuBuffer *buffer = g_new0 (GpuBuffer, 1);
  buffer->place = place;
  buffer->n_bytes = (gsize)MAX (axon_shape_get_numel (shape), 1) * axon_dtype_get_size (dtype);
  buffer->first = G_MAXUINT;
  buffer->id = plan->buffers->len;
  g_ptr_array_add (plan->buffers, buffer);
  *t = (GpuTensor){ dtype, *shape, buffer };
  g_ptr_array_add (plan->tensors, t);
  return t;
}

GpuTensor *
gpu_plan_constant_tensor (GpuPlan *plan, AxonTensor *tensor)
{
  GpuTensor *t = tensor_new (plan, axon_tensor_get_dtype (tensor), axon_tensor_get_shape (tensor),
                             GPU_CONSTANT);
  t->buffer->index = plan->constants->len;
  g_ptr_array_add (plan->constants, axon_tensor_ref (tensor));
  return t;
}

/* What stands for @value, computed by now. */
GpuTensor *
gpu_plan_value (GpuPlan *plan, AxonValue *value)
{
  GpuTensor **t = &plan->values[value->index];
  if (*t == NULL && plan->pending[value->index] != NULL)
    gpu_element_emit (plan, value);
  if (*t == NULL) { /* a constant, met for the first time */
    g_assert (value->type.value != NULL);
    *t = gpu_plan_constant_tensor (plan, value->type.value);
  }
  return *t;
}

void
gpu_plan_constant (GpuPlan *plan, const AxonNode *node, guint index, AxonTensor *tensor)
{
  AxonValue *value = node->outputs[index];
  plan->values[value->index] = gpu_plan_constant_tensor (plan, tensor);
}

AxonTensor *
gpu_plan_fold (const AxonNode *node)
{
  AxonTensor *in[8] = { NULL }, *out[1] = { NULL };
  for (guint i = 0; i < node->n_inputs; i++) {
    if (i >= G_N_ELEMENTS (in) || (node->inputs[i] && node->inputs[i]->type.value == NULL))
      return NULL;
    in[i] = node->inputs[i] ? node->inputs[i]->type.value : NULL;
  }
  return node->n_outputs == 1 && axon_eval_node (node, in, out, NULL) ? out[0] : NULL;
}

GpuTensor *
gpu_plan_input (GpuPlan *plan, const AxonNode *node, guint index)
{
  AxonValue *value = axon_node_get_input (node, index);
  return value ? gpu_plan_value (plan, value) : NULL;
}

GpuTensor *
gpu_plan_output (GpuPlan *plan, const AxonNode *node, guint index)
{
  AxonValue *value = index < node->n_outputs ? node->outputs[index] : NULL;
  if (value == NULL)
    return NULL;
  if (plan->values[value->index] == NULL)
    plan->values[value->index] =
        tensor_new (plan, value->type.dtype, &value->type.shape, GPU_ARENA);
  return plan->values[value->index];
}

GpuTensor *
gpu_plan_scratch (GpuPlan *plan, AxonDType dtype, const AxonShape *shape)
{
  return tensor_new (plan, dtype, shape, GPU_ARENA);
}

GpuTensor *
gpu_plan_frame_numbers (GpuPlan *plan, gsize n_bytes)
{
  const AxonShape shape = AXON_SHAPE ((gint64)(n_bytes / sizeof (gint32)));
  return tensor_new (plan, AXON_DTYPE_I32, &shape, GPU_FRAME);
}

GpuTensor *
gpu_plan_prepared (GpuPlan *plan, AxonDType dtype, const AxonShape *shape)
{
  GpuTensor *t = tensor_new (plan, dtype, shape, GPU_PREPARED);
  t->buffer->index = plan->n_prepared++;
  return t;
}

/* Output @index is the same bytes as @source, in its own shape. */
void
gpu_plan_alias (GpuPlan *plan, const AxonNode *node, guint index, GpuTensor *source)
{
  AxonValue *value = node->outputs[index];
  GpuTensor *t = g_new0 (GpuTensor, 1);
  *t = (GpuTensor){ value->type.dtype, value->type.shape, source->buffer };
  g_ptr_array_add (plan->tensors, t);
  plan->values[value->index] = t;
}

gint32
gpu_plan_params (GpuPlan *plan, const gint32 *values, guint n)
{
  gint32 at = (gint32)plan->params->len;
  g_array_append_vals (plan->params, values, n);
  return at;
}

gchar *
gpu_text_id (const gchar *text)
{
  gchar *id = g_compute_checksum_for_string (G_CHECKSUM_SHA1, text, -1);
  id[12] = '\0';
  return id;
}

void
gpu_plan_text (GpuPlan *plan, const gchar *name, const gchar *text)
{
  g_autofree gchar *placed = NULL;
  if (!g_hash_table_add (plan->kernels, g_strdup (name)))
    return;
  placed = gpu_text_place_buffers (text);
  g_string_append (plan->source, placed);
}

/* Lines with @t@ are written @count times, with 0, 1 ... in its place: what a compiler would
 * unroll, if all did. */
static void
repeat_lines (GString *text, guint count)
{
  g_auto (GStrv) lines = g_strsplit (text->str, "\n", -1);
  g_string_truncate (text, 0);
  for (guint i = 0; lines[i] != NULL; i++)
    for (guint t = 0; t < (strstr (lines[i], "@t@") ? count : 1); t++) {
      g_autofree gchar *number = g_strdup_printf ("%u", t);
      GString *line = g_string_new (lines[i]);
      g_string_replace (line, "@t@", number, 0);
      g_string_append_printf (text, "%s\n", line->str);
      g_string_free (line, TRUE);
    }
}

void
gpu_plan_template (GpuPlan *plan, const gchar *name, const gchar *family, const gchar *const *words)
{
  g_autofree gchar *path = NULL;
  g_autoptr (GBytes) bytes = NULL;
  guint count = 0;
  GString *text;
  if (g_hash_table_contains (plan->kernels, name))
    return;
  path = g_strdup_printf ("/axon/gpu/%s.cl", family);
  bytes = g_resources_lookup_data (path, 0, NULL);
  g_assert (bytes != NULL);
  text = g_string_new_len (g_bytes_get_data (bytes, NULL), (gssize)g_bytes_get_size (bytes));
  for (guint i = 0; words != NULL && words[i] != NULL; i += 2) {
    g_autofree gchar *marked = g_strdup_printf ("@%s@", words[i]);
    g_string_replace (text, marked, words[i + 1], 0);
    if (g_str_equal (words[i], "TILE"))
      count = (guint)g_ascii_strtoull (words[i + 1], NULL, 10);
  }
  if (count > 0)
    repeat_lines (text, count);
  g_string_replace (text, "@NAME@", name, 0);
  gpu_plan_text (plan, name, text->str);
  g_string_free (text, TRUE);
}

const AxonTensor *
gpu_node_constant (const AxonNode *node, guint index)
{
  const AxonValue *value = axon_node_get_input (node, index);
  return value ? value->type.value : NULL;
}

/* Numbers that are attribute @attr (nullable) or a constant input; FALSE: they are not known.
 * *n 0: not given. */
gboolean
gpu_node_constant_ints (const AxonNode *node, guint index, const gchar *attr, gint64 *values,
                        guint *n)
{
  const gint64 *own = attr ? axon_node_get_ints (node, attr, n) : NULL;
  const AxonTensor *t = gpu_node_constant (node, index);
  if (own == NULL && axon_node_get_input (node, index) != NULL && t == NULL)
    return FALSE;
  if (own == NULL)
    *n = t ? (guint)axon_tensor_get_numel (t) : 0;
  if (*n > 2 * AXON_MAX_RANK)
    return FALSE;
  for (guint i = 0; i < *n; i++)
    values[i] =
        own ? own[i] : axon_dtype_load_int (axon_tensor_get_dtype (t), axon_tensor_get_data (t), i);
  return TRUE;
}

gboolean
gpu_plan_knows (const AxonNode *node)
{
  return gpu_find_kernel (node) != NULL || gpu_element_knows (node);
}

gboolean
gpu_plan_is_dynamic (const gchar *why)
{
  return g_str_has_suffix (why, GPU_NOT_CONSTANT);
}

static gchar *
check_values (const GpuPlan *plan, AxonValue *const *values, guint n)
{
  for (guint i = 0; i < n; i++) {
    const AxonTypeInfo *t = values[i] ? &values[i]->type : NULL;
    if (t == NULL)
      continue;
    if (!gpu_plan_has_type (plan, t->dtype))
      return g_strdup_printf ("the device has no %s", axon_dtype_get_name (t->dtype));
    if (!axon_shape_is_static (&t->shape))
      return g_strdup (DYNAMIC);
    if (axon_shape_get_numel (&t->shape) > MOST_ELEMENTS)
      return g_strdup ("more than 2^31 elements");
  }
  return NULL;
}

/* NULL: the node is part of the plan now; else why not. */
static gchar *
build_node (GpuPlan *plan, const AxonNode *node)
{
  gboolean any_size = (node->op->flags & AXON_OP_ANY_INPUT_SIZE) != 0;
  const GpuKernel *kernel;
  gchar *why = any_size ? NULL : check_values (plan, node->inputs, node->n_inputs);
  if (why == NULL)
    why = check_values (plan, node->outputs, node->n_outputs);
  if (why != NULL)
    return why;
  plan->node = node;
  if (gpu_element_build (plan, node))
    return NULL;
  kernel = gpu_find_kernel (node);
  if (kernel != NULL && kernel->build (plan, node, &why)) {
    g_free (why);
    return NULL;
  }
  return why ? why : g_strdup_printf ("%s has no kernel for GPU", node->op->name);
}

static void
add_inputs (GpuPlan *plan)
{
  for (guint i = 0; i < plan->model->inputs->len; i++) {
    AxonValue *value = g_ptr_array_index (plan->model->inputs, i);
    GpuTensor *t = tensor_new (plan, value->type.dtype, &value->type.shape, GPU_INPUT);
    t->buffer->index = i;
    plan->values[value->index] = t;
  }
}

/* A result that is an input, a constant or another result gets a copy of its own. */
static void
add_outputs (GpuPlan *plan)
{
  static const AxonOp copy = { .name = "Output" };
  AxonNode probe = { .op = &copy, .name = (gchar *)"output" };
  plan->node = &probe;
  for (guint i = 0; i < plan->model->outputs->len; i++) {
    AxonValue *value = g_ptr_array_index (plan->model->outputs, i);
    GpuTensor *t = gpu_plan_value (plan, value), *out = t;
    if (t->buffer->place != GPU_ARENA) {
      out = gpu_plan_scratch (plan, t->dtype, &t->shape);
      gpu_copy (plan, t, out);
    }
    out->buffer->place = GPU_OUTPUT;
    out->buffer->index = i;
  }
  plan->node = NULL;
}

/* A node that is refused still has outputs, so that the rest can be judged. */
static void
refuse (GpuPlan *plan, const AxonNode *node, gchar *why, GHashTable *refused)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL)
      gpu_plan_output (plan, node, i);
  g_debug ("%s \"%s\" is refused: %s", node->op->name, node->name, why);
  g_hash_table_insert (refused, (gpointer)node, why);
}

void
gpu_plan_fail (const GpuPlan *plan, GHashTable *refused, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = g_hash_table_size (refused);
  for (guint i = 0; i < plan->model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (plan->model->nodes, i);
    const gchar *why = g_hash_table_lookup (refused, node);
    g_autofree gchar *what = why ? axon_node_describe (node) : NULL;
    if (why != NULL)
      g_string_append_printf (text, "%s%s: %s", text->len ? "; " : "", what, why);
  }
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
      g_dngettext (GETTEXT_PACKAGE,
                   "%u node does not run on GPU: %s (device HETERO:GPU,CPU runs it on the CPU)",
                   "%u nodes do not run on GPU: %s (device HETERO:GPU,CPU runs them on the CPU)",
                   n),
      n, text->str);
}

static GpuPlan *
plan_init (const GpuDevice *device, const GpuOptions *options, AxonModel *model)
{
  const AxonShape one = AXON_SHAPE (1);
  GpuPlan *plan = g_new0 (GpuPlan, 1);
  plan->device = device;
  plan->options = *options;
  plan->model = g_object_ref (model);
  plan->steps = g_ptr_array_new_with_free_func (gpu_step_free);
  plan->tensors = g_ptr_array_new_with_free_func (g_free);
  plan->buffers = g_ptr_array_new_with_free_func (g_free);
  plan->constants = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  plan->values = g_new0 (GpuTensor *, model->values->len + 1);
  plan->pending = g_new0 (GpuExpr *, model->values->len + 1);
  plan->params = g_array_new (FALSE, FALSE, sizeof (gint32));
  plan->source = g_string_new (NULL);
  plan->kernels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < model->values->len; i++)
    ((AxonValue *)g_ptr_array_index (model->values, i))->index = i;
  plan->frames = g_ptr_array_new_with_free_func (g_free);
  plan->complaints = g_ptr_array_new_with_free_func (g_free);
  plan->params_tensor = tensor_new (plan, AXON_DTYPE_I32, &one, GPU_PARAMS);
  plan->status_tensor = tensor_new (plan, AXON_DTYPE_I32, &one, GPU_STATUS);
  gpu_plan_template (plan, "params", "params", NULL);
  gpu_plan_template (plan, "prelude", "prelude", NULL);
  return plan;
}

GpuPlan *
gpu_plan_new (const GpuDevice *device, const GpuOptions *options, AxonModel *model,
              GHashTable *refused, GCancellable *cancellable, GError **error)
{
  GpuPlan *plan = plan_init (device, options, model);
  add_inputs (plan);
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    gchar *why = build_node (plan, node);
    if (why != NULL)
      refuse (plan, node, why, refused);
  }
  if (g_cancellable_set_error_if_cancelled (cancellable, error)) {
    gpu_plan_free (plan);
    return NULL;
  }
  if (g_hash_table_size (refused) == 0) {
    add_outputs (plan);
    gpu_plan_write_drafts (plan);
    gpu_plan_memory (plan);
  }
  return plan;
}

AxonModel *
gpu_plan_describe (const GpuPlan *plan)
{
  AxonModel *model = axon_model_clone (plan->model);
  g_autoptr (GHashTable) nodes = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    g_hash_table_insert (nodes, node->name, node);
    axon_node_set_exec_type (node, "fused or view");
  }
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    AxonNode *node = g_hash_table_lookup (nodes, step->info.node_name);
    if (node != NULL)
      axon_node_set_exec_type (node, step->kernel);
  }
  return model;
}

void
gpu_plan_free (GpuPlan *plan)
{
  for (guint i = 0; i < plan->model->values->len; i++)
    g_clear_pointer (&plan->pending[i], gpu_expr_free);
  g_free (plan->pending);
  g_free (plan->values);
  g_ptr_array_unref (plan->steps);
  g_ptr_array_unref (plan->tensors);
  g_ptr_array_unref (plan->buffers);
  g_ptr_array_unref (plan->constants);
  g_array_unref (plan->params);
  g_string_free (plan->source, TRUE);
  g_hash_table_unref (plan->kernels);
  g_ptr_array_unref (plan->complaints);
  g_ptr_array_unref (plan->frames);
  g_object_unref (plan->model);
  g_free (plan);
}
