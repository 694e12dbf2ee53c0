/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GraphProto to a graph: initializers, inputs, nodes, outputs; names by scope. */
#include "axonreader-private.h"
#include <axon/plugin/axonbuiltins.h>

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_NODES 500000
#define MAX_PORTS 65536              /* inputs, or outputs, of a graph or a node */
#define MAX_NAME 4096                /* bytes */
#define MAX_NAMES (64 * 1024 * 1024) /* bytes of all names of nodes, functions expanded */

const gchar *
axon_onnx_domain (const gchar *domain)
{
  return domain == NULL || g_str_equal (domain, "ai.onnx") ? "" : domain;
}

gint
axon_onnx_version (GHashTable *versions, const gchar *domain)
{
  gpointer version = g_hash_table_lookup (versions, domain);
  return version ? GPOINTER_TO_INT (version) : 1;
}

GHashTable *
axon_onnx_read_versions (Onnx__OperatorSetId *const *ids, gsize n)
{
  GHashTable *versions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (gsize i = 0; i < n; i++)
    g_hash_table_insert (versions, g_strdup (axon_onnx_domain (ids[i]->domain)),
                         GINT_TO_POINTER ((gint)CLAMP (ids[i]->version, 0, 100000)));
  return versions;
}

static gboolean
defines (const Scope *scope, const gchar *name)
{
  if (scope->names != NULL)
    return g_hash_table_contains (scope->names, name);
  return scope->own != NULL ? g_hash_table_contains (scope->own, name)
                            : axon_model_find_value (scope->model, name) != NULL;
}

AxonWireAllocator *
axon_onnx_allocator (Scope *scope)
{
  for (const Scope *s = scope; s != NULL; s = s->outer)
    if (s->function != NULL)
      return NULL;
  return &scope->reader->allocator;
}

static AxonValue *
make_value (Scope *scope, const gchar *name)
{
  g_autofree gchar *full = scope->prefix ? g_strconcat (scope->prefix, name, NULL) : NULL;
  AxonValue *value = axon_model_add_value (scope->model, full ? full : name);
  if (value == NULL) /* the prefixed name is taken */
    value = axon_model_add_value (scope->model, NULL);
  if (scope->names != NULL)
    g_hash_table_insert (scope->names, g_strdup (name), value);
  return value;
}

/* Whether @name means something in @scope or around it. */
static gboolean
is_visible (const Scope *scope, const gchar *name)
{
  for (; scope != NULL; scope = scope->outer)
    if (defines (scope, name))
      return TRUE;
  return FALSE;
}

AxonValue *
axon_onnx_find_value (Scope *scope, const gchar *name)
{
  AxonValue *value;
  gpointer found = NULL;
  if (name == NULL || *name == '\0')
    return NULL;
  if (scope->names != NULL && g_hash_table_lookup_extended (scope->names, name, NULL, &found))
    return found; /* NULL: an input of the function that the call leaves out */
  value = scope->names ? NULL : axon_model_find_value (scope->model, name);
  if (value != NULL)
    return value;
  if (scope->outer != NULL && !defines (scope, name) && is_visible (scope->outer, name)) {
    g_ptr_array_add (scope->captures, g_strdup (name));
    return axon_model_add_input (scope->model, name, AXON_DTYPE_UNDEFINED, &AXON_SHAPE_UNKNOWN);
  }
  return make_value (scope, name);
}

static void
read_shape (const Onnx__TensorShape *proto, AxonValue *value)
{
  value->type.shape = AXON_SHAPE_UNKNOWN;
  if (proto == NULL || proto->n_dim > AXON_MAX_RANK)
    return;
  value->type.shape.rank = (gint)proto->n_dim;
  value->symbols = g_new0 (gchar *, proto->n_dim + 1);
  for (gsize i = 0; i < proto->n_dim; i++) {
    const Onnx__Dimension *dim = proto->dim[i];
    gboolean known = dim->has_dim_value && dim->dim_value >= 0;
    value->type.shape.dims[i] = known ? dim->dim_value : -1;
    value->symbols[i] = g_strdup (dim->dim_param ? dim->dim_param : "");
  }
}

static AxonDType
declared_dtype (const Onnx__ValueInfo *info)
{
  const Onnx__Type *type = info->type;
  if (type == NULL)
    return AXON_DTYPE_UNDEFINED;
  return type->tensor_type     ? (AxonDType)type->tensor_type->elem_type
         : type->sequence_type ? AXON_DTYPE_SEQUENCE
         : type->optional_type ? AXON_DTYPE_OPTIONAL
                               : AXON_DTYPE_UNDEFINED;
}

/* What a cache has to check besides the model's own file. */
static void
note_external (Reader *r, const Onnx__Tensor *proto)
{
  for (gsize i = 0; proto->data_location == 1 && i < proto->n_external_data; i++) {
    const Onnx__StringStringEntry *entry = proto->external_data[i];
    g_autofree gchar *path = NULL;
    if (g_strcmp0 (entry->key, "location") != 0 || entry->value == NULL || r->directory == NULL)
      continue;
    path = g_build_filename (r->directory, entry->value, NULL);
    if (r->model->external == NULL)
      r->model->external = g_ptr_array_new_with_free_func (g_free);
    if (!g_ptr_array_find_with_equal_func (r->model->external, path, g_str_equal, NULL))
      g_ptr_array_add (r->model->external, g_steal_pointer (&path));
  }
}

static gboolean
add_initializer (Scope *scope, const gchar *name, AxonTensor *tensor, GError **error)
{
  if (name != NULL && axon_model_add_constant (scope->model, name, tensor) != NULL) {
    scope->model->n_initializers++;
    return TRUE;
  }
  g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("initializer \"%s\" is defined twice"),
               name ? name : "");
  return FALSE;
}

static gboolean
read_initializers (Scope *scope, Onnx__Graph *graph, GError **error)
{
  Reader *r = scope->reader;
  for (gsize i = 0; i < graph->n_initializer; i++) {
    Onnx__Tensor *proto = graph->initializer[i];
    g_autoptr (AxonTensor) tensor =
        axon_onnx_tensor (proto, axon_onnx_allocator (scope), r->directory, error);
    if (tensor == NULL)
      return FALSE;
    note_external (r, proto);
    if (!add_initializer (scope, proto->name, tensor, error))
      return FALSE;
  }
  for (gsize i = 0; i < graph->n_sparse_initializer; i++) {
    Onnx__SparseTensor *proto = graph->sparse_initializer[i];
    g_autoptr (AxonTensor) tensor =
        axon_onnx_sparse_tensor (proto, axon_onnx_allocator (scope), r->directory, error);
    if (tensor == NULL || !add_initializer (scope, proto->values->name, tensor, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_input (Scope *scope, const Onnx__ValueInfo *info, GError **error)
{
  const gchar *name = info->name ? info->name : "";
  AxonDType dtype = declared_dtype (info);
  AxonValue *value = axon_model_find_value (scope->model, name);
  /* An initializer with a default, IR 3, is no input for us. */
  if (value != NULL && axon_value_is_constant (value))
    return TRUE;
  /* Bodies need not say what they are given. */
  if (info->name == NULL || (scope->outer == NULL && axon_dtype_get_size (dtype) == 0)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("input \"%s\": expected a tensor, a sequence or an optional"), name);
    return FALSE;
  }
  value = axon_model_add_input (scope->model, name, dtype, &AXON_SHAPE_UNKNOWN);
  if (value == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("input \"%s\" is defined twice"), name);
    return FALSE;
  }
  if (info->type != NULL && info->type->tensor_type != NULL)
    read_shape (info->type->tensor_type->shape, value);
  return TRUE;
}

static gboolean
read_inputs (Scope *scope, Onnx__Graph *graph, GError **error)
{
  for (gsize i = 0; i < graph->n_input; i++)
    if (!read_input (scope, graph->input[i], error))
      return FALSE;
  return TRUE;
}

/* NULL without an error: the output is left out. One that the operator always computes is not, if
 * nobody uses it. */
static AxonValue *
output_value (Scope *scope, const Onnx__Node *proto, guint index, const AxonOp *op, GError **error)
{
  const gchar *name = proto->output[index];
  AxonValue *value;
  if (*name == '\0')
    return index < op->outputs.min ? axon_model_add_value (scope->model, NULL) : NULL;
  value = axon_onnx_find_value (scope, name);
  if (value != NULL && value->producer == NULL && !value->is_input && value->type.value == NULL)
    return value;
  g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("%s \"%s\": output \"%s\" is defined twice"),
               proto->op_type, proto->name ? proto->name : "", name);
  return NULL;
}

static const gchar *
node_name (const Onnx__Node *proto)
{
  return proto->name && *proto->name ? proto->name
         : proto->n_output > 0       ? proto->output[0]
                                     : proto->op_type;
}

static gboolean
check_ports (gsize n_in, gsize n_out, GError **error)
{
  if (n_in <= MAX_PORTS && n_out <= MAX_PORTS)
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
               _ ("%zu inputs and %zu outputs: at most %d can be"), n_in, n_out, MAX_PORTS);
  return FALSE;
}

static gboolean
check_name (const gchar *name, GError **error)
{
  if (strnlen (name, MAX_NAME + 1) <= MAX_NAME)
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
               _ ("the name \"%.40s...\" is longer than %d bytes"), name, MAX_NAME);
  return FALSE;
}

/* Names of nodes within functions have those of the calls in front of them. */
static gboolean
check_node (Scope *scope, const Onnx__Node *proto, const gchar *name, GError **error)
{
  gsize length = strlen (name) + (scope->prefix ? strlen (scope->prefix) : 0);
  if (!check_ports (proto->n_input, proto->n_output, error) || !check_name (name, error))
    return FALSE;
  for (gsize i = 0; i < proto->n_output; i++)
    if (!check_name (proto->output[i], error))
      return FALSE;
  scope->reader->n_name_bytes += length;
  if (scope->reader->n_name_bytes <= MAX_NAMES)
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
               _ ("the names of all nodes have more than %d bytes with functions expanded"),
               MAX_NAMES);
  return FALSE;
}

static gboolean
read_node (Scope *scope, const Onnx__Node *proto, GError **error)
{
  const gchar *domain = axon_onnx_domain (proto->domain), *name = node_name (proto);
  gint version = axon_onnx_version (scope->versions, domain);
  const AxonOp *op = axon_op_set_lookup (scope->reader->opset, domain, proto->op_type, version);
  g_autofree AxonValue **in = g_new0 (AxonValue *, proto->n_input + 1);
  g_autofree AxonValue **none = g_new0 (AxonValue *, proto->n_output + 1);
  g_autofree gchar *full = scope->prefix ? g_strconcat (scope->prefix, name, NULL) : NULL;
  const Scope *top = scope;
  guint n_in = (guint)proto->n_input, n_out = (guint)proto->n_output;
  AxonNode *node;
  if (!check_node (scope, proto, name, error))
    return FALSE;
  for (guint i = 0; i < n_in; i++)
    in[i] = axon_onnx_find_value (scope, proto->input[i]);
  node = axon_model_add_node (scope->model, op, version, full ? full : name, in, n_in, none, n_out);
  for (guint i = 0; i < n_out; i++) {
    AxonValue *value = output_value (scope, proto, i, op, error);
    if (value == NULL && *proto->output[i] != '\0')
      return FALSE;
    axon_node_set_output (node, i, value);
  }
  while (top->caller != NULL && top->caller->caller != NULL)
    top = top->caller;
  g_ptr_array_add (node->origins, g_strdup (top->call ? node_name (top->call) : name));
  if (!axon_onnx_read_attributes (scope, node, proto, error))
    return FALSE;
  if (strstr (op->name, "QLinear") != NULL || strstr (op->name, "QuantizeLinear") != NULL)
    scope->reader->model->quantized = TRUE;
  return axon_node_check (node, error);
}

gboolean
axon_onnx_read_nodes (Scope *scope, Onnx__Node *const *nodes, gsize n, GError **error)
{
  for (gsize i = 0; i < n; i++) {
    const Onnx__Function *function = axon_onnx_find_function (scope->reader, nodes[i]);
    if (++scope->reader->n_nodes > MAX_NODES) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   _ ("the model has more than %d nodes with its functions expanded"), MAX_NODES);
      return FALSE;
    }
    if (g_cancellable_set_error_if_cancelled (scope->reader->cancellable, error) ||
        !(function ? axon_onnx_expand (scope, nodes[i], function, error)
                   : read_node (scope, nodes[i], error)))
      return FALSE;
  }
  return TRUE;
}

/* A body may give one value twice, or one that it was given. */
static AxonValue *
copy_of (Scope *scope, AxonValue *value)
{
  AxonValue *copy = axon_model_add_value (scope->model, NULL);
  AxonNode *node = axon_model_add_node (scope->model, axon_builtin_op (NULL, "Identity", 16), 16,
                                        copy->name, &value, 1, &copy, 1);
  g_ptr_array_add (node->origins, g_strdup (value->name));
  return copy;
}

static gboolean
read_outputs (Scope *scope, Onnx__Graph *graph, GError **error)
{
  if (graph->n_output == 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("the graph has no outputs"));
    return FALSE;
  }
  for (gsize i = 0; i < graph->n_output; i++) {
    const gchar *name = graph->output[i]->name;
    gboolean known =
        name != NULL && (scope->outer ? is_visible (scope, name)
                                      : axon_model_find_value (scope->model, name) != NULL);
    AxonValue *value = known ? axon_onnx_find_value (scope, name) : NULL;
    if (value != NULL && scope->outer != NULL && (value->is_output || value->is_input))
      value = copy_of (scope, value);
    if (value == NULL || value->is_output) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                   value ? _ ("output \"%s\": listed twice")
                         : _ ("output \"%s\": nothing makes it"),
                   name ? name : "");
      return FALSE;
    }
    axon_model_add_output (scope->model, value);
    if (value->type.dtype == AXON_DTYPE_UNDEFINED)
      value->type.dtype = declared_dtype (graph->output[i]);
    if (axon_dtype_get_size (value->type.dtype) == 0)
      value->type.dtype = AXON_DTYPE_UNDEFINED;
  }
  return TRUE;
}

gboolean
axon_onnx_read_graph (Scope *scope, Onnx__Graph *graph, GError **error)
{
  return check_ports (graph->n_input, graph->n_output, error) &&
         read_initializers (scope, graph, error) && read_inputs (scope, graph, error) &&
         axon_onnx_read_nodes (scope, graph->node, graph->n_node, error) &&
         read_outputs (scope, graph, error);
}
