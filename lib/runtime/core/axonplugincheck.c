/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plugin is looked at when it is loaded: what its author forgot is an error there, not a crash in
 * somebody's program later. */
#include "axonplugin-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

static gboolean
mistake (GError **error, const gchar *format, ...)
{
  va_list args;
  g_autofree gchar *text = NULL;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("mistake in the plugin: %s"), text);
  return FALSE;
}

gboolean
axon_plugin_check_info (const AxonPluginInfo *info, GError **error)
{
  const struct {
    gboolean given;
    const gchar *field;
  } fields[] = { { info->name != NULL, "name" },
                 { info->version != NULL, "version" },
                 { info->description != NULL, "description" },
                 { info->create != NULL, "create" } };
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (!fields[i].given)
      return mistake (error, _ ("AxonPluginInfo has no %s"), fields[i].field);
  return TRUE;
}

static gboolean
check_default (const AxonPropertySpec *spec, GError **error)
{
  g_autoptr (GVariant) value = NULL;
  g_autofree gchar *accepted = NULL;
  if (spec->default_text == NULL)
    return TRUE;
  value = axon_property_parse (spec, spec->default_text);
  if (value != NULL)
    return TRUE;
  accepted = axon_property_describe_accepted (spec, NULL);
  return mistake (error, _ ("the default of property \"%s\" is \"%s\", expected %s"), spec->key,
                  spec->default_text, accepted);
}

/* @specs: completed by axon_property_resolve() */
gboolean
axon_plugin_check_table (const AxonPropertySpec *specs, guint n_specs, GError **error)
{
  for (guint i = 0; i < n_specs; i++) {
    if (specs[i].key == NULL)
      return mistake (error, _ ("row %u of the property table has no key"), i);
    if (specs[i].type == AXON_PROPERTY_STANDARD)
      return mistake (
          error, _ ("property \"%s\" is not a well-known one: its row needs a type and a blurb"),
          specs[i].key);
    if (specs[i].blurb == NULL)
      return mistake (error, _ ("the row of property \"%s\" has no blurb"), specs[i].key);
    if (specs[i].type == AXON_PROPERTY_CHOICE && specs[i].choices == NULL)
      return mistake (error, _ ("the row of property \"%s\" has no choices"), specs[i].key);
    if (!check_default (&specs[i], error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
has_process_rows (const AxonPluginPrivate *priv)
{
  for (guint i = 0; i < priv->config->n_specs; i++)
    if (priv->config->specs[i].flags & AXON_PROPERTY_PROCESS)
      return TRUE;
  return FALSE;
}

gboolean
axon_plugin_check (AxonPlugin *plugin, GError **error)
{
  const AxonPluginClass *klass = AXON_PLUGIN_GET_CLASS (plugin);
  const AxonPluginPrivate *priv = axon_plugin_private (plugin);
  const struct {
    gboolean given;
    const gchar *name;
  } functions[] = { { klass->compile_model != NULL, "compile_model" },
                    { klass->query_model != NULL, "query_model" },
                    { klass->get_metric != NULL || klass->get_device_metric != NULL,
                      "get_metric or get_device_metric" } };
  if (priv->mistake != NULL) {
    g_propagate_error (error, g_error_copy (priv->mistake));
    return FALSE;
  }
  if (priv->config == NULL)
    return mistake (error,
                    _ ("axon_plugin_set_properties_table() was not called in instance init"));
  if (priv->name == NULL)
    return mistake (error,
                    _ ("create() does not set property \"name\" of the object that it makes"));
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (!functions[i].given)
      return mistake (error, _ ("its class has no %s"), functions[i].name);
  if (!axon_plugin_has_property (plugin, "AVAILABLE_DEVICES"))
    return mistake (error, _ ("its property table has no row AVAILABLE_DEVICES"));
  if (klass->set_property == NULL && has_process_rows (priv))
    return mistake (error, _ ("rows with AXON_PROPERTY_PROCESS need set_property in its class"));
  return TRUE;
}
