/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of AxonModel, for rooms of the library and for device plugins. */
#pragma once

#include <axon/plugin/axonop.h>

G_BEGIN_DECLS

typedef struct {
  gchar *name;
  AxonAttrType type;
  gint64 i;
  gdouble f;
  gchar *s;
  gint64 *ints;
  gfloat *floats;
  gchar **strings;
  guint n; /* elements of ints, floats or strings */
  AxonTensor *tensor;
  AxonModel *graph; /* indexed, never written; its inputs are its formal ones, then what it takes
                       from around it: the node's inputs whose positions are in ints */
} AxonAttr;

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
AXON_API AxonValue *axon_model_add_value (AxonModel *model, const gchar *name);
AXON_API AxonValue *axon_model_add_constant (AxonModel *model, const gchar *name,
                                             AxonTensor *tensor);
AXON_API AxonValue *axon_model_find_value (AxonModel *model, const gchar *name);
AXON_API AxonValue *axon_model_add_input (AxonModel *model, const gchar *name, AxonDType dtype,
                                          const AxonShape *shape);
AXON_API void axon_model_add_output (AxonModel *model, AxonValue *value);
AXON_API AxonNode *axon_model_add_node (AxonModel *model, const AxonOp *op, gint opset,
                                        const gchar *name, AxonValue *const *inputs, guint n_inputs,
                                        AxonValue *const *outputs, guint n_outputs);
AXON_API AxonNode *axon_model_copy_node (AxonModel *copy, const AxonNode *node,
                                         AxonValue *const *in, AxonValue *const *out);
AXON_API void axon_model_remove_node (AxonModel *model, AxonNode *node);
AXON_API void axon_model_replace_value (AxonModel *model, AxonValue *from, AxonValue *to);
AXON_API void axon_model_set_output (AxonModel *model, guint index, AxonValue *value);
AXON_API gboolean axon_model_sort (AxonModel *model, GError **error);
AXON_API void axon_model_prune (AxonModel *model);
AXON_API void axon_node_set_input (AxonNode *node, guint index, AxonValue *value);
AXON_API void axon_node_append_input (AxonNode *node, AxonValue *value);
AXON_API void axon_node_set_output (AxonNode *node, guint index, AxonValue *value);
AXON_API void axon_node_add_origins (AxonNode *node, AxonNode *from);
AXON_API void axon_node_set_affinity (AxonNode *node, const gchar *device);
AXON_API void axon_node_set_info (AxonNode *node, const gchar *key, const gchar *text);
AXON_API void axon_node_merge_info (AxonNode *node, const AxonNode *from);
AXON_API void axon_node_set_exec_type (AxonNode *node, const gchar *exec_type);
AXON_API AxonValue *axon_node_get_input (const AxonNode *node, guint index);
AXON_API const gchar *axon_node_get_domain (const AxonNode *node);
/* What @node means where it is not what its operator means today. */
AXON_API gboolean axon_node_has_form (const AxonNode *node, AxonOpForm form);
AXON_API gchar *axon_node_describe (const AxonNode *node);
AXON_API gboolean axon_value_is_constant (const AxonValue *value);
AXON_API AxonNode *axon_value_get_only_user (const AxonValue *value);

/* Attributes: value given, else the row's default */
AXON_API AxonAttr *axon_node_add_attr (AxonNode *node, const gchar *name, AxonAttrType type);
AXON_API void axon_node_set_int (AxonNode *node, const gchar *name, gint64 value);
AXON_API void axon_node_set_float (AxonNode *node, const gchar *name, gdouble value);
AXON_API void axon_node_set_string (AxonNode *node, const gchar *name, const gchar *value);
AXON_API void axon_node_set_ints (AxonNode *node, const gchar *name, const gint64 *values, guint n);
AXON_API void axon_node_set_floats (AxonNode *node, const gchar *name, const gfloat *values,
                                    guint n);
AXON_API const AxonAttr *axon_node_find_attr (const AxonNode *node, const gchar *name);
AXON_API gint64 axon_node_get_int (const AxonNode *node, const gchar *name);
AXON_API gdouble axon_node_get_float (const AxonNode *node, const gchar *name);
AXON_API const gchar *axon_node_get_string (const AxonNode *node, const gchar *name);
AXON_API const gint64 *axon_node_get_ints (const AxonNode *node, const gchar *name, guint *n);
AXON_API const gfloat *axon_node_get_floats (const AxonNode *node, const gchar *name, guint *n);

/* Inference over one node and over the graph */
AXON_API gboolean axon_node_check (const AxonNode *node, GError **error);
AXON_API gboolean axon_node_infer (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                                   GError **error);
AXON_API gboolean axon_model_infer_node (AxonModel *model, AxonNode *node, GError **error);
AXON_API gboolean axon_model_infer_shapes (AxonModel *model, GError **error);

G_END_DECLS
