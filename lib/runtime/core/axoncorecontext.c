/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contexts through the core: which device of which plugin makes them. Any thread. */
#include "axoncompile-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/* Which device of the plugin the expression names; NULL: none. */
static const gchar *
target_id (const AxonTarget *target)
{
  const gchar *id = NULL;
  g_variant_lookup (target->config, "DEVICE_ID", "&s", &id);
  return id;
}

static AxonRemoteContext *
no_context (AxonPlugin *plugin, GError **error)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("device %s shares no memory"),
               axon_plugin_get_name (plugin));
  return NULL;
}

/**
 * axon_core_create_context:
 * @core: a core
 * @device: a device name
 * @params: (nullable): `a{sv}` of the device, such as native handles to share
 * @error: return location
 *
 * Returns: (transfer full) (nullable): a context; %NULL with %AXON_ERROR_UNSUPPORTED where the
 * device shares no memory
 *
 * Since: 1.0
 */
AxonRemoteContext *
axon_core_create_context (AxonCore *core, const gchar *device, GVariant *params, GError **error)
{
  g_autoptr (GVariant) owned = params ? g_variant_ref_sink (params) : NULL;
  AxonRemoteContext *context;
  AxonTarget target;
  if (!axon_core_find_target (core, device, NULL, &target, error))
    return NULL;
  context = AXON_PLUGIN_GET_CLASS (target.plugin)->create_context
                ? AXON_PLUGIN_GET_CLASS (target.plugin)
                      ->create_context (target.plugin, target_id (&target), owned, error)
                : no_context (target.plugin, error);
  axon_target_clear (&target);
  return context;
}

/**
 * axon_core_get_default_context:
 * @core: a core
 * @device: a device name
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the context of models compiled without one
 *
 * Since: 1.0
 */
AxonRemoteContext *
axon_core_get_default_context (AxonCore *core, const gchar *device, GError **error)
{
  AxonRemoteContext *context;
  AxonTarget target;
  if (!axon_core_find_target (core, device, NULL, &target, error))
    return NULL;
  context = AXON_PLUGIN_GET_CLASS (target.plugin)->get_default_context
                ? AXON_PLUGIN_GET_CLASS (target.plugin)
                      ->get_default_context (target.plugin, target_id (&target), error)
                : no_context (target.plugin, error);
  axon_target_clear (&target);
  return context;
}
