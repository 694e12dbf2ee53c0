/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every device's properties, metrics and defaults, exactly (X5 to X11, P6). */
#include "axontest.h"

#include <string.h>

#ifdef AXON_XNNPACK
#define XNNPACK "CPU_XNNPACK "
#else
#define XNNPACK
#endif

typedef struct {
  const gchar *device, *ro, *rw, *compiled; /* space-separated, sorted by the table */
} Lists;

static const Lists lists[] = {
  { "TEMPLATE",
    "SUPPORTED_PROPERTIES AVAILABLE_DEVICES FULL_DEVICE_NAME DEVICE_ARCHITECTURE DEVICE_TYPE "
    "OPTIMIZATION_CAPABILITIES RANGE_FOR_ASYNC_INFER_REQUESTS EXECUTION_DEVICES",
    "DEVICE_ID PERF_COUNT PERFORMANCE_HINT PERFORMANCE_HINT_NUM_REQUESTS INFERENCE_PRECISION_HINT "
    "EXECUTION_MODE_HINT NUM_STREAMS DISABLE_TRANSFORMATIONS LOG_LEVEL MODEL_PRIORITY WEIGHTS_PATH "
    "CACHE_MODE",
    "SUPPORTED_PROPERTIES EXECUTION_DEVICES DEVICE_ID PERF_COUNT PERFORMANCE_HINT NETWORK_NAME "
    "LOADED_FROM_CACHE OPTIMAL_NUMBER_OF_INFER_REQUESTS" },
  { "CPU",
    "SUPPORTED_PROPERTIES AVAILABLE_DEVICES RANGE_FOR_ASYNC_INFER_REQUESTS RANGE_FOR_STREAMS "
    "EXECUTION_DEVICES FULL_DEVICE_NAME OPTIMIZATION_CAPABILITIES DEVICE_TYPE DEVICE_ARCHITECTURE "
    "CPU_ISA_AVAILABLE CPU_ISA_IN_USE CPU_ONEDNN_ISA CPU_ONEDNN_VERSION",
    "NUM_STREAMS INFERENCE_NUM_THREADS PERF_COUNT INFERENCE_PRECISION_HINT PERFORMANCE_HINT "
    "EXECUTION_MODE_HINT PERFORMANCE_HINT_NUM_REQUESTS ENABLE_CPU_PINNING SCHEDULING_CORE_TYPE "
    "MODEL_DISTRIBUTION_POLICY ENABLE_HYPER_THREADING DEVICE_ID CPU_DENORMALS_OPTIMIZATION "
    "COMPILATION_NUM_THREADS CPU_WINOGRAD CPU_WINOGRAD_MEMORY CPU_TUNE_KERNELS " XNNPACK
    "LOG_LEVEL "
    "CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE DYNAMIC_QUANTIZATION_GROUP_SIZE KV_CACHE_PRECISION "
    "AFFINITY CPU_ISA",
    "SUPPORTED_PROPERTIES AVAILABLE_DEVICES RANGE_FOR_ASYNC_INFER_REQUESTS RANGE_FOR_STREAMS "
    "EXECUTION_DEVICES FULL_DEVICE_NAME OPTIMIZATION_CAPABILITIES DEVICE_TYPE DEVICE_ARCHITECTURE "
    "NUM_STREAMS INFERENCE_NUM_THREADS PERF_COUNT INFERENCE_PRECISION_HINT PERFORMANCE_HINT "
    "EXECUTION_MODE_HINT PERFORMANCE_HINT_NUM_REQUESTS ENABLE_CPU_PINNING SCHEDULING_CORE_TYPE "
    "MODEL_DISTRIBUTION_POLICY ENABLE_HYPER_THREADING DEVICE_ID CPU_DENORMALS_OPTIMIZATION "
    "COMPILATION_NUM_THREADS CPU_WINOGRAD CPU_WINOGRAD_MEMORY CPU_TUNE_KERNELS " XNNPACK
    "LOG_LEVEL "
    "CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE DYNAMIC_QUANTIZATION_GROUP_SIZE KV_CACHE_PRECISION "
    "AFFINITY NETWORK_NAME OPTIMAL_NUMBER_OF_INFER_REQUESTS LOADED_FROM_CACHE" },
  { "HETERO", "SUPPORTED_PROPERTIES FULL_DEVICE_NAME OPTIMIZATION_CAPABILITIES",
    "MULTI_DEVICE_PRIORITIES MODEL_DISTRIBUTION_POLICY",
    "SUPPORTED_PROPERTIES MULTI_DEVICE_PRIORITIES NETWORK_NAME OPTIMAL_NUMBER_OF_INFER_REQUESTS "
    "EXECUTION_DEVICES LOADED_FROM_CACHE HETERO_NUMBER_OF_SUBMODELS DEVICE_PROPERTIES" },
  { "MULTI", "SUPPORTED_PROPERTIES FULL_DEVICE_NAME OPTIMIZATION_CAPABILITIES",
    "PERF_COUNT MULTI_DEVICE_PRIORITIES MODEL_PRIORITY LOG_LEVEL DEVICE_BIND_BUFFER "
    "SCHEDULE_POLICY "
    "PERFORMANCE_HINT EXECUTION_MODE_HINT PERFORMANCE_HINT_NUM_REQUESTS",
    "SUPPORTED_PROPERTIES MULTI_DEVICE_PRIORITIES MODEL_PRIORITY PERFORMANCE_HINT NETWORK_NAME "
    "EXECUTION_DEVICES OPTIMAL_NUMBER_OF_INFER_REQUESTS DEVICE_PROPERTIES LOADED_FROM_CACHE" },
  { "AUTO", "SUPPORTED_PROPERTIES FULL_DEVICE_NAME OPTIMIZATION_CAPABILITIES",
    "PERF_COUNT MULTI_DEVICE_PRIORITIES MODEL_PRIORITY LOG_LEVEL DEVICE_BIND_BUFFER "
    "SCHEDULE_POLICY "
    "PERFORMANCE_HINT EXECUTION_MODE_HINT PERFORMANCE_HINT_NUM_REQUESTS ENABLE_STARTUP_FALLBACK "
    "ENABLE_RUNTIME_FALLBACK",
    "SUPPORTED_PROPERTIES MULTI_DEVICE_PRIORITIES MODEL_PRIORITY PERFORMANCE_HINT NETWORK_NAME "
    "EXECUTION_DEVICES OPTIMAL_NUMBER_OF_INFER_REQUESTS DEVICE_PROPERTIES LOADED_FROM_CACHE" },
  { "BATCH", "SUPPORTED_PROPERTIES FULL_DEVICE_NAME",
    "MULTI_DEVICE_PRIORITIES AUTO_BATCH_TIMEOUT PERF_COUNT",
    "SUPPORTED_PROPERTIES AUTO_BATCH_TIMEOUT OPTIMAL_NUMBER_OF_INFER_REQUESTS NETWORK_NAME "
    "EXECUTION_DEVICES" },
};

/* The keys of @list (a(ss)) with @mode, or all, in order. */
static gchar *
keys_of (GVariant *list, const gchar *mode)
{
  g_autoptr (GString) s = g_string_new (NULL);
  GVariantIter iter;
  const gchar *key, *m;
  g_variant_iter_init (&iter, list);
  while (g_variant_iter_loop (&iter, "(&s&s)", &key, &m))
    if (mode == NULL || g_str_equal (mode, m))
      g_string_append_printf (s, "%s%s", s->len ? " " : "", key);
  return g_string_free (g_steal_pointer (&s), FALSE);
}

static void
every_device_lists_exactly_its_properties (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autoptr (GVariant) list =
        axon_core_get_property (core, lists[i].device, "SUPPORTED_PROPERTIES", NULL);
    g_autofree gchar *ro = keys_of (list, "RO");
    g_autofree gchar *rw = keys_of (list, "RW");
    g_assert_cmpstr (ro, ==, lists[i].ro);
    g_assert_cmpstr (rw, ==, lists[i].rw);
  }
}

static void
every_compiled_model_lists_exactly_its_properties (void)
{
  g_autofree gchar *path = test_ball_model ();
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = axon_core_read_model (core, path, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autofree gchar *device =
        i < 2 ? g_strdup (lists[i].device) : g_strdup_printf ("%s:TEMPLATE", lists[i].device);
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled =
        axon_core_compile_model (core, model, device, NULL, NULL, NULL, NULL, &error);
    g_autoptr (GVariant) list = NULL;
    g_autofree gchar *keys = NULL;
    g_autofree gchar *writable = NULL;
    g_assert_no_error (error);
    list = axon_compiled_model_get_property (compiled, "SUPPORTED_PROPERTIES", NULL);
    keys = keys_of (list, NULL);
    writable = keys_of (list, "RW");
    g_assert_cmpstr (keys, ==, lists[i].compiled);
    g_assert_cmpstr (writable, ==,
                     g_str_equal (lists[i].device, "BATCH") ? "AUTO_BATCH_TIMEOUT" : "");
  }
}

/* X11, with the decisions that defaults were left to. */
static void
metrics_and_defaults_are_the_documented_ones (void)
{
  static const gchar *const rows[][3] = {
    { "TEMPLATE", "AVAILABLE_DEVICES", "['']" },
    { "TEMPLATE", "FULL_DEVICE_NAME", "'Template Device Full Name'" },
    { "TEMPLATE", "DEVICE_ARCHITECTURE", "'TEMPLATE'" },
    { "TEMPLATE", "OPTIMIZATION_CAPABILITIES", "['FP32', 'EXPORT_IMPORT']" },
    { "TEMPLATE", "RANGE_FOR_ASYNC_INFER_REQUESTS", "(1, 1, 1)" },
    { "TEMPLATE", "EXECUTION_DEVICES", "['TEMPLATE.0']" },
    { "TEMPLATE", "CACHING_PROPERTIES", "['DEVICE_ARCHITECTURE']" },
    { "TEMPLATE", "PERF_COUNT", "false" },
    { "TEMPLATE", "CACHE_MODE", "'OPTIMIZE_SPEED'" },
    { "CPU", "PERF_COUNT", "false" },
    { "CPU", "ENABLE_CPU_PINNING", "false" },
    { "CPU", "CACHING_PROPERTIES", "['FULL_DEVICE_NAME']" },
    { "CPU", "PERFORMANCE_HINT", "'LATENCY'" },
    { "HETERO", "OPTIMIZATION_CAPABILITIES", "['EXPORT_IMPORT']" },
    { "MULTI", "PERFORMANCE_HINT", "'CUMULATIVE_THROUGHPUT'" },
    { "AUTO", "ENABLE_RUNTIME_FALLBACK", "true" },
    { "AUTO", "ENABLE_STARTUP_FALLBACK", "true" },
    { "AUTO", "MODEL_PRIORITY", "'MEDIUM'" },
    { "BATCH", "AUTO_BATCH_TIMEOUT", "5" },
  };
  g_autoptr (AxonCore) core = axon_core_new ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GVariant) value = axon_core_get_property (core, rows[i][0], rows[i][1], &error);
    g_autofree gchar *text = NULL;
    g_assert_no_error (error);
    text = g_variant_print (value, FALSE);
    g_assert_cmpstr (text, ==, rows[i][2]);
  }
}

/* P9, and what INFERENCE_NUM_THREADS and the hints make of streams. */
static void
streams_follow_the_hints (void)
{
  static const gchar *const rows[][2] = {
    { "{'PERFORMANCE_HINT': <'LATENCY'>}", "1" },
    { "{'PERFORMANCE_HINT': <'THROUGHPUT'>, 'INFERENCE_NUM_THREADS': <'1'>}", "1" },
    { "{'NUM_STREAMS': <'3'>}", "3" },
    { "{'NUM_STREAMS': <'3'>, 'PERFORMANCE_HINT': <'LATENCY'>}", "3" },
    { "{'NUM_STREAMS': <'NUMA'>}", "1" },
    { "{'NUM_STREAMS': <'0'>}", "1" },
    { "{'EXCLUSIVE_ASYNC_REQUESTS': <true>, 'NUM_STREAMS': <'3'>}", "1" },
    { "{'PERFORMANCE_HINT': <'THROUGHPUT'>, 'PERFORMANCE_HINT_NUM_REQUESTS': <'1'>}", "1" },
  };
  g_autofree gchar *path = test_ball_model ();
  AxonCore *core = axon_core_get_default ();
  g_autoptr (AxonModel) model = axon_core_read_model (core, path, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
        core, model, "CPU", g_variant_new_parsed (rows[i][0]), NULL, NULL, NULL, &error);
    g_autoptr (GVariant) n = NULL;
    g_autofree gchar *text = NULL;
    g_assert_no_error (error);
    n = axon_compiled_model_get_property (compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", NULL);
    text = g_variant_print (n, FALSE);
    g_assert_cmpstr (text, ==, rows[i][1]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/lists/" #name, name)
  ADD (every_device_lists_exactly_its_properties);
  ADD (every_compiled_model_lists_exactly_its_properties);
  ADD (metrics_and_defaults_are_the_documented_ones);
  ADD (streams_follow_the_hints);
  return g_test_run ();
}
