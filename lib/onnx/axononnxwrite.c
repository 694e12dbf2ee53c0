/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph to ModelProto. Messages and the arrays in them live until the file is written. */
#include "axononnx-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

#define IR_VERSION 10

typedef struct {
  GPtrArray *blocks;      /* what messages stand on */
  GHashTable *versions;   /* domain -> opset */
  GHashTable *captured;   /* value of a body -> its name outside, where that is another */
  const AxonModel *model; /* the outermost */
  AxonWriteFlags flags;   /* its */
} Writer;

static gpointer
keep (Writer *w, gpointer block)
{
  g_ptr_array_add (w->blocks, block);
  return block;
}

/* A zeroed array of @n pointers, at least one. */
static gpointer
list (Writer *w, gsize n)
{
  return keep (w, g_new0 (gpointer, n + 1));
}

#define MESSAGE(w, type, TYPE)                                                                     \
  ({                                                                                               \
    Onnx__##type *message_ = keep (w, g_new (Onnx__##type, 1));                                    \
    const Onnx__##type init_ = ONNX__##TYPE##__INIT;                                               \
    *message_ = init_;                                                                             \
    message_;                                                                                      \
  })

static void
pack_bits (Writer *w, Onnx__Tensor *proto, const AxonTensor *tensor)
{
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  guint bits = dtype == AXON_DTYPE_U2 || dtype == AXON_DTYPE_I2 ? 2 : 4, each = 8 / bits;
  gsize n = axon_tensor_get_numel (tensor);
  const guint8 *x = axon_tensor_get_data (tensor);
  guint8 *packed = keep (w, g_malloc0 (n / each + 1));
  for (gsize i = 0; i < n; i++)
    packed[i / each] |= (guint8)((x[i] & ((1u << bits) - 1)) << (i % each * bits));
  proto->raw_data = (ProtobufCBinaryData){ (n + each - 1) / each, packed };
}

static Onnx__Tensor *
write_tensor (Writer *w, AxonTensor *tensor, const gchar *name)
{
  Onnx__Tensor *proto = MESSAGE (w, Tensor, TENSOR);
  const AxonShape *shape = axon_tensor_get_shape (tensor);
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  gsize n = axon_tensor_get_numel (tensor);
  proto->name = (char *)name;
  proto->has_data_type = TRUE;
  proto->data_type = dtype;
  proto->n_dims = (gsize)shape->rank;
  proto->dims = keep (w, g_memdup2 (shape->dims, sizeof shape->dims));
  if (dtype == AXON_DTYPE_STRING) {
    proto->n_string_data = n;
    proto->string_data = keep (w, g_new0 (ProtobufCBinaryData, n + 1));
    for (gsize i = 0; i < n; i++) {
      const gchar *text = axon_tensor_get_string (tensor, i);
      proto->string_data[i] = (ProtobufCBinaryData){ strlen (text), (guint8 *)text };
    }
    return proto;
  }
  proto->has_raw_data = TRUE;
  proto->raw_data =
      (ProtobufCBinaryData){ axon_tensor_get_n_bytes (tensor), axon_tensor_get_data (tensor) };
  if (axon_dtype_is_packed (dtype))
    pack_bits (w, proto, tensor);
  return proto;
}

static Onnx__ValueInfo *
write_port (Writer *w, const AxonValue *value)
{
  Onnx__ValueInfo *info = MESSAGE (w, ValueInfo, VALUE_INFO);
  Onnx__TypeTensor *tensor = MESSAGE (w, TypeTensor, TYPE_TENSOR);
  info->name = value->name;
  if (value->type.dtype == AXON_DTYPE_UNDEFINED)
    return info;
  info->type = MESSAGE (w, Type, TYPE);
  if (value->type.dtype >= AXON_DTYPE_SEQUENCE) { /* of what, nobody knows before it runs */
    Onnx__TypeHolder *holder = MESSAGE (w, TypeHolder, TYPE_HOLDER);
    holder->elem_type = MESSAGE (w, Type, TYPE);
    holder->elem_type->tensor_type = tensor;
    *(value->type.dtype == AXON_DTYPE_SEQUENCE ? &info->type->sequence_type
                                               : &info->type->optional_type) = holder;
    return info;
  }
  info->type->tensor_type = tensor;
  tensor->has_elem_type = TRUE;
  tensor->elem_type = value->type.dtype;
  if (value->type.shape.rank < 0)
    return info;
  tensor->shape = MESSAGE (w, TensorShape, TENSOR_SHAPE);
  tensor->shape->n_dim = (gsize)value->type.shape.rank;
  tensor->shape->dim = list (w, tensor->shape->n_dim);
  for (gint i = 0; i < value->type.shape.rank; i++) {
    Onnx__Dimension *dim = tensor->shape->dim[i] = MESSAGE (w, Dimension, DIMENSION);
    dim->has_dim_value = value->type.shape.dims[i] >= 0;
    dim->dim_value = value->type.shape.dims[i];
    if (value->symbols != NULL && value->symbols[i] != NULL && *value->symbols[i] != '\0')
      dim->dim_param = value->symbols[i];
  }
  return info;
}

static Onnx__Graph *write_graph (Writer *w, AxonModel *model, guint n_captured, GError **error);

static const gchar *
name_of (const Writer *w, const AxonValue *value)
{
  const gchar *outside = g_hash_table_lookup (w->captured, value);
  return outside ? outside : value->name;
}

/* A body takes from around it by the names that are there; a constant that was found for a value
 * has another one than the value. */
static gboolean
name_captures (Writer *w, const AxonNode *node, const AxonAttr *a, GError **error)
{
  for (guint i = 0; i < a->n; i++) {
    const AxonValue *outer = node->inputs[a->ints[i]];
    AxonValue *inner = g_ptr_array_index (a->graph->inputs, a->graph->inputs->len - a->n + i);
    const gchar *name = outer ? name_of (w, outer) : NULL;
    if (name != NULL && g_str_equal (name, inner->name))
      continue;
    if (name == NULL || axon_model_find_value (a->graph, name) != NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   _ ("%s \"%s\": its body takes \"%s\" from outside, where it is called \"%s\", "
                      "which is something else inside"),
                   node->op->name, node->name, inner->name, name ? name : "");
      return FALSE;
    }
    g_hash_table_insert (w->captured, inner, (gpointer)name);
  }
  return TRUE;
}

static Onnx__Attribute *
write_attribute (Writer *w, const AxonNode *node, const AxonAttr *a, GError **error)
{
  static const gint types[] = { 2, 1, 3, 7, 6, 8, 4, 5 }; /* AttributeProto.type by AxonAttrType */
  Onnx__Attribute *proto = MESSAGE (w, Attribute, ATTRIBUTE);
  proto->name = a->name;
  proto->has_type = TRUE;
  proto->type = types[a->type];
  proto->has_i = a->type == AXON_ATTR_INT;
  proto->i = a->i;
  proto->has_f = a->type == AXON_ATTR_FLOAT;
  proto->f = (gfloat)a->f;
  proto->has_s = a->type == AXON_ATTR_STRING;
  if (proto->has_s)
    proto->s = (ProtobufCBinaryData){ a->s ? strlen (a->s) : 0, (guint8 *)a->s };
  if (a->type == AXON_ATTR_INTS) {
    proto->n_ints = a->n;
    proto->ints = a->ints;
  } else if (a->type == AXON_ATTR_FLOATS) {
    proto->n_floats = a->n;
    proto->floats = a->floats;
  } else if (a->type == AXON_ATTR_STRINGS) {
    proto->n_strings = a->n;
    proto->strings = keep (w, g_new0 (ProtobufCBinaryData, a->n + 1));
    for (guint i = 0; i < a->n; i++)
      proto->strings[i] = (ProtobufCBinaryData){ strlen (a->strings[i]), (guint8 *)a->strings[i] };
  } else if (a->type == AXON_ATTR_TENSOR) {
    proto->t = write_tensor (w, a->tensor, NULL);
  } else if (a->type == AXON_ATTR_GRAPH) {
    proto->g = name_captures (w, node, a, error) ? write_graph (w, a->graph, a->n, error) : NULL;
    return proto->g ? proto : NULL;
  }
  return proto;
}

static char **
names_of (Writer *w, AxonValue *const *values, guint n)
{
  char **names = list (w, n);
  for (guint i = 0; i < n; i++)
    names[i] = values[i] ? (char *)name_of (w, values[i]) : (char *)"";
  return names;
}

/* One version for all nodes of a domain: the newest. */
static void
note_version (Writer *w, const AxonNode *node)
{
  const gchar *domain = node->op->domain ? node->op->domain : "";
  gint known = GPOINTER_TO_INT (g_hash_table_lookup (w->versions, domain));
  g_hash_table_insert (w->versions, (gpointer)domain, GINT_TO_POINTER (MAX (known, node->opset)));
}

static Onnx__Node *
write_node (Writer *w, const AxonNode *node, GError **error)
{
  Onnx__Node *proto = MESSAGE (w, Node, NODE);
  guint n_in = node->n_inputs;
  note_version (w, node);
  proto->name = node->name;
  proto->op_type = (char *)node->op->name;
  proto->domain = (char *)(node->op->domain ? node->op->domain : "");
  proto->n_attribute = node->attrs->len;
  proto->attribute = list (w, node->attrs->len);
  for (guint i = 0; i < node->attrs->len; i++) {
    const AxonAttr *a = g_ptr_array_index (node->attrs, i);
    proto->attribute[i] = write_attribute (w, node, a, error);
    if (proto->attribute[i] == NULL)
      return NULL;
    n_in -= a->type == AXON_ATTR_GRAPH ? a->n : 0;
  }
  proto->n_input = n_in;
  proto->input = names_of (w, node->inputs, n_in);
  proto->n_output = node->n_outputs;
  proto->output = names_of (w, node->outputs, node->n_outputs);
  return proto;
}

static void
write_weights (Writer *w, Onnx__Graph *graph, const AxonModel *model)
{
  AxonWriteFlags flags = model == w->model ? w->flags : AXON_WRITE_DEFAULT;
  graph->initializer = list (w, model->values->len);
  for (guint i = 0; i < model->values->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->values, i);
    if (value->type.value == NULL)
      continue;
    if (flags != AXON_WRITE_DEFAULT)
      graph->input[graph->n_input++] = write_port (w, value);
    if (!(flags & AXON_WRITE_WITHOUT_WEIGHTS))
      graph->initializer[graph->n_initializer++] = write_tensor (w, value->type.value, value->name);
  }
}

static Onnx__Graph *
write_graph (Writer *w, AxonModel *model, guint n_captured, GError **error)
{
  Onnx__Graph *graph = MESSAGE (w, Graph, GRAPH);
  graph->name = model->name;
  graph->node = list (w, model->nodes->len);
  for (guint i = 0; i < model->nodes->len; i++) {
    graph->node[graph->n_node++] = write_node (w, g_ptr_array_index (model->nodes, i), error);
    if (graph->node[i] == NULL)
      return NULL;
  }
  graph->n_input = model->inputs->len - n_captured;
  graph->input = list (w, graph->n_input + model->values->len);
  for (gsize i = 0; i < graph->n_input; i++)
    graph->input[i] = write_port (w, model->inputs->pdata[i]);
  write_weights (w, graph, model);
  graph->n_output = model->outputs->len;
  graph->output = list (w, graph->n_output);
  for (gsize i = 0; i < graph->n_output; i++)
    graph->output[i] = write_port (w, model->outputs->pdata[i]);
  return graph;
}

/* The version that is written must mean the row that the node has. */
static gboolean
check_versions (Writer *w, const AxonModel *model, AxonOpSet *opset, GError **error)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    const gchar *domain = node->op->domain ? node->op->domain : "";
    gint version = GPOINTER_TO_INT (g_hash_table_lookup (w->versions, domain));
    g_autofree gchar *what = NULL;
    if (axon_op_set_lookup (opset, domain, node->op->name, version) == node->op)
      continue;
    what = axon_node_describe (node);
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("%s: a file has one opset for all nodes, %d here, and that means another row"),
                 what, version);
    return FALSE;
  }
  return TRUE;
}

static void
write_header (Writer *w, Onnx__Model *proto, AxonModel *model)
{
  GHashTableIter iter;
  gpointer key, value;
  proto->has_ir_version = TRUE;
  proto->ir_version = w->flags == AXON_WRITE_DEFAULT ? IR_VERSION : AXON_MODEL_MIN_IR_VERSION;
  proto->producer_name = (char *)"axon";
  proto->opset_import = list (w, g_hash_table_size (w->versions));
  g_hash_table_iter_init (&iter, w->versions);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    Onnx__OperatorSetId *id = MESSAGE (w, OperatorSetId, OPERATOR_SET_ID);
    id->domain = key;
    id->has_version = TRUE;
    id->version = GPOINTER_TO_INT (value);
    proto->opset_import[proto->n_opset_import++] = id;
  }
  proto->metadata_props = list (w, g_hash_table_size (model->metadata));
  g_hash_table_iter_init (&iter, model->metadata);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    Onnx__StringStringEntry *entry = MESSAGE (w, StringStringEntry, STRING_STRING_ENTRY);
    entry->key = key;
    entry->value = value;
    proto->metadata_props[proto->n_metadata_props++] = entry;
  }
}

GBytes *
axon_onnx_write_bytes (AxonModel *model, AxonOpSet *opset, AxonWriteFlags flags, GError **error)
{
  Writer w = { g_ptr_array_new_with_free_func (g_free), g_hash_table_new (g_str_hash, g_str_equal),
               g_hash_table_new (NULL, NULL), model, flags };
  Onnx__Model *proto = MESSAGE (&w, Model, MODEL);
  GBytes *bytes = NULL;
  if (model->nodes->len == 0) /* a file without an opset is none */
    g_hash_table_insert (w.versions, (gpointer) "", GINT_TO_POINTER (13));
  proto->graph = write_graph (&w, model, 0, error);
  if (proto->graph != NULL && check_versions (&w, model, opset, error)) {
    gsize n;
    guint8 *data;
    write_header (&w, proto, model);
    n = onnx__model__get_packed_size (proto);
    data = g_malloc (n + 1);
    onnx__model__pack (proto, data);
    bytes = g_bytes_new_take (data, n);
  }
  g_hash_table_unref (w.captured);
  g_hash_table_unref (w.versions);
  g_ptr_array_unref (w.blocks);
  return bytes;
}
