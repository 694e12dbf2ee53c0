/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/plugin/axonblob.h>
#include <axon/plugin/axonplugin.h>
#include <axon/axonremotecontext.h>
#include <axon/plugin/axonexecutor.h>

G_BEGIN_DECLS

typedef struct _AxonInferRequest AxonInferRequest;

#define AXON_TYPE_COMPILED_MODEL (axon_compiled_model_get_type ())
G_DECLARE_DERIVABLE_TYPE (AxonCompiledModel, axon_compiled_model, AXON, COMPILED_MODEL, GObject)

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

guint axon_compiled_model_get_n_inputs (AxonCompiledModel *compiled);
guint axon_compiled_model_get_n_outputs (AxonCompiledModel *compiled);
const gchar *axon_compiled_model_get_input_name (AxonCompiledModel *compiled, guint index);
const gchar *axon_compiled_model_get_output_name (AxonCompiledModel *compiled, guint index);
AxonDType axon_compiled_model_get_input_dtype (AxonCompiledModel *compiled, guint index);
AxonDType axon_compiled_model_get_output_dtype (AxonCompiledModel *compiled, guint index);
const AxonShape *axon_compiled_model_get_input_shape (AxonCompiledModel *compiled, guint index);
const AxonShape *axon_compiled_model_get_output_shape (AxonCompiledModel *compiled, guint index);
const gchar *axon_compiled_model_get_input_layout (AxonCompiledModel *compiled, guint index);
const gchar *axon_compiled_model_get_output_layout (AxonCompiledModel *compiled, guint index);
gint axon_compiled_model_find_input (AxonCompiledModel *compiled, const gchar *name);
gint axon_compiled_model_find_output (AxonCompiledModel *compiled, const gchar *name);
const gchar *axon_compiled_model_get_name (AxonCompiledModel *compiled);
const gchar *axon_compiled_model_get_device_name (AxonCompiledModel *compiled);
AxonInferRequest *axon_compiled_model_create_infer_request (AxonCompiledModel *compiled);
GVariant *axon_compiled_model_get_property (AxonCompiledModel *compiled, const gchar *key,
                                            GError **error);
gboolean axon_compiled_model_set_property (AxonCompiledModel *compiled, const gchar *key,
                                           GVariant *value, GError **error);
AxonRemoteContext *axon_compiled_model_get_context (AxonCompiledModel *compiled, GError **error);
gboolean axon_compiled_model_export (AxonCompiledModel *compiled, GOutputStream *stream,
                                     GCancellable *cancellable, GError **error);
gboolean axon_compiled_model_export_to_file (AxonCompiledModel *compiled, const gchar *path,
                                             GError **error);
void axon_compiled_model_flush (AxonCompiledModel *compiled);
AxonModel *axon_compiled_model_get_runtime_model (AxonCompiledModel *compiled, GError **error);

#ifndef __GI_SCANNER__ /* for plugins, which are C */
/* For plugins. Copies names, types and shapes of @model's ports; takes a reference on the rest. */
void axon_compiled_model_setup (AxonCompiledModel *compiled, AxonPlugin *plugin, AxonModel *model,
                                const AxonConfig *config, AxonExecutor *executor);
void axon_compiled_model_add_stage (AxonCompiledModel *compiled, AxonExecutor *executor,
                                    AxonStageFunc func);
GVariant *axon_compiled_model_dup_properties (AxonCompiledModel *compiled);
AxonPlugin *axon_compiled_model_get_plugin (AxonCompiledModel *compiled);
const AxonConfig *axon_compiled_model_get_config (AxonCompiledModel *compiled);
AxonExecutor *axon_compiled_model_get_executor (AxonCompiledModel *compiled);
gboolean axon_compiled_model_accepts_remote (AxonCompiledModel *compiled);
gboolean axon_compiled_model_accepts_any_place (AxonCompiledModel *compiled);
guint axon_compiled_model_get_n_stages (AxonCompiledModel *compiled);
AxonExecutor *axon_compiled_model_get_stage (AxonCompiledModel *compiled, guint index,
                                             AxonStageFunc *func);
void axon_compiled_model_set_context (AxonCompiledModel *compiled, AxonRemoteContext *context);
/* Requests make their own tensors as host tensors of @context. */
void axon_compiled_model_set_host_context (AxonCompiledModel *compiled, AxonRemoteContext *context);
AxonTensor *axon_compiled_model_new_tensor (AxonCompiledModel *compiled, AxonDType dtype,
                                            const AxonShape *shape, GError **error);
#endif

G_END_DECLS
