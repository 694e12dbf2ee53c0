/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiling, importing, querying, contexts: expressions become a plugin and its configuration. */
#include "../../plan/axonblob-private.h"
#include "axonguard-private.h"
#include "../../onnx/axononnx.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

void
axon_target_clear (AxonTarget *target)
{
  g_clear_object (&target->plugin);
  g_clear_pointer (&target->config, g_variant_unref);
  g_clear_pointer (&target->core_config, axon_config_free);
}

/* One value from the expression, one from the call: they must agree. */
static gboolean
insert_checked (GVariantDict *dict, const gchar *key, const gchar *value, const gchar *device,
                GError **error)
{
  const gchar *given;
  if (g_variant_dict_lookup (dict, key, "&s", &given) && !g_str_equal (given, value)) {
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("device \"%s\": %s is given twice, as \"%s\" and in the configuration as \"%s\""),
        device, key, value, given);
    return FALSE;
  }
  g_variant_dict_insert (dict, key, "s", value);
  return TRUE;
}

/* The core's keys leave the configuration, unless the device knows them itself. */
static gboolean
split_core_keys (AxonCore *core, AxonTarget *target, GVariant *values, GError **error)
{
  gboolean passes_on =
      target->is_virtual && !axon_plugin_has_capability (target->plugin, "EXPORT_IMPORT");
  GVariantDict rest;
  GVariantIter iter;
  const gchar *key;
  GVariant *value;
  g_variant_dict_init (&rest, NULL);
  target->core_config = axon_core_dup_config (core, axon_plugin_get_name (target->plugin));
  g_variant_iter_init (&iter, values);
  while (g_variant_iter_next (&iter, "{&sv}", &key, &value)) {
    gboolean ours = axon_core_owns_key (core, key);
    gboolean ok = !ours || axon_config_set (target->core_config, key, value, error);
    if (!ours || passes_on || axon_plugin_has_property (target->plugin, key))
      g_variant_dict_insert_value (&rest, key, value);
    g_variant_unref (value);
    if (!ok) {
      g_variant_dict_clear (&rest);
      return FALSE;
    }
  }
  target->config = g_variant_ref_sink (g_variant_dict_end (&rest));
  return TRUE;
}

static gboolean
fill_config (AxonCore *core, AxonTarget *target, const AxonDeviceExpr *expr, const gchar *device,
             GVariant *config, GError **error)
{
  g_autoptr (GVariant) merged = NULL;
  g_autoptr (GVariant) flat = NULL;
  GVariantDict dict;
  g_variant_dict_init (&dict, config);
  if ((expr->id != NULL && !insert_checked (&dict, "DEVICE_ID", expr->id, device, error)) ||
      (expr->members != NULL &&
       !insert_checked (&dict, "MULTI_DEVICE_PRIORITIES", expr->members, device, error))) {
    g_variant_dict_clear (&dict);
    return FALSE;
  }
  merged = g_variant_ref_sink (g_variant_dict_end (&dict));
  if (!target->is_virtual)
    flat = g_variant_ref_sink (axon_device_properties_flatten (merged, device));
  return split_core_keys (core, target, flat ? flat : merged, error);
}

/* Plugin and configuration for @device (NULL: AUTO). Free with axon_target_clear(). */
gboolean
axon_core_find_target (AxonCore *core, const gchar *device, GVariant *config, AxonTarget *target,
                       GError **error)
{
  g_autoptr (AxonDeviceExpr) expr = axon_device_expr_parse (device ? device : "AUTO", error);
  g_autoptr (GVariant) owned = config ? g_variant_ref_sink (config) : NULL;
  const AxonPluginInfo *info;
  *target = (AxonTarget){ 0 };
  if (expr == NULL)
    return FALSE;
  target->plugin = axon_core_get_plugin (core, expr->name, &info, error);
  if (target->plugin == NULL)
    return FALSE;
  target->is_virtual = (info->flags & AXON_PLUGIN_VIRTUAL) != 0;
  if (expr->members != NULL && !target->is_virtual) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("illegal device \"%s\": %s computes itself, no devices stand behind it"),
                 device, expr->name);
    axon_target_clear (target);
    return FALSE;
  }
  if (!fill_config (core, target, expr, device ? device : "AUTO", owned, error)) {
    axon_target_clear (target);
    return FALSE;
  }
  return TRUE;
}

static AxonCompiledModel *
run_guarded (AxonJob *job, GCancellable *cancellable, GError **error)
{
  AxonGuard guard;
  axon_guard_enter (&guard, &job->target, cancellable);
  job->cancellable = guard.cancellable;
  return axon_guard_leave (&guard, axon_job_run (job, error), error);
}

/**
 * axon_core_compile_model:
 * @core: a core
 * @model: a model; not changed
 * @device: (nullable): a device expression; %NULL: `AUTO`
 * @config: (nullable): properties of the device, `a{sv}`; win over axon_core_set_property()
 * @cancellable: (nullable): to give up
 * @progress: (nullable) (scope call): told how far it is
 * @user_data: for @progress
 * @error: return location
 *
 * With `CACHE_DIR` set, the model is taken from there if it was compiled before.
 *
 * Returns: (transfer full) (nullable): the compiled model
 *
 * Since: 1.0
 */
AxonCompiledModel *
axon_core_compile_model (AxonCore *core, AxonModel *model, const gchar *device, GVariant *config,
                         GCancellable *cancellable, AxonProgressFunc progress, gpointer user_data,
                         GError **error)
{
  AxonJob job = { .core = core, .model = model, .progress = progress, .user_data = user_data };
  AxonCompiledModel *compiled;
  g_return_val_if_fail (AXON_IS_CORE (core) && AXON_IS_MODEL (model), NULL);
  if (!axon_core_find_target (core, device, config, &job.target, error))
    return NULL;
  compiled = run_guarded (&job, cancellable, error);
  axon_target_clear (&job.target);
  return compiled;
}

/**
 * axon_core_compile_model_from_file:
 * @core: a core
 * @path: (type filename): an ONNX file
 * @device: (nullable): a device expression; %NULL: `AUTO`
 * @config: (nullable): properties of the device, `a{sv}`; win over axon_core_set_property()
 * @cancellable: (nullable): to give up
 * @progress: (nullable) (scope call): told how far it is
 * @user_data: for @progress
 * @error: return location
 *
 * As axon_core_read_model() and axon_core_compile_model(); with `CACHE_DIR` set, a model that was
 * compiled before is not even parsed.
 *
 * Returns: (transfer full) (nullable): the compiled model
 *
 * Since: 1.0
 */
AxonCompiledModel *
axon_core_compile_model_from_file (AxonCore *core, const gchar *path, const gchar *device,
                                   GVariant *config, GCancellable *cancellable,
                                   AxonProgressFunc progress, gpointer user_data, GError **error)
{
  AxonJob job = { .core = core, .path = path, .progress = progress, .user_data = user_data };
  AxonCompiledModel *compiled = NULL;
  g_return_val_if_fail (AXON_IS_CORE (core) && path != NULL, NULL);
  if (!axon_core_find_target (core, device, config, &job.target, error))
    return NULL;
  compiled = run_guarded (&job, cancellable, error);
  g_clear_pointer (&job.file, g_bytes_unref);
  axon_target_clear (&job.target);
  return compiled;
}

/**
 * axon_core_compile_model_with_context:
 * @core: a core
 * @model: a model; not changed
 * @context: a context of the device that shall run it
 * @config: (nullable): properties of the device, `a{sv}`
 * @cancellable: (nullable): to give up
 * @progress: (nullable) (scope call): told how far it is
 * @user_data: for @progress
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the compiled model; its requests take the context's tensors
 * without a copy
 *
 * Since: 1.0
 */
AxonCompiledModel *
axon_core_compile_model_with_context (AxonCore *core, AxonModel *model, AxonRemoteContext *context,
                                      GVariant *config, GCancellable *cancellable,
                                      AxonProgressFunc progress, gpointer user_data, GError **error)
{
  AxonTarget target;
  AxonGuard guard;
  AxonCompiledModel *compiled;
  g_return_val_if_fail (AXON_IS_REMOTE_CONTEXT (context), NULL);
  if (!axon_core_find_target (core, axon_remote_context_get_device_name (context), config, &target,
                              error))
    return NULL;
  axon_guard_enter (&guard, &target, cancellable);
  compiled = axon_plugin_compile_model (target.plugin, model, context, target.config,
                                        guard.cancellable, progress, user_data, error);
  compiled = axon_guard_leave (&guard, compiled, error);
  if (compiled != NULL)
    axon_compiled_model_set_context (compiled, context);
  axon_target_clear (&target);
  return compiled;
}

/* The device that a file was made for, with id where it has one (transfer full). */
static gchar *
exported_device (AxonBlob *blob)
{
  g_autoptr (GVariant) header = axon_blob_get_header (blob);
  const gchar *device = "?", *id = NULL;
  g_variant_lookup (header, "device", "&s", &device);
  g_variant_lookup (header, "device-id", "&s", &id);
  return id ? g_strdup_printf ("%s.%s", device, id) : g_strdup (device);
}

/* Operators, the plugin's own among them, and the file that has the weights where the blob has not.
 */
static gboolean
prepare_blob (AxonCore *core, AxonBlob *blob, GVariant *config, GError **error)
{
  const gchar *weights;
  g_autoptr (GBytes) origin = NULL;
  axon_blob_set_op_set (blob, axon_core_get_op_set (core));
  if (!g_variant_lookup (config, "WEIGHTS_PATH", "&s", &weights) || *weights == '\0')
    return TRUE;
  origin = axon_onnx_load_file (weights, error);
  if (origin != NULL)
    axon_blob_set_origin (blob, origin);
  return origin != NULL;
}

/**
 * axon_core_import_model:
 * @core: a core
 * @bytes: what axon_compiled_model_export() wrote, an entry of a cache, or, where @device is given,
 * a format of that device's own
 * @device: (nullable): a device expression; %NULL: the device that it was compiled for
 * @context: (nullable): a context of that device
 * @config: (nullable): properties of the device, `a{sv}`
 * @cancellable: (nullable): to give up
 * @progress: (nullable) (scope call): told how far it is
 * @user_data: for @progress
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the compiled model; %NULL with %AXON_ERROR_ARGUMENT where it
 *   is damaged, or was compiled by another version or for another kind of device
 *
 * Since: 1.0
 */
AxonCompiledModel *
axon_core_import_model (AxonCore *core, GBytes *bytes, const gchar *device,
                        AxonRemoteContext *context, GVariant *config, GCancellable *cancellable,
                        AxonProgressFunc progress, gpointer user_data, GError **error)
{
  g_autoptr (GVariant) owned = config ? g_variant_ref_sink (config) : NULL;
  gboolean foreign = device != NULL && !axon_blob_has_magic (bytes);
  g_autoptr (AxonBlob) blob =
      foreign ? NULL : axon_blob_new (bytes, axon_core_get_op_set (core), error);
  g_autofree gchar *stored = blob ? exported_device (blob) : NULL;
  AxonTarget target;
  AxonGuard guard;
  AxonCompiledModel *compiled = NULL;
  if ((blob == NULL && !foreign) ||
      !axon_core_find_target (core, device ? device : stored, owned, &target, error))
    return NULL;
  axon_guard_enter (&guard, &target, cancellable);
  if (foreign)
    compiled = axon_plugin_import_bytes (target.plugin, bytes, context, target.config,
                                         guard.cancellable, progress, user_data, error);
  else if (prepare_blob (core, blob, target.config, error))
    compiled = axon_plugin_import_model (target.plugin, blob, context, target.config,
                                         guard.cancellable, progress, user_data, error);
  compiled = axon_guard_leave (&guard, compiled, error);
  if (compiled != NULL && context != NULL)
    axon_compiled_model_set_context (compiled, context);
  axon_target_clear (&target);
  return compiled;
}

/**
 * axon_core_import_model_from_file:
 * @core: a core
 * @path: (type filename): a file that axon_compiled_model_export_to_file() wrote
 * @device: (nullable): a device expression; %NULL: the device that it was compiled for
 * @config: (nullable): properties of the device, `a{sv}`
 * @cancellable: (nullable): to give up
 * @progress: (nullable) (scope call): told how far it is
 * @user_data: for @progress
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the compiled model
 *
 * Since: 1.0
 */
AxonCompiledModel *
axon_core_import_model_from_file (AxonCore *core, const gchar *path, const gchar *device,
                                  GVariant *config, GCancellable *cancellable,
                                  AxonProgressFunc progress, gpointer user_data, GError **error)
{
  g_autoptr (GVariant) owned = config ? g_variant_ref_sink (config) : NULL;
  g_autoptr (GBytes) bytes = axon_onnx_load_file (path, error);
  AxonCompiledModel *compiled =
      bytes ? axon_core_import_model (core, bytes, device, NULL, owned, cancellable, progress,
                                      user_data, error)
            : NULL;
  if (bytes != NULL && compiled == NULL)
    g_prefix_error (error, "%s: ", path);
  return compiled;
}

/**
 * axon_core_read_export_header:
 * @core: a core
 * @path: (type filename): a file that axon_compiled_model_export_to_file() wrote
 * @error: return location
 *
 * Returns: (transfer full) (nullable): `a{sv}`: `device`, `version`, `name` (bytes), `config`,
 *   `inputs` and `outputs` (name and type) and metrics of the device
 *
 * Since: 1.0
 */
GVariant *
axon_core_read_export_header (AxonCore *core, const gchar *path, GError **error)
{
  g_autoptr (GBytes) bytes = axon_onnx_load_file (path, error);
  g_autoptr (AxonBlob) blob =
      bytes ? axon_blob_new (bytes, axon_core_get_op_set (core), error) : NULL;
  return blob ? axon_blob_get_header (blob) : NULL;
}

/* The graph may have operators of the device's own. */
static void
add_device_operators (AxonCore *core, AxonBlob *blob)
{
  g_autoptr (GVariant) header = axon_blob_get_header (blob);
  const gchar *device;
  if (g_variant_lookup (header, "device", "&s", &device))
    axon_core_get_plugin_info (core, device);
  axon_blob_set_op_set (blob, axon_core_get_op_set (core));
}

/**
 * axon_core_read_exported_model:
 * @core: a core
 * @path: (type filename): a file that axon_compiled_model_export_to_file() wrote
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the graph in it, to be inspected or compiled once more;
 *   %NULL with %AXON_ERROR_UNSUPPORTED where the device stored something else
 *
 * Since: 1.0
 */
AxonModel *
axon_core_read_exported_model (AxonCore *core, const gchar *path, GError **error)
{
  g_autoptr (GBytes) bytes = axon_onnx_load_file (path, error);
  g_autoptr (AxonBlob) blob =
      bytes ? axon_blob_new (bytes, axon_core_get_op_set (core), error) : NULL;
  g_autoptr (GVariant) payload = blob ? axon_blob_get_payload (blob) : NULL;
  if (payload != NULL)
    add_device_operators (core, blob);
  if (payload != NULL && !axon_blob_is_model (payload)) {
    g_autofree gchar *device = exported_device (blob);
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("%s: what device %s stored is not one graph"), path, device);
    return NULL;
  }
  return payload ? axon_blob_read_model (blob, payload, error) : NULL;
}

/**
 * axon_core_query_model:
 * @core: a core
 * @model: a model; not changed
 * @device: (nullable): a device expression; %NULL: `AUTO`
 * @config: (nullable): properties of the device, `a{sv}`; unknown ones are ignored
 * @reasons: (out) (optional) (transfer full) (element-type utf8 utf8): node name to why it is
 * refused
 * @cancellable: (nullable): to give up
 * @error: return location
 *
 * Returns: (transfer full) (nullable) (element-type utf8 utf8): node name to the device that takes
 * it
 *
 * Since: 1.0
 */
GHashTable *
axon_core_query_model (AxonCore *core, AxonModel *model, const gchar *device, GVariant *config,
                       GHashTable **reasons, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonSupportedOps) ops = axon_supported_ops_new ();
  AxonTarget target;
  gboolean ok;
  if (!axon_core_find_target (core, device, config, &target, error))
    return NULL;
  ok = axon_plugin_query_model (target.plugin, model, target.config, ops, cancellable, error);
  axon_target_clear (&target);
  if (!ok)
    return NULL;
  if (reasons != NULL)
    *reasons = g_hash_table_ref (ops->reasons);
  return g_hash_table_ref (ops->devices);
}
