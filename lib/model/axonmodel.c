/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The graph: owns values, nodes and names. Does not know what operators compute. */
#include <axon/plugin/axongraph.h>

G_DEFINE_TYPE (AxonModel, axon_model, G_TYPE_OBJECT)

static void
attr_free (gpointer data)
{
  AxonAttr *attr = data;
  g_free (attr->name);
  g_free (attr->s);
  g_free (attr->ints);
  g_free (attr->floats);
  g_strfreev (attr->strings);
  g_clear_pointer (&attr->tensor, axon_tensor_unref);
  g_clear_object (&attr->graph);
  g_free (attr);
}

static void
value_free (gpointer data)
{
  AxonValue *value = data;
  g_free (value->name);
  g_strfreev (value->symbols);
  g_free (value->layout);
  g_clear_pointer (&value->type.value, axon_tensor_unref);
  g_ptr_array_unref (value->users);
  g_free (value);
}

static void
node_free (gpointer data)
{
  AxonNode *node = data;
  g_free (node->name);
  g_free (node->inputs);
  g_free (node->outputs);
  g_free (node->affinity);
  g_clear_pointer (&node->info, g_hash_table_unref);
  g_free (node->exec_type);
  g_ptr_array_unref (node->attrs);
  g_ptr_array_unref (node->origins);
  g_free (node);
}

static void
axon_model_init (AxonModel *model)
{
  model->nodes = g_ptr_array_new_with_free_func (node_free);
  model->values = g_ptr_array_new_with_free_func (value_free);
  model->inputs = g_ptr_array_new ();
  model->outputs = g_ptr_array_new ();
  model->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  model->metadata = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

static void
axon_model_finalize (GObject *object)
{
  AxonModel *model = AXON_MODEL (object);
  g_free (model->name);
  g_clear_pointer (&model->external, g_ptr_array_unref);
  g_hash_table_unref (model->by_name);
  g_hash_table_unref (model->metadata);
  g_ptr_array_unref (model->inputs);
  g_ptr_array_unref (model->outputs);
  g_ptr_array_unref (model->nodes);
  g_ptr_array_unref (model->values);
  G_OBJECT_CLASS (axon_model_parent_class)->finalize (object);
}

static void
axon_model_class_init (AxonModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_model_finalize;
}

/**
 * axon_model_new: (constructor)
 * @name: (nullable): a name for messages
 *
 * Returns: (transfer full): an empty model
 *
 * Since: 1.0
 */
AxonModel *
axon_model_new (const gchar *name)
{
  AxonModel *model = g_object_new (AXON_TYPE_MODEL, NULL);
  model->name = g_strdup (name ? name : "model");
  return model;
}

AxonValue *
axon_model_add_value (AxonModel *model, const gchar *name)
{
  AxonValue *value;
  if (name != NULL && g_hash_table_contains (model->by_name, name))
    return NULL;
  value = g_new0 (AxonValue, 1);
  if (name != NULL) {
    value->name = g_strdup (name);
  } else {
    guint n = model->values->len;
    do {
      g_free (value->name);
      value->name = g_strdup_printf ("axon.%u", n++);
    } while (g_hash_table_contains (model->by_name, value->name));
  }
  value->type.shape = AXON_SHAPE_UNKNOWN;
  value->users = g_ptr_array_new ();
  g_ptr_array_add (model->values, value);
  g_hash_table_insert (model->by_name, value->name, value);
  return value;
}

AxonValue *
axon_model_add_constant (AxonModel *model, const gchar *name, AxonTensor *tensor)
{
  AxonValue *value = axon_model_add_value (model, name);
  if (value != NULL) {
    value->type.value = axon_tensor_ref (tensor);
    value->type.dtype = axon_tensor_get_dtype (tensor);
    value->type.shape = *axon_tensor_get_shape (tensor);
  }
  return value;
}

AxonValue *
axon_model_find_value (AxonModel *model, const gchar *name)
{
  return g_hash_table_lookup (model->by_name, name);
}

AxonValue *
axon_model_add_input (AxonModel *model, const gchar *name, AxonDType dtype, const AxonShape *shape)
{
  AxonValue *value = axon_model_add_value (model, name);
  if (value != NULL) {
    value->type.dtype = dtype;
    value->type.shape = *shape;
    value->is_input = TRUE;
    g_ptr_array_add (model->inputs, value);
  }
  return value;
}

void
axon_model_add_output (AxonModel *model, AxonValue *value)
{
  value->is_output = TRUE;
  g_ptr_array_add (model->outputs, value);
}

AxonNode *
axon_model_add_node (AxonModel *model, const AxonOp *op, gint opset, const gchar *name,
                     AxonValue *const *inputs, guint n_inputs, AxonValue *const *outputs,
                     guint n_outputs)
{
  AxonNode *node = g_new0 (AxonNode, 1);
  node->op = op;
  node->opset = opset;
  node->name = g_strdup (name);
  node->attrs = g_ptr_array_new_with_free_func (attr_free);
  node->origins = g_ptr_array_new_with_free_func (g_free);
  node->n_inputs = n_inputs;
  node->inputs = g_new0 (AxonValue *, n_inputs + 1);
  for (guint i = 0; i < n_inputs; i++)
    axon_node_set_input (node, i, inputs[i]);
  node->n_outputs = n_outputs;
  node->outputs = g_new0 (AxonValue *, n_outputs + 1);
  for (guint i = 0; i < n_outputs; i++)
    axon_node_set_output (node, i, outputs[i]);
  g_ptr_array_add (model->nodes, node);
  return node;
}

void
axon_node_set_input (AxonNode *node, guint index, AxonValue *value)
{
  AxonValue *old = node->inputs[index];
  if (old != NULL)
    g_ptr_array_remove (old->users, node);
  node->inputs[index] = value;
  if (value != NULL)
    g_ptr_array_add (value->users, node);
}

void
axon_node_append_input (AxonNode *node, AxonValue *value)
{
  node->inputs = g_renew (AxonValue *, node->inputs, node->n_inputs + 1);
  node->inputs[node->n_inputs++] = NULL;
  axon_node_set_input (node, node->n_inputs - 1, value);
}

void
axon_node_set_output (AxonNode *node, guint index, AxonValue *value)
{
  AxonValue *old = node->outputs[index];
  if (old != NULL && old->producer == node)
    old->producer = NULL;
  node->outputs[index] = value;
  if (value != NULL)
    value->producer = node;
}

void
axon_model_remove_node (AxonModel *model, AxonNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    axon_node_set_input (node, i, NULL);
  for (guint i = 0; i < node->n_outputs; i++)
    axon_node_set_output (node, i, NULL);
  g_ptr_array_remove (model->nodes, node);
}

void
axon_model_replace_value (G_GNUC_UNUSED AxonModel *model, AxonValue *from, AxonValue *to)
{
  while (from->users->len > 0) {
    AxonNode *user = g_ptr_array_index (from->users, 0);
    for (guint i = 0; i < user->n_inputs; i++)
      if (user->inputs[i] == from)
        axon_node_set_input (user, i, to);
  }
}

void
axon_model_set_output (AxonModel *model, guint index, AxonValue *value)
{
  AxonValue *old = g_ptr_array_index (model->outputs, index);
  gchar *name = old->name;
  old->is_output = FALSE;
  g_hash_table_remove (model->by_name, old->name);
  g_hash_table_remove (model->by_name, value->name);
  old->name = value->name;
  value->name = name;
  value->is_output = TRUE;
  g_hash_table_insert (model->by_name, old->name, old);
  g_hash_table_insert (model->by_name, value->name, value);
  model->outputs->pdata[index] = value;
}

/* @node stands for what @from stood for; it has its notes, too. */
void
axon_node_add_origins (AxonNode *node, AxonNode *from)
{
  axon_node_merge_info (node, from);
  for (guint i = 0; i < from->origins->len; i++) {
    const gchar *name = g_ptr_array_index (from->origins, i);
    if (!g_ptr_array_find_with_equal_func (node->origins, name, g_str_equal, NULL))
      g_ptr_array_add (node->origins, g_strdup (name));
  }
}

void
axon_node_set_affinity (AxonNode *node, const gchar *device)
{
  g_free (node->affinity);
  node->affinity = g_strdup (device);
}

void
axon_node_set_exec_type (AxonNode *node, const gchar *exec_type)
{
  gchar *copy = g_strdup (exec_type);
  g_free (node->exec_type);
  node->exec_type = copy;
}

AxonValue *
axon_node_get_input (const AxonNode *node, guint index)
{
  return index < node->n_inputs ? node->inputs[index] : NULL;
}

const gchar *
axon_node_get_domain (const AxonNode *node)
{
  return node->op->domain ? node->op->domain : "ai.onnx";
}

gchar *
axon_node_describe (const AxonNode *node)
{
  g_autofree gchar *name = g_utf8_make_valid (node->name ? node->name : "", -1);
  return g_strdup_printf ("%s%s%s \"%s\" (opset %d)", node->op->domain ? node->op->domain : "",
                          node->op->domain ? "." : "", node->op->name, name, node->opset);
}

gboolean
axon_value_is_constant (const AxonValue *value)
{
  return value != NULL && value->type.value != NULL;
}

AxonNode *
axon_value_get_only_user (const AxonValue *value)
{
  return value->users->len == 1 && !value->is_output ? g_ptr_array_index (value->users, 0) : NULL;
}
