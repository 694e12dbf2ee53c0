/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base class of device plugins and the one symbol that a plugin exports. For plugin authors:
 * include <axon/axon-plugin.h>. */
#pragma once

#include "../../model/axongraph.h"
#include "axonproperty.h"

G_BEGIN_DECLS

typedef struct _AxonCore AxonCore;
typedef struct _AxonCompiledModel AxonCompiledModel;

#define AXON_TYPE_PLUGIN (axon_plugin_get_type ())
G_DECLARE_DERIVABLE_TYPE (AxonPlugin, axon_plugin, AXON, PLUGIN, GObject)

/**
 * AxonProgressFunc:
 * @fraction: 0 to 1
 * @stage: what is being done
 * @user_data: as given
 *
 * Reports progress of a long call, in the thread of that call or in one that it waits for.
 *
 * Since: 1.0
 */
typedef void (*AxonProgressFunc) (gdouble fraction, const gchar *stage, gpointer user_data);

/* Result of query_model: what becomes of each node, by original name. */
typedef struct {
  GHashTable *devices; /* name -> device that takes it */
  GHashTable *reasons; /* name -> why not */
} AxonSupportedOps;

#ifndef __GI_SCANNER__ /* for plugins, which are C */
AxonSupportedOps *axon_supported_ops_new (void);
void axon_supported_ops_free (AxonSupportedOps *ops);
void axon_supported_ops_add (AxonSupportedOps *ops, const AxonNode *node, const gchar *device,
                             const gchar *reason);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonSupportedOps, axon_supported_ops_free)
#endif

/**
 * AxonPluginClass:
 * @compile_model: required; makes a compiled model. Must not change @model. Any thread.
 * @query_model: required; runs the same passes as @compile_model and says what becomes of each node
 * @get_metric: required; value of a read-only row, floating or %NULL with an error
 *
 * Since: 1.0
 */
struct _AxonPluginClass {
  GObjectClass parent_class;

  AxonCompiledModel *(*compile_model) (AxonPlugin *plugin, AxonModel *model,
                                       const AxonConfig *config, GCancellable *cancellable,
                                       AxonProgressFunc progress, gpointer user_data,
                                       GError **error);
  gboolean (*query_model) (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                           AxonSupportedOps *result, GCancellable *cancellable, GError **error);
  GVariant *(*get_metric) (AxonPlugin *plugin, const gchar *key, GError **error);

  gpointer padding[20];
};

#ifndef __GI_SCANNER__ /* for plugins, which are C */
/* A subclass calls this in its constructor, once. */
void axon_plugin_set_properties_table (AxonPlugin *plugin, const AxonPropertySpec *specs,
                                       guint n_specs);
const gchar *axon_plugin_get_name (AxonPlugin *plugin);
const AxonPropertySpec *axon_plugin_get_properties_table (AxonPlugin *plugin, guint *n_specs);
gboolean axon_plugin_set_property (AxonPlugin *plugin, const gchar *key, GVariant *value,
                                   GError **error);
GVariant *axon_plugin_get_property (AxonPlugin *plugin, const gchar *key, GError **error);
AxonCompiledModel *axon_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                                              GVariant *config, GCancellable *cancellable,
                                              AxonProgressFunc progress, gpointer user_data,
                                              GError **error);
gboolean axon_plugin_query_model (AxonPlugin *plugin, AxonModel *model, GVariant *config,
                                  AxonSupportedOps *result, GCancellable *cancellable,
                                  GError **error);
GVariant *axon_property_list (const gchar *first, ...) G_GNUC_NULL_TERMINATED;
#endif

#define AXON_PLUGIN_ABI 1u

/* What the exported symbol `axon_plugin_entry` returns; never changes in size without @abi. */
typedef struct {
  guint abi;
  gsize struct_size;
  const gchar *name; /* device name, such as "CPU" */
  const gchar *version;
  const gchar *description;
  AxonPlugin *(*create) (const gchar *name,
                         GError **error); /* fails where the backend is missing */
  gpointer padding[8];
} AxonPluginInfo;

#define AXON_DEFINE_PLUGIN(device_name, description_text, create_func)                             \
  G_MODULE_EXPORT const AxonPluginInfo *axon_plugin_entry (void);                                  \
  const AxonPluginInfo *axon_plugin_entry (void)                                                   \
  {                                                                                                \
    static const AxonPluginInfo info = { .abi = AXON_PLUGIN_ABI,                                   \
                                         .struct_size = sizeof (AxonPluginInfo),                   \
                                         .name = device_name,                                      \
                                         .version = AXON_PLUGIN_VERSION,                           \
                                         .description = description_text,                          \
                                         .create = create_func };                                  \
    return &info;                                                                                  \
  }

G_END_DECLS
