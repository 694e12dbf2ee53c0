/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators and fused chains: a device against TEMPLATE without passes, on random data. */
#include "axontest.h"

#include <math.h>

#define TOLERANCE 2e-5

typedef struct {
  const gchar *op;
  gint64 x[4], w[4], group, stride, pad, dilation;
} ConvCase;

/* Conv shapes that meet different oneDNN kernels: dense, 1x1, depthwise, grouped, odd sizes. */
static const ConvCase convs[] = {
  { "Conv", { 1, 3, 17, 23 }, { 16, 3, 3, 3 }, 1, 2, 1, 1 },
  { "Conv", { 1, 16, 9, 9 }, { 32, 16, 1, 1 }, 1, 1, 0, 1 },
  { "Conv", { 1, 24, 11, 7 }, { 24, 1, 3, 3 }, 24, 1, 1, 1 },
  { "Conv", { 2, 12, 8, 8 }, { 18, 4, 3, 3 }, 3, 1, 1, 1 },
  { "Conv", { 1, 5, 13, 13 }, { 7, 5, 5, 3 }, 1, 1, 2, 2 },
  { "Conv", { 1, 24, 10, 10 }, { 48, 1, 3, 3 }, 24, 2, 1, 1 },
  { "ConvTranspose", { 1, 8, 6, 5 }, { 8, 6, 4, 4 }, 1, 2, 1, 1 },
  { "ConvTranspose", { 1, 8, 6, 5 }, { 8, 3, 2, 2 }, 2, 2, 0, 1 },
};

static AxonNode *
add_conv (TestModel *t, const ConvCase *c, AxonValue *x)
{
  AxonShape w = AXON_SHAPE (c->w[0], c->w[1], c->w[2], c->w[3]);
  AxonShape b = AXON_SHAPE (g_str_equal (c->op, "Conv") ? c->w[0] : c->w[1] * c->group);
  AxonNode *n =
      test_model_node (t, c->op, 3, x, test_model_random (t, &w, 2), test_model_random (t, &b, 3));
  axon_node_set_int (n, "group", c->group);
  axon_node_set_ints (n, "strides", (gint64[]){ c->stride, c->stride }, 2);
  axon_node_set_ints (n, "dilations", (gint64[]){ c->dilation, c->dilation }, 2);
  axon_node_set_ints (n, "pads", (gint64[]){ c->pad, c->pad, c->pad, c->pad }, 4);
  return n;
}

static void
convolutions_agree (gconstpointer data)
{
  const ConvCase *c = data;
  static const gchar *const activations[] = { NULL, "Relu", "Sigmoid", "LeakyRelu", "HardSwish" };
  for (guint a = 0; a < G_N_ELEMENTS (activations); a++) {
    TestModel t = test_model_new (14);
    AxonShape x = AXON_SHAPE (c->x[0], c->x[1], c->x[2], c->x[3]);
    AxonNode *n = add_conv (&t, c, test_model_input (&t, "x", AXON_DTYPE_F32, &x));
    g_autoptr (AxonTensor) input = test_random (&x, 9);
    g_autoptr (AxonModel) model = NULL;
    if (activations[a] != NULL)
      n = test_model_node (&t, activations[a], 1, n->outputs[0]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* The pass that scales the weights knows groups, and transposed ones. */
static void
factors_of_channels_move_into_convolutions (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (convs); i++) {
    const ConvCase *c = &convs[i];
    TestModel t = test_model_new (14);
    AxonShape x = AXON_SHAPE (c->x[0], c->x[1], c->x[2], c->x[3]);
    AxonNode *n = add_conv (&t, c, test_model_input (&t, "x", AXON_DTYPE_F32, &x));
    AxonShape channels = AXON_SHAPE (n->inputs[2]->type.shape.dims[0], 1, 1);
    g_autoptr (AxonTensor) input = test_random (&x, 9);
    g_autoptr (AxonModel) model = NULL;
    n = test_model_node (&t, "Mul", 2, n->outputs[0], test_model_random (&t, &channels, 5));
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* x -> conv a -> relu; conv b (relu) + relu -> relu; conv c * sigmoid */
static void
residuals_and_swish_are_fused_rightly (void)
{
  static const ConvCase c = { "Conv", { 1, 16, 9, 9 }, { 16, 16, 3, 3 }, 1, 1, 1, 1 };
  TestModel t = test_model_new (14);
  AxonShape x = AXON_SHAPE (1, 16, 9, 9);
  AxonNode *a = add_conv (&t, &c, test_model_input (&t, "x", AXON_DTYPE_F32, &x)), *b, *s;
  g_autoptr (AxonTensor) input = test_random (&x, 4);
  g_autoptr (AxonModel) model = NULL;
  a = test_model_node (&t, "Relu", 1, a->outputs[0]);
  b = add_conv (&t, &c, a->outputs[0]);
  b = test_model_node (&t, "Add", 2, a->outputs[0], b->outputs[0]);
  b = test_model_node (&t, "Relu", 1, b->outputs[0]);
  b = add_conv (&t, &c, b->outputs[0]);
  s = test_model_node (&t, "Sigmoid", 1, b->outputs[0]);
  b = test_model_node (&t, "Mul", 2, b->outputs[0], s->outputs[0]);
  b = test_model_node (&t, "Add", 2, b->outputs[0], a->outputs[0]); /* a is used once more */
  model = test_model_finish (&t, b->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
}

static void
unary_operators_agree (gconstpointer data)
{
  TestModel t = test_model_new (18);
  AxonShape x = AXON_SHAPE (2, 5, 7);
  AxonNode *n = test_model_node (&t, data, 1, test_model_input (&t, "x", AXON_DTYPE_F32, &x));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) input = test_random (&x, 5);
  if (g_str_equal (data, "Log") || g_str_equal (data, "Sqrt"))
    for (gsize i = 0; i < axon_tensor_get_numel (input); i++)
      ((gfloat *)axon_tensor_get_data (input))[i] += 2;
  test_compare_devices (model, input, TOLERANCE);
}

typedef struct {
  const gchar *op;
  AxonShape a, b;
} PairCase;

static const PairCase pairs[] = {
  { "Add", { 4, { 1, 6, 5, 4 } }, { 4, { 1, 6, 1, 1 } } },
  { "Sub", { 3, { 2, 3, 4 } }, { 1, { 4 } } },
  { "Mul", { 2, { 3, 1 } }, { 2, { 1, 5 } } },
  { "Div", { 4, { 1, 2, 3, 4 } }, { 4, { 1, 2, 3, 4 } } },
  { "Sub", { 1, { 4 } }, { 2, { 3, 4 } } },
  { "MatMul", { 2, { 7, 12 } }, { 2, { 12, 9 } } },
  { "MatMul", { 3, { 2, 7, 12 } }, { 3, { 2, 12, 9 } } },
  { "MatMul", { 1, { 12 } }, { 2, { 12, 9 } } },
  { "PRelu", { 4, { 1, 6, 5, 4 } }, { 3, { 6, 1, 1 } } },
};

static void
pairs_with_broadcasting_agree (gconstpointer data)
{
  const PairCase *c = data;
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, c->op, 2, test_model_input (&t, "x", AXON_DTYPE_F32, &c->a),
                                 test_model_random (&t, &c->b, 8));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) input = test_random (&c->a, 6);
  test_compare_devices (model, input, TOLERANCE);
}

/* Views over channels-last data: transposes, slices, concatenation, reshape. */
static void
moves_after_a_convolution_agree (void)
{
  static const ConvCase c = { "Conv", { 1, 8, 10, 12 }, { 32, 8, 3, 3 }, 1, 1, 1, 1 };
  TestModel t = test_model_new (9);
  AxonShape x = AXON_SHAPE (1, 8, 10, 12);
  AxonNode *n = add_conv (&t, &c, test_model_input (&t, "x", AXON_DTYPE_F32, &x)), *s[2];
  g_autoptr (AxonTensor) input = test_random (&x, 4);
  g_autoptr (AxonModel) model = NULL;
  for (gint i = 0; i < 2; i++) {
    s[i] = test_model_node (&t, "Slice", 1, n->outputs[0]);
    axon_node_set_ints (s[i], "starts", (gint64[]){ i * 16, 1 }, 2);
    axon_node_set_ints (s[i], "ends", (gint64[]){ i * 16 + 16, -1 }, 2);
    axon_node_set_ints (s[i], "axes", (gint64[]){ 1, 3 }, 2);
  }
  s[1] = test_model_node (&t, "Relu", 1, s[1]->outputs[0]);
  n = test_model_node (&t, "Concat", 2, s[1]->outputs[0], s[0]->outputs[0]);
  axon_node_set_int (n, "axis", 1);
  n = test_model_node (&t, "Transpose", 1, n->outputs[0]);
  axon_node_set_ints (n, "perm", (gint64[]){ 0, 2, 3, 1 }, 4);
  n = test_model_node (&t, "Reshape", 2, n->outputs[0],
                       test_model_ints (&t, (gint64[]){ 1, -1, 4 }, 3));
  n = test_model_node (&t, "Softmax", 1, n->outputs[0]);
  axon_node_set_int (n, "axis", 2);
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
}

typedef struct {
  const gchar *op;
  gint64 kernel, stride, pad, ceil_mode, include_pad;
} PoolCase;

static const PoolCase pools[] = {
  { "MaxPool", 3, 2, 1, 0, 0 },     { "MaxPool", 2, 2, 0, 1, 0 },
  { "AveragePool", 3, 2, 1, 0, 0 }, { "AveragePool", 3, 1, 1, 0, 1 },
  { "AveragePool", 2, 2, 0, 1, 0 },
};

static void
pools_agree (gconstpointer data)
{
  const PoolCase *c = data;
  TestModel t = test_model_new (12);
  AxonShape x = AXON_SHAPE (1, 6, 11, 13);
  AxonNode *n = test_model_node (&t, c->op, 1, test_model_input (&t, "x", AXON_DTYPE_F32, &x));
  g_autoptr (AxonTensor) input = test_random (&x, 4);
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_ints (n, "kernel_shape", (gint64[]){ c->kernel, c->kernel }, 2);
  axon_node_set_ints (n, "strides", (gint64[]){ c->stride, c->stride }, 2);
  axon_node_set_ints (n, "pads", (gint64[]){ c->pad, c->pad, c->pad, c->pad }, 4);
  axon_node_set_int (n, "ceil_mode", c->ceil_mode);
  if (c->include_pad)
    axon_node_set_int (n, "count_include_pad", 1);
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
}

#define ADD_TABLE(table, func)                                                                     \
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {                                               \
    g_autofree gchar *path = g_strdup_printf ("/devices/" #func "/%u", i);                         \
    g_test_add_data_func (path, &table[i], func);                                                  \
  }

int
main (int argc, char **argv)
{
  static const gchar *const unary[] = { "Abs",       "Elu",  "Exp",       "HardSigmoid",
                                        "HardSwish", "Log",  "Mish",      "Neg",
                                        "Relu",      "Selu", "Sqrt",      "Sigmoid",
                                        "Softplus",  "Tanh", "LeakyRelu", "LogSoftmax" };
  g_test_init (&argc, &argv, NULL);
  ADD_TABLE (convs, convolutions_agree);
  ADD_TABLE (pairs, pairs_with_broadcasting_agree);
  ADD_TABLE (pools, pools_agree);
  for (guint i = 0; i < G_N_ELEMENTS (unary); i++) {
    g_autofree gchar *path = g_strdup_printf ("/devices/unary_operators_agree/%s", unary[i]);
    g_test_add_data_func (path, unary[i], unary_operators_agree);
  }
  g_test_add_func ("/devices/factors_of_channels_move_into_convolutions",
                   factors_of_channels_move_into_convolutions);
  g_test_add_func ("/devices/residuals_and_swish_are_fused_rightly",
                   residuals_and_swish_are_fused_rightly);
  g_test_add_func ("/devices/moves_after_a_convolution_agree", moves_after_a_convolution_agree);
  return g_test_run ();
}
