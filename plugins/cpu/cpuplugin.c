/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device CPU: properties, passes, compile and query. */
#include "cpumodel.h"
#include "cputhreads.h"
#include "passes/cpupasses.h"
#include "onednn/cpudnn.h"

#include <axon/axon-cpu.h>
#include <string.h>

typedef AxonPlugin AxonCpuPlugin;
typedef AxonPluginClass AxonCpuPluginClass;
static GType axon_cpu_plugin_get_type (void);
G_DEFINE_TYPE (AxonCpuPlugin, axon_cpu_plugin, AXON_TYPE_PLUGIN)

#define RO AXON_PROPERTY_READ_ONLY
#define RW (AXON_PROPERTY_READ_WRITE | AXON_PROPERTY_COMPILED)

static const AxonPropertySpec properties[] = {
  { "SUPPORTED_PROPERTIES", AXON_PROPERTY_STRINGS, RO, NULL, 0, 0, NULL, "Keys of this table" },
  { "AVAILABLE_DEVICES", AXON_PROPERTY_STRINGS, RO, NULL, 0, 0, NULL, "Device ids" },
  { "FULL_DEVICE_NAME", AXON_PROPERTY_STRING, RO, NULL, 0, 0, NULL, "Name of the processor" },
  { "DEVICE_ARCHITECTURE", AXON_PROPERTY_STRING, RO, NULL, 0, 0, NULL, "Architecture" },
  { "DEVICE_TYPE", AXON_PROPERTY_STRING, RO, NULL, 0, 0, NULL, "integrated or discrete" },
  { "OPTIMIZATION_CAPABILITIES", AXON_PROPERTY_STRINGS, RO, NULL, 0, 0, NULL,
    "Types it is good at" },
  { "RANGE_FOR_ASYNC_INFER_REQUESTS", AXON_PROPERTY_RANGE, RO, NULL, 0, 0, NULL,
    "Least, most and step of requests per stream" },
  { "RANGE_FOR_STREAMS", AXON_PROPERTY_STRING, RO, NULL, 0, 0, NULL, "Least and most streams" },
  { "EXECUTION_DEVICES", AXON_PROPERTY_STRINGS, RO, NULL, 0, 0, NULL, "Where models run" },
  { "DEVICE_ID", AXON_PROPERTY_CHOICE, RW, "", 0, 0, "", "Which device; only the empty id exists" },
  { "NUM_STREAMS", AXON_PROPERTY_STREAMS, RW, "AUTO", 0, 1024, NULL,
    "Requests that run side by side; AUTO follows PERFORMANCE_HINT, 0 runs in the caller's "
    "thread" },
  { "INFERENCE_NUM_THREADS", AXON_PROPERTY_INT, RW, "0", 0, 1024, NULL,
    "Threads of all streams together; 0: every processor this process may use" },
  { "ENABLE_CPU_PINNING", AXON_PROPERTY_BOOL, RW, "YES", 0, 0, NULL,
    "Keep every worker of a stream on one processor; NO where other work fills the processors" },
  { "PERF_COUNT", AXON_PROPERTY_BOOL, RW, "NO", 0, 0, NULL, "Measure every step" },
  { "PERFORMANCE_HINT", AXON_PROPERTY_CHOICE, RW, "LATENCY", 0, 0, "LATENCY THROUGHPUT",
    "LATENCY: one stream on all processors; THROUGHPUT: one processor per stream" },
};

static GVariant *
processor_name (void)
{
  g_autofree gchar *info = NULL;
  const gchar *at;
  if (g_file_get_contents ("/proc/cpuinfo", &info, NULL, NULL) &&
      (at = strstr (info, "model name")) != NULL && (at = strchr (at, ':')) != NULL)
    return g_variant_new_take_string (g_strstrip (g_strndup (at + 1, strcspn (at + 1, "\n"))));
  return g_variant_new_string ("CPU");
}

static GVariant *
axon_cpu_plugin_get_metric (G_GNUC_UNUSED AxonPlugin *plugin, const gchar *key, GError **error)
{
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return axon_property_list ("", NULL);
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return processor_name ();
  if (g_str_equal (key, "DEVICE_ARCHITECTURE"))
    return g_variant_new_string (AXON_CPU_ARCHITECTURE);
  if (g_str_equal (key, "DEVICE_TYPE"))
    return g_variant_new_string ("integrated");
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return axon_property_list ("FP32", "INT8", NULL);
  if (g_str_equal (key, "RANGE_FOR_ASYNC_INFER_REQUESTS"))
    return g_variant_new ("(iii)", 1, 1, 1);
  if (g_str_equal (key, "RANGE_FOR_STREAMS"))
    return g_variant_new_take_string (g_strdup_printf ("1 %u", cpu_threads_available ()));
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list ("CPU", NULL);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "property \"%s\" has no value", key);
  return NULL;
}

static AxonModel *
transform_model (AxonModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  if (!axon_passes_run (clone, axon_common_passes, axon_n_common_passes, cancellable, error))
    return NULL;
  return g_steal_pointer (&clone);
}

AxonModel *
cpu_lower_model (AxonModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  if (!axon_passes_run (clone, cpu_passes, cpu_n_passes, cancellable, error))
    return NULL;
  return g_steal_pointer (&clone);
}

static void
choose_threads (const AxonConfig *config, guint *streams, guint *threads)
{
  gint n = axon_config_get_int (config, "NUM_STREAMS");
  guint all = (guint)axon_config_get_int (config, "INFERENCE_NUM_THREADS");
  if (all == 0)
    all = cpu_threads_available ();
  if (n < 0)
    n = g_str_equal (axon_config_get_string (config, "PERFORMANCE_HINT"), "THROUGHPUT") ? (gint)all
                                                                                        : 1;
  *streams = (guint)n;
  *threads = MAX (1, all / MAX (*streams, 1));
}

static AxonCompiledModel *
axon_cpu_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                               GCancellable *cancellable, AxonProgressFunc progress,
                               gpointer user_data, GError **error)
{
  guint streams, threads;
  g_autoptr (AxonModel) transformed = NULL;
  g_autoptr (AxonExecutor) executor = NULL;
  if (progress != NULL)
    progress (0, "passes", user_data);
  transformed = transform_model (model, cancellable, error);
  if (transformed == NULL)
    return NULL;
  choose_threads (config, &streams, &threads);
  executor = axon_executor_new ("axon-cpu", streams);
  return cpu_model_new (plugin, model, transformed, config, executor, threads, cancellable,
                        progress, user_data, error);
}

static gboolean
axon_cpu_plugin_query_model (AxonPlugin *plugin, AxonModel *model,
                             G_GNUC_UNUSED const AxonConfig *config, AxonSupportedOps *result,
                             GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonModel) transformed = transform_model (model, cancellable, error);
  g_autoptr (AxonModel) lowered =
      transformed ? cpu_lower_model (transformed, cancellable, error) : NULL;
  if (lowered == NULL)
    return FALSE;
  for (guint i = 0; i < lowered->nodes->len; i++)
    axon_supported_ops_add (result, g_ptr_array_index (lowered->nodes, i),
                            axon_plugin_get_name (plugin), NULL);
  for (guint i = 0; i < model->nodes->len; i++) /* removed by passes: nothing left to refuse */
    axon_supported_ops_add (result, g_ptr_array_index (model->nodes, i),
                            axon_plugin_get_name (plugin), NULL);
  return TRUE;
}

static void
axon_cpu_plugin_class_init (AxonCpuPluginClass *klass)
{
  klass->compile_model = axon_cpu_plugin_compile_model;
  klass->query_model = axon_cpu_plugin_query_model;
  klass->get_metric = axon_cpu_plugin_get_metric;
}

static void
axon_cpu_plugin_init (AxonCpuPlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (axon_cpu_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN ("CPU", "Processors, with oneDNN", create)
