/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axonmodel.h>
#include <axon/axonremotecontext.h>

G_BEGIN_DECLS

typedef struct _AxonInferRequest AxonInferRequest;

#define AXON_TYPE_COMPILED_MODEL (axon_compiled_model_get_type ())
AXON_API
G_DECLARE_DERIVABLE_TYPE (AxonCompiledModel, axon_compiled_model, AXON, COMPILED_MODEL, GObject)

AXON_API guint axon_compiled_model_get_n_inputs (AxonCompiledModel *compiled);
AXON_API guint axon_compiled_model_get_n_outputs (AxonCompiledModel *compiled);
AXON_API const gchar *axon_compiled_model_get_input_name (AxonCompiledModel *compiled, guint index);
AXON_API const gchar *axon_compiled_model_get_output_name (AxonCompiledModel *compiled,
                                                           guint index);
AXON_API AxonDType axon_compiled_model_get_input_dtype (AxonCompiledModel *compiled, guint index);
AXON_API AxonDType axon_compiled_model_get_output_dtype (AxonCompiledModel *compiled, guint index);
AXON_API const AxonShape *axon_compiled_model_get_input_shape (AxonCompiledModel *compiled,
                                                               guint index);
AXON_API const AxonShape *axon_compiled_model_get_output_shape (AxonCompiledModel *compiled,
                                                                guint index);
AXON_API const gchar *axon_compiled_model_get_input_layout (AxonCompiledModel *compiled,
                                                            guint index);
AXON_API const gchar *axon_compiled_model_get_output_layout (AxonCompiledModel *compiled,
                                                             guint index);
AXON_API gint axon_compiled_model_find_input (AxonCompiledModel *compiled, const gchar *name);
AXON_API gint axon_compiled_model_find_output (AxonCompiledModel *compiled, const gchar *name);
AXON_API const gchar *axon_compiled_model_get_name (AxonCompiledModel *compiled);
AXON_API const gchar *axon_compiled_model_get_device_name (AxonCompiledModel *compiled);
AXON_API AxonInferRequest *axon_compiled_model_create_infer_request (AxonCompiledModel *compiled);
AXON_API GVariant *axon_compiled_model_get_property (AxonCompiledModel *compiled, const gchar *key,
                                                     GError **error);
AXON_API gboolean axon_compiled_model_set_property (AxonCompiledModel *compiled, const gchar *key,
                                                    GVariant *value, GError **error);
AXON_API AxonRemoteContext *axon_compiled_model_get_context (AxonCompiledModel *compiled,
                                                             GError **error);
AXON_API gboolean axon_compiled_model_export (AxonCompiledModel *compiled, GOutputStream *stream,
                                              GCancellable *cancellable, GError **error);
AXON_API gboolean axon_compiled_model_export_to_file (AxonCompiledModel *compiled,
                                                      const gchar *path, GError **error);
AXON_API void axon_compiled_model_flush (AxonCompiledModel *compiled);
AXON_API AxonModel *axon_compiled_model_get_runtime_model (AxonCompiledModel *compiled,
                                                           GError **error);

G_END_DECLS
