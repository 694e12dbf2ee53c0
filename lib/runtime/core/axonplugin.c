/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plugin base class: configuration, checks around compile and query. Any thread. */
#include <axon/plugin/axonplugin.h>
#include "axonplugin-private.h"
#include <axon/axoncompiledmodel.h>
#include "../../base/axontrace-private.h"

#include <string.h>

/**
 * AxonPlugin:
 *
 * A device plugin: one backend. Applications use #AxonCore instead.
 *
 * Since: 1.0
 */
typedef struct {
  gchar *name;
  AxonPropertySpec *specs;
  GWeakRef core;
  GMutex lock;
  AxonConfig *config; /* lock */
} AxonPluginPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AxonPlugin, axon_plugin, G_TYPE_OBJECT)

enum { PROP_NAME = 1 };

static void
axon_plugin_init (AxonPlugin *plugin)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_mutex_init (&priv->lock);
  g_weak_ref_init (&priv->core, NULL);
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
  g_weak_ref_clear (&priv->core);
  g_mutex_clear (&priv->lock);
  g_free (priv->specs);
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
  priv->specs = axon_property_resolve (specs, n_specs);
  priv->config = axon_config_new (priv->specs, n_specs);
}

/* The core holds its plugins; a plugin must not hold the core. */
void
axon_plugin_set_core (AxonPlugin *plugin, AxonCore *core)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_weak_ref_set (&priv->core, core);
}

AxonCore *
axon_plugin_get_core (AxonPlugin *plugin, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  AxonCore *core = g_weak_ref_get (&priv->core);
  if (core == NULL)
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 "device %s: the core it belongs to is gone; keep it while models are compiled",
                 priv->name);
  return core;
}

/**
 * axon_plugin_get_name: (skip)
 * @plugin: a plugin
 *
 * Returns: (transfer none): the device name
 *
 * Since: 1.0
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

static gboolean
set_for_process (AxonPlugin *plugin, const gchar *key, GVariant *value, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_autoptr (GVariant) parsed = axon_config_parse (priv->config, key, value, error);
  return parsed != NULL &&
         AXON_PLUGIN_GET_CLASS (plugin)->set_property (plugin, key, parsed, error);
}

static gboolean
set_own (AxonPlugin *plugin, const gchar *key, GVariant *value, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  gboolean ok;
  g_mutex_lock (&priv->lock);
  ok = axon_config_set (priv->config, key, value, error);
  g_mutex_unlock (&priv->lock);
  return ok;
}

gboolean
axon_plugin_set_property (AxonPlugin *plugin, const gchar *key, GVariant *value, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  const AxonPropertySpec *spec = axon_config_find_spec (priv->config, key);
  gboolean ok = spec != NULL && (spec->flags & AXON_PROPERTY_PROCESS)
                    ? set_for_process (plugin, key, value, error)
                    : set_own (plugin, key, value, error);
  if (!ok)
    g_prefix_error (error, "device %s: ", priv->name);
  return ok;
}

static gboolean
is_model_only (const AxonPropertySpec *spec)
{
  return (spec->flags & AXON_PROPERTY_MODEL_ONLY) != 0;
}

static GVariant *
supported_properties (const AxonConfig *config)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(ss)"));
  for (guint i = 0; i < config->n_specs; i++)
    if (!is_model_only (&config->specs[i]) && !(config->specs[i].flags & AXON_PROPERTY_HIDDEN))
      g_variant_builder_add (&builder, "(ss)", config->specs[i].key,
                             config->specs[i].flags & AXON_PROPERTY_READ_WRITE ? "RW" : "RO");
  return g_variant_builder_end (&builder);
}

/* Of the device that @id names, else that DEVICE_ID names at the moment. */
static GVariant *
get_metric (AxonPlugin *plugin, const gchar *id, const gchar *key, GError **error)
{
  AxonPluginClass *klass = AXON_PLUGIN_GET_CLASS (plugin);
  g_autoptr (GVariant) own = NULL;
  if (klass->get_device_metric == NULL || (id == NULL && klass->get_metric != NULL))
    return klass->get_metric (plugin, key, error);
  if (id == NULL) {
    own = axon_plugin_get_property (plugin, "DEVICE_ID", error);
    id = own ? g_variant_get_string (own, NULL) : NULL;
  }
  return id ? klass->get_device_metric (plugin, id, key, error) : NULL;
}

GVariant *
axon_plugin_get_property (AxonPlugin *plugin, const gchar *key, GError **error)
{
  return axon_plugin_get_property_of (plugin, NULL, key, error);
}

GVariant *
axon_plugin_get_property_of (AxonPlugin *plugin, const gchar *id, const gchar *key, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  const AxonPropertySpec *spec = axon_config_find_spec (priv->config, key);
  GVariant *value = NULL;
  if (spec == NULL || is_model_only (spec)) {
    if (spec != NULL)
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   "property \"%s\" belongs to a compiled model", key);
    else
      axon_config_set_unknown_key_error (priv->config, key, error);
    g_prefix_error (error, "device %s: ", priv->name);
    return NULL;
  }
  if (g_str_equal (key, "SUPPORTED_PROPERTIES"))
    return g_variant_ref_sink (supported_properties (priv->config));
  g_mutex_lock (&priv->lock);
  if (axon_config_get (priv->config, key) != NULL)
    value = g_variant_ref (axon_config_get (priv->config, key));
  g_mutex_unlock (&priv->lock);
  if (value == NULL) {
    value = get_metric (plugin, id, key, error);
    if (value != NULL)
      value = g_variant_take_ref (value);
  }
  return value;
}

gboolean
axon_plugin_has_property (AxonPlugin *plugin, const gchar *key)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  const AxonPropertySpec *spec = axon_config_find_spec (priv->config, key);
  return spec != NULL && !is_model_only (spec);
}

/* TRUE if OPTIMIZATION_CAPABILITIES lists @capability. */
gboolean
axon_plugin_has_capability (AxonPlugin *plugin, const gchar *capability)
{
  g_autoptr (GVariant) value = axon_plugin_get_property (plugin, "OPTIMIZATION_CAPABILITIES", NULL);
  g_autofree const gchar **list = value ? g_variant_get_strv (value, NULL) : NULL;
  return list != NULL && g_strv_contains (list, capability);
}

void
axon_plugin_log (AxonPlugin *plugin, const AxonConfig *config, const gchar *level,
                 const gchar *format, ...)
{
  static const gchar *const order = "LOG_NONE LOG_ERROR LOG_WARNING LOG_INFO LOG_DEBUG LOG_TRACE";
  const gchar *wanted = axon_config_get_string (config, "LOG_LEVEL");
  gboolean shown = *wanted != '\0' && strstr (order, wanted) >= strstr (order, level);
  g_autofree gchar *text = NULL;
  va_list args;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (shown)
    g_message ("%s: %s", axon_plugin_get_name (plugin), text);
  else
    g_debug ("%s: %s", axon_plugin_get_name (plugin), text);
}

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

GVariant *
axon_property_ids (guint n)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("as"));
  for (guint i = 0; i < n; i++)
    g_variant_builder_add_value (&builder, g_variant_new_take_string (g_strdup_printf ("%u", i)));
  return g_variant_builder_end (&builder);
}

/* The plugin's own values overlaid by the call's. */
AxonConfig *
axon_plugin_effective_config (AxonPlugin *plugin, GVariant *overlay, AxonUnknownKeys unknown,
                              GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_autoptr (AxonConfig) config = NULL;
  if (AXON_PLUGIN_GET_CLASS (plugin)->forwards_properties)
    unknown = AXON_UNKNOWN_KEYS_KEEP;
  g_mutex_lock (&priv->lock);
  config = axon_config_copy (priv->config);
  g_mutex_unlock (&priv->lock);
  if (!axon_config_overlay (config, overlay, unknown, error)) {
    g_prefix_error (error, "device %s: ", priv->name);
    return NULL;
  }
  return g_steal_pointer (&config);
}

AxonCompiledModel *
axon_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                           GVariant *config, GCancellable *cancellable, AxonProgressFunc progress,
                           gpointer user_data, GError **error)
{
  g_autoptr (AxonConfig) effective =
      axon_plugin_effective_config (plugin, config, AXON_UNKNOWN_KEYS_FAIL, error);
  AxonCompiledModel *compiled;
  AXON_TRACE_BEGIN (start);
  if (effective == NULL)
    return NULL;
  compiled = AXON_PLUGIN_GET_CLASS (plugin)->compile_model (
      plugin, model, context, effective, cancellable, progress, user_data, error);
  AXON_TRACE_END (start, "compile", model->name);
  return compiled;
}

gboolean
axon_plugin_query_model (AxonPlugin *plugin, AxonModel *model, GVariant *config,
                         AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonConfig) effective =
      axon_plugin_effective_config (plugin, config, AXON_UNKNOWN_KEYS_IGNORE, error);
  gboolean ok;
  AXON_TRACE_BEGIN (start);
  if (effective == NULL)
    return FALSE;
  ok = AXON_PLUGIN_GET_CLASS (plugin)->query_model (plugin, model, effective, result, cancellable,
                                                    error);
  AXON_TRACE_END (start, "query", model->name);
  return ok;
}
