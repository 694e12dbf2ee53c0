/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device CPU: properties, passes, compile and query. */
#include "cpumodel.h"
#include "cputhreads.h"
#include "passes/cpupasses.h"
#include "onednn/cpudnn.h"

#include <axon/axon-cpu.h>
#include <string.h>

typedef struct {
  AxonPlugin parent_instance;
  GMutex lock;
  GPtrArray *extensions; /* lock: AxonExtension; replaced, never changed */
} AxonCpuPlugin;

typedef AxonPluginClass AxonCpuPluginClass;
static GType axon_cpu_plugin_get_type (void);
G_DEFINE_TYPE (AxonCpuPlugin, axon_cpu_plugin, AXON_TYPE_PLUGIN)

/* Rows with one choice are keys of OpenVINO that nothing here depends on: only the value that is
 * true can be set. */
static const AxonPropertySpec properties[] = {
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO_COMPILED },
  { .key = "RANGE_FOR_ASYNC_INFER_REQUESTS", .flags = AXON_RO_COMPILED },
  { .key = "RANGE_FOR_STREAMS", .flags = AXON_RO_COMPILED },
  { .key = "EXECUTION_DEVICES", .flags = AXON_RO_COMPILED },
  { .key = "FULL_DEVICE_NAME", .flags = AXON_RO_COMPILED },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO_COMPILED },
  { .key = "DEVICE_TYPE", .flags = AXON_RO_COMPILED },
  { .key = "DEVICE_ARCHITECTURE", .flags = AXON_RO_COMPILED },
  { .key = "NUM_STREAMS", .flags = AXON_RW, .default_text = "AUTO" },
  { .key = "INFERENCE_NUM_THREADS", .flags = AXON_RW, .default_text = "0" },
  { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "NO" },
  { .key = "INFERENCE_PRECISION_HINT",
    .flags = AXON_RW,
    .default_text = "f32",
    .choices = "f32 f16 bf16 dynamic",
    .blurb = "Type that may be computed in; f32 is used where another is not faster" },
  { .key = "PERFORMANCE_HINT",
    .flags = AXON_RW,
    .default_text = "LATENCY",
    .blurb = "LATENCY: one stream on all processors; THROUGHPUT: one processor per stream" },
  { .key = "EXECUTION_MODE_HINT", .flags = AXON_RW, .default_text = "PERFORMANCE" },
  { .key = "PERFORMANCE_HINT_NUM_REQUESTS", .flags = AXON_RW, .default_text = "0" },
  { .key = "ENABLE_CPU_PINNING",
    .flags = AXON_RW,
    .default_text = "NO",
    .blurb = "Keep every worker of a stream on one processor; NO where other work shares them" },
  { .key = "SCHEDULING_CORE_TYPE", .flags = AXON_RW, .default_text = "ANY_CORE" },
  { .key = "MODEL_DISTRIBUTION_POLICY",
    .flags = AXON_RW,
    .default_text = "NONE",
    .choices = "NONE" },
  { .key = "ENABLE_HYPER_THREADING", .flags = AXON_RW, .default_text = "YES" },
  { .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "", .choices = "" },
  { .key = "CPU_DENORMALS_OPTIMIZATION", .flags = AXON_RW, .default_text = "NO" },
  { .key = "LOG_LEVEL", .flags = AXON_RW, .default_text = "LOG_NONE" },
  { .key = "CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE",
    .flags = AXON_RW,
    .default_text = "1",
    .min = 1,
    .max = 1 },
  { .key = "DYNAMIC_QUANTIZATION_GROUP_SIZE",
    .flags = AXON_RW,
    .default_text = "0",
    .choices = "0" },
  { .key = "KV_CACHE_PRECISION",
    .flags = AXON_RW,
    .default_text = "dynamic",
    .choices = "dynamic" },
  { .key = "AFFINITY", .flags = AXON_RW, .default_text = "NONE" },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },
  { .key = "CACHING_PROPERTIES", .flags = AXON_RO_HIDDEN },
  { .key = "COMPILED_MODEL_RUNTIME_PROPERTIES", .flags = AXON_RO_HIDDEN },
  { AXON_CPU_OPERATOR_KERNELS, AXON_PROPERTY_STRINGS, AXON_RO_HIDDEN, NULL, 0, 0, NULL,
    "Operators with kernels of this device, as domain:name=implementation" },
  { .key = "EXCLUSIVE_ASYNC_REQUESTS", .flags = AXON_RW_HIDDEN, .default_text = "NO" },
  { .key = "CPU_RUNTIME_CACHE_CAPACITY", .flags = AXON_RW_HIDDEN, .default_text = "8" },
  { .key = "THREADS_PER_STREAM", .flags = AXON_RW_HIDDEN, .default_text = "0" },
  { .key = "QUERY_MODEL_RATIO", .flags = AXON_RW_HIDDEN, .default_text = "1" },
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
list_kernels (void)
{
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < cpu_n_kernels; i++)
    if (cpu_kernels[i].name != NULL)
      g_variant_builder_add_value (
          &b, g_variant_new_take_string (g_strdup_printf (
                  "%s:%s=%s", cpu_kernels[i].domain ? cpu_kernels[i].domain : "ai.onnx",
                  cpu_kernels[i].name, cpu_kernels[i].impl)));
  return g_variant_builder_end (&b);
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
    return axon_property_list ("FP32", "INT8", "EXPORT_IMPORT", NULL);
  if (g_str_equal (key, "RANGE_FOR_ASYNC_INFER_REQUESTS"))
    return g_variant_new ("(iii)", 1, 1, 1);
  if (g_str_equal (key, "RANGE_FOR_STREAMS")) {
    CpuLimits limits;
    cpu_limits_init (&limits, "", "ANY_CORE", TRUE);
    return g_variant_new ("(ii)", 1, (gint)limits.n);
  }
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list ("CPU", NULL);
  if (g_str_equal (key, AXON_CPU_OPERATOR_KERNELS))
    return list_kernels ();
  if (g_str_equal (key, "CACHING_PROPERTIES"))
    return axon_property_list ("FULL_DEVICE_NAME", NULL);
  if (g_str_equal (key, "COMPILED_MODEL_RUNTIME_PROPERTIES"))
    return g_variant_new_string ("AXON_VERSION:" AXON_PLUGIN_VERSION);
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

/* An explicit number of streams wins over the hint, and requests limit what the hint asks for. */
static guint
choose_streams (const AxonConfig *config, const CpuLimits *limits, guint all)
{
  gint n = axon_config_get_int (config, "NUM_STREAMS");
  guint requests = (guint)axon_config_get_int (config, "PERFORMANCE_HINT_NUM_REQUESTS");
  const gchar *hint = axon_config_get_string (config, "PERFORMANCE_HINT");
  if (axon_config_get_bool (config, "EXCLUSIVE_ASYNC_REQUESTS"))
    return 1;
  if (n >= 0)
    return (guint)n;
  if (n == -2)
    return MIN (limits->n_nodes, all);
  if (g_str_equal (hint, "LATENCY"))
    return 1;
  return requests > 0 ? MIN (requests, all) : all;
}

static guint
choose_threads (const AxonConfig *config, CpuThreads *threads)
{
  guint all = (guint)axon_config_get_int (config, "INFERENCE_NUM_THREADS");
  guint each = (guint)axon_config_get_int (config, "THREADS_PER_STREAM");
  guint streams;
  cpu_limits_init (&threads->limits, "", axon_config_get_string (config, "SCHEDULING_CORE_TYPE"),
                   axon_config_get_bool (config, "ENABLE_HYPER_THREADING"));
  all = all == 0 ? threads->limits.n : MIN (all, (guint)CPU_COUNT (&threads->limits.set));
  streams = choose_streams (config, &threads->limits, all);
  threads->threads = each > 0 ? each : MAX (1, all / MAX (streams, 1));
  threads->pin =
      streams != 0 && (axon_config_get_bool (config, "ENABLE_CPU_PINNING") ||
                       g_str_equal (axon_config_get_string (config, "AFFINITY"), "CORE"));
  threads->spread = streams != 0;
  threads->denormals = streams != 0 && axon_config_get_bool (config, "CPU_DENORMALS_OPTIMIZATION");
  return streams;
}

static GPtrArray *
dup_extensions (AxonCpuPlugin *self)
{
  GPtrArray *extensions;
  g_mutex_lock (&self->lock);
  extensions = g_ptr_array_ref (self->extensions);
  g_mutex_unlock (&self->lock);
  return extensions;
}

/* @transformed: after the common passes; @model has the ports. */
static AxonCompiledModel *
make_model (AxonPlugin *plugin, AxonModel *model, AxonModel *transformed, const AxonConfig *config,
            const CpuCompile *call, GError **error)
{
  CpuThreads threads;
  guint streams = choose_threads (config, &threads);
  g_autoptr (GPtrArray) extensions = dup_extensions ((AxonCpuPlugin *)plugin);
  g_autoptr (AxonExecutor) executor = axon_config_get_bool (config, "EXCLUSIVE_ASYNC_REQUESTS")
                                          ? axon_executor_manager_get ("CPU", 1)
                                          : axon_executor_new ("axon-cpu", streams);
  return cpu_model_new (plugin, model, transformed, extensions, config, executor, &threads, call,
                        error);
}

static AxonCompiledModel *
axon_cpu_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                               G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                               GCancellable *cancellable, AxonProgressFunc progress,
                               gpointer user_data, GError **error)
{
  CpuCompile call = { cancellable, progress, user_data };
  g_autoptr (AxonModel) transformed = NULL;
  if (progress != NULL)
    progress (0, "passes", user_data);
  transformed = transform_model (model, cancellable, error);
  return transformed ? make_model (plugin, model, transformed, config, &call, error) : NULL;
}

static AxonCompiledModel *
axon_cpu_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                              G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                              GCancellable *cancellable, AxonProgressFunc progress,
                              gpointer user_data, GError **error)
{
  CpuCompile call = { cancellable, progress, user_data };
  g_autoptr (AxonModel) model = axon_blob_read_model (blob, payload, error);
  return model ? make_model (plugin, model, model, config, &call, error) : NULL;
}

/* Everything has at least the reference kernel, but for operators of extensions. */
static gchar *
refuse_node (const AxonNode *node, gpointer user_data)
{
  GPtrArray *extensions = user_data;
  AxonLayerImpl *impl;
  if (axon_op_has_kernel (node->op))
    return NULL;
  impl = axon_extensions_find_impl (extensions, node, "CPU");
  if (impl == NULL)
    return g_strdup_printf ("%s has no kernel for CPU and no reference kernel", node->op->name);
  impl->klass->free (impl);
  return NULL;
}

static gboolean
axon_cpu_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                             AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) extensions = dup_extensions ((AxonCpuPlugin *)plugin);
  g_autoptr (AxonModel) transformed = transform_model (model, cancellable, error);
  g_autoptr (AxonModel) lowered =
      transformed ? cpu_lower_model (transformed, cancellable, error) : NULL;
  if (lowered == NULL)
    return FALSE;
  axon_supported_ops_collect (result, model, lowered, axon_plugin_get_name (plugin),
                              axon_config_get_float (config, "QUERY_MODEL_RATIO"), refuse_node,
                              extensions);
  return TRUE;
}

static gboolean
axon_cpu_plugin_add_extension (AxonPlugin *plugin, AxonExtension *extension,
                               G_GNUC_UNUSED GError **error)
{
  AxonCpuPlugin *self = (AxonCpuPlugin *)plugin;
  GPtrArray *next;
  g_mutex_lock (&self->lock);
  next = g_ptr_array_copy (self->extensions, (GCopyFunc)axon_extension_ref, NULL);
  g_ptr_array_set_free_func (next, (GDestroyNotify)axon_extension_unref);
  g_ptr_array_add (next, axon_extension_ref (extension));
  g_ptr_array_unref (self->extensions);
  self->extensions = next;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
axon_cpu_plugin_finalize (GObject *object)
{
  AxonCpuPlugin *self = (AxonCpuPlugin *)object;
  g_ptr_array_unref (self->extensions);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (axon_cpu_plugin_parent_class)->finalize (object);
}

static void
axon_cpu_plugin_class_init (AxonCpuPluginClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_cpu_plugin_finalize;
  klass->compile_model = axon_cpu_plugin_compile_model;
  klass->import_model = axon_cpu_plugin_import_model;
  klass->add_extension = axon_cpu_plugin_add_extension;
  klass->query_model = axon_cpu_plugin_query_model;
  klass->get_metric = axon_cpu_plugin_get_metric;
}

static void
axon_cpu_plugin_init (AxonCpuPlugin *self)
{
  g_mutex_init (&self->lock);
  self->extensions = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_extension_unref);
  axon_plugin_set_properties_table (&self->parent_instance, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (axon_cpu_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN ("CPU", "Processors, with oneDNN", create)
