/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes: functions over a model. A pass keeps meaning; names of original nodes survive in origins.
 * One thread at a time has a model that is changed. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

typedef struct {
  const gchar *name;
  gboolean (*run) (AxonModel *model, GError **error);
  gpointer padding[2];
} AxonPass;

/**
 * axon_passes_run:
 * @model: a model
 * @passes: (array length=n_passes): the passes, in order
 * @n_passes: how many
 * @cancellable: (nullable): looked at before each pass
 * @error: return location
 *
 * Runs passes over a model, which they change. Fails as a pass does, with its name, or with
 * %AXON_ERROR_CANCELLED.
 *
 * Returns: %TRUE if all ran; else the model is fit for nothing
 *
 * Since: 1.0
 */
AXON_API gboolean axon_passes_run (AxonModel *model, const AxonPass *passes, guint n_passes,
                                   GCancellable *cancellable, GError **error);

/**
 * axon_passes_run_common:
 * @model: a model
 * @cancellable: (nullable): looked at before each pass
 * @error: return location
 *
 * Runs the passes whose result every device keeps. Fails as axon_passes_run().
 *
 * Returns: %TRUE if all ran; else the model is fit for nothing
 *
 * Since: 1.0
 */
AXON_API gboolean axon_passes_run_common (AxonModel *model, GCancellable *cancellable,
                                          GError **error);

/**
 * axon_passes_apply_common:
 * @model: a model, which is not changed
 * @cancellable: (nullable): looked at before each pass
 * @error: says which pass, and why
 *
 * What every device begins with.
 *
 * Returns: (transfer full): a clone of @model after the passes that every device keeps; %NULL on
 *   error
 * Since: 1.0
 */
AXON_API AxonModel *axon_passes_apply_common (AxonModel *model, GCancellable *cancellable,
                                              GError **error);

/**
 * axon_pass_expand_contrib:
 * @model: a model
 * @error: return location
 *
 * Float operators of com.microsoft become the operators of ai.onnx that they stand for.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_expand_contrib (AxonModel *model, GError **error);

/**
 * axon_pass_fold_constants:
 * @model: a model
 * @error: return location
 *
 * Infers shapes, and computes what follows from constants alone.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fold_constants (AxonModel *model, GError **error);

/**
 * axon_pass_remove_identity:
 * @model: a model
 * @error: return location
 *
 * Removes nodes that do nothing at inference: Identity, Dropout, Cast to the same type, Reshape and
 * Transpose that change nothing, Clip without bounds, Concat and Sum of one.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_remove_identity (AxonModel *model, GError **error);

/**
 * axon_pass_fold_batch_norm:
 * @model: a model
 * @error: return location
 *
 * BatchNormalization, and Mul or Add by a constant per channel, go into the convolution before.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fold_batch_norm (AxonModel *model, GError **error);

/**
 * axon_pass_remove_dead_code:
 * @model: a model
 * @error: return location
 *
 * Removes nodes whose outputs nobody uses, and values that nobody needs.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_remove_dead_code (AxonModel *model, GError **error);

/* What devices choose from. */

/**
 * axon_pass_expand_attention:
 * @model: a model
 * @error: return location
 *
 * Attention without mask, cache or shared heads becomes matrix products and a Softmax.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_expand_attention (AxonModel *model, GError **error);

/**
 * axon_pass_fuse_gelu:
 * @model: a model
 * @error: return location
 *
 * What models before operator set 20 write for Gelu becomes one node: by Erf, or by Tanh.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fuse_gelu (AxonModel *model, GError **error);

/**
 * axon_pass_fuse_normalization:
 * @model: a model
 * @error: return location
 *
 * What models before operator set 17 write for LayerNormalization, and before 23 for
 * RMSNormalization, becomes one node, with a constant scale and bias behind it.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fuse_normalization (AxonModel *model, GError **error);

/**
 * axon_pass_expand_quantized:
 * @model: a model
 * @error: return location
 *
 * Quantised nodes become DequantizeLinear, the float operator and QuantizeLinear.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_expand_quantized (AxonModel *model, GError **error);

/**
 * axon_pass_fold_dequantized:
 * @model: a model
 * @error: return location
 *
 * Computes DequantizeLinear of constants: float weights, where no quantised kernel took them.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fold_dequantized (AxonModel *model, GError **error);

/**
 * axon_pass_fuse_quantized_convolutions:
 * @model: a model
 * @error: return location
 *
 * DequantizeLinear, Conv with its activation and QuantizeLinear become one quantised node.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fuse_quantized_convolutions (AxonModel *model, GError **error);

/**
 * axon_pass_fuse_quantized_products:
 * @model: a model
 * @error: return location
 *
 * DequantizeLinear, MatMul, Gemm or ConvTranspose with its activation and QuantizeLinear become one
 * quantised node.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fuse_quantized_products (AxonModel *model, GError **error);

/**
 * axon_pass_fuse_quantized_sums:
 * @model: a model
 * @error: return location
 *
 * DequantizeLinear, Add or Concat with its activation and QuantizeLinear become one quantised node.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fuse_quantized_sums (AxonModel *model, GError **error);

/**
 * axon_pass_fuse_dynamic_quantization:
 * @model: a model
 * @error: return location
 *
 * What dynamic quantisation writes in place of a product becomes one ConvIntegerToFloat or
 * MatMulIntegerToFloat.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_pass_fuse_dynamic_quantization (AxonModel *model, GError **error);

/**
 * axon_expand_quantized:
 * @model: a model
 * @keeps: (nullable): %TRUE for nodes that stay as they are
 * @error: return location
 *
 * As axon_pass_expand_quantized(), for a device that has quantised kernels.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_expand_quantized (AxonModel *model, gboolean (*keeps) (const AxonNode *node),
                                         GError **error);

/* Shared matchers */

/**
 * axon_node_is:
 * @node: a node
 * @name: name of an operator of ai.onnx
 *
 * Tells whether a node is of an operator.
 *
 * Returns: %TRUE if it is
 *
 * Since: 1.0
 */
AXON_API gboolean axon_node_is (const AxonNode *node, const gchar *name);

/**
 * axon_node_is_in:
 * @node: a node
 * @domain: (nullable): domain; %NULL for ai.onnx
 * @name: name of the operator
 *
 * Tells whether a node is of an operator.
 *
 * Returns: %TRUE if it is
 *
 * Since: 1.0
 */
AXON_API gboolean axon_node_is_in (const AxonNode *node, const gchar *domain, const gchar *name);

/**
 * axon_match_input:
 * @node: a node
 * @index: number of the input
 * @name: name of an operator of ai.onnx
 *
 * Gives the node that makes an input, if it is of that operator.
 *
 * Returns: (transfer none) (nullable): the node
 *
 * Since: 1.0
 */
AXON_API AxonNode *axon_match_input (const AxonNode *node, guint index, const gchar *name);

/**
 * axon_match_only_user:
 * @value: a value
 * @name: (nullable): name of an operator of ai.onnx; %NULL for any
 *
 * Gives the only user of a value, if it is of that operator.
 *
 * Returns: (transfer none) (nullable): the node
 *
 * Since: 1.0
 */
AXON_API AxonNode *axon_match_only_user (const AxonValue *value, const gchar *name);

/**
 * axon_match_scalar:
 * @value: (nullable): a value
 * @scalar: (out): the number
 *
 * Reads a constant of one element.
 *
 * Returns: %TRUE if it is one
 *
 * Since: 1.0
 */
AXON_API gboolean axon_match_scalar (const AxonValue *value, gdouble *scalar);

/**
 * axon_match_clip:
 * @node: a node
 * @lo: (out): least value
 * @hi: (out): greatest value
 *
 * Reads the bounds of a Clip of any version.
 *
 * Returns: %TRUE if they are known
 *
 * Since: 1.0
 */
AXON_API gboolean axon_match_clip (const AxonNode *node, gfloat *lo, gfloat *hi);

/**
 * axon_pass_add_node:
 * @model: a model
 * @like: the node that the new one stands for: name and origins are taken over
 * @domain: (nullable): domain; %NULL for ai.onnx
 * @name: name of a built-in operator
 * @opset: version of the domain
 * @in: (array length=n_in): values; %NULL for optional inputs that are left out
 * @n_in: how many
 * @out: the value that it makes
 *
 * Adds a node of one output at the end of the model.
 *
 * Returns: (transfer none): the node
 *
 * Since: 1.0
 */
AXON_API AxonNode *axon_pass_add_node (AxonModel *model, const AxonNode *like, const gchar *domain,
                                       const gchar *name, gint opset, AxonValue *const *in,
                                       guint n_in, AxonValue *out);

/**
 * axon_pass_add_scalar:
 * @model: a model
 * @dtype: element type
 * @value: the number
 *
 * Adds a constant of rank 0.
 *
 * Returns: (transfer none): the constant
 *
 * Since: 1.0
 */
AXON_API AxonValue *axon_pass_add_scalar (AxonModel *model, AxonDType dtype, gdouble value);

/**
 * axon_pass_copy_attrs:
 * @to: a node
 * @from: another
 *
 * Copies those attributes that the operator of @to has, too.
 *
 * Since: 1.0
 */
AXON_API void axon_pass_copy_attrs (AxonNode *to, const AxonNode *from);

/**
 * axon_bypass_node:
 * @model: a model
 * @node: (transfer full): a node that is not needed any more; it is freed
 * @heir: (nullable): inherits the names of the original nodes
 *
 * Users of output 0 take input 0 instead. Where output 0 is an output of the graph, it hands its
 * name to input 0.
 *
 * Since: 1.0
 */
AXON_API void axon_bypass_node (AxonModel *model, AxonNode *node, AxonNode *heir);

G_END_DECLS
