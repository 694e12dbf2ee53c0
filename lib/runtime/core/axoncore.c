/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core: registry of devices, plugins loaded at first use. All methods from any thread. */
#include "axoncore.h"
#include "axonloader-private.h"
#include "../../onnx/axononnx.h"

#include <string.h>

/**
 * AxonCore:
 *
 * Registry of devices; reads, compiles and queries models. Elements and tools share one,
 * axon_core_get_default().
 *
 * Since: 1.0
 */
struct _AxonCore {
  GObject parent_instance;
  AxonOpSet *opset;
  GMutex lock;
  GHashTable *plugins; /* lock: device name -> AxonPlugin */
};

G_DEFINE_TYPE (AxonCore, axon_core, G_TYPE_OBJECT)

static void
axon_core_init (AxonCore *core)
{
  g_mutex_init (&core->lock);
  core->opset = axon_op_set_new ();
  core->plugins = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
}

static void
axon_core_finalize (GObject *object)
{
  AxonCore *core = AXON_CORE (object);
  g_hash_table_unref (core->plugins);
  axon_op_set_free (core->opset);
  g_mutex_clear (&core->lock);
  G_OBJECT_CLASS (axon_core_parent_class)->finalize (object);
}

static void
axon_core_class_init (AxonCoreClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_core_finalize;
}

/**
 * axon_core_new: (constructor)
 *
 * Returns: (transfer full): a core of its own; models outlive it
 *
 * Since: 1.0
 */
AxonCore *
axon_core_new (void)
{
  return g_object_new (AXON_TYPE_CORE, NULL);
}

/**
 * axon_core_get_default:
 *
 * Returns: (transfer none): the core of this process, never freed
 *
 * Since: 1.0
 */
AxonCore *
axon_core_get_default (void)
{
  static gsize once;
  if (g_once_init_enter (&once))
    /* cppcheck-suppress leakNoVarFunctionCall */
    g_once_init_leave (&once, (gsize)axon_core_new ());
  return (AxonCore *)once;
}

/**
 * axon_core_read_model:
 * @core: a core
 * @path: (type filename): an ONNX file
 * @cancellable: (nullable): to give up
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the model; %NULL with %AXON_ERROR_ARGUMENT (no such file),
 *   %AXON_ERROR_MODEL (wrong) or %AXON_ERROR_UNSUPPORTED (all unknown operators in one message)
 *
 * Since: 1.0
 */
AxonModel *
axon_core_read_model (AxonCore *core, const gchar *path, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (AXON_IS_CORE (core) && path != NULL, NULL);
  return axon_onnx_read_file (path, core->opset, cancellable, error);
}

/**
 * axon_core_read_model_from_bytes:
 * @core: a core
 * @bytes: an ONNX file's contents; external data is refused
 * @cancellable: (nullable): to give up
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the model
 *
 * Since: 1.0
 */
AxonModel *
axon_core_read_model_from_bytes (AxonCore *core, GBytes *bytes, GCancellable *cancellable,
                                 GError **error)
{
  g_return_val_if_fail (AXON_IS_CORE (core) && bytes != NULL, NULL);
  return axon_onnx_read_bytes (bytes, NULL, core->opset, cancellable, error);
}

/**
 * axon_core_read_tensor:
 * @core: a core
 * @path: (type filename): an ONNX TensorProto (.pb) or NumPy (.npy) file
 * @name: (out) (optional) (nullable) (transfer full): the tensor's name in the file
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the tensor
 *
 * Since: 1.0
 */
AxonTensor *
axon_core_read_tensor (G_GNUC_UNUSED AxonCore *core, const gchar *path, gchar **name,
                       GError **error)
{
  if (name != NULL)
    *name = NULL;
  if (g_str_has_suffix (path, ".npy"))
    return axon_tensor_load_npy (path, error);
  return axon_onnx_read_tensor_file (path, name, error);
}

/* "GPU.1" -> plugin GPU, id "1" */
static AxonPlugin *
get_plugin (AxonCore *core, const gchar *device, gchar **id, GError **error)
{
  const gchar *dot = strchr (device, '.');
  g_autofree gchar *name = dot ? g_strndup (device, (gsize)(dot - device)) : g_strdup (device);
  const AxonPluginInfo *info;
  AxonPlugin *plugin;
  if (id != NULL)
    *id = dot ? g_strdup (dot + 1) : NULL;
  g_mutex_lock (&core->lock);
  plugin = g_hash_table_lookup (core->plugins, name);
  if (plugin == NULL) {
    info = axon_loader_open (name, error);
    plugin = info ? info->create (name, error) : NULL;
    if (plugin != NULL)
      g_hash_table_insert (core->plugins, g_strdup (name), plugin);
    else if (info != NULL)
      g_prefix_error (error, "device %s cannot be used: ", name);
  }
  if (plugin != NULL)
    g_object_ref (plugin);
  g_mutex_unlock (&core->lock);
  return plugin;
}

/**
 * axon_core_has_device:
 * @core: a core
 * @device: a device name, such as `CPU`
 * @error: return location
 *
 * Returns: %TRUE if the device can be used; else the error lists what was searched
 *
 * Since: 1.0
 */
gboolean
axon_core_has_device (AxonCore *core, const gchar *device, GError **error)
{
  g_autoptr (AxonPlugin) plugin = get_plugin (core, device, NULL, error);
  return plugin != NULL;
}

/**
 * axon_core_get_available_devices:
 * @core: a core
 *
 * Returns: (transfer full) (array zero-terminated=1): devices that can be used, with ids where a
 *   plugin drives several
 *
 * Since: 1.0
 */
gchar **
axon_core_get_available_devices (AxonCore *core)
{
  g_auto (GStrv) names = axon_loader_list ();
  g_autoptr (GStrvBuilder) devices = g_strv_builder_new ();
  for (guint i = 0; names[i] != NULL; i++) {
    g_autoptr (AxonPlugin) plugin = get_plugin (core, names[i], NULL, NULL);
    g_autoptr (GVariant) ids =
        plugin ? axon_plugin_get_property (plugin, "AVAILABLE_DEVICES", NULL) : NULL;
    g_autofree const gchar **list = ids ? g_variant_get_strv (ids, NULL) : NULL;
    for (guint k = 0; list != NULL && list[k] != NULL; k++) {
      g_autofree gchar *full =
          *list[k] ? g_strdup_printf ("%s.%s", names[i], list[k]) : g_strdup (names[i]);
      g_strv_builder_add (devices, full);
    }
  }
  return g_strv_builder_end (devices);
}

/**
 * axon_core_set_property:
 * @core: a core
 * @device: a device name
 * @key: a property key, such as `PERF_COUNT`
 * @value: its value; strings are accepted for every type
 * @error: return location
 *
 * Sets the default for later calls of axon_core_compile_model().
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT names what is accepted
 *
 * Since: 1.0
 */
gboolean
axon_core_set_property (AxonCore *core, const gchar *device, const gchar *key, GVariant *value,
                        GError **error)
{
  g_autoptr (AxonPlugin) plugin = get_plugin (core, device, NULL, error);
  g_autoptr (GVariant) owned = g_variant_ref_sink (value);
  return plugin != NULL && axon_plugin_set_property (plugin, key, owned, error);
}

/**
 * axon_core_get_property:
 * @core: a core
 * @device: a device name
 * @key: a property key, such as `FULL_DEVICE_NAME`
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the value
 *
 * Since: 1.0
 */
GVariant *
axon_core_get_property (AxonCore *core, const gchar *device, const gchar *key, GError **error)
{
  g_autoptr (AxonPlugin) plugin = get_plugin (core, device, NULL, error);
  return plugin ? axon_plugin_get_property (plugin, key, error) : NULL;
}

/**
 * axon_core_get_property_specs: (skip)
 * @core: a core
 * @device: a device name
 * @n_specs: (out): rows
 * @error: return location
 *
 * Returns: (transfer none) (nullable): the property table of @device
 *
 * Since: 1.0
 */
const AxonPropertySpec *
axon_core_get_property_specs (AxonCore *core, const gchar *device, guint *n_specs, GError **error)
{
  g_autoptr (AxonPlugin) plugin = get_plugin (core, device, NULL, error);
  return plugin ? axon_plugin_get_properties_table (plugin, n_specs) : NULL;
}

/* The call's configuration, plus DEVICE_ID from "NAME.id". */
static GVariant *
with_device_id (GVariant *config, const gchar *id)
{
  GVariantDict dict;
  if (id == NULL)
    return config ? g_variant_ref_sink (config) : NULL;
  g_variant_dict_init (&dict, config);
  g_variant_dict_insert (&dict, "DEVICE_ID", "s", id);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

/**
 * axon_core_compile_model:
 * @core: a core
 * @model: a model; not changed
 * @device: a device name
 * @config: (nullable): properties of the device, `a{sv}`; win over axon_core_set_property()
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
axon_core_compile_model (AxonCore *core, AxonModel *model, const gchar *device, GVariant *config,
                         GCancellable *cancellable, AxonProgressFunc progress, gpointer user_data,
                         GError **error)
{
  g_autofree gchar *id = NULL;
  g_autoptr (AxonPlugin) plugin = get_plugin (core, device, &id, error);
  g_autoptr (GVariant) full = with_device_id (config, id);
  if (plugin == NULL)
    return NULL;
  return axon_plugin_compile_model (plugin, model, full, cancellable, progress, user_data, error);
}

/**
 * axon_core_query_model:
 * @core: a core
 * @model: a model; not changed
 * @device: a device name
 * @config: (nullable): properties of the device, `a{sv}`
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
  g_autofree gchar *id = NULL;
  g_autoptr (AxonPlugin) plugin = get_plugin (core, device, &id, error);
  g_autoptr (GVariant) full = with_device_id (config, id);
  g_autoptr (AxonSupportedOps) ops = axon_supported_ops_new ();
  if (plugin == NULL || !axon_plugin_query_model (plugin, model, full, ops, cancellable, error))
    return NULL;
  if (reasons != NULL)
    *reasons = g_hash_table_ref (ops->reasons);
  return g_hash_table_ref (ops->devices);
}

/**
 * axon_core_list_operators:
 * @core: a core
 *
 * Returns: (transfer full) (array zero-terminated=1): one line per operator row: domain, name,
 * first and last opset
 *
 * Since: 1.0
 */
gchar **
axon_core_list_operators (AxonCore *core)
{
  guint n = axon_op_set_get_n_ops (core->opset);
  gchar **lines = g_new0 (gchar *, n + 1);
  for (guint i = 0; i < n; i++) {
    const AxonOp *op = axon_op_set_get_op (core->opset, i);
    g_autofree gchar *until = op->until ? g_strdup_printf ("%d", op->until) : g_strdup ("");
    lines[i] = g_strdup_printf ("%-16s %-26s %d-%s", op->domain ? op->domain : "ai.onnx", op->name,
                                op->since, until);
  }
  return lines;
}
