/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties through the core: its own, those of one device, those of all. Any thread. */
#include "axoncore-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/* Plugin behind a bare device name, its id checked. */
static AxonPlugin *
plain_plugin (AxonCore *core, const gchar *device, GError **error)
{
  g_autoptr (AxonDeviceExpr) expr = axon_device_expr_parse (device, error);
  g_autoptr (AxonPlugin) plugin = NULL;
  if (expr == NULL)
    return NULL;
  if (expr->members != NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("properties of \"%s\": name the device alone, %s, or one of those behind it"),
                 device, expr->name);
    return NULL;
  }
  plugin = axon_core_get_plugin (core, expr->name, NULL, error);
  return plugin && axon_plugin_has_device (plugin, expr->id, error) ? g_steal_pointer (&plugin)
                                                                    : NULL;
}

/* One of the core's own keys, for @device or (NULL) for all. */
gboolean
axon_core_set_own_key (AxonCore *core, const gchar *device, const gchar *key, GVariant *value,
                       GError **error)
{
  AxonRegistryEntry *entry = device ? axon_core_get_entry (core, device, TRUE) : NULL;
  gboolean ok;
  g_mutex_lock (&core->lock);
  if (entry != NULL && entry->cache == NULL)
    entry->cache = axon_config_copy (core->config);
  ok = axon_config_set (entry ? entry->cache : core->config, key, value, error);
  g_mutex_unlock (&core->lock);
  return ok;
}

/* core->lock held. @value NULL: none */
static void
store_global (AxonCore *core, const gchar *key, GVariant *value)
{
  if (value != NULL)
    g_hash_table_insert (core->globals, g_strdup (key), g_variant_ref (value));
  else
    g_hash_table_remove (core->globals, key);
}

static gboolean
set_loaded (AxonRegistryEntry *entry, const gchar *key, GVariant *value, GError **error)
{
  gboolean ok = TRUE;
  g_mutex_lock (&entry->lock);
  if (entry->plugin != NULL && axon_plugin_has_property (entry->plugin, key))
    ok = axon_plugin_set_property (entry->plugin, key, value, error);
  g_mutex_unlock (&entry->lock);
  return ok;
}

/* For every device that has the key, also those that load later; for none, where one that is there
 * refuses. */
static gboolean
set_global (AxonCore *core, const gchar *key, GVariant *value, GError **error)
{
  g_autoptr (GList) entries = NULL;
  g_autoptr (GVariant) before = NULL;
  gboolean ok = TRUE;
  if (!axon_property_is_standard (key, error))
    return FALSE;
  g_mutex_lock (&core->lock);
  before = g_hash_table_lookup (core->globals, key);
  before = before ? g_variant_ref (before) : NULL;
  store_global (core, key, value);
  entries = g_hash_table_get_values (core->entries);
  g_mutex_unlock (&core->lock);
  for (GList *l = entries; ok && l != NULL; l = l->next)
    ok = set_loaded (l->data, key, value, error);
  if (ok)
    return TRUE;
  g_mutex_lock (&core->lock);
  store_global (core, key, before);
  g_mutex_unlock (&core->lock);
  return FALSE;
}

/**
 * axon_core_set_property:
 * @core: a core
 * @device: (nullable): a device name; %NULL: every device that has the key, and the core itself
 * @key: a property key, such as `PERF_COUNT`
 * @value: its value; strings are accepted for every type
 * @error: return location
 *
 * Sets the default for later calls of axon_core_compile_model(). Models that are compiled already
 * keep their values.
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT names what is accepted
 *
 * Since: 1.0
 */
gboolean
axon_core_set_property (AxonCore *core, const gchar *device, const gchar *key, GVariant *value,
                        GError **error)
{
  g_autoptr (AxonPlugin) plugin = NULL;
  g_autoptr (AxonDeviceExpr) expr = NULL;
  g_autoptr (GVariant) owned = g_variant_ref_sink (value);
  if (device == NULL)
    return axon_core_owns_key (core, key) ? axon_core_set_own_key (core, NULL, key, owned, error)
                                          : set_global (core, key, owned, error);
  plugin = plain_plugin (core, device, error);
  if (plugin == NULL)
    return FALSE;
  if (axon_core_owns_key (core, key) && !axon_plugin_has_property (plugin, key))
    return axon_core_set_own_key (core, axon_plugin_get_name (plugin), key, owned, error);
  expr = axon_device_expr_parse (device, NULL);
  return axon_plugin_set_property_of (plugin, expr->id, key, owned, error);
}

/**
 * axon_core_get_property:
 * @core: a core
 * @device: (nullable): a device name, with id where it matters; %NULL: the core itself
 * @key: a property key, such as `FULL_DEVICE_NAME`
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the value
 *
 * Since: 1.0
 */
GVariant *
axon_core_get_property (AxonCore *core, const gchar *device, const gchar *key, GError **error)
{
  g_autoptr (AxonPlugin) plugin = device ? plain_plugin (core, device, error) : NULL;
  g_autoptr (AxonDeviceExpr) expr = plugin ? axon_device_expr_parse (device, error) : NULL;
  g_autoptr (AxonConfig) config = NULL;
  GVariant *value;
  if (device != NULL && expr == NULL)
    return NULL;
  if (plugin != NULL && (!axon_core_owns_key (core, key) || axon_plugin_has_property (plugin, key)))
    return axon_plugin_get_property_of (plugin, expr->id, key, error);
  config = axon_core_dup_config (core, plugin ? axon_plugin_get_name (plugin) : "");
  value = axon_config_get (config, key);
  if (value == NULL)
    axon_config_set_unknown_key_error (config, key, error);
  return value ? g_variant_ref (value) : NULL;
}

/**
 * axon_core_get_property_specs: (skip)
 * @core: a core
 * @device: a device name
 * @n_specs: (out): rows
 * @error: return location
 *
 * Returns: (transfer none) (nullable): the property table of @device
 *
 * Since: 1.0
 */
const AxonPropertySpec *
axon_core_get_property_specs (AxonCore *core, const gchar *device, guint *n_specs, GError **error)
{
  g_autoptr (AxonPlugin) plugin = plain_plugin (core, device, error);
  return plugin ? axon_plugin_get_properties_table (plugin, n_specs) : NULL;
}
