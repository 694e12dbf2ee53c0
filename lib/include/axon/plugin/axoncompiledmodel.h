/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A compiled model, as the device that makes it sees it. What is set here is set before
 * anybody else sees the object; afterwards it never changes, and any thread may read it. */
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

/**
 * axon_compiled_model_setup:
 * @compiled: a compiled model
 * @plugin: the plugin that compiled it; a reference is taken
 * @model: the model as the user gave it: names, types, shapes and layouts of its ports are copied
 * @config: what it was compiled with; copied
 * @executor: (nullable): runs the class's `infer`; %NULL where `start` is there instead
 *
 * Says what a compiled model is. Called once, before anybody else sees the object.
 *
 * Since: 1.0
 */
AXON_API void axon_compiled_model_setup (AxonCompiledModel *compiled, AxonPlugin *plugin,
                                         AxonModel *model, const AxonConfig *config,
                                         AxonExecutor *executor);

/**
 * axon_compiled_model_add_stage:
 * @compiled: a compiled model
 * @executor: runs it; a reference is taken
 * @func: the stage
 *
 * Adds a stage to every run, on an executor of its own: what waits for a device must not hold a
 * stream that computes. Stages run one after the other, in the order they were added. Called after
 * axon_compiled_model_setup(), before anybody else sees the object.
 *
 * Since: 1.0
 */
AXON_API void axon_compiled_model_add_stage (AxonCompiledModel *compiled, AxonExecutor *executor,
                                             AxonStageFunc func);

/**
 * axon_compiled_model_set_runs_in_caller:
 * @compiled: a compiled model
 * @runs_in_caller: whether any thread may run the first stage
 *
 * Allows axon_infer_request_infer() to run the first stage in its caller's thread, in the place of
 * a stream that is not at work: nobody has to be woken then. The default is %FALSE. Called after
 * axon_compiled_model_setup(), before anybody else sees the object.
 *
 * Since: 1.0
 */
AXON_API void axon_compiled_model_set_runs_in_caller (AxonCompiledModel *compiled,
                                                      gboolean runs_in_caller);

/**
 * axon_compiled_model_dup_properties:
 * @compiled: a compiled model
 *
 * Reads every property that is listed: what virtual devices answer for the devices behind them. Any
 * thread.
 *
 * Returns: (transfer floating): `a{sv}`
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_compiled_model_dup_properties (AxonCompiledModel *compiled);

/**
 * axon_compiled_model_get_plugin:
 * @compiled: a compiled model
 *
 * Gives the plugin that compiled it. Any thread.
 *
 * Returns: (transfer none): the plugin
 *
 * Since: 1.0
 */
AXON_API AxonPlugin *axon_compiled_model_get_plugin (AxonCompiledModel *compiled);

/**
 * axon_compiled_model_get_config:
 * @compiled: a compiled model
 *
 * Gives what it was compiled with. Never changes; any thread.
 *
 * Returns: (transfer none): the configuration
 *
 * Since: 1.0
 */
AXON_API const AxonConfig *axon_compiled_model_get_config (AxonCompiledModel *compiled);

/**
 * axon_compiled_model_set_context:
 * @compiled: a compiled model
 * @context: (nullable): the context; a reference is taken
 *
 * Sets the context that axon_compiled_model_get_context() answers. Before anybody else sees the
 * object.
 *
 * Since: 1.0
 */
AXON_API void axon_compiled_model_set_context (AxonCompiledModel *compiled,
                                               AxonRemoteContext *context);

/**
 * axon_compiled_model_set_host_context:
 * @compiled: a compiled model
 * @context: (nullable): the context; a reference is taken
 *
 * Lets requests make their own tensors as host tensors of @context, which the device copies
 * fastest. Before anybody else sees the object.
 *
 * Since: 1.0
 */
AXON_API void axon_compiled_model_set_host_context (AxonCompiledModel *compiled,
                                                    AxonRemoteContext *context);

/**
 * axon_compiled_model_new_tensor:
 * @compiled: a compiled model
 * @dtype: the element type
 * @shape: a static shape
 * @error: return location
 *
 * Makes a tensor in host memory that the device copies fastest, elements undefined. Any thread.
 *
 * Returns: (transfer full): the tensor; %NULL with @error, %AXON_ERROR_MEMORY
 *
 * Since: 1.0
 */
AXON_API AxonTensor *axon_compiled_model_new_tensor (AxonCompiledModel *compiled, AxonDType dtype,
                                                     const AxonShape *shape, GError **error);

G_END_DECLS
