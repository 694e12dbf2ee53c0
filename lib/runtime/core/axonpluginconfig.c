/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of a plugin: a table of rows, values for all its devices, values for single ones by
 * id. What is said of one device wins; what is said later of all replaces it. Any thread. */
#include "axonplugin-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

void
axon_plugin_set_properties_table (AxonPlugin *plugin, const AxonPropertySpec *specs, guint n_specs)
{
  AxonPluginPrivate *priv = axon_plugin_private (plugin);
  g_return_if_fail (priv->config == NULL);
  priv->specs = axon_property_resolve (specs, n_specs);
  if (axon_plugin_check_table (priv->specs, n_specs, &priv->mistake))
    priv->config = axon_config_new (priv->specs, n_specs);
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
  AxonPluginPrivate *priv = axon_plugin_private (plugin);
  *n_specs = priv->config->n_specs;
  return priv->config->specs;
}

static gboolean
is_model_only (const AxonPropertySpec *spec)
{
  return (spec->flags & AXON_PROPERTY_MODEL_ONLY) != 0;
}

gboolean
axon_plugin_has_property (AxonPlugin *plugin, const gchar *key)
{
  AxonPluginPrivate *priv = axon_plugin_private (plugin);
  const AxonPropertySpec *spec = axon_config_find_spec (priv->config, key);
  return spec != NULL && !is_model_only (spec);
}

/* Plugins of one device without a name (AVAILABLE_DEVICES "") say by DEVICE_ID's choices what they
 * take. */
static gboolean
check_id (AxonPlugin *plugin, const gchar *id, GError **error)
{
  g_autoptr (GVariant) value = axon_plugin_get_property (plugin, "AVAILABLE_DEVICES", NULL);
  g_autofree const gchar **ids = value ? g_variant_get_strv (value, NULL) : NULL;
  g_autofree gchar *list = NULL;
  if (ids == NULL || ids[0] == NULL || *ids[0] == '\0' || *id == '\0' || g_strv_contains (ids, id))
    return TRUE;
  list = g_strjoinv (", ", (gchar **)ids);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("there is no device %s.%s: DEVICE_ID is one of %s here"),
               axon_plugin_get_name (plugin), id, list);
  return FALSE;
}

static gboolean
set_for_process (AxonPlugin *plugin, const gchar *key, GVariant *value, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_private (plugin);
  g_autoptr (GVariant) parsed = axon_config_parse (priv->config, key, value, error);
  return parsed != NULL &&
         AXON_PLUGIN_GET_CLASS (plugin)->set_property (plugin, key, parsed, error);
}

/* lock held */
static void
set_for_id (AxonPluginPrivate *priv, const gchar *id, const gchar *key, GVariant *parsed)
{
  GHashTable *values = g_hash_table_lookup (priv->by_id, id);
  if (values == NULL) {
    values =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_variant_unref);
    g_hash_table_insert (priv->by_id, g_strdup (id), values);
  }
  g_hash_table_insert (values, g_strdup (key), g_variant_ref (parsed));
}

/* lock held */
static gboolean
set_for_all (AxonPluginPrivate *priv, const gchar *key, GVariant *parsed, GError **error)
{
  GHashTableIter iter;
  gpointer values;
  g_hash_table_iter_init (&iter, priv->by_id);
  while (g_hash_table_iter_next (&iter, NULL, &values))
    g_hash_table_remove (values, key);
  return axon_config_set (priv->config, key, parsed, error);
}

static gboolean
set_own (AxonPlugin *plugin, const gchar *id, const gchar *key, GVariant *value, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_private (plugin);
  g_autoptr (GVariant) parsed = axon_config_parse (priv->config, key, value, error);
  gboolean ok = TRUE;
  if (parsed == NULL || (g_str_equal (key, "DEVICE_ID") &&
                         !check_id (plugin, g_variant_get_string (parsed, NULL), error)))
    return FALSE;
  g_mutex_lock (&priv->lock);
  if (id != NULL)
    set_for_id (priv, id, key, parsed);
  else
    ok = set_for_all (priv, key, parsed, error);
  g_mutex_unlock (&priv->lock);
  return ok;
}

gboolean
axon_plugin_set_property (AxonPlugin *plugin, const gchar *key, GVariant *value, GError **error)
{
  return axon_plugin_set_property_of (plugin, NULL, key, value, error);
}

/* Of the device that @id names; NULL: of all, also where single ones were set before. */
gboolean
axon_plugin_set_property_of (AxonPlugin *plugin, const gchar *id, const gchar *key, GVariant *value,
                             GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_private (plugin);
  const AxonPropertySpec *spec = axon_config_find_spec (priv->config, key);
  gboolean ok = FALSE;
  if (id != NULL && g_str_equal (key, "DEVICE_ID"))
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("property \"DEVICE_ID\" is that of the name, %s.%s"), priv->name, id);
  else if (spec != NULL && (spec->flags & AXON_PROPERTY_PROCESS))
    ok = set_for_process (plugin, key, value, error);
  else
    ok = set_own (plugin, id, key, value, error);
  if (!ok)
    g_prefix_error (error, _ ("device %s: "), priv->name);
  return ok;
}

/* lock held: the value for @id, else for the device that DEVICE_ID names; NULL: it is a metric */
static GVariant *
find_value (AxonPluginPrivate *priv, const gchar *id, const gchar *key)
{
  const gchar *own = id ? id : axon_config_get_string (priv->config, "DEVICE_ID");
  GHashTable *values = g_hash_table_lookup (priv->by_id, own);
  GVariant *value = values ? g_hash_table_lookup (values, key) : NULL;
  return value ? value : axon_config_get (priv->config, key);
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

static void
set_no_such_property (AxonPluginPrivate *priv, const AxonPropertySpec *spec, const gchar *key,
                      GError **error)
{
  if (spec != NULL)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("property \"%s\" belongs to a compiled model"), key);
  else
    axon_config_set_unknown_key_error (priv->config, key, error);
  g_prefix_error (error, _ ("device %s: "), priv->name);
}

GVariant *
axon_plugin_get_property (AxonPlugin *plugin, const gchar *key, GError **error)
{
  return axon_plugin_get_property_of (plugin, NULL, key, error);
}

GVariant *
axon_plugin_get_property_of (AxonPlugin *plugin, const gchar *id, const gchar *key, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_private (plugin);
  const AxonPropertySpec *spec = axon_config_find_spec (priv->config, key);
  GVariant *value;
  if (spec == NULL || is_model_only (spec)) {
    set_no_such_property (priv, spec, key, error);
    return NULL;
  }
  if (g_str_equal (key, "SUPPORTED_PROPERTIES"))
    return g_variant_ref_sink (supported_properties (priv->config));
  if (id != NULL && g_str_equal (key, "DEVICE_ID"))
    return g_variant_ref_sink (g_variant_new_string (id));
  g_mutex_lock (&priv->lock);
  value = find_value (priv, id, key);
  if (value != NULL)
    g_variant_ref (value);
  g_mutex_unlock (&priv->lock);
  if (value == NULL)
    value = get_metric (plugin, id, key, error);
  return value ? g_variant_take_ref (value) : NULL;
}

const gchar *
axon_config_get_device_id (const AxonConfig *config)
{
  const gchar *id = axon_config_get_string (config, "DEVICE_ID");
  return *id ? id : NULL;
}

/* The plugin's values for the device that the call names. */
static AxonConfig *
dup_config (AxonPluginPrivate *priv, GVariant *overlay)
{
  const gchar *id = NULL;
  GHashTable *values;
  GHashTableIter iter;
  gpointer key, value;
  AxonConfig *config;
  g_mutex_lock (&priv->lock);
  config = axon_config_copy (priv->config);
  if (overlay == NULL || !g_variant_lookup (overlay, "DEVICE_ID", "&s", &id))
    id = axon_config_get_string (config, "DEVICE_ID");
  values = g_hash_table_lookup (priv->by_id, id);
  if (values != NULL) {
    g_hash_table_iter_init (&iter, values);
    while (g_hash_table_iter_next (&iter, &key, &value))
      axon_config_set (config, key, value, NULL); /* was parsed when it was set */
  }
  g_mutex_unlock (&priv->lock);
  return config;
}

/* The plugin's own values overlaid by the call's. */
AxonConfig *
axon_plugin_effective_config (AxonPlugin *plugin, GVariant *overlay, AxonUnknownKeys unknown,
                              GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_private (plugin);
  g_autoptr (AxonConfig) config = dup_config (priv, overlay);
  if (AXON_PLUGIN_GET_CLASS (plugin)->forwards_properties)
    unknown = AXON_UNKNOWN_KEYS_KEEP;
  if (axon_config_overlay (config, overlay, unknown, error) &&
      check_id (plugin, axon_config_get_string (config, "DEVICE_ID"), error))
    return g_steal_pointer (&config);
  g_prefix_error (error, _ ("device %s: "), priv->name);
  return NULL;
}

gboolean
axon_plugin_has_device (AxonPlugin *plugin, const gchar *id, GError **error)
{
  g_autoptr (AxonConfig) config = NULL;
  g_autoptr (GVariant) overlay = NULL;
  if (id == NULL)
    return TRUE;
  overlay = g_variant_ref_sink (g_variant_new_parsed ("{'DEVICE_ID': <%s>}", id));
  config = axon_plugin_effective_config (plugin, overlay, AXON_UNKNOWN_KEYS_FAIL, error);
  return config != NULL;
}
