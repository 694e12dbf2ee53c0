/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Float operators of com.microsoft become the operators of ai.onnx that they stand for, which every
 * device knows how to run and to fuse; a product that quantises its rows itself becomes that and a
 * product of bytes. */
#include <axon/plugin/axonpass.h>
#include "../ops/axoncontrib.h"
#include <axon/plugin/axonbuiltins.h>

#define OPSET 24

/* @name of @in; the output has the type and shape of the node that is replaced. */
static AxonNode *
add (AxonModel *model, AxonNode *from, const gchar *name, AxonValue *const *in, guint n_in,
     AxonValue *out)
{
  AxonValue *value = out ? out : axon_model_add_value (model, NULL);
  AxonNode *node = axon_model_add_node (model, axon_builtin_op (NULL, name, OPSET), OPSET,
                                        value->name, in, n_in, &value, 1);
  axon_node_add_origins (node, from);
  return node;
}

static void
copy_window (AxonNode *to, const AxonNode *from)
{
  static const gchar *const lists[] = { "dilations", "kernel_shape", "pads", "strides" };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    guint n;
    const gint64 *values = axon_node_get_ints (from, lists[i], &n);
    if (values != NULL)
      axon_node_set_ints (to, lists[i], values, n);
  }
  axon_node_set_int (to, "group", axon_node_get_int (from, "group"));
  axon_node_set_string (to, "auto_pad", axon_node_get_string (from, "auto_pad"));
}

static AxonValue *
add_scalar (AxonModel *model, AxonDType dtype, gdouble value)
{
  static const AxonShape shape = { .rank = 0 };
  g_autoptr (AxonTensor) tensor = axon_tensor_new (dtype, &shape, NULL);
  axon_dtype_store (dtype, axon_tensor_get_data (tensor), 0, value);
  return axon_model_add_constant (model, NULL, tensor);
}

static void
add_activation (AxonModel *model, AxonNode *from, guint activation, AxonValue *x, AxonValue *out)
{
  const gchar *name = activation ? axon_contrib_activation_name (activation) : "Identity";
  AxonDType dtype = from->inputs[0]->type.dtype;
  gdouble a, b;
  AxonNode *node;
  axon_contrib_params (from, activation, &a, &b);
  if (g_str_equal (name, "Clip")) {
    AxonValue *in[] = { x, add_scalar (model, dtype, a), add_scalar (model, dtype, b) };
    add (model, from, name, in, 3, out);
    return;
  }
  node = add (model, from, name, &x, 1, out);
  if (g_str_equal (name, "LeakyRelu") || g_str_equal (name, "HardSigmoid"))
    axon_node_set_float (node, "alpha", a);
  if (g_str_equal (name, "HardSigmoid"))
    axon_node_set_float (node, "beta", b);
}

static void
expand_fused_conv (AxonModel *model, AxonNode *node, AxonValue *out)
{
  AxonValue *in[] = { node->inputs[0], node->inputs[1], axon_node_get_input (node, 2) };
  AxonNode *conv = add (model, node, "Conv", in, in[2] ? 3 : 2, NULL);
  AxonValue *y = conv->outputs[0];
  copy_window (conv, node);
  if (axon_node_get_input (node, 3) != NULL) {
    AxonValue *pair[] = { y, node->inputs[3] };
    y = add (model, node, "Add", pair, 2, NULL)->outputs[0];
  }
  add_activation (model, node, axon_contrib_activation (node), y, out);
}

/* Gelu, BiasGelu and FastGelu */
static void
expand_gelu (AxonModel *model, AxonNode *node, AxonValue *out)
{
  AxonValue *x = node->inputs[0];
  AxonNode *gelu;
  if (axon_node_get_input (node, 1) != NULL)
    x = add (model, node, "Add", node->inputs, 2, NULL)->outputs[0];
  gelu = add (model, node, "Gelu", &x, 1, out);
  if (axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "FastGelu"))
    axon_node_set_string (gelu, "approximate", "tanh");
}

static void
expand_quick_gelu (AxonModel *model, AxonNode *node, AxonValue *out)
{
  axon_node_set_float (add (model, node, "Swish", node->inputs, 1, out), "alpha",
                       axon_node_get_float (node, "alpha"));
}

/* A f32, B, B_scale [, B_zero, bias] */
static void
expand_dynamic_product (AxonModel *model, AxonNode *node, AxonValue *out)
{
  AxonValue *q[3], *in[7];
  for (guint i = 0; i < G_N_ELEMENTS (q); i++)
    q[i] = axon_model_add_value (model, NULL);
  axon_node_add_origins (
      axon_model_add_node (model, axon_builtin_op (NULL, "DynamicQuantizeLinear", OPSET), OPSET,
                           q[0]->name, node->inputs, 1, q, G_N_ELEMENTS (q)),
      node);
  in[0] = q[0];
  in[1] = node->inputs[1];
  in[2] = q[1];
  in[3] = node->inputs[2];
  in[4] = q[2];
  in[5] = axon_node_get_input (node, 3);
  in[6] = axon_node_get_input (node, 4);
  axon_node_add_origins (
      axon_model_add_node (model,
                           axon_builtin_op (AXON_DOMAIN_MICROSOFT, "MatMulIntegerToFloat", 1), 1,
                           out->name, in,
                           in[6] != NULL   ? 7
                           : in[5] != NULL ? 6
                                           : 5,
                           &out, 1),
      node);
}

static const struct {
  const gchar *name;
  void (*expand) (AxonModel *model, AxonNode *node, AxonValue *out);
} expansions[] = {
  { "FusedConv", expand_fused_conv }, { "Gelu", expand_gelu },
  { "BiasGelu", expand_gelu },        { "FastGelu", expand_gelu },
  { "QuickGelu", expand_quick_gelu }, { "DynamicQuantizeMatMul", expand_dynamic_product },
};

gboolean
axon_pass_expand_contrib (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = 0; i < model->nodes->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (expansions); k++) {
      AxonNode *node = g_ptr_array_index (model->nodes, i);
      AxonValue *out;
      if (!axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, expansions[k].name))
        continue;
      out = node->outputs[0];
      axon_node_set_output (node, 0, NULL);
      expansions[k].expand (model, node, out);
      axon_model_remove_node (model, node);
      changed = TRUE;
      i--;
      break;
    }
  return !changed || (axon_model_sort (model, error) && axon_model_infer_shapes (model, error));
}
