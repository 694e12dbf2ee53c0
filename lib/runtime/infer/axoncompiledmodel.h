/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../core/axonplugin.h"
#include "axonexecutor.h"

G_BEGIN_DECLS

typedef struct _AxonInferRequest AxonInferRequest;

#define AXON_TYPE_COMPILED_MODEL (axon_compiled_model_get_type ())
G_DECLARE_DERIVABLE_TYPE (AxonCompiledModel, axon_compiled_model, AXON, COMPILED_MODEL, GObject)

/**
 * AxonCompiledModelClass:
 * @infer: required; runs one request on stream @stream. Reads inputs with
 *   axon_infer_request_peek_input(), takes outputs from axon_infer_request_prepare_output(), asks
 *   axon_infer_request_is_cancelled() between steps.
 * @get_property: optional; value of a row flagged %AXON_PROPERTY_COMPILED, floating
 *
 * Since: 1.0
 */
struct _AxonCompiledModelClass {
  GObjectClass parent_class;

  gboolean (*infer) (AxonCompiledModel *compiled, AxonInferRequest *request, guint stream,
                     GError **error);
  GVariant *(*get_property) (AxonCompiledModel *compiled, const gchar *key, GError **error);

  gpointer padding[20];
};

guint axon_compiled_model_get_n_inputs (AxonCompiledModel *compiled);
guint axon_compiled_model_get_n_outputs (AxonCompiledModel *compiled);
const gchar *axon_compiled_model_get_input_name (AxonCompiledModel *compiled, guint index);
const gchar *axon_compiled_model_get_output_name (AxonCompiledModel *compiled, guint index);
AxonDType axon_compiled_model_get_input_dtype (AxonCompiledModel *compiled, guint index);
AxonDType axon_compiled_model_get_output_dtype (AxonCompiledModel *compiled, guint index);
const AxonShape *axon_compiled_model_get_input_shape (AxonCompiledModel *compiled, guint index);
const AxonShape *axon_compiled_model_get_output_shape (AxonCompiledModel *compiled, guint index);
AxonInferRequest *axon_compiled_model_create_infer_request (AxonCompiledModel *compiled);
GVariant *axon_compiled_model_get_property (AxonCompiledModel *compiled, const gchar *key,
                                            GError **error);

#ifndef __GI_SCANNER__ /* for plugins, which are C */
/* For plugins. Copies names, types and shapes of @model's ports; takes a reference on the rest. */
void axon_compiled_model_setup (AxonCompiledModel *compiled, AxonPlugin *plugin, AxonModel *model,
                                const AxonConfig *config, AxonExecutor *executor);
const AxonConfig *axon_compiled_model_get_config (AxonCompiledModel *compiled);
AxonExecutor *axon_compiled_model_get_executor (AxonCompiledModel *compiled);
#endif

G_END_DECLS
