/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of AxonModel, for rooms of the library and for device plugins. Not locked: any number
 * of threads may read a model, one that changes it needs it alone. */
#pragma once

#include <axon/plugin/axonattr.h>

G_BEGIN_DECLS

struct _AxonValue {
  gchar *name;
  AxonTypeInfo type;  /* type.value set: a constant */
  AxonNode *producer; /* NULL: an input or a constant */
  GPtrArray *users;   /* AxonNode, one entry per use */
  gchar **symbols;    /* names of unknown dimensions, or NULL */
  gchar *layout;      /* of inputs and outputs: one letter per dimension, such as NCHW; or NULL */
  gboolean is_input, is_output;
  guint index; /* scratch of whoever walks the graph */
};

struct _AxonNode {
  const AxonOp *op;
  gchar *name;
  gint opset;
  GPtrArray *attrs;   /* AxonAttr */
  AxonValue **inputs; /* NULL entries: optional inputs left out */
  guint n_inputs;
  AxonValue **outputs; /* NULL entries: outputs nobody named */
  guint n_outputs;
  GPtrArray *origins; /* names of the original nodes this one stands for */
  gchar *affinity;    /* device, or NULL */
  GHashTable *info;   /* notes: key -> text; or NULL */
  gchar *exec_type;   /* in a runtime model: what runs it, else NULL */
  gdouble exec_time;  /* in a runtime model: microseconds, mean of profiled runs; 0: not measured */
  guint index;
};

struct _AxonModel {
  GObject parent_instance;
  gchar *name;
  GPtrArray *nodes;   /* AxonNode, topologically sorted */
  GPtrArray *values;  /* AxonValue, every one */
  GPtrArray *inputs;  /* AxonValue, not owned */
  GPtrArray *outputs; /* AxonValue, not owned */
  GHashTable *by_name;
  GHashTable *metadata;
  GPtrArray *external;  /* files besides the model's own that weights came from; may be NULL */
  gboolean quantized;   /* had quantised nodes when it was read */
  guint n_initializers; /* of the file it was read from */
};

/* Values and nodes */

/**
 * axon_model_add_value:
 * @model: a model
 * @name: (nullable): its name; %NULL for a fresh one
 *
 * Adds a value of unknown type and shape.
 *
 * Returns: (transfer none) (nullable): the value; %NULL where the name is taken, since SSA has one
 *   definition
 *
 * Since: 1.0
 */
AXON_API AxonValue *axon_model_add_value (AxonModel *model, const gchar *name);

/**
 * axon_model_add_constant:
 * @model: a model
 * @name: (nullable): as axon_model_add_value()
 * @tensor: its elements; a reference is taken, and they must not change any more
 *
 * Adds a constant.
 *
 * Returns: (transfer none) (nullable): as axon_model_add_value()
 *
 * Since: 1.0
 */
AXON_API AxonValue *axon_model_add_constant (AxonModel *model, const gchar *name,
                                             AxonTensor *tensor);

/**
 * axon_model_find_value:
 * @model: a model
 * @name: its name
 *
 * Finds a value.
 *
 * Returns: (transfer none) (nullable): the value
 *
 * Since: 1.0
 */
AXON_API AxonValue *axon_model_find_value (AxonModel *model, const gchar *name);

/**
 * axon_model_add_input:
 * @model: a model
 * @name: (nullable): as axon_model_add_value()
 * @dtype: element type
 * @shape: shape; unknown dimensions are -1
 *
 * Adds an input, after those that are there.
 *
 * Returns: (transfer none) (nullable): as axon_model_add_value()
 *
 * Since: 1.0
 */
AXON_API AxonValue *axon_model_add_input (AxonModel *model, const gchar *name, AxonDType dtype,
                                          const AxonShape *shape);

/**
 * axon_model_add_output:
 * @model: a model
 * @value: what is to be an output
 *
 * Adds an output, after those that are there.
 *
 * Since: 1.0
 */
AXON_API void axon_model_add_output (AxonModel *model, AxonValue *value);

/**
 * axon_model_add_node:
 * @model: a model
 * @op: the operator's row; it outlives the model
 * @opset: version of its domain
 * @name: name of the node
 * @inputs: (array length=n_inputs): values; %NULL for optional inputs that are left out
 * @n_inputs: how many
 * @outputs: (array length=n_outputs): values that nothing else makes; %NULL for outputs that nobody
 *   wants
 * @n_outputs: how many
 *
 * Adds a node at the end. axon_model_sort() puts it in its place where it must stand earlier.
 *
 * Returns: (transfer none): the node
 *
 * Since: 1.0
 */
AXON_API AxonNode *axon_model_add_node (AxonModel *model, const AxonOp *op, gint opset,
                                        const gchar *name, AxonValue *const *inputs, guint n_inputs,
                                        AxonValue *const *outputs, guint n_outputs);

/**
 * axon_model_copy_node:
 * @copy: another model, or the same
 * @node: a node
 * @in: (array): values of @copy, one per input
 * @out: (array): values of @copy, one per output
 *
 * Adds a node like @node, with its attributes, its origins and its affinity.
 *
 * Returns: (transfer none): the new node
 *
 * Since: 1.0
 */
AXON_API AxonNode *axon_model_copy_node (AxonModel *copy, const AxonNode *node,
                                         AxonValue *const *in, AxonValue *const *out);

/**
 * axon_model_remove_node:
 * @model: a model
 * @node: (transfer full): a node of the model, which is freed
 *
 * Removes a node; its outputs stay, without a producer.
 *
 * Since: 1.0
 */
AXON_API void axon_model_remove_node (AxonModel *model, AxonNode *node);

/**
 * axon_model_replace_value:
 * @model: a model
 * @from: a value
 * @to: another
 *
 * Every user of @from uses @to instead; outputs of the graph stay as they are
 * (axon_model_set_output()).
 *
 * Since: 1.0
 */
AXON_API void axon_model_replace_value (AxonModel *model, AxonValue *from, AxonValue *to);

/**
 * axon_model_set_output:
 * @model: a model
 * @index: less than the number of outputs
 * @value: a value that is no output yet
 *
 * Puts @value where an output was, under the name that callers know: the two values exchange names.
 *
 * Since: 1.0
 */
AXON_API void axon_model_set_output (AxonModel *model, guint index, AxonValue *value);

/**
 * axon_model_sort:
 * @model: a model
 * @error: return location
 *
 * Puts nodes behind those that make their inputs. Stable: a list in order stays as it is. Fails
 * with %AXON_ERROR_MODEL where there is a cycle.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_model_sort (AxonModel *model, GError **error);

/**
 * axon_model_prune:
 * @model: a model
 *
 * Drops values that nobody makes, uses or exports. Pointers to them are invalid.
 *
 * Since: 1.0
 */
AXON_API void axon_model_prune (AxonModel *model);

/**
 * axon_node_set_input:
 * @node: a node
 * @index: less than the node's number of inputs
 * @value: (nullable): the value; %NULL leaves the input out
 *
 * Replaces an input.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_input (AxonNode *node, guint index, AxonValue *value);

/**
 * axon_node_append_input:
 * @node: a node
 * @value: (nullable): the value
 *
 * Adds an input after those that are there.
 *
 * Since: 1.0
 */
AXON_API void axon_node_append_input (AxonNode *node, AxonValue *value);

/**
 * axon_node_set_output:
 * @node: a node
 * @index: less than the node's number of outputs
 * @value: (nullable): a value that nothing else makes
 *
 * Replaces an output; the old value has no producer then.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_output (AxonNode *node, guint index, AxonValue *value);

/**
 * axon_node_add_origins:
 * @node: a node
 * @from: a node that @node stands for from now on, too
 *
 * Takes over the names of the original nodes: profiles, queries and affinities speak of those.
 *
 * Since: 1.0
 */
AXON_API void axon_node_add_origins (AxonNode *node, AxonNode *from);

/**
 * axon_node_set_affinity:
 * @node: a node
 * @device: (nullable): a device
 *
 * Sets the device that HETERO gives the node to.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_affinity (AxonNode *node, const gchar *device);

/**
 * axon_node_set_info:
 * @node: a node
 * @key: whose note it is, and of what: `my-pass.kept`
 * @text: (nullable): the note; %NULL takes it away
 *
 * Writes a note on a node. Notes survive passes and exported models; the library reads none.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_info (AxonNode *node, const gchar *key, const gchar *text);

/**
 * axon_node_merge_info:
 * @node: a node
 * @from: a node that @node stands for from now on, too
 *
 * Gives @node the notes of @from whose keys it lacks.
 *
 * Since: 1.0
 */
AXON_API void axon_node_merge_info (AxonNode *node, const AxonNode *from);

/**
 * axon_node_set_exec_type:
 * @node: a node
 * @exec_type: (nullable): name of the implementation
 *
 * In a runtime model, says what runs the node.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_exec_type (AxonNode *node, const gchar *exec_type);

/**
 * axon_node_get_input:
 * @node: a node
 * @index: any number
 *
 * Gives an input, where the node has it.
 *
 * Returns: (transfer none) (nullable): the value; %NULL where it is left out
 *
 * Since: 1.0
 */
AXON_API AxonValue *axon_node_get_input (const AxonNode *node, guint index);

/**
 * axon_node_get_domain:
 * @node: a node
 *
 * Gives the domain of the node's operator.
 *
 * Returns: (transfer none): the domain; `ai.onnx` by its full name
 *
 * Since: 1.0
 */
AXON_API const gchar *axon_node_get_domain (const AxonNode *node);

/**
 * axon_node_has_form:
 * @node: a node
 * @form: what it may mean
 *
 * Tells what a node means where it is not what its operator means today.
 *
 * Returns: %TRUE if it means that
 *
 * Since: 1.0
 */
AXON_API gboolean axon_node_has_form (const AxonNode *node, AxonOpForm form);

/**
 * axon_node_describe:
 * @node: a node
 *
 * Names a node as every message does: `Conv "stem/conv1" (opset 11)`.
 *
 * Returns: (transfer full): the text, valid UTF-8
 *
 * Since: 1.0
 */
AXON_API gchar *axon_node_describe (const AxonNode *node);

/**
 * axon_value_is_constant:
 * @value: (nullable): a value
 *
 * Tells whether the elements are known.
 *
 * Returns: %TRUE for a constant; %FALSE for %NULL
 *
 * Since: 1.0
 */
AXON_API gboolean axon_value_is_constant (const AxonValue *value);

/**
 * axon_value_get_only_user:
 * @value: a value
 *
 * Gives the node that uses a value, if it is used once and is no output of the graph: then the two
 * may be fused.
 *
 * Returns: (transfer none) (nullable): the node
 *
 * Since: 1.0
 */
AXON_API AxonNode *axon_value_get_only_user (const AxonValue *value);

/* Inference over one node and over the graph */

/**
 * axon_node_check:
 * @node: a node
 * @error: return location
 *
 * Checks what the operator's row declares: numbers of inputs and outputs, attributes. Types are
 * checked where they are known, when shapes are inferred. Fails with %AXON_ERROR_MODEL.
 *
 * Returns: %TRUE if the node is as the row says
 *
 * Since: 1.0
 */
AXON_API gboolean axon_node_check (const AxonNode *node, GError **error);

/**
 * axon_node_infer:
 * @node: a node
 * @in: (array): what is known of the inputs, one each
 * @out: (array) (out): filled with what is known of the outputs, one each. A value, where one
 *   follows from shapes alone, is the caller's.
 * @error: return location
 *
 * Infers types and shapes of one node, without the graph. Fails with %AXON_ERROR_MODEL where the
 * inputs do not fit, with %AXON_ERROR_UNSUPPORTED where the operator takes no such inputs here.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_node_infer (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                                   GError **error);

/**
 * axon_model_infer_node:
 * @model: a model
 * @node: a node of the model
 * @error: return location
 *
 * Infers types and shapes of one node whose inputs are known; a result that follows from shapes
 * alone becomes a constant. Fails as axon_node_infer().
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_model_infer_node (AxonModel *model, AxonNode *node, GError **error);

/**
 * axon_model_infer_shapes:
 * @model: a model
 * @error: return location
 *
 * Infers types and shapes of all nodes, in order; results that follow from shapes alone (Shape,
 * Size) become constants. Fails as axon_node_infer().
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_model_infer_shapes (AxonModel *model, GError **error);

G_END_DECLS
