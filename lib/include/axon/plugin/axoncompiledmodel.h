/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A compiled model, as the device that makes it sees it. */
#pragma once

#include <axon/axoncompiledmodel.h>
#include <axon/plugin/axonexecutor.h>
#include <axon/plugin/axonplugin.h>

G_BEGIN_DECLS

/**
 * AxonStageFunc:
 * @compiled: the compiled model
 * @request: the request; no other stage of it runs
 * @stream: stream of the executor that runs this stage
 * @error: return location
 *
 * One stage of a run.
 *
 * Since: 1.0
 */
typedef gboolean (*AxonStageFunc) (AxonCompiledModel *compiled, AxonInferRequest *request,
                                   guint stream, GError **error);

/**
 * AxonCompiledModelClass:
 * @infer: runs one request on stream @stream. Reads inputs with axon_infer_request_peek_input(),
 *   takes outputs from axon_infer_request_prepare_output(), asks
 *   axon_infer_request_is_cancelled() between steps. Required unless @start is there.
 * @start: optional; begins a run elsewhere and returns; axon_infer_request_complete() ends it
 * @init_request: optional; gives a new request its axon_infer_request_set_data()
 * @cancel: optional; a run that @start began shall end soon. Any thread.
 * @get_property: optional; value of a row flagged %AXON_PROPERTY_COMPILED, floating
 * @set_property: optional; a row flagged %AXON_PROPERTY_MODEL_WRITE changes
 * @export_model: optional; adds data to @writer and returns what `import_model` wants, floating
 * @export_bytes: optional, instead of @export_model; the model in a format of the device's own, for
 *   `import_bytes` and for other programs. Entries of the cache wrap it.
 * @flush: optional; runs what it was holding back to gather more
 * @get_runtime_model: optional; the graph as it runs (transfer full), each node with what runs it
 * by axon_node_set_exec_type(); times are added by the base class. Any thread.
 * @accepts_remote: gives tensors of the device's own memory to @infer as they are
 * @accepts_any_place: tensors may lie in any device's memory: virtual devices pass them on
 *
 * Since: 1.0
 */
struct _AxonCompiledModelClass {
  GObjectClass parent_class;

  gboolean (*infer) (AxonCompiledModel *compiled, AxonInferRequest *request, guint stream,
                     GError **error);
  gboolean (*start) (AxonCompiledModel *compiled, AxonInferRequest *request, GError **error);
  void (*init_request) (AxonCompiledModel *compiled, AxonInferRequest *request);
  void (*cancel) (AxonCompiledModel *compiled, AxonInferRequest *request);
  GVariant *(*get_property) (AxonCompiledModel *compiled, const gchar *key, GError **error);
  gboolean (*set_property) (AxonCompiledModel *compiled, const gchar *key, GVariant *value,
                            GError **error);
  GVariant *(*export_model) (AxonCompiledModel *compiled, AxonBlobWriter *writer, GError **error);
  void (*flush) (AxonCompiledModel *compiled);
  AxonModel *(*get_runtime_model) (AxonCompiledModel *compiled, GError **error);
  gboolean accepts_remote;
  gboolean accepts_any_place;
  GBytes *(*export_bytes) (AxonCompiledModel *compiled, GError **error);

  gpointer padding[18];
};

/* Copies names, types and shapes of @model's ports; takes a reference on the rest. */
AXON_API void axon_compiled_model_setup (AxonCompiledModel *compiled, AxonPlugin *plugin,
                                         AxonModel *model, const AxonConfig *config,
                                         AxonExecutor *executor);
AXON_API void axon_compiled_model_add_stage (AxonCompiledModel *compiled, AxonExecutor *executor,
                                             AxonStageFunc func);
AXON_API GVariant *axon_compiled_model_dup_properties (AxonCompiledModel *compiled);
AXON_API AxonPlugin *axon_compiled_model_get_plugin (AxonCompiledModel *compiled);
AXON_API const AxonConfig *axon_compiled_model_get_config (AxonCompiledModel *compiled);
AXON_API void axon_compiled_model_set_context (AxonCompiledModel *compiled,
                                               AxonRemoteContext *context);
/* Requests make their own tensors as host tensors of @context. */
AXON_API void axon_compiled_model_set_host_context (AxonCompiledModel *compiled,
                                                    AxonRemoteContext *context);

G_END_DECLS
