/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "axonop.h"

G_BEGIN_DECLS

/**
 * AxonModel:
 *
 * A graph in SSA form: values, the nodes that compute them, inputs and outputs. Not locked: readers
 * may share a model, a writer needs it alone. Compiling never changes the model it is given.
 *
 * Since: 1.0
 */
#define AXON_TYPE_MODEL (axon_model_get_type ())
G_DECLARE_FINAL_TYPE (AxonModel, axon_model, AXON, MODEL, GObject)

AxonModel *axon_model_new (const gchar *name);
AxonModel *axon_model_clone (AxonModel *model);
const gchar *axon_model_get_name (AxonModel *model);
guint axon_model_get_n_inputs (AxonModel *model);
guint axon_model_get_n_outputs (AxonModel *model);
const gchar *axon_model_get_input_name (AxonModel *model, guint index);
const gchar *axon_model_get_output_name (AxonModel *model, guint index);
AxonDType axon_model_get_input_dtype (AxonModel *model, guint index);
AxonDType axon_model_get_output_dtype (AxonModel *model, guint index);
const AxonShape *axon_model_get_input_shape (AxonModel *model, guint index);
const AxonShape *axon_model_get_output_shape (AxonModel *model, guint index);
const gchar *axon_model_get_metadata (AxonModel *model, const gchar *key);
gchar **axon_model_get_metadata_keys (AxonModel *model);
guint64 axon_model_get_n_parameters (AxonModel *model);
guint axon_model_get_n_nodes (AxonModel *model);
gdouble axon_model_get_flops (AxonModel *model);
guint64 axon_model_get_memory (AxonModel *model);
gchar **axon_model_get_node_names (AxonModel *model);
GVariant *axon_model_dup_nodes (AxonModel *model);
gboolean axon_model_set_affinity (AxonModel *model, const gchar *node, const gchar *device);
gboolean axon_model_is_quantized (AxonModel *model);
gboolean axon_model_reshape (AxonModel *model, guint input, const AxonShape *shape, GError **error);
gboolean axon_model_verify (AxonModel *model, GError **error);
gchar *axon_model_to_text (AxonModel *model);
gchar *axon_model_to_dot (AxonModel *model);

G_END_DECLS
