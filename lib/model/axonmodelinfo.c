/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What applications may ask a model. */
#include "axoncost-private.h"

static AxonValue *
input_at (AxonModel *model, guint index)
{
  g_return_val_if_fail (AXON_IS_MODEL (model) && index < model->inputs->len, NULL);
  return g_ptr_array_index (model->inputs, index);
}

static AxonValue *
output_at (AxonModel *model, guint index)
{
  g_return_val_if_fail (AXON_IS_MODEL (model) && index < model->outputs->len, NULL);
  return g_ptr_array_index (model->outputs, index);
}

/**
 * axon_model_get_name:
 * @model: a model
 *
 * Returns: (transfer none): the name of the graph
 *
 * Since: 1.0
 */
const gchar *
axon_model_get_name (AxonModel *model)
{
  return model->name;
}

/**
 * axon_model_get_n_inputs:
 * @model: a model
 *
 * Returns: the number of inputs, initializers not counted
 *
 * Since: 1.0
 */
guint
axon_model_get_n_inputs (AxonModel *model)
{
  return model->inputs->len;
}

/**
 * axon_model_get_n_outputs:
 * @model: a model
 *
 * Returns: the number of outputs
 *
 * Since: 1.0
 */
guint
axon_model_get_n_outputs (AxonModel *model)
{
  return model->outputs->len;
}

/**
 * axon_model_get_input_name:
 * @model: a model
 * @index: index of an input
 *
 * Returns: (transfer none): its name
 *
 * Since: 1.0
 */
const gchar *
axon_model_get_input_name (AxonModel *model, guint index)
{
  AxonValue *value = input_at (model, index);
  return value ? value->name : NULL;
}

/**
 * axon_model_get_output_name:
 * @model: a model
 * @index: index of an output
 *
 * Returns: (transfer none): its name
 *
 * Since: 1.0
 */
const gchar *
axon_model_get_output_name (AxonModel *model, guint index)
{
  AxonValue *value = output_at (model, index);
  return value ? value->name : NULL;
}

/**
 * axon_model_get_input_dtype:
 * @model: a model
 * @index: index of an input
 *
 * Returns: its element type
 *
 * Since: 1.0
 */
AxonDType
axon_model_get_input_dtype (AxonModel *model, guint index)
{
  AxonValue *value = input_at (model, index);
  return value ? value->type.dtype : AXON_DTYPE_UNDEFINED;
}

/**
 * axon_model_get_output_dtype:
 * @model: a model
 * @index: index of an output
 *
 * Returns: its element type
 *
 * Since: 1.0
 */
AxonDType
axon_model_get_output_dtype (AxonModel *model, guint index)
{
  AxonValue *value = output_at (model, index);
  return value ? value->type.dtype : AXON_DTYPE_UNDEFINED;
}

/**
 * axon_model_get_input_shape:
 * @model: a model
 * @index: index of an input
 *
 * Returns: (transfer none): its shape, -1 for free dimensions
 *
 * Since: 1.0
 */
const AxonShape *
axon_model_get_input_shape (AxonModel *model, guint index)
{
  AxonValue *value = input_at (model, index);
  return value ? &value->type.shape : NULL;
}

/**
 * axon_model_get_output_shape:
 * @model: a model
 * @index: index of an output
 *
 * Returns: (transfer none): its shape as far as it is known before the inputs are
 *
 * Since: 1.0
 */
const AxonShape *
axon_model_get_output_shape (AxonModel *model, guint index)
{
  AxonValue *value = output_at (model, index);
  return value ? &value->type.shape : NULL;
}

/**
 * axon_model_get_metadata:
 * @model: a model
 * @key: a key of ONNX `metadata_props`
 *
 * Returns: (transfer none) (nullable): its value
 *
 * Since: 1.0
 */
const gchar *
axon_model_get_metadata (AxonModel *model, const gchar *key)
{
  return g_hash_table_lookup (model->metadata, key);
}

/**
 * axon_model_get_metadata_keys:
 * @model: a model
 *
 * Returns: (transfer full) (array zero-terminated=1): the keys of ONNX `metadata_props`
 *
 * Since: 1.0
 */
gchar **
axon_model_get_metadata_keys (AxonModel *model)
{
  guint n;
  g_autofree gchar **keys = (gchar **)g_hash_table_get_keys_as_array (model->metadata, &n);
  return g_strdupv (keys);
}

/**
 * axon_model_get_n_parameters:
 * @model: a model
 *
 * Returns: the number of elements of all constants
 *
 * Since: 1.0
 */
guint64
axon_model_get_n_parameters (AxonModel *model)
{
  guint64 n = 0;
  for (guint i = 0; i < model->values->len; i++) {
    AxonValue *value = g_ptr_array_index (model->values, i);
    if (value->type.value != NULL)
      n += axon_tensor_get_numel (value->type.value);
  }
  return n;
}

/**
 * axon_model_get_n_initializers:
 * @model: a model
 *
 * Returns: the number of weights that the file held which it was read from
 *
 * Since: 1.0
 */
guint
axon_model_get_n_initializers (AxonModel *model)
{
  return model->n_initializers;
}

/**
 * axon_model_get_n_nodes:
 * @model: a model
 *
 * Returns: the number of nodes
 *
 * Since: 1.0
 */
guint
axon_model_get_n_nodes (AxonModel *model)
{
  return model->nodes->len;
}

/**
 * axon_model_is_quantized:
 * @model: a model
 *
 * Returns: %TRUE if the model had quantised operators when it was read
 *
 * Since: 1.0
 */
gboolean
axon_model_is_quantized (AxonModel *model)
{
  return model->quantized;
}

static GVariant *
describe_values (AxonValue *const *values, guint n, gboolean types)
{
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *shape = values[i] ? axon_shape_to_string (&values[i]->type.shape) : NULL;
    g_autofree gchar *type =
        shape ? g_strconcat (axon_dtype_get_name (values[i]->type.dtype), shape, NULL) : NULL;
    g_variant_builder_add (&b, "s", values[i] == NULL ? "" : types ? type : values[i]->name);
  }
  return g_variant_builder_end (&b);
}

static GVariant *
describe_node (const AxonNode *node, const AxonStepCost *cost)
{
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "name", "s", node->name ? node->name : "");
  g_variant_dict_insert (&dict, "type", "s", node->op->name);
  g_variant_dict_insert_value (&dict, "inputs",
                               describe_values (node->inputs, node->n_inputs, FALSE));
  g_variant_dict_insert_value (&dict, "outputs",
                               describe_values (node->outputs, node->n_outputs, FALSE));
  g_variant_dict_insert_value (&dict, "output-types",
                               describe_values (node->outputs, node->n_outputs, TRUE));
  g_variant_dict_insert_value (
      &dict, "originals",
      g_variant_new_strv ((const gchar *const *)node->origins->pdata, (gssize)node->origins->len));
  if (node->affinity != NULL)
    g_variant_dict_insert (&dict, "device", "s", node->affinity);
  if (node->exec_type != NULL)
    g_variant_dict_insert (&dict, "exec-type", "s", node->exec_type);
  if (node->exec_time > 0)
    g_variant_dict_insert (&dict, "exec-time", "d", node->exec_time);
  if (cost->operations > 0) {
    g_variant_dict_insert (&dict, "operations", "d", cost->operations);
    g_variant_dict_insert (&dict, "multiplies-bytes", "b", cost->of_bytes);
  }
  if (cost->bytes > 0)
    g_variant_dict_insert (&dict, "bytes", "d", cost->bytes);
  return g_variant_dict_end (&dict);
}

/**
 * axon_model_dup_nodes:
 * @model: a model
 *
 * Returns: (transfer full): `aa{sv}`, a row for each node in execution order: `name` and `type`
 *   (`s`), `inputs`, `outputs` (`as`: names of values), `output-types` (`as`: such as
 *   `f32[1,8,4,4]`), `originals` (`as`: the nodes of the model as read that it stands for); where
 *   known `device` (`s`), and in a runtime model `exec-type` (`s`: what runs it) and `exec-time`
 *   (`d`: microseconds, mean of the profiled runs); where shapes are known `operations` (`d`: as
 *   axon_model_get_flops() counts them), `multiplies-bytes` (`b`: whether most of them are products
 *   of 8-bit numbers) and `bytes` (`d`: what it reads and writes at least), which in a runtime
 * model are those of the step with all that is fused into it
 *
 * Since: 1.0
 */
GVariant *
axon_model_dup_nodes (AxonModel *model)
{
  g_autofree AxonStepCost *costs = axon_model_get_step_costs (model);
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < model->nodes->len; i++)
    g_variant_builder_add_value (&b,
                                 describe_node (g_ptr_array_index (model->nodes, i), &costs[i]));
  return g_variant_ref_sink (g_variant_builder_end (&b));
}

/**
 * axon_model_get_node_names:
 * @model: a model
 *
 * Returns: (transfer full) (array zero-terminated=1): names of the nodes, in order
 *
 * Since: 1.0
 */
gchar **
axon_model_get_node_names (AxonModel *model)
{
  gchar **names = g_new0 (gchar *, model->nodes->len + 1);
  for (guint i = 0; i < model->nodes->len; i++)
    names[i] = g_strdup (((AxonNode *)g_ptr_array_index (model->nodes, i))->name);
  return names;
}

/**
 * axon_model_set_affinity:
 * @model: a model
 * @node: name of a node
 * @device: (nullable): the device that shall run it; %NULL: no wish
 *
 * Device HETERO follows it; nodes without a wish it places itself. The affinity stays with the node
 * through every transformation.
 *
 * Returns: %TRUE if the model has such a node
 *
 * Since: 1.0
 */
gboolean
axon_model_set_affinity (AxonModel *model, const gchar *node, const gchar *device)
{
  gboolean found = FALSE;
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *n = g_ptr_array_index (model->nodes, i);
    if (g_strcmp0 (n->name, node) != 0)
      continue;
    axon_node_set_affinity (n, device);
    found = TRUE;
  }
  return found;
}
