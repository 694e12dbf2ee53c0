/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plugin base class: configuration, checks around compile and query. Any thread. */
#include <axon/plugin/axonplugin.h>
#include "axoncompilecall-private.h"
#include "axonplugin-private.h"
#include <axon/axoncompiledmodel.h>
#include "../../base/axontrace-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

/**
 * AxonPlugin:
 *
 * A device plugin: one backend. Applications use #AxonCore instead.
 *
 * Since: 1.0
 */
G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AxonPlugin, axon_plugin, G_TYPE_OBJECT)

enum { PROP_NAME = 1 };

AxonPluginPrivate *
axon_plugin_private (AxonPlugin *plugin)
{
  return axon_plugin_get_instance_private (plugin);
}

static void
axon_plugin_init (AxonPlugin *plugin)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_mutex_init (&priv->lock);
  g_weak_ref_init (&priv->core, NULL);
  priv->by_id =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref);
}

static void
axon_plugin_set_gobject_property (GObject *object, G_GNUC_UNUSED guint id, const GValue *value,
                                  G_GNUC_UNUSED GParamSpec *pspec)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (AXON_PLUGIN (object));
  priv->name = g_value_dup_string (value);
}

static void
axon_plugin_finalize (GObject *object)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (AXON_PLUGIN (object));
  g_clear_pointer (&priv->config, axon_config_free);
  g_clear_error (&priv->mistake);
  g_hash_table_unref (priv->by_id);
  g_clear_pointer (&priv->abandoned, g_hash_table_unref);
  g_weak_ref_clear (&priv->core);
  g_mutex_clear (&priv->lock);
  g_free (priv->specs);
  g_free (priv->name);
  G_OBJECT_CLASS (axon_plugin_parent_class)->finalize (object);
}

static void
axon_plugin_class_init (AxonPluginClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = axon_plugin_set_gobject_property;
  object_class->finalize = axon_plugin_finalize;
  g_object_class_install_property (
      object_class, PROP_NAME,
      g_param_spec_string ("name", "Name", "Device name", NULL,
                           G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

/* The core holds its plugins; a plugin must not hold the core. @info: static in the library */
void
axon_plugin_attach (AxonPlugin *plugin, AxonCore *core, const AxonPluginInfo *info)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  g_weak_ref_set (&priv->core, core);
  priv->info = info;
}

AxonCore *
axon_plugin_get_core (AxonPlugin *plugin, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  AxonCore *core = g_weak_ref_get (&priv->core);
  if (core == NULL)
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("device %s: the core it belongs to is gone; keep it while models are compiled"),
                 priv->name);
  return core;
}

/**
 * axon_plugin_get_name: (skip)
 * @plugin: a plugin
 *
 * Returns: (transfer none): the device name
 *
 * Since: 1.0
 */
const gchar *
axon_plugin_get_name (AxonPlugin *plugin)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  return priv->name;
}

void
axon_plugin_count_abandoned (AxonPlugin *plugin, const gchar *id, gint change)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  gint n;
  g_mutex_lock (&priv->lock);
  if (priv->abandoned == NULL)
    g_atomic_pointer_set (&priv->abandoned,
                          g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL));
  n = GPOINTER_TO_INT (g_hash_table_lookup (priv->abandoned, id)) + change;
  g_hash_table_insert (priv->abandoned, g_strdup (id), GINT_TO_POINTER (n));
  g_mutex_unlock (&priv->lock);
}

gboolean
axon_plugin_check_alive (AxonPlugin *plugin, const gchar *id, GError **error)
{
  AxonPluginPrivate *priv = axon_plugin_get_instance_private (plugin);
  gint n;
  if (g_atomic_pointer_get (&priv->abandoned) == NULL)
    return TRUE;
  g_mutex_lock (&priv->lock);
  n = GPOINTER_TO_INT (g_hash_table_lookup (priv->abandoned, id));
  g_mutex_unlock (&priv->lock);
  if (n > 0)
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("device %s%s%s is not used: %d of its calls did not return in time "
                    "(INFERENCE_TIMEOUT, MAX_COMPILE_TIME)"),
                 priv->name, *id ? "." : "", id, n);
  return n == 0;
}

static gboolean
check_alive (AxonPlugin *plugin, const AxonConfig *config, GError **error)
{
  const gchar *id = axon_config_get_device_id (config);
  return axon_plugin_check_alive (plugin, id ? id : "", error);
}

/* TRUE if OPTIMIZATION_CAPABILITIES lists @capability. */
gboolean
axon_plugin_has_capability (AxonPlugin *plugin, const gchar *capability)
{
  g_autoptr (GVariant) value = axon_plugin_get_property (plugin, "OPTIMIZATION_CAPABILITIES", NULL);
  g_autofree const gchar **list = value ? g_variant_get_strv (value, NULL) : NULL;
  return list != NULL && g_strv_contains (list, capability);
}

void
axon_plugin_log (AxonPlugin *plugin, const AxonConfig *config, const gchar *level,
                 const gchar *format, ...)
{
  static const gchar *const order = "LOG_NONE LOG_ERROR LOG_WARNING LOG_INFO LOG_DEBUG LOG_TRACE";
  const gchar *wanted = axon_config_get_string (config, "LOG_LEVEL");
  gboolean shown = *wanted != '\0' && strstr (order, wanted) >= strstr (order, level);
  g_autofree gchar *text = NULL;
  va_list args;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (shown)
    g_message ("%s: %s", axon_plugin_get_name (plugin), text);
  else
    g_debug ("%s: %s", axon_plugin_get_name (plugin), text);
}

GVariant *
axon_property_list (const gchar *first, ...)
{
  GVariantBuilder builder;
  va_list args;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("as"));
  va_start (args, first);
  for (const gchar *s = first; s != NULL; s = va_arg (args, const gchar *))
    g_variant_builder_add (&builder, "s", s);
  va_end (args);
  return g_variant_builder_end (&builder);
}

GVariant *
axon_property_ids (guint n)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("as"));
  for (guint i = 0; i < n; i++)
    g_variant_builder_add_value (&builder, g_variant_new_take_string (g_strdup_printf ("%u", i)));
  return g_variant_builder_end (&builder);
}

GVariant *
axon_property_no_value (const gchar *key, GError **error)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("property \"%s\" has no value"), key);
  return NULL;
}

AxonCompiledModel *
axon_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                           GVariant *config, GCancellable *cancellable, AxonProgressFunc progress,
                           gpointer user_data, GError **error)
{
  g_autoptr (AxonConfig) effective =
      axon_plugin_effective_config (plugin, config, AXON_UNKNOWN_KEYS_FAIL, error);
  AxonCompiledModel *compiled;
  AXON_TRACE_BEGIN (start);
  if (effective == NULL || !check_alive (plugin, effective, error))
    return NULL;
  compiled = axon_compile_call (plugin, model, context, effective, cancellable, progress, user_data,
                                error);
  AXON_TRACE_END (start, "compile", model->name);
  return compiled;
}

gboolean
axon_plugin_query_model (AxonPlugin *plugin, AxonModel *model, GVariant *config,
                         AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonConfig) effective =
      axon_plugin_effective_config (plugin, config, AXON_UNKNOWN_KEYS_IGNORE, error);
  gboolean ok;
  AXON_TRACE_BEGIN (start);
  if (effective == NULL)
    return FALSE;
  ok = AXON_PLUGIN_GET_CLASS (plugin)->query_model (plugin, model, effective, result, cancellable,
                                                    error);
  AXON_TRACE_END (start, "query", model->name);
  return ok;
}
