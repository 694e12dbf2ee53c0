/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include <axon/axontensor.h>

G_BEGIN_DECLS

/**
 * AxonModel:
 *
 * A graph in SSA form: values, the nodes that compute them, inputs and outputs. Not locked: readers
 * may share a model, a writer needs it alone. Compiling never changes the model it is given.
 *
 * Since: 1.0
 */
/**
 * AXON_MODEL_MIN_IR_VERSION:
 *
 * The oldest version of the ONNX file format that is read.
 *
 * Since: 1.0
 */
#define AXON_MODEL_MIN_IR_VERSION 3

/**
 * AXON_MODEL_MAX_IR_VERSION:
 *
 * The newest version of the ONNX file format that is read.
 *
 * Since: 1.0
 */
#define AXON_MODEL_MAX_IR_VERSION 14

/**
 * AxonWriteFlags:
 * @AXON_WRITE_DEFAULT: weights within the file
 * @AXON_WRITE_WEIGHTS_AS_INPUTS: weights are inputs of the graph, too, as the oldest version of the
 *   format has them, which the file says it is
 * @AXON_WRITE_WITHOUT_WEIGHTS: their values are left out: they are inputs only
 *
 * How weights are written.
 *
 * Since: 1.0
 */
typedef enum {
  AXON_WRITE_DEFAULT = 0,
  AXON_WRITE_WEIGHTS_AS_INPUTS = 1 << 0,
  AXON_WRITE_WITHOUT_WEIGHTS = 1 << 1,
} AxonWriteFlags;

#define AXON_TYPE_MODEL (axon_model_get_type ())
AXON_API
G_DECLARE_FINAL_TYPE (AxonModel, axon_model, AXON, MODEL, GObject)

AXON_API AxonModel *axon_model_new (const gchar *name);
AXON_API AxonModel *axon_model_clone (AxonModel *model);
AXON_API const gchar *axon_model_get_name (AxonModel *model);
AXON_API guint axon_model_get_n_inputs (AxonModel *model);
AXON_API guint axon_model_get_n_outputs (AxonModel *model);
AXON_API const gchar *axon_model_get_input_name (AxonModel *model, guint index);
AXON_API const gchar *axon_model_get_output_name (AxonModel *model, guint index);
AXON_API AxonDType axon_model_get_input_dtype (AxonModel *model, guint index);
AXON_API AxonDType axon_model_get_output_dtype (AxonModel *model, guint index);
AXON_API const AxonShape *axon_model_get_input_shape (AxonModel *model, guint index);
AXON_API const AxonShape *axon_model_get_output_shape (AxonModel *model, guint index);
AXON_API const gchar *axon_model_get_metadata (AxonModel *model, const gchar *key);
AXON_API gchar **axon_model_get_metadata_keys (AxonModel *model);
AXON_API void axon_model_set_metadata (AxonModel *model, const gchar *key, const gchar *text);
AXON_API gboolean axon_model_set_node_info (AxonModel *model, const gchar *node, const gchar *key,
                                            const gchar *text);
AXON_API const gchar *axon_model_get_node_info (AxonModel *model, const gchar *node,
                                                const gchar *key);
AXON_API gchar **axon_model_get_node_info_keys (AxonModel *model, const gchar *node);
AXON_API guint64 axon_model_get_n_parameters (AxonModel *model);
AXON_API guint axon_model_get_n_initializers (AxonModel *model);
AXON_API guint axon_model_get_n_nodes (AxonModel *model);
AXON_API gdouble axon_model_get_flops (AxonModel *model);
AXON_API guint64 axon_model_get_memory (AxonModel *model);
AXON_API gchar **axon_model_get_node_names (AxonModel *model);
AXON_API GVariant *axon_model_dup_nodes (AxonModel *model);
AXON_API gboolean axon_model_set_affinity (AxonModel *model, const gchar *node,
                                           const gchar *device);
AXON_API gboolean axon_model_is_quantized (AxonModel *model);
AXON_API gboolean axon_model_reshape (AxonModel *model, guint input, const AxonShape *shape,
                                      GError **error);
AXON_API gboolean axon_model_fix_input (AxonModel *model, guint input, AxonTensor *tensor,
                                        GError **error);
AXON_API gboolean axon_model_verify (AxonModel *model, GError **error);
AXON_API gchar *axon_model_to_text (AxonModel *model);
AXON_API gchar *axon_model_to_dot (AxonModel *model);

G_END_DECLS
