/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runtime models of all parts as one graph: parts meet at the values that they hand on; what is
 * inside a part is named after it. */
#include "heteroparts.h"

typedef struct {
  AxonModel *whole;
  const gchar *device, *prefix;
} Merge;

static AxonValue *
merge_value (const Merge *m, const AxonValue *value)
{
  gboolean shared = value->is_input || value->is_output;
  g_autofree gchar *name = g_strconcat (shared ? "" : m->prefix, value->name, NULL);
  AxonValue *mine = axon_model_find_value (m->whole, name);
  if (mine != NULL)
    return mine;
  if (value->type.value != NULL)
    return axon_model_add_constant (m->whole, name, value->type.value);
  mine = axon_model_add_value (m->whole, name);
  mine->type.dtype = value->type.dtype;
  mine->type.shape = value->type.shape;
  return mine;
}

static void
merge_node (const Merge *m, const AxonNode *node)
{
  g_autofree AxonValue **in = g_new0 (AxonValue *, node->n_inputs + 1);
  g_autofree AxonValue **out = g_new0 (AxonValue *, node->n_outputs + 1);
  AxonNode *mine;
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = node->inputs[i] ? merge_value (m, node->inputs[i]) : NULL;
  for (guint i = 0; i < node->n_outputs; i++)
    out[i] = node->outputs[i] ? merge_value (m, node->outputs[i]) : NULL;
  mine = axon_model_copy_node (m->whole, node, in, out);
  g_free (mine->name);
  mine->name = g_strconcat (m->prefix, node->name, NULL);
  axon_node_set_affinity (mine, m->device);
}

AxonModel *
hetero_model_get_runtime_model (AxonCompiledModel *compiled, GError **error)
{
  HeteroModel *self = (HeteroModel *)compiled;
  g_autoptr (AxonModel) whole = axon_model_new (self->ports->name);
  for (guint i = 0; i < self->n_inputs; i++) {
    const AxonValue *input = g_ptr_array_index (self->ports->inputs, i);
    axon_model_add_input (whole, input->name, input->type.dtype, &input->type.shape);
  }
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);
    g_autoptr (AxonModel) model = axon_compiled_model_get_runtime_model (part->compiled, error);
    g_autofree gchar *prefix = hetero_part_prefix (i);
    const Merge m = { whole, part->device, prefix };
    if (model == NULL)
      return NULL;
    for (guint n = 0; n < model->nodes->len; n++)
      merge_node (&m, g_ptr_array_index (model->nodes, n));
  }
  for (guint i = 0; i < self->ports->outputs->len; i++) {
    const AxonValue *output = g_ptr_array_index (self->ports->outputs, i);
    AxonValue *mine = axon_model_find_value (whole, output->name);
    if (mine == NULL) /* a constant */
      mine = axon_model_add_constant (whole, output->name, output->type.value);
    axon_model_add_output (whole, mine);
  }
  return g_steal_pointer (&whole);
}
