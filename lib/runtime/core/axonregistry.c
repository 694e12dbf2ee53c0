/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core's registry: names of devices, plugins loaded at first use, extensions. */
#include "axoncore-private.h"
#include "axonprobe-private.h"
#include <axon/plugin/axonextension.h>

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

void
axon_registry_entry_free (gpointer data)
{
  AxonRegistryEntry *entry = data;
  g_clear_object (&entry->plugin);
  g_clear_pointer (&entry->extensions, g_ptr_array_unref);
  g_clear_pointer (&entry->cache, axon_config_free);
  g_clear_pointer (&entry->defaults, g_variant_unref);
  g_mutex_clear (&entry->lock);
  g_free (entry->library);
  g_free (entry->name);
  g_free (entry);
}

AxonRegistryEntry *
axon_core_get_entry (AxonCore *core, const gchar *name, gboolean create)
{
  AxonRegistryEntry *entry;
  g_mutex_lock (&core->lock);
  entry = g_hash_table_lookup (core->entries, name);
  if (entry == NULL && create) {
    entry = g_new0 (AxonRegistryEntry, 1);
    entry->name = g_strdup (name);
    g_mutex_init (&entry->lock);
    g_hash_table_insert (core->entries, entry->name, entry);
  }
  g_mutex_unlock (&core->lock);
  return entry;
}

/* Values set for all devices reach those that have the key. */
static gboolean
apply_globals (AxonCore *core, AxonPlugin *plugin, GError **error)
{
  g_autoptr (GHashTable) globals =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_variant_unref);
  GHashTableIter iter;
  gpointer key, value;
  guint n;
  const AxonPropertySpec *specs = axon_plugin_get_properties_table (plugin, &n);
  g_mutex_lock (&core->lock);
  g_hash_table_iter_init (&iter, core->globals);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_insert (globals, g_strdup (key), g_variant_ref (value));
  g_mutex_unlock (&core->lock);
  for (guint i = 0; i < n; i++) {
    GVariant *global = g_hash_table_lookup (globals, specs[i].key);
    if (global != NULL && (specs[i].flags & AXON_PROPERTY_READ_WRITE) &&
        !axon_plugin_set_property (plugin, specs[i].key, global, error))
      return FALSE;
  }
  return TRUE;
}

/* Keys of the core, such as CACHE_DIR, are for the device where it has none of that name. */
static gboolean
apply_defaults (AxonCore *core, AxonPlugin *plugin, GVariant *defaults, GError **error)
{
  GVariantIter iter;
  const gchar *key;
  GVariant *value;
  gboolean ok = TRUE;
  if (defaults == NULL)
    return TRUE;
  g_variant_iter_init (&iter, defaults);
  while (ok && g_variant_iter_next (&iter, "{&sv}", &key, &value)) {
    ok = axon_core_owns_key (core, key) && !axon_plugin_has_property (plugin, key)
             ? axon_core_set_own_key (core, axon_plugin_get_name (plugin), key, value, error)
             : axon_plugin_set_property (plugin, key, value, error);
    g_variant_unref (value);
  }
  return ok;
}

/* Extensions for everybody go to devices that take them, silently. */
static void
apply_extensions (AxonCore *core, AxonRegistryEntry *entry, AxonPlugin *plugin)
{
  AxonPluginClass *klass = AXON_PLUGIN_GET_CLASS (plugin);
  g_autoptr (GPtrArray) all = NULL;
  if (klass->add_extension == NULL)
    return;
  g_mutex_lock (&core->lock);
  all = g_ptr_array_copy (core->extensions, (GCopyFunc)axon_extension_ref, NULL);
  g_mutex_unlock (&core->lock);
  for (guint i = 0; i < all->len; i++)
    klass->add_extension (plugin, g_ptr_array_index (all, i), NULL);
  for (guint i = 0; entry->extensions != NULL && i < entry->extensions->len; i++)
    klass->add_extension (plugin, g_ptr_array_index (entry->extensions, i), NULL);
}

/* Adds the rows to a new op set: readers of the old one are not disturbed. */
static void
extend_op_set (AxonCore *core, const AxonOp *ops, guint n_ops)
{
  AxonOpSet *next;
  if (n_ops == 0)
    return;
  g_mutex_lock (&core->lock);
  next = axon_op_set_copy (g_ptr_array_index (core->op_sets, core->op_sets->len - 1));
  axon_op_set_add (next, ops, n_ops);
  g_ptr_array_add (core->op_sets, next);
  g_mutex_unlock (&core->lock);
}

static gboolean
isolates (AxonCore *core, const AxonRegistryEntry *entry)
{
  g_autoptr (AxonConfig) config = axon_core_dup_config (core, entry->name);
  return axon_config_get_bool (config, "ISOLATE_PROBE");
}

/* entry->lock held. Operators of the device's own are known from now on, so that its exports can be
 * read. */
static gboolean
load_library (AxonCore *core, AxonRegistryEntry *entry, GError **error)
{
  gboolean isolate;
  if (entry->info != NULL)
    return TRUE;
  isolate = isolates (core, entry);
  entry->info = entry->library
                    ? axon_loader_open_library (entry->library, isolate ? entry->name : NULL, error)
                    : axon_loader_open (entry->name, isolate, error);
  if (entry->info != NULL)
    extend_op_set (core, entry->info->ops, entry->info->n_ops);
  return entry->info != NULL;
}

/* entry->lock held: what the plugin's own code makes, looked at before anybody else uses it */
static AxonPlugin *
create_plugin (AxonCore *core, const AxonRegistryEntry *entry, GError **error)
{
  GError *cause = NULL;
  AxonProbe probe = { axon_loader_get_file (entry->info), entry->name };
  const AxonProbe *before = axon_probe_enter (isolates (core, entry) ? &probe : NULL);
  g_autoptr (AxonPlugin) plugin = entry->info->create (entry->name, &cause);
  axon_probe_enter (before);
  if (plugin == NULL && cause == NULL)
    g_set_error (&cause, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("mistake in the plugin: create() returned neither a device nor an error"));
  if (plugin != NULL && axon_plugin_check (plugin, &cause))
    return g_steal_pointer (&plugin);
  g_propagate_prefixed_error (error, cause, _ ("device %s cannot be used: "), entry->name);
  return NULL;
}

/* entry->lock held */
static AxonPlugin *
load_plugin (AxonCore *core, AxonRegistryEntry *entry, GError **error)
{
  g_autoptr (AxonPlugin) plugin =
      load_library (core, entry, error) ? create_plugin (core, entry, error) : NULL;
  if (plugin == NULL)
    return NULL;
  axon_plugin_attach (plugin, core, entry->info);
  if (!apply_defaults (core, plugin, entry->defaults, error) ||
      !apply_globals (core, plugin, error))
    return NULL;
  apply_extensions (core, entry, plugin);
  return g_steal_pointer (&plugin);
}

/* What the library of device @name says of itself, which makes no plugin; NULL: it cannot be
 * loaded. */
const AxonPluginInfo *
axon_core_get_plugin_info (AxonCore *core, const gchar *name)
{
  AxonRegistryEntry *entry = axon_core_get_entry (core, name, TRUE);
  const AxonPluginInfo *info;
  g_mutex_lock (&entry->lock);
  info = load_library (core, entry, NULL) ? entry->info : NULL;
  g_mutex_unlock (&entry->lock);
  return info;
}

/* The plugin of device @name, without id; loaded at first use (transfer full). */
AxonPlugin *
axon_core_get_plugin (AxonCore *core, const gchar *name, const AxonPluginInfo **info,
                      GError **error)
{
  AxonRegistryEntry *entry = axon_core_get_entry (core, name, TRUE);
  AxonPlugin *plugin;
  g_mutex_lock (&entry->lock);
  if (entry->plugin == NULL)
    entry->plugin = load_plugin (core, entry, error);
  plugin = entry->plugin ? g_object_ref (entry->plugin) : NULL;
  if (info != NULL)
    *info = entry->info;
  g_mutex_unlock (&entry->lock);
  return plugin;
}

/**
 * axon_core_register_plugin:
 * @core: a core
 * @library: (type filename): absolute path of a device plugin
 * @name: the device name it shall have here
 * @error: return location
 *
 * The library is loaded at the device's first use, so a wrong path is an error then.
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where the name is taken or holds a dot
 *
 * Since: 1.0
 */
gboolean
axon_core_register_plugin (AxonCore *core, const gchar *library, const gchar *name, GError **error)
{
  g_autoptr (AxonDeviceExpr) expr = axon_device_expr_parse (name, error);
  g_auto (GStrv) found = axon_loader_list (NULL);
  AxonRegistryEntry *entry;
  gboolean taken;
  if (expr == NULL)
    return FALSE;
  if (expr->id != NULL || expr->members != NULL || !g_path_is_absolute (library)) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("cannot register \"%s\" from %s: expected a name without dot and an absolute path"),
        name, library);
    return FALSE;
  }
  entry = axon_core_get_entry (core, name, TRUE);
  g_mutex_lock (&entry->lock);
  taken = entry->library != NULL || entry->plugin != NULL ||
          g_strv_contains ((const gchar *const *)found, name);
  if (!taken)
    entry->library = g_strdup (library);
  g_mutex_unlock (&entry->lock);
  if (taken)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("device \"%s\" is registered already"),
                 name);
  return !taken;
}

/* What the group says besides its library: properties as a{sv}, floating; extensions into
 * @extensions. */
static GVariant *
read_group (GKeyFile *file, const gchar *group, GStrvBuilder *extensions)
{
  g_auto (GStrv) keys = g_key_file_get_keys (file, group, NULL, NULL);
  GVariantBuilder defaults;
  g_variant_builder_init (&defaults, G_VARIANT_TYPE_VARDICT);
  for (guint i = 0; keys[i] != NULL; i++) {
    g_autofree gchar *value = g_key_file_get_string (file, group, keys[i], NULL);
    if (g_str_equal (keys[i], "extension"))
      g_strv_builder_add (extensions, value);
    else if (!g_str_equal (keys[i], "library"))
      g_variant_builder_add (&defaults, "{sv}", keys[i], g_variant_new_string (value));
  }
  return g_variant_builder_end (&defaults);
}

/* Defaults are there before an extension makes the plugin load. */
static gboolean
register_group (AxonCore *core, GKeyFile *file, const gchar *group, GError **error)
{
  g_autofree gchar *library = g_key_file_get_string (file, group, "library", error);
  g_autoptr (GStrvBuilder) found = g_strv_builder_new ();
  g_auto (GStrv) extensions = NULL;
  AxonRegistryEntry *entry;
  if (library == NULL || !axon_core_register_plugin (core, library, group, error))
    return FALSE;
  entry = axon_core_get_entry (core, group, TRUE);
  g_mutex_lock (&entry->lock);
  entry->defaults = g_variant_ref_sink (read_group (file, group, found));
  g_mutex_unlock (&entry->lock);
  extensions = g_strv_builder_end (found);
  for (guint i = 0; extensions[i] != NULL; i++)
    if (!axon_core_add_extension (core, extensions[i], group, error))
      return FALSE;
  return TRUE;
}

/**
 * axon_core_register_plugins:
 * @core: a core
 * @path: (type filename): a key file: one group per device name, with `library=`, properties and
 *   `extension=`
 * @error: return location
 *
 * Returns: %TRUE on success; else groups before the wrong one stay registered
 *
 * Since: 1.0
 */
gboolean
axon_core_register_plugins (AxonCore *core, const gchar *path, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) cause = NULL;
  g_auto (GStrv) groups = NULL;
  gboolean ok = g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, &cause);
  groups = g_key_file_get_groups (file, NULL);
  for (guint i = 0; ok && groups[i] != NULL; i++)
    ok = register_group (core, file, groups[i], &cause);
  if (!ok)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("registry %s: %s"), path,
                 cause->message);
  return ok;
}

/**
 * axon_core_unload_plugin:
 * @core: a core
 * @name: a device name
 * @error: return location
 *
 * Drops the plugin; the next use makes a new one with default properties. Models that were compiled
 * keep theirs.
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT where it was not loaded
 *
 * Since: 1.0
 */
gboolean
axon_core_unload_plugin (AxonCore *core, const gchar *name, GError **error)
{
  AxonRegistryEntry *entry = axon_core_get_entry (core, name, FALSE);
  g_autoptr (AxonPlugin) plugin = NULL;
  if (entry != NULL) {
    g_mutex_lock (&entry->lock);
    plugin = g_steal_pointer (&entry->plugin);
    g_mutex_unlock (&entry->lock);
  }
  if (plugin == NULL)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("device \"%s\" is not loaded"), name);
  return plugin != NULL;
}

static gboolean
extend_device (AxonCore *core, const gchar *device, AxonExtension *extension, GError **error)
{
  g_autoptr (AxonPlugin) plugin = axon_core_get_plugin (core, device, NULL, error);
  AxonPluginClass *klass = plugin ? AXON_PLUGIN_GET_CLASS (plugin) : NULL;
  AxonRegistryEntry *entry = axon_core_get_entry (core, device, TRUE);
  if (klass == NULL)
    return FALSE;
  if (klass->add_extension == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("device %s takes no extensions"),
                 device);
    return FALSE;
  }
  if (!klass->add_extension (plugin, extension, error))
    return FALSE;
  g_mutex_lock (&entry->lock);
  if (entry->extensions == NULL)
    entry->extensions = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_extension_unref);
  g_ptr_array_add (entry->extensions, axon_extension_ref (extension));
  g_mutex_unlock (&entry->lock);
  return TRUE;
}

static void
extend_loaded (AxonCore *core, AxonExtension *extension)
{
  g_autoptr (GList) entries = NULL;
  g_mutex_lock (&core->lock);
  g_ptr_array_add (core->extensions, axon_extension_ref (extension));
  entries = g_hash_table_get_values (core->entries);
  g_mutex_unlock (&core->lock);
  for (GList *l = entries; l != NULL; l = l->next) {
    AxonRegistryEntry *entry = l->data;
    g_mutex_lock (&entry->lock);
    if (entry->plugin != NULL && AXON_PLUGIN_GET_CLASS (entry->plugin)->add_extension != NULL)
      AXON_PLUGIN_GET_CLASS (entry->plugin)->add_extension (entry->plugin, extension, NULL);
    g_mutex_unlock (&entry->lock);
  }
}

/**
 * axon_core_add_extension:
 * @core: a core
 * @path: (type filename): an extension library
 * @device: (nullable): the device that its kernels are for; %NULL: every one that takes extensions
 * @error: return location
 *
 * Models read from now on may use the extension's operators; models compiled from now on, its
 * kernels.
 *
 * Returns: %TRUE on success; %AXON_ERROR_UNSUPPORTED where @device takes none
 *
 * Since: 1.0
 */
gboolean
axon_core_add_extension (AxonCore *core, const gchar *path, const gchar *device, GError **error)
{
  g_autoptr (AxonExtension) extension = axon_extension_open (path, error);
  const AxonExtensionInfo *info;
  if (extension == NULL || (device != NULL && !extend_device (core, device, extension, error)))
    return FALSE;
  info = axon_extension_get_info (extension);
  extend_op_set (core, info->ops, info->n_ops);
  if (device == NULL)
    extend_loaded (core, extension);
  return TRUE;
}
