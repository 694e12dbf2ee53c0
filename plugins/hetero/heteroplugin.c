/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device HETERO: properties, compile, query, import. */
#include "hetero.h"

typedef AxonPlugin HeteroPlugin;
typedef AxonPluginClass HeteroPluginClass;
static GType hetero_plugin_get_type (void);
G_DEFINE_TYPE (HeteroPlugin, hetero_plugin, AXON_TYPE_PLUGIN)

static const AxonPropertySpec properties[] = {
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },
  { .key = "FULL_DEVICE_NAME", .flags = AXON_RO },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO },
  { .key = "MULTI_DEVICE_PRIORITIES", .flags = AXON_RW, .default_text = "" },
  { .key = "MODEL_DISTRIBUTION_POLICY",
    .flags = AXON_RW_PLUGIN,
    .default_text = "NONE",
    .choices = "NONE PIPELINE_PARALLEL" },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  { .key = "EXECUTION_DEVICES", .flags = AXON_MODEL },
  { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },
  { .key = "HETERO_NUMBER_OF_SUBMODELS", .flags = AXON_MODEL },
  { .key = "DEVICE_PROPERTIES", .flags = AXON_MODEL },
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO_HIDDEN },
  { .key = "PERF_COUNT", .flags = AXON_RW_HIDDEN, .default_text = "NO" },
};

static GVariant *
hetero_plugin_get_metric (G_GNUC_UNUSED AxonPlugin *plugin, const gchar *key, GError **error)
{
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_string ("HETERO");
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return axon_property_list ("EXPORT_IMPORT", NULL);
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_list ("", NULL);
  return axon_property_no_value (key, error);
}

static AxonCompiledModel *
hetero_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                             const AxonConfig *config, GCancellable *cancellable,
                             AxonProgressFunc progress, gpointer user_data, GError **error)
{
  g_assert (context == NULL); /* HETERO makes none */
  return hetero_model_new (plugin, model, config, cancellable, progress, user_data, error);
}

static AxonCompiledModel *
hetero_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                            G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                            GCancellable *cancellable, G_GNUC_UNUSED AxonProgressFunc progress,
                            G_GNUC_UNUSED gpointer user_data, GError **error)
{
  return hetero_model_import (plugin, blob, payload, config, cancellable, error);
}

static gboolean
hetero_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                           AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  return core != NULL && hetero_query (core, model, config, result, cancellable, error);
}

static void
hetero_plugin_class_init (HeteroPluginClass *klass)
{
  klass->compile_model = hetero_plugin_compile_model;
  klass->import_model = hetero_plugin_import_model;
  klass->query_model = hetero_plugin_query_model;
  klass->get_metric = hetero_plugin_get_metric;
  klass->forwards_properties = TRUE;
}

static void
hetero_plugin_init (HeteroPlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (hetero_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_WITH_FLAGS ("HETERO", "One model on several devices", create,
                               AXON_PLUGIN_VIRTUAL)
