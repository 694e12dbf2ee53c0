/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of AxonPlugin, and what is between the core and its plugins. */
#pragma once

#include <axon/plugin/axonplugin.h>
#include "axonproperty-private.h"

typedef struct {
  gchar *name;
  AxonPropertySpec *specs;
  const AxonPluginInfo *info;
  GWeakRef core;
  GMutex lock;
  AxonConfig *config; /* lock; NULL: the table is missing or wrong */
  GHashTable *by_id;  /* lock: id of a device -> GHashTable, key -> GVariant, of that one alone */
  GHashTable *abandoned; /* lock: id of a device -> calls that do not return; NULL: never any */
  GError *mistake;       /* what is wrong with the table, or NULL */
} AxonPluginPrivate;

AxonPluginPrivate *axon_plugin_private (AxonPlugin *plugin);
void axon_plugin_attach (AxonPlugin *plugin, AxonCore *core, const AxonPluginInfo *info);

/* axonplugincheck.c: FALSE, with an error for the plugin's author, where something required is
 * missing. */
gboolean axon_plugin_check_info (const AxonPluginInfo *info, GError **error);
gboolean axon_plugin_check_table (const AxonPropertySpec *specs, guint n_specs, GError **error);
gboolean axon_plugin_check (AxonPlugin *plugin, GError **error);

/* axonplugin.c: calls of the device that @id ("": the only one) names which were given up. FALSE
 * while there is one. */
void axon_plugin_count_abandoned (AxonPlugin *plugin, const gchar *id, gint change);
gboolean axon_plugin_check_alive (AxonPlugin *plugin, const gchar *id, GError **error);

/* axonexport.c; identity: what entries of the cache and exported files of a model compiled with
 * @config depend on, besides the model and the configuration */
AxonCompiledModel *axon_plugin_import_bytes (AxonPlugin *plugin, GBytes *bytes,
                                             AxonRemoteContext *context, GVariant *config,
                                             GCancellable *cancellable, AxonProgressFunc progress,
                                             gpointer user_data, GError **error);
gchar *axon_plugin_identity_text (AxonPlugin *plugin, const AxonConfig *config);
/* The device that a configuration names; NULL: the plugin has one without a name */
const gchar *axon_config_get_device_id (const AxonConfig *config);

const AxonPropertySpec *axon_plugin_get_properties_table (AxonPlugin *plugin, guint *n_specs);
gboolean axon_plugin_set_property (AxonPlugin *plugin, const gchar *key, GVariant *value,
                                   GError **error);
/* As that, of the device that @id names alone. */
gboolean axon_plugin_set_property_of (AxonPlugin *plugin, const gchar *id, const gchar *key,
                                      GVariant *value, GError **error);
/* Of the device that @id (nullable) names. */
GVariant *axon_plugin_get_property_of (AxonPlugin *plugin, const gchar *id, const gchar *key,
                                       GError **error);
gboolean axon_plugin_has_property (AxonPlugin *plugin, const gchar *key);
gboolean axon_plugin_has_capability (AxonPlugin *plugin, const gchar *capability);
AxonConfig *axon_plugin_effective_config (AxonPlugin *plugin, GVariant *overlay,
                                          AxonUnknownKeys unknown, GError **error);
/* FALSE where the plugin has no device of that id; NULL: its only one, or the first */
gboolean axon_plugin_has_device (AxonPlugin *plugin, const gchar *id, GError **error);
AxonCompiledModel *axon_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                                              AxonRemoteContext *context, GVariant *config,
                                              GCancellable *cancellable, AxonProgressFunc progress,
                                              gpointer user_data, GError **error);
AxonCompiledModel *axon_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob,
                                             AxonRemoteContext *context, GVariant *config,
                                             GCancellable *cancellable, AxonProgressFunc progress,
                                             gpointer user_data, GError **error);
gboolean axon_plugin_query_model (AxonPlugin *plugin, AxonModel *model, GVariant *config,
                                  AxonSupportedOps *result, GCancellable *cancellable,
                                  GError **error);
