/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled model base class: ports, configuration, executors, export. Immutable after setup but for
 * the properties that a device declares as writable; any thread. */
#include "../core/axonplugin-private.h"
#include "axoncompiledmodel-private.h"
#include <axon/axoninferrequest.h>
#include "config.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/**
 * AxonCompiledModel:
 *
 * The result of compiling a model for a device. Shared by any number of requests.
 *
 * Since: 1.0
 */
G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AxonCompiledModel, axon_compiled_model, G_TYPE_OBJECT)

AxonCompiledModelPrivate *
axon_compiled_model_private (AxonCompiledModel *compiled)
{
  return axon_compiled_model_get_instance_private (compiled);
}

static void
port_clear (gpointer data)
{
  AxonPort *port = data;
  g_free (port->name);
  g_free (port->layout);
}

static void
stage_clear (gpointer data)
{
  axon_executor_unref (((AxonStage *)data)->executor);
}

static void
axon_compiled_model_init (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  priv->inputs = g_array_new (FALSE, TRUE, sizeof (AxonPort));
  priv->outputs = g_array_new (FALSE, TRUE, sizeof (AxonPort));
  priv->stages = g_array_new (FALSE, FALSE, sizeof (AxonStage));
  priv->pool = axon_tensor_pool_new ();
  g_array_set_clear_func (priv->inputs, port_clear);
  g_array_set_clear_func (priv->outputs, port_clear);
  g_array_set_clear_func (priv->stages, stage_clear);
  g_mutex_init (&priv->profile_lock);
}

static void
axon_compiled_model_finalize (GObject *object)
{
  AxonCompiledModelPrivate *priv =
      axon_compiled_model_get_instance_private (AXON_COMPILED_MODEL (object));
  g_array_unref (priv->stages);
  axon_tensor_pool_close (priv->pool);
  g_clear_pointer (&priv->budget, axon_budget_unref);
  g_clear_pointer (&priv->config, axon_config_free);
  g_array_unref (priv->inputs);
  g_array_unref (priv->outputs);
  g_free (priv->model_name);
  axon_compiled_model_clear_profile (AXON_COMPILED_MODEL (object));
  g_clear_object (&priv->context);
  g_clear_object (&priv->host_context);
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
    AxonPort port = { g_strdup (value->name), g_strdup (value->layout), value->type.dtype,
                      value->type.shape };
    g_array_append_val (ports, port);
  }
}

void
axon_compiled_model_setup (AxonCompiledModel *compiled, AxonPlugin *plugin, AxonModel *model,
                           const AxonConfig *config, AxonExecutor *executor)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  priv->plugin = g_object_ref (plugin);
  priv->budget = axon_budget_ref (axon_work_get_budget ());
  priv->config = axon_config_copy (config);
  priv->model_name = g_strdup (model->name);
  if (executor != NULL)
    axon_compiled_model_add_stage (compiled, executor,
                                   AXON_COMPILED_MODEL_GET_CLASS (compiled)->infer);
  axon_compiled_model_init_profile (compiled, model);
  copy_ports (priv->inputs, model->inputs);
  copy_ports (priv->outputs, model->outputs);
}

void
axon_compiled_model_add_stage (AxonCompiledModel *compiled, AxonExecutor *executor,
                               AxonStageFunc func)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  AxonStage stage = { axon_executor_ref (executor), func };
  g_array_append_val (priv->stages, stage);
}

void
axon_compiled_model_set_runs_in_caller (AxonCompiledModel *compiled, gboolean runs_in_caller)
{
  axon_compiled_model_private (compiled)->runs_in_caller = runs_in_caller;
}

AxonBudget *
axon_compiled_model_get_budget (AxonCompiledModel *compiled)
{
  return axon_compiled_model_private (compiled)->budget;
}

gboolean
axon_compiled_model_runs_in_caller (AxonCompiledModel *compiled)
{
  return axon_compiled_model_private (compiled)->runs_in_caller;
}

guint
axon_compiled_model_get_n_stages (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return priv->stages->len;
}

AxonExecutor *
axon_compiled_model_get_stage (AxonCompiledModel *compiled, guint index, AxonStageFunc *func)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  const AxonStage *stage = &g_array_index (priv->stages, AxonStage, index);
  *func = stage->func;
  return stage->executor;
}

AxonPlugin *
axon_compiled_model_get_plugin (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return priv->plugin;
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
  AxonStageFunc func;
  return axon_compiled_model_get_n_stages (compiled) > 0
             ? axon_compiled_model_get_stage (compiled, 0, &func)
             : NULL;
}

gboolean
axon_compiled_model_accepts_remote (AxonCompiledModel *compiled)
{
  return AXON_COMPILED_MODEL_GET_CLASS (compiled)->accepts_remote;
}

gboolean
axon_compiled_model_accepts_any_place (AxonCompiledModel *compiled)
{
  return AXON_COMPILED_MODEL_GET_CLASS (compiled)->accepts_any_place;
}

void
axon_compiled_model_set_loaded_from_cache (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  priv->loaded_from_cache = TRUE;
}

void
axon_compiled_model_set_context (AxonCompiledModel *compiled, AxonRemoteContext *context)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  g_set_object (&priv->context, context);
}

void
axon_compiled_model_set_host_context (AxonCompiledModel *compiled, AxonRemoteContext *context)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  g_set_object (&priv->host_context, context);
}

AxonTensor *
axon_compiled_model_new_tensor (AxonCompiledModel *compiled, AxonDType dtype,
                                const AxonShape *shape, GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return priv->host_context
             ? axon_remote_context_create_host_tensor (priv->host_context, dtype, shape, error)
             : axon_tensor_pool_take (priv->pool, dtype, shape, error);
}

/**
 * axon_compiled_model_get_context:
 * @compiled: a compiled model
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the context it was compiled with, else the device's default;
 *   %NULL with %AXON_ERROR_UNSUPPORTED where the device has none
 *
 * Since: 1.0
 */
AxonRemoteContext *
axon_compiled_model_get_context (AxonCompiledModel *compiled, GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  AxonPluginClass *klass = AXON_PLUGIN_GET_CLASS (priv->plugin);
  if (priv->context != NULL)
    return g_object_ref (priv->context);
  if (klass->get_default_context != NULL)
    return klass->get_default_context (priv->plugin, axon_config_get_device_id (priv->config),
                                       error);
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("device %s shares no memory"),
               axon_plugin_get_name (priv->plugin));
  return NULL;
}

/**
 * axon_compiled_model_get_name:
 * @compiled: a compiled model
 *
 * Returns: (transfer none): the name of the model
 *
 * Since: 1.0
 */
const gchar *
axon_compiled_model_get_name (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return priv->model_name;
}

/**
 * axon_compiled_model_get_device_name:
 * @compiled: a compiled model
 *
 * Returns: (transfer none): the device it was compiled for, without id
 *
 * Since: 1.0
 */
const gchar *
axon_compiled_model_get_device_name (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  return axon_plugin_get_name (priv->plugin);
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

/* What every compiled model answers in the same way. */
static GVariant *
get_common (AxonCompiledModel *compiled, const gchar *key)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  AxonExecutor *executor = axon_compiled_model_get_executor (compiled);
  guint streams = executor ? axon_executor_get_n_streams (executor) : 1;
  GVariantBuilder builder;
  if (g_str_equal (key, "NETWORK_NAME"))
    return g_variant_new_string (g_utf8_validate (priv->model_name, -1, NULL) ? priv->model_name
                                                                              : "");
  if (g_str_equal (key, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
    return g_variant_new_int32 ((gint)MAX (1, streams));
  if (g_str_equal (key, "LOADED_FROM_CACHE"))
    return g_variant_new_boolean (priv->loaded_from_cache);
  if (!g_str_equal (key, "SUPPORTED_PROPERTIES"))
    return NULL;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(ss)"));
  for (guint i = 0; i < priv->config->n_specs; i++) {
    const AxonPropertySpec *spec = &priv->config->specs[i];
    if ((spec->flags & AXON_PROPERTY_COMPILED) && !(spec->flags & AXON_PROPERTY_HIDDEN))
      g_variant_builder_add (&builder, "(ss)", spec->key,
                             spec->flags & AXON_PROPERTY_MODEL_WRITE ? "RW" : "RO");
  }
  return g_variant_builder_end (&builder);
}

static const AxonPropertySpec *
find_row (AxonCompiledModel *compiled, const gchar *key, GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  const AxonPropertySpec *spec = axon_config_find_spec (priv->config, key);
  if (spec != NULL && (spec->flags & (AXON_PROPERTY_COMPILED | AXON_PROPERTY_HIDDEN)))
    return spec;
  if (spec != NULL)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("property \"%s\" belongs to the device, not to a compiled model"), key);
  else
    axon_config_set_unknown_key_error (priv->config, key, error);
  g_prefix_error (error, _ ("model compiled for %s: "), axon_plugin_get_name (priv->plugin));
  return NULL;
}

/**
 * axon_compiled_model_get_property:
 * @compiled: a compiled model
 * @key: one of its `SUPPORTED_PROPERTIES`
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the value it was compiled with or has now, or %NULL with
 *   %AXON_ERROR_ARGUMENT
 *
 * Since: 1.0
 */
GVariant *
axon_compiled_model_get_property (AxonCompiledModel *compiled, const gchar *key, GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (compiled);
  GVariant *value = NULL;
  if (find_row (compiled, key, error) == NULL)
    return NULL;
  if (klass->get_property != NULL)
    value = klass->get_property (compiled, key, NULL);
  if (value == NULL)
    value = get_common (compiled, key);
  if (value != NULL)
    return g_variant_take_ref (value);
  value = axon_config_get (priv->config, key);
  return value ? g_variant_ref (value)
               : axon_plugin_get_property_of (priv->plugin,
                                              axon_config_get_device_id (priv->config), key, error);
}

GVariant *
axon_compiled_model_dup_properties (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < priv->config->n_specs; i++) {
    const AxonPropertySpec *spec = &priv->config->specs[i];
    g_autoptr (GVariant) value =
        (spec->flags & AXON_PROPERTY_COMPILED) && !(spec->flags & AXON_PROPERTY_HIDDEN)
            ? axon_compiled_model_get_property (compiled, spec->key, NULL)
            : NULL;
    if (value != NULL)
      g_variant_dict_insert_value (&dict, spec->key, value);
  }
  return g_variant_dict_end (&dict);
}

/**
 * axon_compiled_model_set_property:
 * @compiled: a compiled model
 * @key: one of its `SUPPORTED_PROPERTIES` that is `RW`
 * @value: its value; strings are accepted for every type
 * @error: return location
 *
 * Most properties are fixed when a model is compiled: setting them is an error that says so.
 *
 * Returns: %TRUE if the value is in effect
 *
 * Since: 1.0
 */
gboolean
axon_compiled_model_set_property (AxonCompiledModel *compiled, const gchar *key, GVariant *value,
                                  GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_get_instance_private (compiled);
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (compiled);
  g_autoptr (GVariant) owned = g_variant_ref_sink (value);
  g_autoptr (AxonConfig) checked = NULL;
  const AxonPropertySpec *spec = find_row (compiled, key, error);
  if (spec == NULL)
    return FALSE;
  if (!(spec->flags & AXON_PROPERTY_MODEL_WRITE) || klass->set_property == NULL) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("property \"%s\" was fixed when the model was compiled for %s: compile it again "
           "with the new value"),
        key, axon_plugin_get_name (priv->plugin));
    return FALSE;
  }
  checked = axon_config_copy (priv->config);
  return axon_config_set (checked, key, owned, error) &&
         klass->set_property (compiled, key, axon_config_get (checked, key), error);
}

/**
 * axon_compiled_model_flush:
 * @compiled: a compiled model
 *
 * Runs at once what the device holds back to gather a batch. Others do nothing. Any thread.
 *
 * Since: 1.0
 */
void
axon_compiled_model_flush (AxonCompiledModel *compiled)
{
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (compiled);
  if (klass->flush != NULL)
    klass->flush (compiled);
}
