/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of AxonPlugin, and what is between the core and its plugins. */
#pragma once

#include <axon/plugin/axonplugin.h>

typedef struct {
  gchar *name;
  AxonPropertySpec *specs;
  const AxonPluginInfo *info;
  GWeakRef core;
  GMutex lock;
  AxonConfig *config; /* lock; NULL: the table is missing or wrong */
  GHashTable *by_id;  /* lock: id of a device -> GHashTable, key -> GVariant, of that one alone */
  GError *mistake;    /* what is wrong with the table, or NULL */
} AxonPluginPrivate;

AxonPluginPrivate *axon_plugin_private (AxonPlugin *plugin);
void axon_plugin_attach (AxonPlugin *plugin, AxonCore *core, const AxonPluginInfo *info);

/* axonplugincheck.c: FALSE, with an error for the plugin's author, where something required is
 * missing. */
gboolean axon_plugin_check_info (const AxonPluginInfo *info, GError **error);
gboolean axon_plugin_check_table (const AxonPropertySpec *specs, guint n_specs, GError **error);
gboolean axon_plugin_check (AxonPlugin *plugin, GError **error);

/* axonpluginconfig.c: FALSE where the plugin has no such device */
gboolean axon_plugin_check_id (AxonPlugin *plugin, const gchar *id, GError **error);

/* axonexport.c; identity: what entries of the cache and exported files of a model compiled with
 * @config depend on, besides the model and the configuration */
AxonCompiledModel *axon_plugin_import_bytes (AxonPlugin *plugin, GBytes *bytes,
                                             AxonRemoteContext *context, GVariant *config,
                                             GCancellable *cancellable, AxonProgressFunc progress,
                                             gpointer user_data, GError **error);
gchar *axon_plugin_identity_text (AxonPlugin *plugin, const AxonConfig *config);
