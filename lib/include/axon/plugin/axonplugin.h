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

AXON_API AxonSupportedOps *axon_supported_ops_new (void);
AXON_API void axon_supported_ops_free (AxonSupportedOps *ops);
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

/* A subclass calls this in its instance init, once. */
AXON_API void axon_plugin_set_properties_table (AxonPlugin *plugin, const AxonPropertySpec *specs,
                                                guint n_specs);
AXON_API const gchar *axon_plugin_get_name (AxonPlugin *plugin);
AXON_API AxonCore *axon_plugin_get_core (AxonPlugin *plugin, GError **error);
AXON_API GVariant *axon_plugin_get_property (AxonPlugin *plugin, const gchar *key, GError **error);
AXON_API void axon_plugin_log (AxonPlugin *plugin, const AxonConfig *config, const gchar *level,
                               const gchar *format, ...) G_GNUC_PRINTF (4, 5);
AXON_API GVariant *axon_property_list (const gchar *first, ...) G_GNUC_NULL_TERMINATED;
AXON_API GVariant *axon_property_ids (guint n);

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
