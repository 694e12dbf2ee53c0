/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of nodes, bodies of control flow, and model-local functions, which are expanded where
 * they are called: what is called from a function's body keeps the name of the first call. */
#include "axonreader-private.h"
#include <axon/plugin/axonbuiltins.h>

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_DEPTH 64

/* AttributeProto.type; files of IR < 4 may leave it out, then the field that is set tells. */
static gint
attribute_type (const Onnx__Attribute *proto)
{
  static const gint8 types[] = {
    -1,
    AXON_ATTR_FLOAT,
    AXON_ATTR_INT,
    AXON_ATTR_STRING,
    AXON_ATTR_TENSOR,
    AXON_ATTR_GRAPH,
    AXON_ATTR_FLOATS,
    AXON_ATTR_INTS,
    AXON_ATTR_STRINGS,
    -1,
    -1,
    AXON_ATTR_TENSOR, /* a sparse one is made dense */
    -1,
    AXON_ATTR_INT, /* a type: what it says shows when the model runs */
  };
  if (proto->type != 0)
    return proto->type > 0 && proto->type < (gint)G_N_ELEMENTS (types) ? types[proto->type] : -1;
  return proto->has_f           ? AXON_ATTR_FLOAT
         : proto->has_i         ? AXON_ATTR_INT
         : proto->has_s         ? AXON_ATTR_STRING
         : proto->t != NULL     ? AXON_ATTR_TENSOR
         : proto->g != NULL     ? AXON_ATTR_GRAPH
         : proto->n_floats > 0  ? AXON_ATTR_FLOATS
         : proto->n_strings > 0 ? AXON_ATTR_STRINGS
                                : AXON_ATTR_INTS;
}

static const Onnx__Attribute *
find_attribute (Onnx__Attribute *const *list, gsize n, const gchar *name)
{
  for (gsize i = 0; i < n; i++)
    if (g_strcmp0 (list[i]->name, name) == 0)
      return list[i];
  return NULL;
}

/* Follows references to attributes of the call. NULL: nobody gave it. @scope becomes the one in
 * which a body is read. */
static const Onnx__Attribute *
resolve (const Onnx__Attribute *proto, Scope **scope)
{
  while (proto != NULL && proto->ref_attr_name != NULL && *proto->ref_attr_name != '\0') {
    const gchar *name = proto->ref_attr_name;
    const Scope *s = *scope;
    if (s->call == NULL)
      return NULL;
    proto = find_attribute (s->call->attribute, s->call->n_attribute, name);
    if (proto == NULL)
      return find_attribute (s->function->attribute_proto, s->function->n_attribute_proto, name);
    *scope = s->caller;
  }
  return proto;
}

static void
collect_names (GHashTable *names, const Onnx__Graph *graph)
{
  for (gsize i = 0; i < graph->n_input; i++)
    g_hash_table_add (names, graph->input[i]->name ? graph->input[i]->name : (gchar *)"");
  for (gsize i = 0; i < graph->n_initializer; i++)
    g_hash_table_add (names,
                      graph->initializer[i]->name ? graph->initializer[i]->name : (gchar *)"");
  for (gsize i = 0; i < graph->n_sparse_initializer; i++)
    if (graph->sparse_initializer[i]->values != NULL && graph->sparse_initializer[i]->values->name)
      g_hash_table_add (names, graph->sparse_initializer[i]->values->name);
  for (gsize i = 0; i < graph->n_node; i++)
    for (gsize k = 0; k < graph->node[i]->n_output; k++)
      g_hash_table_add (names, graph->node[i]->output[k]);
}

static void
append_captures (Scope *scope, AxonNode *node, AxonAttr *attr, GPtrArray *captures)
{
  attr->n = captures->len;
  attr->ints = g_new (gint64, captures->len + 1);
  for (guint i = 0; i < captures->len; i++) {
    attr->ints[i] = node->n_inputs;
    axon_node_append_input (node, axon_onnx_find_value (scope, captures->pdata[i]));
  }
}

/* @scope: around the body. @at: of the node that takes its captures. */
static gboolean
read_body (Scope *scope, Scope *at, AxonNode *node, AxonAttr *attr, Onnx__Graph *graph,
           GError **error)
{
  g_autoptr (AxonModel) body = axon_model_new (graph->name);
  g_autoptr (GHashTable) own = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) captures = g_ptr_array_new_with_free_func (g_free);
  Scope inner = { .reader = scope->reader,
                  .model = body,
                  .versions = scope->versions,
                  .depth = scope->depth + 1,
                  .outer = scope,
                  .own = own,
                  .captures = captures };
  if (inner.depth > MAX_DEPTH) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("bodies are nested deeper than %d"),
                 MAX_DEPTH);
    return FALSE;
  }
  collect_names (own, graph);
  if (!axon_onnx_read_graph (&inner, graph, error) || !axon_model_sort (body, error) ||
      !axon_model_verify (body, error)) {
    g_prefix_error (error, _ ("body \"%s\": "), attr->name);
    return FALSE;
  }
  for (guint i = 0; i < body->values->len; i++)
    ((AxonValue *)g_ptr_array_index (body->values, i))->index = i;
  attr->graph = g_steal_pointer (&body);
  append_captures (at, node, attr, captures);
  return TRUE;
}

/* Empty bytes have no address. */
static gchar *
dup_bytes (const ProtobufCBinaryData *bytes)
{
  return g_strndup (bytes->data ? (gchar *)bytes->data : "", bytes->len);
}

static void
read_lists (AxonAttr *attr, const Onnx__Attribute *proto)
{
  if (attr->type == AXON_ATTR_INTS) {
    attr->n = (guint)proto->n_ints;
    attr->ints = g_memdup2 (proto->ints, proto->n_ints * sizeof (gint64));
  } else if (attr->type == AXON_ATTR_FLOATS) {
    attr->n = (guint)proto->n_floats;
    attr->floats = g_memdup2 (proto->floats, proto->n_floats * sizeof (gfloat));
  } else if (attr->type == AXON_ATTR_STRINGS) {
    attr->n = (guint)proto->n_strings;
    attr->strings = g_new0 (gchar *, proto->n_strings + 1);
    for (gsize i = 0; i < proto->n_strings; i++)
      attr->strings[i] = dup_bytes (&proto->strings[i]);
  }
}

static gboolean
read_attribute (Scope *at, AxonNode *node, const gchar *name, const Onnx__Attribute *proto,
                Scope *scope, GError **error)
{
  Reader *r = scope->reader;
  gint type = attribute_type (proto);
  AxonAttr *attr;
  if (type < 0 || name == NULL || (type == AXON_ATTR_GRAPH && proto->g == NULL) ||
      (type == AXON_ATTR_TENSOR && proto->t == NULL && proto->sparse_tensor == NULL)) {
    g_autofree gchar *what = axon_node_describe (node);
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("%s: attribute \"%s\" has an unsupported type (%d)"), what, name ? name : "",
                 proto->type);
    axon_error_set_reason (error, AXON_REASON_ATTRIBUTE);
    return FALSE;
  }
  attr = axon_node_add_attr (node, name, (AxonAttrType)type);
  attr->i = proto->i;
  attr->f = (gdouble)proto->f;
  attr->s = dup_bytes (&proto->s);
  read_lists (attr, proto);
  if (type == AXON_ATTR_GRAPH)
    return read_body (scope, at, node, attr, proto->g, error);
  if (type != AXON_ATTR_TENSOR)
    return TRUE;
  attr->tensor = proto->t
                     ? axon_onnx_tensor (proto->t, axon_onnx_allocator (at), r->directory, error)
                     : axon_onnx_sparse_tensor (proto->sparse_tensor, axon_onnx_allocator (at),
                                                r->directory, error);
  if (attr->tensor == NULL)
    g_prefix_error (error, _ ("attribute \"%s\": "), name);
  return attr->tensor != NULL;
}

gboolean
axon_onnx_read_attributes (Scope *scope, AxonNode *node, const Onnx__Node *proto, GError **error)
{
  for (gsize i = 0; i < proto->n_attribute; i++) {
    Scope *where = scope;
    const Onnx__Attribute *attr = resolve (proto->attribute[i], &where);
    if (attr != NULL &&
        !read_attribute (scope, node, proto->attribute[i]->name, attr, where, error))
      return FALSE;
  }
  return TRUE;
}

const Onnx__Function *
axon_onnx_find_function (Reader *r, const Onnx__Node *node)
{
  for (gsize i = 0; i < r->proto->n_functions; i++) {
    const Onnx__Function *f = r->proto->functions[i];
    if (g_strcmp0 (f->name, node->op_type) == 0 &&
        g_str_equal (axon_onnx_domain (f->domain), axon_onnx_domain (node->domain)) &&
        g_strcmp0 (f->overload ? f->overload : "", node->overload ? node->overload : "") == 0)
      return f;
  }
  return NULL;
}

/* An output that is an input passes through; any other is made by the function's nodes. */
static gboolean
bind_outputs (Scope *scope, Scope *inner, GError **error)
{
  const Onnx__Node *call = inner->call;
  for (gsize i = 0; i < call->n_output; i++) {
    const gchar *name = inner->function->output[i];
    AxonValue *out = axon_onnx_find_value (scope, call->output[i]), *in;
    if (out == NULL)
      continue;
    if (out->producer != NULL || out->is_input || out->type.value != NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("%s: output \"%s\" is defined twice"),
                   call->op_type, call->output[i]);
      return FALSE;
    }
    if (!g_hash_table_contains (inner->names, name)) {
      g_hash_table_insert (inner->names, g_strdup (name), out);
      continue;
    }
    in = g_hash_table_lookup (inner->names, name);
    if (in != NULL)
      axon_model_add_node (scope->model, axon_builtin_op (NULL, "Identity", 16), 16,
                           call->output[i], &in, 1, &out, 1);
  }
  return TRUE;
}

gboolean
axon_onnx_expand (Scope *scope, const Onnx__Node *call, const Onnx__Function *function,
                  GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) versions =
      axon_onnx_read_versions (function->opset_import, function->n_opset_import);
  g_autofree gchar *prefix = NULL;
  Scope inner = { .reader = scope->reader,
                  .model = scope->model,
                  .versions = versions,
                  .depth = scope->depth + 1,
                  .names = names,
                  .caller = scope,
                  .call = call,
                  .function = function };
  if (inner.depth > MAX_DEPTH || call->n_input > function->n_input ||
      call->n_output > function->n_output) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 inner.depth > MAX_DEPTH
                     ? _ ("function \"%s\": calls are nested deeper than 64 (does it call itself?)")
                     : _ ("function \"%s\" is called with too many inputs or outputs"),
                 call->op_type);
    return FALSE;
  }
  prefix = g_strdup_printf ("%s%s/", scope->prefix ? scope->prefix : "",
                            call->name && *call->name ? call->name
                            : call->n_output > 0      ? call->output[0]
                                                      : call->op_type);
  inner.prefix = prefix;
  for (gsize i = 0; i < function->n_input; i++)
    g_hash_table_insert (names, g_strdup (function->input[i]),
                         i < call->n_input ? axon_onnx_find_value (scope, call->input[i]) : NULL);
  return bind_outputs (scope, &inner, error) &&
         axon_onnx_read_nodes (&inner, function->node, function->n_node, error);
}
