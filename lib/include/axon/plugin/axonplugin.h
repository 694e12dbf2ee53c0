/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base class of device plugins and the one symbol that a plugin exports. For plugin authors:
 * include <axon/axon-plugin.h>. */
#pragma once

#include <axon/axoncore.h>
#include <axon/plugin/axonblob.h>
#include <axon/plugin/axonextension.h>
#include <axon/plugin/axongraph.h>
#include <axon/plugin/axonproperty.h>

G_BEGIN_DECLS

#define AXON_TYPE_PLUGIN (axon_plugin_get_type ())
AXON_API
G_DECLARE_DERIVABLE_TYPE (AxonPlugin, axon_plugin, AXON, PLUGIN, GObject)

/* Result of query_model: what becomes of each node, by original name. */
typedef struct {
  GHashTable *devices; /* name -> device that takes it */
  GHashTable *reasons; /* name -> why not */
} AxonSupportedOps;

/* Why a node of the transformed model cannot run (transfer full); NULL if it can. */
typedef gchar *(*AxonRefuseFunc) (const AxonNode *node, gpointer user_data);

/**
 * axon_supported_ops_new:
 *
 * Makes an empty result.
 *
 * Returns: (transfer full): a result; free it with axon_supported_ops_free()
 *
 * Since: 1.0
 */
AXON_API AxonSupportedOps *axon_supported_ops_new (void);

/**
 * axon_supported_ops_free:
 * @ops: (transfer full): a result
 *
 * Frees a result.
 *
 * Since: 1.0
 */
AXON_API void axon_supported_ops_free (AxonSupportedOps *ops);

/**
 * axon_supported_ops_collect:
 * @ops: what is filled
 * @original: the model as it was given
 * @transformed: what compiling would run, after the device's passes
 * @device: name of the device
 * @ratio: share of the constants that the device takes, 0 to 1
 * @refuse: (nullable): judges the nodes of @transformed
 * @user_data: for the function
 *
 * Says what becomes of each node of @original. A node is refused with every node that it was fused
 * into; those that passes removed count as taken.
 *
 * Since: 1.0
 */
AXON_API void axon_supported_ops_collect (AxonSupportedOps *ops, AxonModel *original,
                                          AxonModel *transformed, const gchar *device,
                                          gdouble ratio, AxonRefuseFunc refuse, gpointer user_data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonSupportedOps, axon_supported_ops_free)

/**
 * AxonPluginClass:
 * @compile_model: required; makes a compiled model. Must not change @model. @context is %NULL, or
 *   one that this plugin made. Any thread.
 * @query_model: required; runs the same passes as @compile_model and says what becomes of each node
 * @get_metric: value of a read-only row, floating or %NULL with an error; required where
 *   @get_device_metric is not given
 * @import_model: optional; makes a compiled model of what the compiled model's `export` wrote
 * @add_extension: optional; from now on may use @extension's kernels. Without it the device says
 *   that it takes none.
 * @create_context: optional; shares memory and handles named by @params, `a{sv}`, with the
 *   application. @id: of the device, or %NULL
 * @get_default_context: optional; the context of models compiled for device @id without one
 * @get_device_metric: optional; as @get_metric, for the device that @id names: alone, for that of
 *   property `DEVICE_ID`, too
 * @set_property: required where a row has %AXON_PROPERTY_PROCESS: sets it, @value being of the
 * row's type; @get_metric tells it
 * @import_bytes: optional; makes a compiled model of bytes in a format of the device's own, such as
 * what the compiled model's `export_bytes` wrote; verifies all that it believes
 * @forwards_properties: set by virtual devices: keys that the table lacks are kept, for the devices
 *   behind
 *
 * Since: 1.0
 */
struct _AxonPluginClass {
  GObjectClass parent_class;

  AxonCompiledModel *(*compile_model) (AxonPlugin *plugin, AxonModel *model,
                                       AxonRemoteContext *context, const AxonConfig *config,
                                       GCancellable *cancellable, AxonProgressFunc progress,
                                       gpointer user_data, GError **error);
  gboolean (*query_model) (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                           AxonSupportedOps *result, GCancellable *cancellable, GError **error);
  GVariant *(*get_metric) (AxonPlugin *plugin, const gchar *key, GError **error);
  AxonCompiledModel *(*import_model) (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                                      AxonRemoteContext *context, const AxonConfig *config,
                                      GCancellable *cancellable, AxonProgressFunc progress,
                                      gpointer user_data, GError **error);
  gboolean (*add_extension) (AxonPlugin *plugin, AxonExtension *extension, GError **error);
  AxonRemoteContext *(*create_context) (AxonPlugin *plugin, const gchar *id, GVariant *params,
                                        GError **error);
  AxonRemoteContext *(*get_default_context) (AxonPlugin *plugin, const gchar *id, GError **error);
  GVariant *(*get_device_metric) (AxonPlugin *plugin, const gchar *id, const gchar *key,
                                  GError **error);
  gboolean forwards_properties;
  gboolean (*set_property) (AxonPlugin *plugin, const gchar *key, GVariant *value, GError **error);
  AxonCompiledModel *(*import_bytes) (AxonPlugin *plugin, GBytes *bytes, AxonRemoteContext *context,
                                      const AxonConfig *config, GCancellable *cancellable,
                                      AxonProgressFunc progress, gpointer user_data,
                                      GError **error);

  gpointer padding[17];
};

/**
 * axon_plugin_set_properties_table:
 * @plugin: the device's plugin
 * @specs: (array length=n_specs): the rows; static
 * @n_specs: how many
 *
 * Says which properties the device has. A subclass calls it once, in its instance init.
 *
 * Since: 1.0
 */
AXON_API void axon_plugin_set_properties_table (AxonPlugin *plugin, const AxonPropertySpec *specs,
                                                guint n_specs);
AXON_API const gchar *axon_plugin_get_name (AxonPlugin *plugin);

/**
 * axon_plugin_get_core:
 * @plugin: the device's plugin
 * @error: return location
 *
 * Gives the core, for virtual devices. Any thread.
 *
 * Returns: (transfer full): the core; %NULL with @error, %AXON_ERROR_DEVICE, once it is gone
 *
 * Since: 1.0
 */
AXON_API AxonCore *axon_plugin_get_core (AxonPlugin *plugin, GError **error);

/**
 * axon_plugin_get_property:
 * @plugin: the device's plugin
 * @key: the key
 * @error: return location
 *
 * Reads a property of the plugin's first device, or of the one that `DEVICE_ID` names. Any thread.
 *
 * Returns: (transfer full): the value; %NULL with @error where there is no such key
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_plugin_get_property (AxonPlugin *plugin, const gchar *key, GError **error);

/**
 * axon_plugin_log:
 * @plugin: the device's plugin
 * @config: a configuration
 * @level: the least `LOG_LEVEL` that shows the message, such as `LOG_INFO`
 * @format: printf's format
 * @...: its arguments
 *
 * Says something at GLib's message level if `LOG_LEVEL` of @config asks for it, else at debug
 * level. Any thread.
 *
 * Since: 1.0
 */
AXON_API void axon_plugin_log (AxonPlugin *plugin, const AxonConfig *config, const gchar *level,
                               const gchar *format, ...) G_GNUC_PRINTF (4, 5);

/**
 * axon_property_list:
 * @first: (nullable): a string
 * @...: more, ending with %NULL
 *
 * Makes a list, for `get_metric`.
 *
 * Returns: (transfer floating): `as`
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_property_list (const gchar *first, ...) G_GNUC_NULL_TERMINATED;

/**
 * axon_property_ids:
 * @n: how many devices
 *
 * Makes the list `0`, `1` ... for `AVAILABLE_DEVICES`.
 *
 * Returns: (transfer floating): `as`
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_property_ids (guint n);

/**
 * axon_property_no_value:
 * @key: the key that was asked for
 * @error: return location
 *
 * Says that a property has no value: the end of `get_metric` and of a compiled model's
 * `get_property`.
 *
 * Returns: (transfer none) (nullable): always %NULL, with @error, %AXON_ERROR_ARGUMENT
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_property_no_value (const gchar *key, GError **error);

#define AXON_PLUGIN_ABI 1u

typedef enum {
  AXON_PLUGIN_VIRTUAL = 1 << 0,   /* stands for other devices: takes a list behind its name */
  AXON_PLUGIN_REFERENCE = 1 << 1, /* for tests: never chosen automatically */
  AXON_PLUGIN_FOREIGN = 1 << 2,   /* devices of other libraries: never chosen automatically */
  AXON_PLUGIN_SPREADING = 1 << 3, /* virtual, and no other such may stand before it */
} AxonPluginFlags;

/* What the exported symbol `axon_plugin_entry` returns; never changes in size without @abi. */
typedef struct {
  guint abi;
  gsize struct_size;
  const gchar *name; /* device name, such as "CPU" */
  const gchar *version;
  const gchar *description;
  AxonPlugin *(*create) (const gchar *name,
                         GError **error); /* fails where the backend is missing */
  guint flags;                            /* AxonPluginFlags */
  guint n_ops;
  const AxonOp *ops; /* operators of the device's own, that its passes make; static */
  gpointer padding[7];
} AxonPluginInfo;

#define AXON_DEFINE_PLUGIN(device_name, description_text, create_func)                             \
  AXON_DEFINE_PLUGIN_WITH_FLAGS (device_name, description_text, create_func, 0)
#define AXON_DEFINE_PLUGIN_WITH_FLAGS(device_name, description_text, create_func, plugin_flags)    \
  AXON_DEFINE_PLUGIN_INFO (.name = device_name, .version = AXON_PLUGIN_VERSION,                    \
                           .description = description_text, .create = create_func,                 \
                           .flags = plugin_flags)
/* Fields of AxonPluginInfo by name: .name, .version, .description, .create; .flags, .ops and .n_ops
 * where there are any. */
#define AXON_DEFINE_PLUGIN_INFO(...)                                                               \
  G_MODULE_EXPORT const AxonPluginInfo *axon_plugin_entry (void);                                  \
  const AxonPluginInfo *axon_plugin_entry (void)                                                   \
  {                                                                                                \
    static const AxonPluginInfo info = { .abi = AXON_PLUGIN_ABI,                                   \
                                         .struct_size = sizeof (AxonPluginInfo),                   \
                                         __VA_ARGS__ };                                            \
    return &info;                                                                                  \
  }

G_END_DECLS
