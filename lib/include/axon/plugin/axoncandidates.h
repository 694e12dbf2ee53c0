/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What devices that stand for several have in common: lists of devices, compiling on each.
 * Any thread. */
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

/**
 * axon_candidates_list:
 * @plugin: the device's plugin
 * @core: the core
 * @config: a configuration
 * @error: return location
 *
 * Reads `MULTI_DEVICE_PRIORITIES`: names are expanded to ids (GPU: every GPU.i), excluded ones are
 * taken out; without a list, every device that may be chosen automatically, best first. Fails with
 * %AXON_ERROR_ARGUMENT where the list is wrong.
 *
 * Returns: (transfer full) (element-type AxonDeviceRef): devices, in order of priority; %NULL with
 *   @error
 *
 * Since: 1.0
 */
AXON_API GPtrArray *axon_candidates_list (AxonPlugin *plugin, AxonCore *core,
                                          const AxonConfig *config, GError **error);

/**
 * axon_candidates_config:
 * @core: the core
 * @config: a configuration
 * @device: one of the devices
 * @hint: `PERFORMANCE_HINT` where the user did not decide
 *
 * Gives the device's own configuration: what was said of it, and @hint.
 *
 * Returns: (transfer full): `a{sv}`
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_candidates_config (AxonCore *core, const AxonConfig *config,
                                           const gchar *device, const gchar *hint);

/**
 * axon_candidates_compile_all:
 * @plugin: the device's plugin
 * @core: the core
 * @scheduler: gets every device that could compile
 * @model: a model
 * @devices: (element-type AxonDeviceRef): the devices
 * @config: a configuration
 * @cancellable: (nullable): cancels the call
 * @progress: (nullable): reports progress
 * @user_data: for the function
 * @error: return location
 *
 * Compiles on every device, side by side but for CPU, which comes last. Those that fail are left
 * out.
 *
 * Returns: %FALSE, with every device's message in @error, where none is left
 *
 * Since: 1.0
 */
AXON_API gboolean axon_candidates_compile_all (AxonPlugin *plugin, AxonCore *core,
                                               AxonScheduler *scheduler, AxonModel *model,
                                               GPtrArray *devices, const AxonConfig *config,
                                               GCancellable *cancellable, AxonProgressFunc progress,
                                               gpointer user_data, GError **error);

/**
 * axon_candidates_await:
 * @scheduler: a scheduler without devices yet
 * @plugin: the device's plugin
 * @model: a model
 * @devices: (element-type AxonDeviceRef): the devices, in order of priority
 * @config: a configuration
 * @hint: (transfer none): static; as axon_candidates_config()
 *
 * From now on devices of the list that fail with %AXON_REASON_UNREACHABLE are compiled on again, in
 * a thread of their own, until they are back at their place. Once, before devices are added.
 *
 * Since: 1.0
 */
AXON_API void axon_candidates_await (AxonScheduler *scheduler, AxonPlugin *plugin, AxonModel *model,
                                     GPtrArray *devices, const AxonConfig *config,
                                     const gchar *hint);

/**
 * axon_candidates_stop_awaiting:
 * @scheduler: a scheduler
 *
 * Ends what axon_candidates_await() began, without waiting. Before the last reference is dropped.
 *
 * Since: 1.0
 */
AXON_API void axon_candidates_stop_awaiting (AxonScheduler *scheduler);

/**
 * axon_candidates_lose:
 * @scheduler: a scheduler
 * @device: a device that the model could not be compiled on
 * @error: why
 *
 * Has the device awaited, where @error is %AXON_REASON_UNREACHABLE and somebody awaits devices. Any
 * thread. The scheduler says so itself of devices that fail while they run.
 *
 * Since: 1.0
 */
AXON_API void axon_candidates_lose (AxonScheduler *scheduler, const gchar *device,
                                    const GError *error);

/**
 * axon_candidates_query:
 * @plugin: the device's plugin
 * @model: a model
 * @config: a configuration
 * @result: what is filled
 * @cancellable: (nullable): cancels the call
 * @error: return location
 *
 * `query_model` for them: a node is taken if any device takes it.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_candidates_query (AxonPlugin *plugin, AxonModel *model,
                                         const AxonConfig *config, AxonSupportedOps *result,
                                         GCancellable *cancellable, GError **error);

/**
 * axon_candidates_get_metric:
 * @plugin: the device's plugin
 * @key: a key of %AXON_CANDIDATES_PROPERTIES
 * @error: return location
 *
 * `get_metric` for them; `OPTIMIZATION_CAPABILITIES` are those of all candidates, without
 * `EXPORT_IMPORT`.
 *
 * Returns: (transfer floating): the value; %NULL with @error
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_candidates_get_metric (AxonPlugin *plugin, const gchar *key,
                                               GError **error);

G_END_DECLS
