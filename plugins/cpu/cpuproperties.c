/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device CPU: what can be set, and what it tells. */
#include "cpuproperties.h"
#include "cpufeatures.h"
#include "cpuisa.h"
#include "cpulimits.h"
#include "cpupeaks.h"
#include "cpuplan.h"
#include "onednn/cpudnn.h"
#include <unistd.h>

#include <axon/axon-cpu.h>
#include <glib/gi18n.h>
#include <string.h>

/* Rows with one choice are keys of OpenVINO that nothing here depends on: only the value that is
 * true can be set. */
const AxonPropertySpec cpu_properties[] = {
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
    .blurb = N_ ("Type that products may be computed in: f16 and bf16 where the processor has "
                 "faster instructions for them, else f32") },
  { .key = "PERFORMANCE_HINT",
    .flags = AXON_RW,
    .default_text = "LATENCY",
    .blurb = N_ ("LATENCY: one stream on all processors; THROUGHPUT: one processor per stream") },
  { .key = "EXECUTION_MODE_HINT",
    .flags = AXON_RW,
    .default_text = "PERFORMANCE",
    .blurb = N_ ("ACCURACY: no convolution after Winograd by tiles of 4x4") },
  { .key = "PERFORMANCE_HINT_NUM_REQUESTS", .flags = AXON_RW, .default_text = "0" },
  { .key = "ENABLE_CPU_PINNING",
    .flags = AXON_RW,
    .default_text = "NO",
    .blurb =
        N_ ("Keep every worker of a stream on one processor; NO where other work shares them") },
  { .key = "SCHEDULING_CORE_TYPE", .flags = AXON_RW, .default_text = "ANY_CORE" },
  { .key = "MODEL_DISTRIBUTION_POLICY",
    .flags = AXON_RW,
    .default_text = "NONE",
    .choices = "NONE" },
  { .key = "ENABLE_HYPER_THREADING", .flags = AXON_RW, .default_text = "YES" },
  { .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "", .choices = "" },
  { .key = "CPU_DENORMALS_OPTIMIZATION", .flags = AXON_RW, .default_text = "YES" },
  { .key = "COMPILATION_NUM_THREADS", .flags = AXON_RW, .default_text = "0" },
  { AXON_CPU_WINOGRAD, AXON_PROPERTY_CHOICE, AXON_RW, "AUTO", 0, 0, "AUTO 2x2 ALL_2x2 ALL_4x4 NO",
    N_ ("Tiles of convolutions by 3x3, 1x3 and 3x1 after Winograd, where they are faster; ALL: "
        "wherever they can be") },
  { AXON_CPU_WINOGRAD_MEMORY, AXON_PROPERTY_INT, AXON_RW, "512", 0, 1 << 20, NULL,
    N_ ("Mebibytes that the transformed weights of a plan may take; the others are as they were") },
  { AXON_CPU_TUNE_KERNELS, AXON_PROPERTY_BOOL, AXON_RW, "NO", 0, 0, NULL,
    N_ ("Measure variants of kernels when compiling; the cache keeps which was fastest") },
#ifdef AXON_XNNPACK
  { AXON_CPU_XNNPACK, AXON_PROPERTY_BOOL, AXON_RW, "NO", 0, 0, NULL,
    N_ ("Convolutions and products of floats by XNNPACK, where it can compute them") },
#endif
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
  { .key = "DEVICE_KIND", .flags = AXON_RO_HIDDEN },
  { .key = "DEVICE_RANK", .flags = AXON_RO_HIDDEN },
  { .key = "DEVICE_TOTAL_MEM_SIZE", .flags = AXON_RO_HIDDEN },
  { .key = "COMPILED_MODEL_RUNTIME_PROPERTIES", .flags = AXON_RO_HIDDEN },
  { .key = AXON_CPU_ISA, .flags = AXON_RW_PROCESS },
  { AXON_CPU_ISA_AVAILABLE, AXON_PROPERTY_STRINGS, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Levels of instructions that the processor has") },
  { AXON_CPU_ISA_IN_USE, AXON_PROPERTY_STRING, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Level of the device's own kernels") },
  { AXON_CPU_ONEDNN_ISA, AXON_PROPERTY_STRING, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Instructions that oneDNN uses; asking settles them") },
  { AXON_CPU_ONEDNN_VERSION, AXON_PROPERTY_STRING, AXON_RO, NULL, 0, 0, NULL,
    N_ ("Version of oneDNN") },
  { AXON_CPU_OPERATOR_KERNELS, AXON_PROPERTY_STRINGS, AXON_RO_HIDDEN, NULL, 0, 0, NULL,
    N_ ("Operators with kernels of this device, as domain:name=implementation") },
  { AXON_CPU_PEAKS, AXON_PROPERTY_STRINGS, AXON_RO_HIDDEN, NULL, 0, 0, NULL,
    N_ ("What the processors can do at most, as kind:threads=number; asking measures it") },
  { .key = "EXCLUSIVE_ASYNC_REQUESTS", .flags = AXON_RW_HIDDEN, .default_text = "NO" },
  { .key = "CPU_RUNTIME_CACHE_CAPACITY", .flags = AXON_RW_HIDDEN, .default_text = "8" },
  { .key = "THREADS_PER_STREAM", .flags = AXON_RW_HIDDEN, .default_text = "0" },
  { .key = "QUERY_MODEL_RATIO", .flags = AXON_RW_HIDDEN, .default_text = "1" },
};

const guint cpu_n_properties = G_N_ELEMENTS (cpu_properties);

static GVariant *
tell_ids (G_GNUC_UNUSED GError **error)
{
  return axon_property_list ("", NULL);
}

static GVariant *
tell_name (G_GNUC_UNUSED GError **error)
{
  g_autofree gchar *info = NULL;
  const gchar *at;
  if (g_file_get_contents ("/proc/cpuinfo", &info, NULL, NULL) &&
      (at = strstr (info, "model name")) != NULL && (at = strchr (at, ':')) != NULL)
    return g_variant_new_take_string (g_strstrip (g_strndup (at + 1, strcspn (at + 1, "\n"))));
  return g_variant_new_string ("CPU");
}

static GVariant *
tell_architecture (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_string (AXON_CPU_ARCHITECTURE);
}

static GVariant *
tell_type (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_string ("integrated");
}

/* Of the processor, whatever level it is kept to: caches and exported models serve every level. */
static GVariant *
tell_capabilities (G_GNUC_UNUSED GError **error)
{
  if ((cpu_features_get () & (CPU_FEATURE_AVX512_FP16 | CPU_FEATURE_ASIMDHP)) == 0)
    return axon_property_list ("FP32", "INT8", "EXPORT_IMPORT", NULL);
  return axon_property_list ("FP32", "FP16", "INT8", "EXPORT_IMPORT", NULL);
}

static GVariant *
tell_requests (G_GNUC_UNUSED GError **error)
{
  return g_variant_new ("(iii)", 1, 1, 1);
}

static GVariant *
tell_streams (G_GNUC_UNUSED GError **error)
{
  CpuLimits limits;
  cpu_limits_init (&limits, "", "ANY_CORE", TRUE);
  return g_variant_new ("(ii)", 1, (gint)limits.n);
}

static GVariant *
tell_kernels (G_GNUC_UNUSED GError **error)
{
  g_autoptr (AxonOpSet) set = axon_op_set_new ();
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (const CpuFamily *f = cpu_families; f->name != NULL; f++)
    for (const CpuKernel *row = f->rows; row->name != NULL; row++)
      g_variant_builder_add_value (
          &b, g_variant_new_take_string (g_strdup_printf (
                  "%s:%s=%s", row->domain ? row->domain : "ai.onnx", row->name, row->impl)));
  for (guint i = 0; i < axon_op_set_get_n_ops (set); i++) {
    const AxonOp *op = axon_op_set_get_op (set, i);
    if (!cpu_knows_form (op))
      g_variant_builder_add_value (
          &b, g_variant_new_take_string (g_strdup_printf (
                  "%s:%s:%d=reference", op->domain ? op->domain : "ai.onnx", op->name, op->since)));
  }
  return g_variant_builder_end (&b);
}

static GVariant *
tell_asked_isa (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_string (cpu_isa_get_asked ());
}

static GVariant *
tell_available_isa (G_GNUC_UNUSED GError **error)
{
  return cpu_isa_list ();
}

static GVariant *
tell_used_isa (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_string (cpu_isa_get ()->name);
}

static GVariant *
tell_peaks (GError **error)
{
  return cpu_isa_use (error) ? cpu_peaks_measure () : NULL;
}

static GVariant *
tell_onednn_isa (GError **error)
{
  return cpu_isa_use (error) ? g_variant_new_string (cpu_dnn_get_isa ()) : NULL;
}

static GVariant *
tell_onednn_version (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_string (cpu_dnn_get_version ());
}

/* What an exported model depends on is the graph's alone: every level of instructions takes it. */
static GVariant *
tell_caching (G_GNUC_UNUSED GError **error)
{
  return axon_property_list ("FULL_DEVICE_NAME", NULL);
}

static GVariant *
tell_version (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_string ("AXON_VERSION:" AXON_PLUGIN_VERSION);
}

static GVariant *
tell_kind (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_string ("CPU");
}

static GVariant *
tell_rank (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_int32 (AXON_DEVICE_RANK_CPU);
}

static GVariant *
tell_memory (G_GNUC_UNUSED GError **error)
{
  return g_variant_new_uint64 ((guint64)sysconf (_SC_PHYS_PAGES) * (guint64)sysconf (_SC_PAGESIZE));
}

static const struct {
  const gchar *key;
  GVariant *(*tell) (GError **error);
} metrics[] = {
  { "AVAILABLE_DEVICES", tell_ids },
  { "FULL_DEVICE_NAME", tell_name },
  { "DEVICE_ARCHITECTURE", tell_architecture },
  { "DEVICE_TYPE", tell_type },
  { "OPTIMIZATION_CAPABILITIES", tell_capabilities },
  { "RANGE_FOR_ASYNC_INFER_REQUESTS", tell_requests },
  { "RANGE_FOR_STREAMS", tell_streams },
  { "CACHING_PROPERTIES", tell_caching },
  { "DEVICE_KIND", tell_kind },
  { "DEVICE_RANK", tell_rank },
  { "DEVICE_TOTAL_MEM_SIZE", tell_memory },
  { "COMPILED_MODEL_RUNTIME_PROPERTIES", tell_version },
  { AXON_CPU_OPERATOR_KERNELS, tell_kernels },
  { AXON_CPU_ISA, tell_asked_isa },
  { AXON_CPU_ISA_AVAILABLE, tell_available_isa },
  { AXON_CPU_ISA_IN_USE, tell_used_isa },
  { AXON_CPU_PEAKS, tell_peaks },
  { AXON_CPU_ONEDNN_ISA, tell_onednn_isa },
  { AXON_CPU_ONEDNN_VERSION, tell_onednn_version },
};

GVariant *
cpu_properties_get (AxonPlugin *plugin, const gchar *key, GError **error)
{
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (axon_plugin_get_name (plugin), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    if (g_str_equal (metrics[i].key, key))
      return metrics[i].tell (error);
  return axon_property_no_value (key, error);
}

gboolean
cpu_properties_set (G_GNUC_UNUSED AxonPlugin *plugin, G_GNUC_UNUSED const gchar *key,
                    GVariant *value, GError **error)
{
  g_assert (g_str_equal (key, AXON_CPU_ISA));
  return cpu_isa_set (g_variant_get_string (value, NULL), error);
}
