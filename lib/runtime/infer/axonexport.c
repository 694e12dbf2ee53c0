/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Export and import: the header that the base class writes and checks, around the device's own
 * payload (I1 to I5). */
#include "../../plan/axonblob-private.h"
#include "axoncompiledmodel-private.h"
#include "../core/axonplugin-private.h"
#include "../../base/axontrace-private.h"
#include "config.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

/* What must be the same where a compiled model is imported, besides what the device's
 * CACHING_PROPERTIES names. */
static const gchar *const identity[] = { "DEVICE_ARCHITECTURE", "FULL_DEVICE_NAME",
                                         "OPTIMIZATION_CAPABILITIES" };

/* Keys of the device's description, in order (transfer full). */
static gchar **
identity_keys (AxonPlugin *plugin)
{
  g_autoptr (GStrvBuilder) keys = g_strv_builder_new ();
  g_autoptr (GVariant) more = axon_plugin_has_property (plugin, "CACHING_PROPERTIES")
                                  ? axon_plugin_get_property (plugin, "CACHING_PROPERTIES", NULL)
                                  : NULL;
  g_autofree const gchar **list = more ? g_variant_get_strv (more, NULL) : NULL;
  g_strv_builder_add_many (keys, "device", "version", "plugin-version", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (identity); i++)
    g_strv_builder_add (keys, identity[i]);
  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    g_strv_builder_add (keys, list[i]);
  return g_strv_builder_end (keys);
}

/* a{sv}, floating: what models compiled for device @id depend on; @keys of identity_keys(). */
static GVariant *
describe_device (AxonPlugin *plugin, const gchar *const *keys, const gchar *id)
{
  const AxonPluginInfo *info = axon_plugin_private (plugin)->info;
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "device", "s", axon_plugin_get_name (plugin));
  g_variant_dict_insert (&dict, "version", "s", AXON_VERSION);
  g_variant_dict_insert (&dict, "plugin-version", "s", info ? info->version : "");
  for (guint i = 0; keys[i] != NULL; i++) {
    g_autoptr (GVariant) value = axon_plugin_has_property (plugin, keys[i])
                                     ? axon_plugin_get_property_of (plugin, id, keys[i], NULL)
                                     : NULL;
    if (value != NULL)
      g_variant_dict_insert_value (&dict, keys[i], value);
  }
  return g_variant_dict_end (&dict);
}

/* The same as text, for keys of the cache. */
gchar *
axon_plugin_identity_text (AxonPlugin *plugin, const AxonConfig *config)
{
  g_auto (GStrv) keys = identity_keys (plugin);
  g_autoptr (GVariant) description = g_variant_ref_sink (
      describe_device (plugin, (const gchar *const *)keys, axon_config_get_device_id (config)));
  GString *s = g_string_new (NULL);
  for (guint i = 0; keys[i] != NULL; i++) {
    g_autoptr (GVariant) value = g_variant_lookup_value (description, keys[i], NULL);
    g_autofree gchar *text = value ? g_variant_print (value, FALSE) : g_strdup ("");
    g_string_append_printf (s, "%s=%s\n", keys[i], text);
  }
  return g_string_free (s, FALSE);
}

static GVariant *
pack_ports (const GArray *ports)
{
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE ("a(ays)"));
  for (guint i = 0; i < ports->len; i++) {
    const AxonPort *port = &g_array_index (ports, AxonPort, i);
    g_autofree gchar *shape = axon_shape_to_string (&port->shape);
    g_autofree gchar *text = g_strconcat (axon_dtype_get_name (port->dtype), shape, NULL);
    g_variant_builder_add (&b, "(^ays)", port->name, text);
  }
  return g_variant_builder_end (&b);
}

/* What import_payload() takes, floating: the class's own, or where its bytes lie in the blob. */
static GVariant *
export_payload (AxonCompiledModel *compiled, AxonBlobWriter *writer, GError **error)
{
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (compiled);
  g_autoptr (GBytes) bytes = NULL;
  if (klass->export_model != NULL)
    return klass->export_model (compiled, writer, error);
  if (klass->export_bytes == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("device %s does not export models"),
                 axon_compiled_model_get_device_name (compiled));
    return NULL;
  }
  bytes = klass->export_bytes (compiled, error);
  return bytes ? g_variant_new ("(tt)", axon_blob_writer_add (writer, bytes, 64),
                                (guint64)g_bytes_get_size (bytes))
               : NULL;
}

/* @extra (nullable, floating): more header fields, a{sv} */
gboolean
axon_compiled_model_write (AxonCompiledModel *compiled, AxonBlobWriter *writer, GVariant *extra,
                           GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  g_autoptr (GVariant) more = extra ? g_variant_ref_sink (extra) : NULL;
  const gchar *id = axon_config_get_device_id (priv->config);
  g_auto (GStrv) keys = identity_keys (priv->plugin);
  g_autoptr (GVariant) description = NULL;
  GVariant *payload;
  GVariantDict dict;
  GVariantIter iter;
  const gchar *key;
  GVariant *value;
  payload = export_payload (compiled, writer, error);
  if (payload == NULL)
    return FALSE;
  description = g_variant_ref_sink (describe_device (priv->plugin, (const gchar *const *)keys, id));
  g_variant_dict_init (&dict, description);
  if (id != NULL)
    g_variant_dict_insert (&dict, "device-id", "s", id);
  g_variant_dict_insert_value (&dict, "config", axon_config_to_variant (priv->config));
  g_variant_dict_insert_value (&dict, "name", g_variant_new_bytestring (priv->model_name));
  g_variant_dict_insert_value (&dict, "inputs", pack_ports (priv->inputs));
  g_variant_dict_insert_value (&dict, "outputs", pack_ports (priv->outputs));
  if (more != NULL) {
    g_variant_iter_init (&iter, more);
    while (g_variant_iter_loop (&iter, "{&sv}", &key, &value))
      g_variant_dict_insert_value (&dict, key, value);
  }
  return axon_blob_writer_write (writer, g_variant_dict_end (&dict), payload, stream, cancellable,
                                 error);
}

/**
 * axon_compiled_model_export:
 * @compiled: a compiled model
 * @stream: where to write it
 * @cancellable: (nullable): to give up
 * @error: return location
 *
 * Writes what axon_core_import_model() reads: device, configuration, ports, graph and weights.
 *
 * Returns: %TRUE on success; %AXON_ERROR_UNSUPPORTED where the device exports nothing
 *
 * Since: 1.0
 */
gboolean
axon_compiled_model_export (AxonCompiledModel *compiled, GOutputStream *stream,
                            GCancellable *cancellable, GError **error)
{
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (compiled);
  g_autoptr (AxonBlobWriter) writer = axon_blob_writer_new (NULL);
  g_autoptr (GBytes) bytes = NULL;
  if (klass->export_bytes == NULL)
    return axon_compiled_model_write (compiled, writer, NULL, stream, cancellable, error);
  bytes = klass->export_bytes (compiled, error);
  return bytes != NULL &&
         g_output_stream_write_all (stream, g_bytes_get_data (bytes, NULL),
                                    g_bytes_get_size (bytes), NULL, cancellable, error);
}

/**
 * axon_compiled_model_export_to_file:
 * @compiled: a compiled model
 * @path: (type filename): the file, written whole or not at all; by custom `.axon`
 * @error: return location
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
axon_compiled_model_export_to_file (AxonCompiledModel *compiled, const gchar *path, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileOutputStream) stream =
      g_file_replace (file, NULL, FALSE, G_FILE_CREATE_REPLACE_DESTINATION, NULL, error);
  g_autoptr (GCancellable) abandon = g_cancellable_new ();
  if (stream == NULL)
    return FALSE;
  if (axon_compiled_model_export (compiled, G_OUTPUT_STREAM (stream), NULL, error))
    return g_output_stream_close (G_OUTPUT_STREAM (stream), NULL, error);
  g_cancellable_cancel (abandon); /* then closing drops what was written */
  g_output_stream_close (G_OUTPUT_STREAM (stream), abandon, NULL);
  return FALSE;
}

static gboolean
check_field (AxonPlugin *plugin, GVariant *here, GVariant *there, const gchar *key, GError **error)
{
  g_autoptr (GVariant) a = g_variant_lookup_value (here, key, NULL);
  g_autoptr (GVariant) b = g_variant_lookup_value (there, key, NULL);
  g_autofree gchar *expected = NULL;
  g_autofree gchar *got = NULL;
  if (a == NULL || (b != NULL && g_variant_equal (a, b)))
    return TRUE;
  expected = g_variant_print (a, FALSE);
  got = b ? g_variant_print (b, FALSE) : g_strdup ("nothing");
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("the model was compiled elsewhere: %s of device %s is %s here, the file says %s; "
                  "compile it for this machine"),
               key, axon_plugin_get_name (plugin), expected, got);
  return FALSE;
}

/* I3: nothing of the payload is looked at before the header fits. */
static gboolean
check_header (AxonPlugin *plugin, const AxonConfig *config, AxonBlob *blob, GError **error)
{
  g_auto (GStrv) keys = identity_keys (plugin);
  g_autoptr (GVariant) here = g_variant_ref_sink (
      describe_device (plugin, (const gchar *const *)keys, axon_config_get_device_id (config)));
  g_autoptr (GVariant) there = axon_blob_get_header (blob);
  for (guint i = 0; keys[i] != NULL; i++)
    if (!check_field (plugin, here, there, keys[i], error))
      return FALSE;
  return TRUE;
}

static AxonCompiledModel *
import_payload (AxonPlugin *plugin, AxonBlob *blob, AxonRemoteContext *context,
                const AxonConfig *config, GCancellable *cancellable, AxonProgressFunc progress,
                gpointer user_data, GError **error)
{
  AxonPluginClass *klass = AXON_PLUGIN_GET_CLASS (plugin);
  g_autoptr (GVariant) payload = axon_blob_get_payload (blob);
  g_autoptr (GBytes) bytes = NULL;
  guint64 offset, n;
  if (klass->import_model != NULL)
    return klass->import_model (plugin, blob, payload, context, config, cancellable, progress,
                                user_data, error);
  if (klass->import_bytes == NULL || !g_variant_is_of_type (payload, G_VARIANT_TYPE ("(tt)"))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 klass->import_bytes ? _ ("device %s does not import models of this form")
                                     : _ ("device %s does not import models"),
                 axon_plugin_get_name (plugin));
    return NULL;
  }
  g_variant_get (payload, "(tt)", &offset, &n);
  bytes = axon_blob_get_bytes (blob, offset, n, error);
  return bytes ? klass->import_bytes (plugin, bytes, context, config, cancellable, progress,
                                      user_data, error)
               : NULL;
}

/* A file in a format of the device's own, which it has to know. */
AxonCompiledModel *
axon_plugin_import_bytes (AxonPlugin *plugin, GBytes *bytes, AxonRemoteContext *context,
                          GVariant *config, GCancellable *cancellable, AxonProgressFunc progress,
                          gpointer user_data, GError **error)
{
  AxonPluginClass *klass = AXON_PLUGIN_GET_CLASS (plugin);
  g_autoptr (AxonConfig) effective =
      axon_plugin_effective_config (plugin, config, AXON_UNKNOWN_KEYS_FAIL, error);
  if (effective == NULL)
    return NULL;
  if (klass->import_bytes != NULL)
    return klass->import_bytes (plugin, bytes, context, effective, cancellable, progress, user_data,
                                error);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("this is no compiled model of Axon, and device %s has no format of its own"),
               axon_plugin_get_name (plugin));
  return NULL;
}

AxonCompiledModel *
axon_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, AxonRemoteContext *context,
                          GVariant *config, GCancellable *cancellable, AxonProgressFunc progress,
                          gpointer user_data, GError **error)
{
  g_autoptr (AxonConfig) effective =
      axon_plugin_effective_config (plugin, config, AXON_UNKNOWN_KEYS_FAIL, error);
  AxonCompiledModel *compiled;
  AXON_TRACE_BEGIN (start);
  if (effective == NULL || !check_header (plugin, effective, blob, error))
    return NULL;
  compiled =
      import_payload (plugin, blob, context, effective, cancellable, progress, user_data, error);
  AXON_TRACE_END (start, "import", axon_plugin_get_name (plugin));
  return compiled;
}
