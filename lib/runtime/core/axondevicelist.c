/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which devices there are: names on the search path and registered ones, with the ids of those that
 * work. */
#include "axoncore-private.h"

/* Flags of devices that have to be named. */
#define NOT_CHOSEN (AXON_PLUGIN_VIRTUAL | AXON_PLUGIN_REFERENCE | AXON_PLUGIN_FOREIGN)

static GPtrArray *
known_names (AxonCore *core, GPtrArray *misnamed)
{
  g_auto (GStrv) found = axon_loader_list (misnamed);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GHashTableIter iter;
  gpointer value;
  for (guint i = 0; found[i] != NULL; i++)
    g_ptr_array_add (names, g_strdup (found[i]));
  g_mutex_lock (&core->lock);
  g_hash_table_iter_init (&iter, core->entries);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const AxonRegistryEntry *entry = value;
    if (entry->library != NULL)
      g_ptr_array_add (names, g_strdup (entry->name));
  }
  g_mutex_unlock (&core->lock);
  return names;
}

static void
add_ids (AxonPlugin *plugin, const gchar *name, GStrvBuilder *devices)
{
  g_autoptr (GVariant) ids = axon_plugin_get_property (plugin, "AVAILABLE_DEVICES", NULL);
  g_autofree const gchar **list = ids ? g_variant_get_strv (ids, NULL) : NULL;
  for (guint k = 0; list != NULL && list[k] != NULL; k++) {
    g_autofree gchar *full = *list[k] ? g_strdup_printf ("%s.%s", name, list[k]) : g_strdup (name);
    g_strv_builder_add (devices, full);
  }
}

static gchar **
list_devices (AxonCore *core, guint without)
{
  g_autoptr (GPtrArray) names = known_names (core, NULL);
  g_autoptr (GStrvBuilder) devices = g_strv_builder_new ();
  for (guint i = 0; i < names->len; i++) {
    const gchar *name = g_ptr_array_index (names, i);
    const AxonPluginInfo *info = axon_core_get_plugin_info (core, name);
    g_autoptr (AxonPlugin) plugin =
        info && !(info->flags & without) ? axon_core_get_plugin (core, name, NULL, NULL) : NULL;
    if (plugin != NULL)
      add_ids (plugin, name, devices);
  }
  return g_strv_builder_end (devices);
}

/**
 * axon_core_get_available_devices:
 * @core: a core
 *
 * Devices whose plugin cannot be used are left out.
 *
 * Returns: (transfer full) (array zero-terminated=1): devices that compute, with ids where a plugin
 *   drives several; virtual devices are not listed
 *
 * Since: 1.0
 */
gchar **
axon_core_get_available_devices (AxonCore *core)
{
  return list_devices (core, AXON_PLUGIN_VIRTUAL);
}

gchar **
axon_core_list_all_devices (AxonCore *core)
{
  return list_devices (core, 0);
}

static gchar **
list_unusable (AxonCore *core, guint without)
{
  g_autoptr (GPtrArray) misnamed = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) names = known_names (core, misnamed);
  g_autoptr (GStrvBuilder) lines = g_strv_builder_new ();
  for (guint i = 0; i < misnamed->len; i++) {
    g_autofree gchar *line = g_strdup_printf (
        "%s: its name names no device: expected libaxon-NAME with letters, digits and _",
        (const gchar *)misnamed->pdata[i]);
    g_strv_builder_add (lines, line);
  }
  for (guint i = 0; i < names->len; i++) {
    const gchar *name = g_ptr_array_index (names, i);
    const AxonPluginInfo *info = axon_core_get_plugin_info (core, name);
    g_autoptr (GError) why = NULL;
    g_autoptr (AxonPlugin) plugin = NULL;
    if (info != NULL && (info->flags & without))
      continue;
    plugin = axon_core_get_plugin (core, name, NULL, &why);
    if (plugin == NULL)
      g_strv_builder_add (lines, why->message);
  }
  return g_strv_builder_end (lines);
}

gchar **
axon_core_list_unusable_devices (AxonCore *core)
{
  return list_unusable (core, 0);
}

/**
 * axon_core_get_candidate_devices:
 * @core: the core
 *
 * Lists the devices that may be chosen without being named: neither virtual ones, nor the
 * reference, nor those of other libraries. Any thread; loads plugins that were not used yet.
 *
 * Returns: (transfer full) (array zero-terminated=1): names, with ids where a plugin has several
 *   devices
 *
 * Since: 1.0
 */
gchar **
axon_core_get_candidate_devices (AxonCore *core)
{
  return list_devices (core, NOT_CHOSEN);
}

/* Why there are no more of them. */
gchar **
axon_core_list_unusable_candidates (AxonCore *core)
{
  return list_unusable (core, NOT_CHOSEN);
}

/* TRUE for devices such as AUTO and MULTI. */
gboolean
axon_core_is_spreading (AxonCore *core, const gchar *name)
{
  const AxonPluginInfo *info = axon_core_get_plugin_info (core, name);
  return info != NULL && (info->flags & AXON_PLUGIN_SPREADING) != 0;
}
