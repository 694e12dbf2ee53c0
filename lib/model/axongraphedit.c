/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole-graph work: clone, sort, prune, verify. Iterative: depth of a graph never meets the stack.
 */
#include <axon/plugin/axongraph.h>

#include "config.h"
#include <glib/gi18n-lib.h>

static AxonValue *
clone_value (AxonModel *copy, const AxonValue *value)
{
  AxonValue *v = axon_model_add_value (copy, value->name);
  v->type = value->type;
  if (v->type.value != NULL)
    axon_tensor_ref (v->type.value);
  v->symbols = g_strdupv (value->symbols);
  v->layout = g_strdup (value->layout);
  v->is_input = value->is_input;
  v->is_output = value->is_output;
  return v;
}

static void
clone_attr (AxonNode *node, const AxonAttr *attr)
{
  AxonAttr *a = axon_node_add_attr (node, attr->name, attr->type);
  a->i = attr->i;
  a->f = attr->f;
  a->n = attr->n;
  a->s = g_strdup (attr->s);
  a->ints = g_memdup2 (attr->ints, attr->n * sizeof *attr->ints);
  a->floats = g_memdup2 (attr->floats, attr->n * sizeof *attr->floats);
  a->strings = g_strdupv (attr->strings);
  a->tensor = attr->tensor ? axon_tensor_ref (attr->tensor) : NULL;
  a->graph = attr->graph ? g_object_ref (attr->graph) : NULL;
}

AxonNode *
axon_model_copy_node (AxonModel *copy, const AxonNode *node, AxonValue *const *in,
                      AxonValue *const *out)
{
  AxonNode *n = axon_model_add_node (copy, node->op, node->opset, node->name, in, node->n_inputs,
                                     out, node->n_outputs);
  axon_node_add_origins (n, (AxonNode *)node);
  axon_node_set_affinity (n, node->affinity);
  axon_node_set_exec_type (n, node->exec_type);
  n->exec_time = node->exec_time;
  for (guint i = 0; i < node->attrs->len; i++)
    clone_attr (n, g_ptr_array_index (node->attrs, i));
  return n;
}

static void
clone_node (AxonModel *copy, const AxonNode *node)
{
  g_autofree AxonValue **in = g_new0 (AxonValue *, node->n_inputs + 1);
  g_autofree AxonValue **out = g_new0 (AxonValue *, node->n_outputs + 1);
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL)
      in[i] = axon_model_find_value (copy, node->inputs[i]->name);
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL)
      out[i] = axon_model_find_value (copy, node->outputs[i]->name);
  axon_model_copy_node (copy, node, in, out);
}

/**
 * axon_model_clone:
 * @model: a model
 *
 * Returns: (transfer full): a deep copy; the memory of constants is shared
 *
 * Since: 1.0
 */
AxonModel *
axon_model_clone (AxonModel *model)
{
  AxonModel *copy = axon_model_new (model->name);
  GHashTableIter iter;
  gpointer key, data;
  copy->quantized = model->quantized;
  copy->external = model->external ? g_ptr_array_ref (model->external) : NULL;
  for (guint i = 0; i < model->values->len; i++)
    clone_value (copy, g_ptr_array_index (model->values, i));
  for (guint i = 0; i < model->nodes->len; i++)
    clone_node (copy, g_ptr_array_index (model->nodes, i));
  for (guint i = 0; i < model->inputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->inputs, i);
    g_ptr_array_add (copy->inputs, axon_model_find_value (copy, value->name));
  }
  for (guint i = 0; i < model->outputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->outputs, i);
    g_ptr_array_add (copy->outputs, axon_model_find_value (copy, value->name));
  }
  g_hash_table_iter_init (&iter, model->metadata);
  while (g_hash_table_iter_next (&iter, &key, &data))
    g_hash_table_insert (copy->metadata, g_strdup (key), g_strdup (data));
  return copy;
}

static guint
count_waiting (const AxonNode *node)
{
  guint n = 0;
  for (guint i = 0; i < node->n_inputs; i++)
    n += node->inputs[i] != NULL && node->inputs[i]->producer != NULL;
  return n;
}

/* Kahn's sort, stable: a list in order stays as it is. */
gboolean
axon_model_sort (AxonModel *model, GError **error)
{
  guint n = model->nodes->len, done = 0;
  g_autofree guint *waiting = g_new0 (guint, n + 1);
  g_autoptr (GPtrArray) ready = g_ptr_array_new ();
  for (guint i = 0; i < n; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    node->index = i;
    waiting[i] = count_waiting (node);
    if (waiting[i] == 0)
      g_ptr_array_add (ready, node);
  }
  for (; done < ready->len; done++) {
    AxonNode *node = g_ptr_array_index (ready, done);
    for (guint o = 0; o < node->n_outputs; o++)
      for (guint u = 0; node->outputs[o] != NULL && u < node->outputs[o]->users->len; u++) {
        AxonNode *user = g_ptr_array_index (node->outputs[o]->users, u);
        if (--waiting[user->index] == 0)
          g_ptr_array_add (ready, user);
      }
  }
  if (done < n) {
    guint bad = 0;
    while (waiting[bad] == 0)
      bad++;
    g_autofree gchar *what = axon_node_describe (g_ptr_array_index (model->nodes, bad));
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("%s: the graph has a cycle here"), what);
    return FALSE;
  }
  for (guint i = 0; i < n; i++)
    model->nodes->pdata[i] = ready->pdata[i];
  return TRUE;
}

void
axon_model_prune (AxonModel *model)
{
  for (guint i = model->values->len; i-- > 0;) {
    AxonValue *value = g_ptr_array_index (model->values, i);
    if (value->users->len > 0 || value->producer != NULL || value->is_input || value->is_output)
      continue;
    g_hash_table_remove (model->by_name, value->name);
    g_ptr_array_remove_index_fast (model->values, i);
  }
}

/* What is wrong with a node, and with which value of it; NULL: nothing. */
static const gchar *
find_fault (const AxonNode *node, guint position, const AxonValue **value)
{
  for (guint i = 0; i < node->n_inputs; i++) {
    const AxonValue *input = *value = node->inputs[i];
    if (input == NULL)
      continue;
    if (input->producer != NULL && input->producer->index >= position)
      return _ ("%s: input \"%s\" is made later");
    if (input->producer == NULL && !input->is_input && input->type.value == NULL)
      return _ ("%s: nothing makes input \"%s\"");
    if (!g_ptr_array_find (input->users, node, NULL))
      return _ ("%s: \"%s\" does not know this user");
  }
  for (guint i = 0; i < node->n_outputs; i++) {
    *value = node->outputs[i];
    if (*value != NULL && (*value)->producer != node)
      return _ ("%s: output \"%s\" has another producer");
  }
  return NULL;
}

static gboolean
verify_node (const AxonNode *node, guint position, GError **error)
{
  const AxonValue *value = NULL;
  const gchar *fault = find_fault (node, position, &value);
  g_autofree gchar *what = fault ? axon_node_describe (node) : NULL;
  if (fault != NULL)
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, fault, what, value->name);
  return fault == NULL;
}

/**
 * axon_model_verify:
 * @model: a model
 * @error: return location
 *
 * Checks every invariant of the graph: order, single definition, users, producers of outputs.
 *
 * Returns: %TRUE if all hold; else %AXON_ERROR_MODEL names the first that does not
 *
 * Since: 1.0
 */
gboolean
axon_model_verify (AxonModel *model, GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++)
    ((AxonNode *)g_ptr_array_index (model->nodes, i))->index = i;
  for (guint i = 0; i < model->nodes->len; i++)
    if (!verify_node (g_ptr_array_index (model->nodes, i), i, error))
      return FALSE;
  for (guint i = 0; i < model->outputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->outputs, i);
    if (value->producer == NULL && !value->is_input && value->type.value == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("nothing makes output \"%s\""),
                   value->name);
      return FALSE;
    }
  }
  return TRUE;
}
