/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* If (1 to 25), SequenceMap (17), and what all operators share that run bodies. A
 * body's inputs are its formal ones, then what it takes from around it. Every iteration asks
 * whether the run was cancelled. */
#include "control-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

/* Inputs of @node that no body takes from around it. */
guint
axon_body_count_formal (const AxonNode *node)
{
  guint n = node->n_inputs;
  for (guint i = 0; i < node->attrs->len; i++) {
    const AxonAttr *attr = g_ptr_array_index (node->attrs, i);
    if (attr->type == AXON_ATTR_GRAPH)
      n -= attr->n;
  }
  return n;
}

const AxonAttr *
axon_body_of (const AxonNode *node, const gchar *name, guint n_in, guint n_out, GError **error)
{
  const AxonAttr *attr = axon_node_find_attr (node, name);
  guint formal = attr->graph->inputs->len - attr->n;
  if (formal == n_in && attr->graph->outputs->len == n_out)
    return attr;
  g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
               _ ("%s has %u inputs and %u outputs, expected %u and %u"), name, formal,
               attr->graph->outputs->len, n_in, n_out);
  return NULL;
}

/* The types that the body's outputs get from @formal and from what it takes from around. */
gboolean
axon_body_infer (const AxonAttr *attr, const AxonTypeInfo *formal, const AxonTypeInfo *around,
                 AxonTypeInfo *out, GError **error)
{
  g_autoptr (AxonModel) body = axon_model_clone (attr->graph);
  guint n_formal = body->inputs->len - attr->n;
  for (guint i = 0; i < body->inputs->len; i++) {
    AxonValue *value = g_ptr_array_index (body->inputs, i);
    const AxonTypeInfo *info = i < n_formal ? &formal[i] : &around[attr->ints[i - n_formal]];
    if (info->dtype != AXON_DTYPE_UNDEFINED)
      value->type.dtype = info->dtype;
    value->type.shape = info->shape;
  }
  if (!axon_model_infer_shapes (body, error)) {
    g_prefix_error (error, _ ("body \"%s\": "), attr->name);
    return FALSE;
  }
  for (guint i = 0; i < body->outputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (body->outputs, i);
    out[i] = (AxonTypeInfo){ value->type.dtype, value->type.shape, NULL };
  }
  return TRUE;
}

/* @formal: (transfer none). @out: one new reference each. */
gboolean
axon_body_run (const AxonAttr *attr, AxonTensor *const *formal, AxonTensor *const *around,
               AxonTensor **out, GError **error)
{
  guint n = attr->graph->inputs->len, n_formal = n - attr->n;
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, n + 1);
  for (guint i = 0; i < n; i++)
    in[i] = i < n_formal ? formal[i] : around[attr->ints[i - n_formal]];
  for (guint i = 0; i < n; i++)
    if (in[i] == NULL)
      FAIL (MODEL, _ ("body \"%s\": input %u is left out"), attr->name, i);
  return axon_eval_check (error) && axon_eval_model (attr->graph, in, out, NULL, NULL, error);
}

/* Known where both branches agree. */
static AxonTypeInfo
merge (const AxonTypeInfo *a, const AxonTypeInfo *b)
{
  AxonTypeInfo both = { .dtype = a->dtype == b->dtype ? a->dtype : AXON_DTYPE_UNDEFINED,
                        .shape = AXON_SHAPE_UNKNOWN };
  if (a->shape.rank != b->shape.rank || a->shape.rank < 0)
    return both;
  both.shape = a->shape;
  for (gint d = 0; d < a->shape.rank; d++)
    if (a->shape.dims[d] != b->shape.dims[d])
      both.shape.dims[d] = -1;
  return both;
}

static gboolean
infer_if (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  g_autofree AxonTypeInfo *other = g_new0 (AxonTypeInfo, node->n_outputs + 1);
  const AxonAttr *yes = axon_body_of (node, "then_branch", 0, node->n_outputs, error);
  const AxonAttr *no = yes ? axon_body_of (node, "else_branch", 0, node->n_outputs, error) : NULL;
  if (no == NULL || !axon_body_infer (yes, in, in, out, error) ||
      !axon_body_infer (no, in, in, other, error))
    return FALSE;
  for (guint i = 0; i < node->n_outputs; i++)
    out[i] = merge (&out[i], &other[i]);
  return TRUE;
}

gboolean
axon_body_truth (const AxonTensor *condition, gboolean *value, GError **error)
{
  if (axon_tensor_get_dtype (condition) != AXON_DTYPE_BOOL ||
      axon_tensor_get_numel (condition) != 1)
    FAIL (MODEL, _ ("the condition must be one boolean"));
  *value = *(const guint8 *)axon_tensor_get_data (condition) != 0;
  return TRUE;
}

static gboolean
run_if (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  gboolean yes;
  return axon_body_truth (in[0], &yes, error) &&
         axon_body_run (axon_node_find_attr (node, yes ? "then_branch" : "else_branch"), in, in,
                        out, error);
}

void
axon_unref_all (AxonTensor **tensors, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], axon_tensor_unref);
}

/* Stacks what a scan output gave in all turns along a new axis @axis, in reverse where asked. */
AxonTensor *
axon_body_stack (GPtrArray *items, AxonDType dtype, gint64 axis, gboolean reverse, GError **error)
{
  AxonTensor *first = items->len ? g_ptr_array_index (items, 0) : NULL, *out;
  AxonShape shape = first ? *axon_tensor_get_shape (first) : (AxonShape){ 0 };
  AxonLines lines;
  gsize row;
  gint at;
  if (shape.rank + 1 > AXON_MAX_RANK) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("a scan output of rank %d"),
                 shape.rank + 1);
    return NULL;
  }
  if (!axon_check_axis (axis, shape.rank + 1, &at, error))
    return NULL;
  memmove (shape.dims + at + 1, shape.dims + at, (gsize)(shape.rank - at) * sizeof (gint64));
  shape.dims[at] = items->len;
  shape.rank++;
  dtype = first ? axon_tensor_get_dtype (first) : dtype ? dtype : AXON_DTYPE_F32;
  out = axon_tensor_new (dtype, &shape, error);
  if (out == NULL)
    return NULL;
  lines = axon_lines (&shape, at);
  row = (gsize)lines.inner * axon_dtype_get_size (dtype);
  for (guint i = 0; i < items->len; i++) {
    AxonTensor *item = g_ptr_array_index (items, reverse ? items->len - 1 - i : i);
    if (axon_tensor_get_dtype (item) != dtype || axon_dtype_is_boxed (dtype) ||
        !axon_shape_equal (axon_tensor_get_shape (item), axon_tensor_get_shape (first))) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                   _ ("a scan output differs in type or shape from turn to turn"));
      axon_tensor_unref (out);
      return NULL;
    }
    for (gint64 o = 0; o < lines.outer; o++)
      memcpy ((guint8 *)axon_tensor_get_data (out) + (gsize)(o * lines.n + i) * row,
              (guint8 *)axon_tensor_get_data (item) + (gsize)o * row, row);
  }
  return out;
}

/* SequenceMap: the first input is a sequence; others are sequences of the same length, or tensors
 * that every turn gets. */
static gboolean
infer_map (const AxonNode *node, G_GNUC_UNUSED const AxonTypeInfo *in, AxonTypeInfo *out,
           GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].dtype = AXON_DTYPE_SEQUENCE;
    out[i].shape = AXON_SHAPE (-1);
  }
  return axon_body_of (node, "body", axon_body_count_formal (node), node->n_outputs, error) != NULL;
}

static gboolean
map_turn (const AxonNode *node, AxonTensor *const *in, gsize turn, GPtrArray **collected,
          GError **error)
{
  guint n = axon_body_count_formal (node);
  g_autofree AxonTensor **formal = g_new0 (AxonTensor *, n + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, node->n_outputs + 1);
  gboolean ok;
  for (guint i = 0; i < n; i++) {
    gboolean list = axon_tensor_get_dtype (in[i]) == AXON_DTYPE_SEQUENCE;
    if (list && turn >= axon_tensor_get_numel (in[i]))
      FAIL (MODEL, _ ("input %u is a shorter sequence than input 0"), i);
    formal[i] = list ? axon_tensor_get_item (in[i], turn) : in[i];
  }
  ok = axon_body_run (axon_node_find_attr (node, "body"), formal, in, out, error);
  for (guint i = 0; ok && i < node->n_outputs; i++)
    g_ptr_array_add (collected[i], g_steal_pointer (&out[i]));
  axon_unref_all (out, node->n_outputs);
  return ok;
}

static gboolean
run_map (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  g_autofree GPtrArray **collected = g_new0 (GPtrArray *, node->n_outputs + 1);
  gboolean ok = axon_tensor_get_dtype (in[0]) == AXON_DTYPE_SEQUENCE;
  if (!ok)
    FAIL (MODEL, _ ("input 0: expected a sequence"));
  for (guint i = 0; i < node->n_outputs; i++)
    collected[i] = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (gsize turn = 0; ok && turn < axon_tensor_get_numel (in[0]); turn++)
    ok = map_turn (node, in, turn, collected, error);
  for (guint i = 0; i < node->n_outputs; i++) {
    if (ok)
      out[i] =
          axon_tensor_new_sequence ((AxonTensor *const *)collected[i]->pdata, collected[i]->len);
    g_ptr_array_unref (collected[i]);
  }
  return ok;
}

#define GRAPH(name) REQUIRED (name, AXON_ATTR_GRAPH)

static const AxonOp rows[] = {
  {
      .name = "If",
      .since = 1,
      .inputs = { 1, AXON_VARIADIC },
      .operands = "Z",
      .outputs = { 1, AXON_VARIADIC },
      .attrs = ATTRS (GRAPH ("then_branch"), GRAPH ("else_branch")),
      .infer = infer_if,
      .run = run_if,
      .flags = AXON_OP_CONTROL,
  },
  {
      .name = "SequenceMap",
      .since = 17,
      .inputs = { 1, AXON_VARIADIC },
      .outputs = { 1, AXON_VARIADIC },
      .attrs = ATTRS (GRAPH ("body")),
      .infer = infer_map,
      .run = run_map,
      .flags = AXON_OP_CONTROL,
  },
};

DEFINE_FAMILY (control, rows)
