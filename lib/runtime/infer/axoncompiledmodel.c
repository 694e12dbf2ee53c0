/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled model base class: ports, configuration, executor. Immutable after setup; any thread. */
#include "axoncompiledmodel.h"
#include "axoninferrequest.h"

typedef struct {
  gchar *name;
  AxonDType dtype;
  AxonShape shape;
} Port;

/**
 * AxonCompiledModel:
 *
 * The result of compiling a model for a device. Shared by any number of requests.
 *
 * Since: 1.0
 */
typedef struct {
  AxonPlugin *plugin;
  AxonConfig *config;
  AxonExecutor *executor;
  gchar *model_name;
  GArray *inputs, *outputs; /* Port */
} AxonCompiledModelPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AxonCompiledModel, axon_compiled_model, G_TYPE_OBJECT)

static void
port_clear (gpointer data)
{
  g_free (((Port *)data)->name);
}

static void
axon_compiled_model_init (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  priv->inputs = g_array_new (FALSE, TRUE, sizeof (Port));
  priv->outputs = g_array_new (FALSE, TRUE, sizeof (Port));
  g_array_set_clear_func (priv->inputs, port_clear);
  g_array_set_clear_func (priv->outputs, port_clear);
}

static void
axon_compiled_model_finalize (GObject *object)
{
  AxonCompiledModelPrivate *priv =
      axon_compiled_model_get_instance_private (AXON_COMPILED_MODEL (object));
  g_clear_pointer (&priv->executor, axon_executor_unref);
  g_clear_pointer (&priv->config, axon_config_free);
  g_array_unref (priv->inputs);
  g_array_unref (priv->outputs);
  g_free (priv->model_name);
  g_clear_object (&priv->plugin);
  G_OBJECT_CLASS (axon_compiled_model_parent_class)->finalize (object);
}

static void
axon_compiled_model_class_init (AxonCompiledModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_compiled_model_finalize;
}

static void
copy_ports (GArray *ports, GPtrArray *values)
{
  for (guint i = 0; i < values->len; i++) {
    const AxonValue *value = g_ptr_array_index (values, i);
    Port port = { g_strdup (value->name), value->type.dtype, value->type.shape };
    g_array_append_val (ports, port);
  }
}

void
axon_compiled_model_setup (AxonCompiledModel *compiled, AxonPlugin *plugin, AxonModel *model,
                           const AxonConfig *config, AxonExecutor *executor)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  priv->plugin = g_object_ref (plugin);
  priv->config = axon_config_copy (config);
  priv->executor = axon_executor_ref (executor);
  priv->model_name = g_strdup (model->name);
  copy_ports (priv->inputs, model->inputs);
  copy_ports (priv->outputs, model->outputs);
}

const AxonConfig *
axon_compiled_model_get_config (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return priv->config;
}

AxonExecutor *
axon_compiled_model_get_executor (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return priv->executor;
}

static const Port *
port_at (AxonCompiledModel *compiled, gboolean output, guint index)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  GArray *ports = output ? priv->outputs : priv->inputs;
  g_return_val_if_fail (index < ports->len, NULL);
  return &g_array_index (ports, Port, index);
}

/**
 * axon_compiled_model_get_n_inputs:
 * @compiled: a compiled model
 *
 * Returns: the number of inputs
 *
 * Since: 1.0
 */
guint
axon_compiled_model_get_n_inputs (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return priv->inputs->len;
}

/**
 * axon_compiled_model_get_n_outputs:
 * @compiled: a compiled model
 *
 * Returns: the number of outputs
 *
 * Since: 1.0
 */
guint
axon_compiled_model_get_n_outputs (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return priv->outputs->len;
}

/**
 * axon_compiled_model_get_input_name:
 * @compiled: a compiled model
 * @index: an input
 *
 * Returns: (transfer none): its name
 *
 * Since: 1.0
 */
const gchar *
axon_compiled_model_get_input_name (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, FALSE, index)->name;
}

/**
 * axon_compiled_model_get_output_name:
 * @compiled: a compiled model
 * @index: an output
 *
 * Returns: (transfer none): its name
 *
 * Since: 1.0
 */
const gchar *
axon_compiled_model_get_output_name (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, TRUE, index)->name;
}

/**
 * axon_compiled_model_get_input_dtype:
 * @compiled: a compiled model
 * @index: an input
 *
 * Returns: its element type
 *
 * Since: 1.0
 */
AxonDType
axon_compiled_model_get_input_dtype (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, FALSE, index)->dtype;
}

/**
 * axon_compiled_model_get_output_dtype:
 * @compiled: a compiled model
 * @index: an output
 *
 * Returns: its element type
 *
 * Since: 1.0
 */
AxonDType
axon_compiled_model_get_output_dtype (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, TRUE, index)->dtype;
}

/**
 * axon_compiled_model_get_input_shape:
 * @compiled: a compiled model
 * @index: an input
 *
 * Returns: (transfer none): its shape, -1 for free dimensions
 *
 * Since: 1.0
 */
const AxonShape *
axon_compiled_model_get_input_shape (AxonCompiledModel *compiled, guint index)
{
  return &port_at (compiled, FALSE, index)->shape;
}

/**
 * axon_compiled_model_get_output_shape:
 * @compiled: a compiled model
 * @index: an output
 *
 * Returns: (transfer none): its shape, -1 where it depends on the inputs
 *
 * Since: 1.0
 */
const AxonShape *
axon_compiled_model_get_output_shape (AxonCompiledModel *compiled, guint index)
{
  return &port_at (compiled, TRUE, index)->shape;
}

/**
 * axon_compiled_model_create_infer_request:
 * @compiled: a compiled model
 *
 * Returns: (transfer full): a request; keeps @compiled alive
 *
 * Since: 1.0
 */
AxonInferRequest *
axon_compiled_model_create_infer_request (AxonCompiledModel *compiled)
{
  return g_object_new (AXON_TYPE_INFER_REQUEST, "compiled-model", compiled, NULL);
}

/**
 * axon_compiled_model_get_property:
 * @compiled: a compiled model
 * @key: a property key of the device
 * @error: return location
 *
 * `NETWORK_NAME` and `OPTIMAL_NUMBER_OF_INFER_REQUESTS` are answered for every device; the rest are
 * the values it was compiled with.
 *
 * Returns: (transfer full) (nullable): the value, or %NULL with %AXON_ERROR_ARGUMENT
 *
 * Since: 1.0
 */
GVariant *
axon_compiled_model_get_property (AxonCompiledModel *compiled, const gchar *key, GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (compiled);
  GVariant *value = NULL;
  if (g_str_equal (key, "NETWORK_NAME"))
    return g_variant_ref_sink (g_variant_new_string (priv->model_name));
  if (g_str_equal (key, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
    return g_variant_ref_sink (
        g_variant_new_int32 ((gint)MAX (1, axon_executor_get_n_streams (priv->executor))));
  if (klass->get_property != NULL)
    value = klass->get_property (compiled, key, NULL);
  if (value != NULL)
    return g_variant_ref_sink (value);
  value = axon_config_get (priv->config, key);
  return value ? g_variant_ref (value) : axon_plugin_get_property (priv->plugin, key, error);
}
