/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device AUTO: properties, compile, query. */
#include "auto.h"

typedef AxonPlugin AutoPlugin;
typedef AxonPluginClass AutoPluginClass;
static GType auto_plugin_get_type (void);
G_DEFINE_TYPE (AutoPlugin, auto_plugin, AXON_TYPE_PLUGIN)

static const AxonPropertySpec properties[] = {
  AXON_CANDIDATES_PROPERTIES ("LATENCY"),
  { .key = "ENABLE_STARTUP_FALLBACK", .flags = AXON_RW_PLUGIN, .default_text = "YES" },
  { .key = "ENABLE_RUNTIME_FALLBACK", .flags = AXON_RW_PLUGIN, .default_text = "YES" },
};

static AxonCompiledModel *
auto_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                           const AxonConfig *config, GCancellable *cancellable,
                           AxonProgressFunc progress, gpointer user_data, GError **error)
{
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (GPtrArray) all = core ? axon_candidates_list (plugin, core, config, error) : NULL;
  g_autoptr (GPtrArray) devices = all ? auto_filter (core, model, all) : NULL;
  g_assert (context == NULL); /* AUTO makes none */
  return devices ? auto_model_new (plugin, core, model, devices, config, cancellable, progress,
                                   user_data, error)
                 : NULL;
}

static void
auto_plugin_class_init (AutoPluginClass *klass)
{
  klass->compile_model = auto_plugin_compile_model;
  klass->query_model = axon_candidates_query;
  klass->get_metric = axon_candidates_get_metric;
  klass->forwards_properties = TRUE;
}

static void
auto_plugin_init (AutoPlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (auto_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_WITH_FLAGS ("AUTO", "The best device that runs a model", create,
                               AXON_PLUGIN_VIRTUAL | AXON_PLUGIN_SPREADING)
