/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "nodes.h"

#include <string.h>

#define OPSET 27

static void
parse_values (NodeTensor *t, const gchar *text)
{
  g_auto (GStrv) values = g_strsplit (text, ",", -1);
  memset (axon_tensor_get_data (t->tensor), 0, axon_tensor_get_n_bytes (t->tensor));
  for (guint i = 0; i < axon_tensor_get_numel (t->tensor) && values[i] != NULL; i++)
    axon_dtype_store (t->dtype, axon_tensor_get_data (t->tensor), i,
                      g_ascii_strtod (values[i], NULL));
}

void
node_tensor_parse (const gchar *text, NodeTensor *t)
{
  gsize n = strcspn (text, "=:"), head = strcspn (text, "[=:");
  g_autofree gchar *name = g_strndup (text, head);
  const gchar *at = text + head;
  *t = (NodeTensor){ .dtype = axon_dtype_from_name (name), .shape = AXON_SHAPE_UNKNOWN };
  t->is_constant = text[n] == '=';
  t->has_values = text[n] != '\0';
  if (*at != '[')
    return;
  t->shape.rank = 0;
  for (at++; *at != ']'; at += *at == ',') {
    gchar *end = (gchar *)at + 1;
    t->shape.dims[t->shape.rank++] = *at == '?' ? -1 : g_ascii_strtoll (at, &end, 10);
    at = end;
  }
  t->tensor = axon_shape_is_static (&t->shape) ? axon_tensor_new (t->dtype, &t->shape, NULL) : NULL;
  if (t->tensor != NULL)
    parse_values (t, t->has_values ? text + n + 1 : "");
}

void
node_tensor_clear (NodeTensor *t)
{
  g_clear_pointer (&t->tensor, axon_tensor_unref);
}

void
node_fill (AxonTensor *tensor)
{
  AxonDType dtype = axon_tensor_get_dtype (tensor);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    if (axon_dtype_is_float (dtype))
      axon_dtype_store (dtype, axon_tensor_get_data (tensor), i, 0.5 + (gdouble)(i * 7 % 11) / 8);
    else if (axon_dtype_get_size (dtype) == 1)
      axon_dtype_store (dtype, axon_tensor_get_data (tensor), i, (gdouble)(i * 5 % 13 + 1));
}

void
node_fill_inputs (const NodeCase *c, const GPtrArray *inputs, NodeFillFunc fill, gpointer user_data)
{
  g_auto (GStrv) texts = g_strsplit (c->inputs, " ", -1);
  guint at = 0;
  for (guint i = 0; texts[i] != NULL && at < inputs->len; i++) {
    g_auto (NodeTensor) t = { 0 };
    if (g_str_equal (texts[i], "-"))
      continue;
    node_tensor_parse (texts[i], &t);
    if (!t.has_values)
      fill (inputs->pdata[at], user_data);
    at += !t.is_constant;
  }
}

void
node_set_attr (AxonNode *node, const gchar *text)
{
  gsize n = strcspn (text, "=:");
  g_autofree gchar *name = g_strndup (text, n);
  const gchar *value = text + n + 1;
  g_auto (GStrv) items = g_strsplit (value, ",", -1);
  const AxonAttrSpec *spec = node->op->attrs;
  gint64 ints[8] = { 0 };
  gfloat floats[8] = { 0 };
  guint n_items = g_strv_length (items);
  for (guint i = 0; i < MIN (n_items, G_N_ELEMENTS (ints)); i++) {
    ints[i] = g_ascii_strtoll (items[i], NULL, 10);
    floats[i] = (gfloat)g_ascii_strtod (items[i], NULL);
  }
  while (spec->name != NULL && !g_str_equal (spec->name, name))
    spec++;
  if (spec->name == NULL)
    g_error ("%s has no attribute \"%s\"", node->op->name, name);
  switch (spec->type) {
  case AXON_ATTR_INT:
    axon_node_set_int (node, name, ints[0]);
    break;
  case AXON_ATTR_INTS:
    axon_node_set_ints (node, name, ints, n_items);
    break;
  case AXON_ATTR_FLOAT:
    axon_node_set_float (node, name, (gdouble)floats[0]);
    break;
  case AXON_ATTR_FLOATS:
    axon_node_set_floats (node, name, floats, n_items);
    break;
  default:
    axon_node_set_string (node, name, value);
  }
}

static const AxonOp *
find_op (const gchar *text, gint64 *opset)
{
  static const gchar *const domains[] = { "ai.onnx.preview.training", AXON_DOMAIN_MICROSOFT,
                                          AXON_DOMAIN_AXON };
  g_auto (GStrv) words = g_strsplit (text, "-", 2);
  const gchar *name = words[0];
  const AxonOp *op;
  *opset = words[1] ? g_ascii_strtoll (words[1], NULL, 10) : OPSET;
  op = axon_builtin_op (NULL, name, *opset);
  for (guint i = 0; op == NULL && i < G_N_ELEMENTS (domains); i++)
    op = axon_builtin_op (domains[i], name, 1);
  return op;
}

static AxonValue *
add_operand (TestModel *t, const gchar *text, guint index, gboolean constants, GPtrArray *inputs)
{
  g_autofree gchar *name = g_strdup_printf ("x%u", index);
  g_auto (NodeTensor) operand = { 0 };
  AxonValue *value;
  if (g_str_equal (text, "-"))
    return NULL;
  node_tensor_parse (text, &operand);
  if (operand.is_constant || (constants && index > 0))
    return axon_model_add_constant (t->model, name, operand.tensor);
  value = test_model_input (t, name, operand.dtype, &operand.shape);
  if (operand.tensor != NULL)
    g_ptr_array_add (inputs, g_steal_pointer (&operand.tensor));
  return value;
}

AxonModel *
node_case_build (const NodeCase *c, guint n_out, gboolean constants, GPtrArray *inputs,
                 AxonNode **node)
{
  gint64 opset;
  const AxonOp *op = find_op (c->op, &opset);
  TestModel t = test_model_new ((gint)opset);
  g_auto (GStrv) texts = g_strsplit (c->inputs, " ", -1);
  g_auto (GStrv) attrs = g_strsplit (c->attrs, " ", -1);
  AxonValue *in[12] = { NULL }, *out[4] = { axon_model_add_value (t.model, "y") };
  guint n = *c->inputs != '\0' ? g_strv_length (texts) : 0;
  g_assert_nonnull (op);
  for (guint i = 0; i < n; i++)
    in[i] = add_operand (&t, texts[i], i, constants, inputs);
  for (guint i = 1; i < n_out; i++) {
    g_autofree gchar *name = g_strdup_printf ("y%u", i);
    out[i] = axon_model_add_value (t.model, name);
  }
  *node = axon_model_add_node (t.model, op, opset, "bad", in, n, out, n_out);
  for (guint i = 0; attrs[i] != NULL && *attrs[i] != '\0'; i++)
    node_set_attr (*node, attrs[i]);
  for (guint i = 0; i < n_out; i++)
    axon_model_add_output (t.model, out[i]);
  return t.model;
}
