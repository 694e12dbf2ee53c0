/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the core and its plugins. */
#pragma once

#include <axon/plugin/axonplugin.h>
#include "axonproperty-private.h"

void axon_plugin_set_core (AxonPlugin *plugin, AxonCore *core);
gchar *axon_plugin_identity_text (AxonPlugin *plugin);

const AxonPropertySpec *axon_plugin_get_properties_table (AxonPlugin *plugin, guint *n_specs);
gboolean axon_plugin_set_property (AxonPlugin *plugin, const gchar *key, GVariant *value,
                                   GError **error);
/* As that, of the device that @id (nullable) names. */
GVariant *axon_plugin_get_property_of (AxonPlugin *plugin, const gchar *id, const gchar *key,
                                       GError **error);
gboolean axon_plugin_has_property (AxonPlugin *plugin, const gchar *key);
gboolean axon_plugin_has_capability (AxonPlugin *plugin, const gchar *capability);
AxonConfig *axon_plugin_effective_config (AxonPlugin *plugin, GVariant *overlay,
                                          AxonUnknownKeys unknown, GError **error);
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
