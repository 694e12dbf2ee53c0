/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Export and import: the header that the base class writes and checks, around the device's own
 * payload (I1 to I5). */
#include "../../plan/axonblob-private.h"
#include "axoncompiledmodel-private.h"
#include "../core/axonplugin-private.h"
#include "../../base/axontrace-private.h"
#include "config.h"

#include <string.h>

/* What must be the same where a compiled model is imported. */
static const gchar *const identity[] = { "DEVICE_ARCHITECTURE", "FULL_DEVICE_NAME",
                                         "OPTIMIZATION_CAPABILITIES" };

/* a{sv}, floating: device, versions, and the metrics above. */
static GVariant *
describe_device (AxonPlugin *plugin)
{
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "device", "s", axon_plugin_get_name (plugin));
  g_variant_dict_insert (&dict, "version", "s", AXON_VERSION);
  for (guint i = 0; i < G_N_ELEMENTS (identity); i++) {
    g_autoptr (GVariant) value = axon_plugin_has_property (plugin, identity[i])
                                     ? axon_plugin_get_property (plugin, identity[i], NULL)
                                     : NULL;
    if (value != NULL)
      g_variant_dict_insert_value (&dict, identity[i], value);
  }
  return g_variant_dict_end (&dict);
}

/* The same as text, for keys of the cache. */
gchar *
axon_plugin_identity_text (AxonPlugin *plugin)
{
  g_autoptr (GVariant) description = g_variant_ref_sink (describe_device (plugin));
  GString *s = g_string_new (NULL);
  static const gchar *const more[] = { "device", "version" };
  for (guint i = 0; i < G_N_ELEMENTS (more) + G_N_ELEMENTS (identity); i++) {
    const gchar *key = i < G_N_ELEMENTS (more) ? more[i] : identity[i - G_N_ELEMENTS (more)];
    g_autoptr (GVariant) value = g_variant_lookup_value (description, key, NULL);
    g_autofree gchar *text = value ? g_variant_print (value, FALSE) : g_strdup ("");
    g_string_append_printf (s, "%s=%s\n", key, text);
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

/* @extra (nullable, floating): more header fields, a{sv} */
gboolean
axon_compiled_model_write (AxonCompiledModel *compiled, AxonBlobWriter *writer, GVariant *extra,
                           GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  AxonCompiledModelClass *klass = AXON_COMPILED_MODEL_GET_CLASS (compiled);
  g_autoptr (GVariant) more = extra ? g_variant_ref_sink (extra) : NULL;
  g_autoptr (GVariant) description = NULL;
  GVariant *payload;
  GVariantDict dict;
  GVariantIter iter;
  const gchar *key;
  GVariant *value;
  if (klass->export_model == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, "device %s does not export models",
                 axon_plugin_get_name (priv->plugin));
    return FALSE;
  }
  payload = klass->export_model (compiled, writer, error);
  if (payload == NULL)
    return FALSE;
  description = g_variant_ref_sink (describe_device (priv->plugin));
  g_variant_dict_init (&dict, description);
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
  g_autoptr (AxonBlobWriter) writer = axon_blob_writer_new (NULL);
  return axon_compiled_model_write (compiled, writer, NULL, stream, cancellable, error);
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
               "the model was compiled elsewhere: %s of device %s is %s here, the file says %s; "
               "compile it for this machine",
               key, axon_plugin_get_name (plugin), expected, got);
  return FALSE;
}

/* I3: nothing of the payload is looked at before the header fits. */
AxonCompiledModel *
axon_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, AxonRemoteContext *context,
                          GVariant *config, GCancellable *cancellable, AxonProgressFunc progress,
                          gpointer user_data, GError **error)
{
  AxonPluginClass *klass = AXON_PLUGIN_GET_CLASS (plugin);
  g_autoptr (AxonConfig) effective =
      axon_plugin_effective_config (plugin, config, AXON_UNKNOWN_KEYS_FAIL, error);
  g_autoptr (GVariant) here = g_variant_ref_sink (describe_device (plugin));
  g_autoptr (GVariant) there = axon_blob_get_header (blob);
  g_autoptr (GVariant) payload = axon_blob_get_payload (blob);
  AxonCompiledModel *compiled;
  AXON_TRACE_BEGIN (start);
  if (effective == NULL || !check_field (plugin, here, there, "device", error) ||
      !check_field (plugin, here, there, "version", error))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (identity); i++)
    if (!check_field (plugin, here, there, identity[i], error))
      return NULL;
  if (klass->import_model == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, "device %s does not import models",
                 axon_plugin_get_name (plugin));
    return NULL;
  }
  compiled = klass->import_model (plugin, blob, payload, context, effective, cancellable, progress,
                                  user_data, error);
  AXON_TRACE_END (start, "import", axon_plugin_get_name (plugin));
  return compiled;
}
