/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and loads device plugins. Libraries stay resident: GTypes cannot be registered twice. */
#pragma once

#include <axon/plugin/axonplugin.h>

/* Directories that are searched, in order: AXON_PLUGIN_PATH (ignored when privileged), built-in. */
gchar **axon_loader_get_path (void);

/* Names of device plugins that lie there, sorted. */
gchar **axon_loader_list (GPtrArray *misnamed);

/* The entry of device @name, or NULL with what was searched and why each library failed. @isolate:
 * libraries of others are tried in a helper process first. */
const AxonPluginInfo *axon_loader_open (const gchar *name, gboolean isolate, GError **error);

/* The entry of the plugin at @path. @tried_as (nullable): as the device of which name it is tried
 * in a helper process first. */
const AxonPluginInfo *axon_loader_open_library (const gchar *path, const gchar *tried_as,
                                                GError **error);

/* The library that @info lies in. */
const gchar *axon_loader_get_file (const AxonPluginInfo *info);
