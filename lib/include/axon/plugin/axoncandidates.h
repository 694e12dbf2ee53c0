/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What devices that stand for several have in common: lists of devices, compiling on each. */
#pragma once

#include <axon/plugin/axondevices.h>
#include <axon/plugin/axonplugin.h>
#include <axon/plugin/axonscheduler.h>

G_BEGIN_DECLS

/* The rows that MULTI and AUTO have in common. */
#define AXON_CANDIDATES_PROPERTIES(default_hint)                                                   \
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },                                    \
      { .key = "FULL_DEVICE_NAME", .flags = AXON_RO },                                             \
      { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO },                                    \
      { .key = "PERF_COUNT", .flags = AXON_RW_PLUGIN, .default_text = "NO" },                      \
      { .key = "MULTI_DEVICE_PRIORITIES", .flags = AXON_RW, .default_text = "" },                  \
      { .key = "MODEL_PRIORITY", .flags = AXON_RW, .default_text = "MEDIUM" },                     \
      { .key = "LOG_LEVEL", .flags = AXON_RW_PLUGIN, .default_text = "LOG_NONE" },                 \
      { .key = "DEVICE_BIND_BUFFER", .flags = AXON_RW_PLUGIN, .default_text = "NO" },              \
      { .key = "SCHEDULE_POLICY", .flags = AXON_RW_PLUGIN, .default_text = "DEVICE_PRIORITY" },    \
      { .key = "PERFORMANCE_HINT", .flags = AXON_RW, .default_text = default_hint },               \
      { .key = "EXECUTION_MODE_HINT", .flags = AXON_RW_PLUGIN, .default_text = "PERFORMANCE" },    \
      { .key = "PERFORMANCE_HINT_NUM_REQUESTS", .flags = AXON_RW_PLUGIN, .default_text = "0" },    \
      { .key = "NETWORK_NAME", .flags = AXON_MODEL },                                              \
      { .key = "EXECUTION_DEVICES", .flags = AXON_MODEL },                                         \
      { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },                          \
      { .key = "DEVICE_PROPERTIES", .flags = AXON_MODEL },                                         \
      { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },                                         \
      { "DEVICE_SHARES",                                                                           \
        AXON_PROPERTY_MAP,                                                                         \
        AXON_MODEL | AXON_PROPERTY_HIDDEN,                                                         \
        NULL,                                                                                      \
        0,                                                                                         \
        0,                                                                                         \
        NULL,                                                                                      \
        "Share of the runs that each device had" },                                                \
  {                                                                                                \
    .key = "AVAILABLE_DEVICES", .flags = AXON_RO_HIDDEN                                            \
  }

/* DEVICE_RANK of devices that do not tell: before the processor (AXON_DEVICE_RANK_CPU), behind
 * graphics. */
#define AXON_DEVICE_RANK_DISCRETE_GPU 100
#define AXON_DEVICE_RANK_INTEGRATED_GPU 200
#define AXON_DEVICE_RANK_DEFAULT 300
#define AXON_DEVICE_RANK_CPU 400

/* AxonDeviceRef of MULTI_DEVICE_PRIORITIES: names expanded to ids (GPU: every GPU.i), excluded ones
 * taken out; without a list, every device that may be chosen automatically, best first. */
AXON_API GPtrArray *axon_candidates_list (AxonPlugin *plugin, AxonCore *core,
                                          const AxonConfig *config, GError **error);
/* The device's own configuration: what was forwarded to it, and @hint unless the user decided. */
AXON_API GVariant *axon_candidates_config (AxonCore *core, const AxonConfig *config,
                                           const gchar *device, const gchar *hint);
/* Compiles on every device, side by side but for CPU, which comes last; those that fail are left
 * out. FALSE, with every device's message, where none is left. */
AXON_API gboolean axon_candidates_compile_all (AxonPlugin *plugin, AxonCore *core,
                                               AxonScheduler *scheduler, AxonModel *model,
                                               GPtrArray *devices, const AxonConfig *config,
                                               GCancellable *cancellable, AxonProgressFunc progress,
                                               gpointer user_data, GError **error);
/* query_model for them: a node is taken if any device takes it. */
AXON_API gboolean axon_candidates_query (AxonPlugin *plugin, AxonModel *model,
                                         const AxonConfig *config, AxonSupportedOps *result,
                                         GCancellable *cancellable, GError **error);
/* Their metrics; OPTIMIZATION_CAPABILITIES: of all candidates, without EXPORT_IMPORT */
AXON_API GVariant *axon_candidates_get_metric (AxonPlugin *plugin, const gchar *key,
                                               GError **error);

G_END_DECLS
