/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The well-known keys: OpenVINO's names, with types and ranges, said once for all devices. */
#include "axonproperty-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define TYPES "f32 f16 bf16 i8 u8 dynamic"
#define LEVELS "LOG_NONE LOG_ERROR LOG_WARNING LOG_INFO LOG_DEBUG LOG_TRACE"

#define ROW(key, type, min, max, choices, blurb)                                                   \
  {                                                                                                \
    key, AXON_PROPERTY_##type, 0, NULL, min, max, choices, blurb                                   \
  }

static const AxonPropertySpec standard[] = {
  ROW ("SUPPORTED_PROPERTIES", LIST, 0, 0, NULL, N_ ("The keys of this table")),
  ROW ("AVAILABLE_DEVICES", STRINGS, 0, 0, NULL, N_ ("Device ids")),
  ROW ("FULL_DEVICE_NAME", STRING, 0, 0, NULL, N_ ("Name for people")),
  ROW ("DEVICE_ARCHITECTURE", STRING, 0, 0, NULL, N_ ("Architecture")),
  ROW ("DEVICE_TYPE", STRING, 0, 0, NULL, N_ ("integrated or discrete")),
  ROW ("DEVICE_KIND", STRING, 0, 0, NULL, N_ ("CPU, GPU, NPU, DSP or FPGA")),
  ROW ("DEVICE_RANK", INT, 0, 0, NULL,
       N_ ("Place among the devices that AUTO chooses from, least first")),
  ROW ("DEVICE_TOTAL_MEM_SIZE", INT, 0, 0, NULL, N_ ("Bytes of the memory that it works on")),
  ROW ("DEVICE_MEMORY_TYPES", STRINGS, 0, 0, NULL, N_ ("Memory that it shares: OPENCL_BUFFER")),
  ROW ("OPTIMIZATION_CAPABILITIES", STRINGS, 0, 0, NULL, N_ ("Types it is good at, features")),
  ROW ("RANGE_FOR_ASYNC_INFER_REQUESTS", RANGE, 0, 0, NULL,
       N_ ("Least, most and step of requests per stream")),
  ROW ("RANGE_FOR_STREAMS", PAIR, 0, 0, NULL, N_ ("Least and most streams")),
  ROW ("EXECUTION_DEVICES", STRINGS, 0, 0, NULL, N_ ("Where models run")),
  ROW ("NETWORK_NAME", STRING, 0, 0, NULL, N_ ("Name of the model")),
  ROW ("OPTIMAL_NUMBER_OF_INFER_REQUESTS", INT, 0, 0, NULL,
       N_ ("Requests that keep the device busy")),
  ROW ("LOADED_FROM_CACHE", BOOL, 0, 0, NULL, N_ ("The model came from the cache")),
  ROW ("DEVICE_ID", STRING, 0, 0, NULL, N_ ("Which device")),
  ROW ("PERF_COUNT", BOOL, 0, 0, NULL, N_ ("Measure every step")),
  ROW ("PERFORMANCE_HINT", CHOICE, 0, 0, "LATENCY THROUGHPUT CUMULATIVE_THROUGHPUT",
       N_ ("What to optimise for")),
  ROW ("PERFORMANCE_HINT_NUM_REQUESTS", INT, 0, G_MAXINT, NULL,
       N_ ("Requests that the application keeps in flight; 0: not known")),
  ROW ("INFERENCE_PRECISION_HINT", CHOICE, 0, 0, TYPES, N_ ("Type that may be computed in")),
  ROW ("EXECUTION_MODE_HINT", CHOICE, 0, 0, "PERFORMANCE ACCURACY",
       N_ ("Whether precision may be given up for speed")),
  ROW ("NUM_STREAMS", STREAMS, -2, 1024, NULL,
       N_ ("Requests that run side by side; AUTO follows PERFORMANCE_HINT, 0 runs in the caller's "
           "thread")),
  ROW ("INFERENCE_NUM_THREADS", INT, 0, 1024, NULL,
       N_ ("Threads of all streams together; 0: every processor this process may use")),
  ROW ("THREADS_PER_STREAM", INT, 0, 1024, NULL, N_ ("Threads of one stream; 0: shared evenly")),
  ROW ("COMPILATION_NUM_THREADS", INT, 0, 1024, NULL, N_ ("Threads of a compile; 0: default")),
  ROW ("ENABLE_CPU_PINNING", BOOL, 0, 0, NULL,
       N_ ("Keep every worker of a stream on one processor")),
  ROW ("ENABLE_HYPER_THREADING", BOOL, 0, 0, NULL,
       N_ ("Use both hardware threads of a core where threads are chosen automatically")),
  ROW ("SCHEDULING_CORE_TYPE", CHOICE, 0, 0, "ANY_CORE PCORE_ONLY ECORE_ONLY",
       N_ ("Which cores of a hybrid processor to use")),
  ROW ("MODEL_DISTRIBUTION_POLICY", CHOICE, 0, 0, "NONE PIPELINE_PARALLEL TENSOR_PARALLEL",
       N_ ("How one model spreads over several devices")),
  ROW ("MODEL_PRIORITY", CHOICE, 0, 0, "LOW MEDIUM HIGH", N_ ("Which model gets a device first")),
  ROW ("LOG_LEVEL", CHOICE, 0, 0, LEVELS, N_ ("What is logged")),
  ROW ("CACHE_MODE", CHOICE, 0, 0, "OPTIMIZE_SPEED OPTIMIZE_SIZE",
       N_ ("Whether a cache entry holds the weights, or finds them in the model's file")),
  ROW ("WEIGHTS_PATH", STRING, 0, 0, NULL, N_ ("The model's file, for an import without weights")),
  ROW ("EXCLUSIVE_ASYNC_REQUESTS", BOOL, 0, 0, NULL,
       N_ ("All models of the device share one queue")),
  ROW ("CACHING_PROPERTIES", STRINGS, 0, 0, NULL, N_ ("Metrics that enter a cache key")),
  ROW ("COMPILED_MODEL_RUNTIME_PROPERTIES", STRING, 0, 0, NULL,
       N_ ("What an exported model needs of its device")),
  ROW ("QUERY_MODEL_RATIO", FLOAT, 0, 1, NULL,
       N_ ("Share of the constants, in bytes, that a query may accept")),
  ROW ("CPU_ISA", STRING, 0, 0, NULL,
       N_ ("Level of instructions that is not exceeded, for the whole process; empty: none. Only "
           "before the device's first use")),
  ROW ("CPU_DENORMALS_OPTIMIZATION", BOOL, 0, 0, NULL, N_ ("Treat denormal numbers as zero")),
  ROW ("CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE", FLOAT, 0, 1, NULL,
       N_ ("Share of zeros from which weights would be stored sparse")),
  ROW ("CPU_RUNTIME_CACHE_CAPACITY", INT, 1, 1024, NULL,
       N_ ("Plans kept for models whose shapes change")),
  ROW ("DYNAMIC_QUANTIZATION_GROUP_SIZE", INT, 0, G_MAXINT, NULL,
       N_ ("Group of dynamic quantisation; 0: none")),
  ROW ("KV_CACHE_PRECISION", CHOICE, 0, 0, TYPES, N_ ("Type of a key-value cache")),
  ROW ("AFFINITY", CHOICE, 0, 0, "NONE CORE",
       N_ ("Older name of ENABLE_CPU_PINNING: CORE binds threads")),
  ROW ("MULTI_DEVICE_PRIORITIES", STRING, 0, 0, NULL,
       N_ ("Devices, best first, separated by commas")),
  ROW ("DEVICE_PROPERTIES", MAP, 0, 0, NULL, N_ ("Properties of the devices behind this one")),
  ROW ("DEVICE_BIND_BUFFER", BOOL, 0, 0, NULL, N_ ("Every request stays with one device")),
  ROW ("SCHEDULE_POLICY", CHOICE, 0, 0, "DEVICE_PRIORITY ROUND_ROBIN",
       N_ ("Which idle device gets the next request")),
  ROW ("ENABLE_STARTUP_FALLBACK", BOOL, 0, 0, NULL,
       N_ ("Run on the CPU until a slower-starting device is ready")),
  ROW ("ENABLE_RUNTIME_FALLBACK", BOOL, 0, 0, NULL,
       N_ ("Run a failed request again on another device")),
  ROW ("AUTO_BATCH_TIMEOUT", INT, 0, 60000, NULL,
       N_ ("Milliseconds that a batch waits to be full; 0: no batching")),
  ROW ("HETERO_NUMBER_OF_SUBMODELS", INT, 0, 0, NULL, N_ ("Parts that the model was cut into")),
  ROW ("CACHE_DIR", STRING, 0, 0, NULL, N_ ("Folder of compiled models; empty: none are kept")),
  ROW ("CACHE_MAX_SIZE", INT, 0, G_MAXINT, NULL,
       N_ ("MiB that the folder of compiled models may hold; 0: no limit")),
  ROW (
      "MAX_MEMORY", INT, 0, G_MAXINT, NULL,
      N_ ("MiB of host memory that a compiled model and its requests may take; 0: what the process "
          "may")),
  ROW ("MAX_COMPILE_TIME", INT, 0, G_MAXINT, NULL,
       N_ ("Milliseconds after which compiling is given up; 0: never")),
  ROW ("INFERENCE_TIMEOUT", INT, 0, G_MAXINT, NULL,
       N_ ("Milliseconds after which a run whose device does not return is an error; 0: never")),
  ROW ("ISOLATE_PROBE", BOOL, 0, 0, NULL,
       N_ ("Try plugins, vendors' libraries and drivers of others in a helper process first")),
  ROW ("ENABLE_MMAP", BOOL, 0, 0, NULL, N_ ("Map entries of the cache instead of reading them")),
  ROW ("FORCE_TBB_TERMINATE", BOOL, 0, 0, NULL, N_ ("End idle threads when the core is disposed")),
};

static const AxonPropertySpec *
find_standard (const gchar *key)
{
  for (guint i = 0; i < G_N_ELEMENTS (standard); i++)
    if (g_str_equal (standard[i].key, key))
      return &standard[i];
  return NULL;
}

/* Rows of type STANDARD completed (free with g_free), unless they are of no well-known key; what a
 * row says itself wins. */
AxonPropertySpec *
axon_property_resolve (const AxonPropertySpec *specs, guint n_specs)
{
  AxonPropertySpec *rows = g_memdup2 (specs, n_specs * sizeof *specs);
  for (guint i = 0; i < n_specs; i++) {
    const AxonPropertySpec *known = rows[i].key ? find_standard (rows[i].key) : NULL;
    if (rows[i].type != AXON_PROPERTY_STANDARD || known == NULL)
      continue;
    rows[i].type = known->type;
    if (rows[i].min == 0 && rows[i].max == 0) {
      rows[i].min = known->min;
      rows[i].max = known->max;
    }
    if (rows[i].choices == NULL)
      rows[i].choices = known->choices;
    else
      rows[i].type = AXON_PROPERTY_CHOICE;
    if (rows[i].blurb == NULL)
      rows[i].blurb = known->blurb;
  }
  return rows;
}

gboolean
axon_property_is_standard (const gchar *key, GError **error)
{
  AxonConfig all = { .specs = standard, .n_specs = G_N_ELEMENTS (standard) };
  if (find_standard (key) != NULL)
    return TRUE;
  axon_config_set_unknown_key_error (&all, key, error);
  return FALSE;
}
