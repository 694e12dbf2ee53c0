/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base class of plugins by itself. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#include "../../lib/runtime/core/axonplugin-private.h"

#include <string.h>

/* A plugin of this program: notes what the base class gives it. */
typedef AxonPlugin ProbePlugin;
typedef AxonPluginClass ProbePluginClass;
static GType probe_plugin_get_type (void);
G_DEFINE_TYPE (ProbePlugin, probe_plugin, AXON_TYPE_PLUGIN)

static guint probe_calls;
static gboolean probe_perf_count;
static gint probe_streams;

static AxonCompiledModel *
probe_plugin_compile_model (G_GNUC_UNUSED AxonPlugin *plugin, G_GNUC_UNUSED AxonModel *model,
                            G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                            G_GNUC_UNUSED GCancellable *cancellable,
                            G_GNUC_UNUSED AxonProgressFunc progress,
                            G_GNUC_UNUSED gpointer user_data, GError **error)
{
  probe_calls++;
  probe_perf_count = axon_config_get_bool (config, "PERF_COUNT");
  probe_streams = axon_config_get_int (config, "NUM_STREAMS");
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "it only looks");
  return NULL;
}

static void
probe_plugin_class_init (ProbePluginClass *klass)
{
  klass->compile_model = probe_plugin_compile_model;
}

static void
probe_plugin_init (ProbePlugin *self)
{
  static const AxonPropertySpec rows[] = {
    { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "NO" },
    { .key = "NUM_STREAMS", .flags = AXON_RW, .default_text = "1" },
  };
  axon_plugin_set_properties_table (self, rows, G_N_ELEMENTS (rows));
}

static void
try_probe (AxonPlugin *plugin, const gchar *config, const gchar *says)
{
  g_autoptr (AxonModel) model = axon_model_new ("empty");
  g_autoptr (GVariant) values = g_variant_ref_sink (g_variant_new_parsed (config));
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_plugin_compile_model (plugin, model, NULL, values, NULL, NULL, NULL, &error));
  g_assert_nonnull (strstr (error->message, says));
}

/* P14, P18: the base class judges and merges; the plugin's function gets what is in effect. */
static void
a_plugins_compile_gets_checked_and_merged_values (void)
{
  g_autoptr (AxonPlugin) plugin = g_object_new (probe_plugin_get_type (), "name", "PROBE", NULL);
  try_probe (plugin, "{'PERF_COUNT': <'maybe'>}", "expected YES or NO");
  try_probe (plugin, "{'PERF_COUN': <'YES'>}", "did you mean");
  g_assert_cmpuint (probe_calls, ==, 0);
  g_assert_true (
      axon_plugin_set_property (plugin, "NUM_STREAMS", g_variant_new_string ("3"), NULL));
  try_probe (plugin, "{'PERF_COUNT': <'YES'>}", "it only looks");
  g_assert_cmpuint (probe_calls, ==, 1);
  g_assert_true (probe_perf_count);
  g_assert_cmpint (probe_streams, ==, 3);
  try_probe (plugin, "{'NUM_STREAMS': <5>}", "it only looks");
  g_assert_false (probe_perf_count);
  g_assert_cmpint (probe_streams, ==, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pluginbase/a_plugins_compile_gets_checked_and_merged_values",
                   a_plugins_compile_gets_checked_and_merged_values);
  return g_test_run ();
}
