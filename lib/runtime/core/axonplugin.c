/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plugin base class: configuration, checks around compile and query. Any thread. */
#include "axonplugin.h"
#include "../infer/axoncompiledmodel.h"
#include "../../base/axontrace-private.h"

/**
 * AxonPlugin:
 *
 * A device plugin: one backend. Applications use #AxonCore instead.
 *
 * Since: 1.0
 */
typedef struct {
  GMutex lock;
  gchar *name;
  AxonConfig *config; /* lock */
} AxonPluginPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AxonPlugin, axon_plugin, G_TYPE_OBJECT)

enum { PROP_NAME = 1 };

static void
axon_plugin_init (AxonPlugin *plugin)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_mutex_init (&priv->lock);
}

static void
axon_plugin_set_gobject_property (GObject *object, G_GNUC_UNUSED guint id, const GValue *value,
                                  G_GNUC_UNUSED GParamSpec *pspec)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (AXON_PLUGIN (object));
  priv->name = g_value_dup_string (value);
}

static void
axon_plugin_finalize (GObject *object)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (AXON_PLUGIN (object));
  g_clear_pointer (&priv->config, axon_config_free);
  g_mutex_clear (&priv->lock);
  g_free (priv->name);
  G_OBJECT_CLASS (axon_plugin_parent_class)->finalize (object);
}

static void
axon_plugin_class_init (AxonPluginClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = axon_plugin_set_gobject_property;
  object_class->finalize = axon_plugin_finalize;
  g_object_class_install_property (
      object_class, PROP_NAME,
      g_param_spec_string ("name", "Name", "Device name", NULL,
                           G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

void
axon_plugin_set_properties_table (AxonPlugin *plugin, const AxonPropertySpec *specs, guint n_specs)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_return_if_fail (priv->config == NULL);
  priv->config = axon_config_new (specs, n_specs);
}

/**
 * axon_plugin_get_name: (skip)
 * @plugin: a plugin
 *
 * Returns: (transfer none): the device name
 */
const gchar *
axon_plugin_get_name (AxonPlugin *plugin)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  return priv->name;
}

/**
 * axon_plugin_get_properties_table: (skip)
 * @plugin: a plugin
 * @n_specs: (out): rows
 *
 * Returns: (transfer none): the property table
 */
const AxonPropertySpec *
axon_plugin_get_properties_table (AxonPlugin *plugin, guint *n_specs)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  *n_specs = priv->config->n_specs;
  return priv->config->specs;
}

gboolean
axon_plugin_set_property (AxonPlugin *plugin, const gchar *key, GVariant *value, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  gboolean ok;
  g_mutex_lock (&priv->lock);
  ok = axon_config_set (priv->config, key, value, error);
  g_mutex_unlock (&priv->lock);
  if (!ok)
    g_prefix_error (error, "device %s: ", priv->name);
  return ok;
}

static GVariant *
supported_properties (const AxonConfig *config)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("as"));
  for (guint i = 0; i < config->n_specs; i++)
    g_variant_builder_add (&builder, "s", config->specs[i].key);
  return g_variant_builder_end (&builder);
}

GVariant *
axon_plugin_get_property (AxonPlugin *plugin, const gchar *key, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  const AxonPropertySpec *spec = axon_config_find_spec (priv->config, key);
  GVariant *value = NULL;
  if (spec == NULL) {
    GVariant *probe = g_variant_ref_sink (g_variant_new_string (""));
    axon_plugin_set_property (plugin, key, probe, error); /* for its message */
    g_variant_unref (probe);
    return NULL;
  }
  if (g_str_equal (key, "SUPPORTED_PROPERTIES"))
    return g_variant_ref_sink (supported_properties (priv->config));
  g_mutex_lock (&priv->lock);
  if (axon_config_get (priv->config, key) != NULL)
    value = g_variant_ref (axon_config_get (priv->config, key));
  g_mutex_unlock (&priv->lock);
  if (value == NULL) {
    value = AXON_PLUGIN_GET_CLASS (plugin)->get_metric (plugin, key, error);
    if (value != NULL)
      g_variant_ref_sink (value);
  }
  return value;
}

/* as; for get_metric implementations */
GVariant *
axon_property_list (const gchar *first, ...)
{
  GVariantBuilder builder;
  va_list args;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("as"));
  va_start (args, first);
  for (const gchar *s = first; s != NULL; s = va_arg (args, const gchar *))
    g_variant_builder_add (&builder, "s", s);
  va_end (args);
  return g_variant_builder_end (&builder);
}

/* The plugin's own values overlaid by the call's. */
static AxonConfig *
effective_config (AxonPlugin *plugin, GVariant *overlay, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_autoptr (AxonConfig) config = NULL;
  g_mutex_lock (&priv->lock);
  config = axon_config_copy (priv->config);
  g_mutex_unlock (&priv->lock);
  if (!axon_config_overlay (config, overlay, error)) {
    g_prefix_error (error, "device %s: ", priv->name);
    return NULL;
  }
  return g_steal_pointer (&config);
}

AxonCompiledModel *
axon_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, GVariant *config,
                           GCancellable *cancellable, AxonProgressFunc progress, gpointer user_data,
                           GError **error)
{
  g_autoptr (AxonConfig) effective = effective_config (plugin, config, error);
  AxonCompiledModel *compiled;
  AXON_TRACE_BEGIN (start);
  if (effective == NULL)
    return NULL;
  compiled = AXON_PLUGIN_GET_CLASS (plugin)->compile_model (plugin, model, effective, cancellable,
                                                            progress, user_data, error);
  AXON_TRACE_END (start, "compile", model->name);
  return compiled;
}

gboolean
axon_plugin_query_model (AxonPlugin *plugin, AxonModel *model, GVariant *config,
                         AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonConfig) effective = effective_config (plugin, config, error);
  gboolean ok;
  AXON_TRACE_BEGIN (start);
  if (effective == NULL)
    return FALSE;
  ok = AXON_PLUGIN_GET_CLASS (plugin)->query_model (plugin, model, effective, result, cancellable,
                                                    error);
  AXON_TRACE_END (start, "query", model->name);
  return ok;
}

AxonSupportedOps *
axon_supported_ops_new (void)
{
  AxonSupportedOps *ops = g_new (AxonSupportedOps, 1);
  ops->devices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  ops->reasons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return ops;
}

void
axon_supported_ops_free (AxonSupportedOps *ops)
{
  g_hash_table_unref (ops->devices);
  g_hash_table_unref (ops->reasons);
  g_free (ops);
}

/* One refusal outweighs any number of acceptances of the same original node. */
void
axon_supported_ops_add (AxonSupportedOps *ops, const AxonNode *node, const gchar *device,
                        const gchar *reason)
{
  for (guint i = 0; i < node->origins->len; i++) {
    const gchar *name = g_ptr_array_index (node->origins, i);
    if (reason != NULL) {
      g_hash_table_insert (ops->reasons, g_strdup (name), g_strdup (reason));
      g_hash_table_remove (ops->devices, name);
    } else if (!g_hash_table_contains (ops->reasons, name)) {
      g_hash_table_insert (ops->devices, g_strdup (name), g_strdup (device));
    }
  }
}
