/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions that oneDNN computes by its portable code, or by multiplying matrices, amid others
 * that it has kernels for and whose layout the graph therefore has; and functions behind them that
 * it has no fast code for. */
#include "axontest.h"

#include <string.h>

#define CHANNELS 64
#define TOLERANCE 1e-4

typedef struct {
  const gchar *name;
  gint64 kernel[2], stride, dilation;
  gboolean slopes;
} Row;

static const Row rows[] = {
  { "slopes behind 1x1", { 1, 1 }, 1, 1, TRUE },
  { "slopes behind 5x5", { 5, 5 }, 1, 1, TRUE },
  { "slopes behind a stride", { 3, 3 }, 2, 1, TRUE },
  { "dilated far", { 3, 3 }, 1, 6, FALSE },
  { "dilated far in a row", { 1, 3 }, 1, 8, FALSE },
  { "nine columns", { 1, 9 }, 1, 1, FALSE },
  { "9x9", { 9, 9 }, 1, 1, FALSE },
  { "slopes behind 9x9", { 9, 9 }, 1, 1, TRUE },
};

/* Small ones, so that sums of many layers stay numbers. */
static AxonValue *
weights (TestModel *t, const AxonShape *shape)
{
  g_autoptr (AxonTensor) tensor = test_random (shape, 2);
  gfloat *w = axon_tensor_get_data (tensor);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    w[i] *= 0.1f;
  return test_model_constant (t, shape, w);
}

/* Followed by an activation. */
static AxonValue *
convolve (TestModel *t, AxonValue *x, const Row *row)
{
  AxonShape w = AXON_SHAPE (CHANNELS, CHANNELS, row->kernel[0], row->kernel[1]);
  AxonShape slopes = AXON_SHAPE (CHANNELS, 1, 1);
  gint64 top = row->kernel[0] / 2 * row->dilation, left = row->kernel[1] / 2 * row->dilation;
  AxonNode *n = test_model_node (t, "Conv", 2, x, weights (t, &w));
  axon_node_set_ints (n, "pads", (gint64[]){ top, left, top, left }, 4);
  axon_node_set_ints (n, "strides", (gint64[]){ row->stride, row->stride }, 2);
  axon_node_set_ints (n, "dilations", (gint64[]){ row->dilation, row->dilation }, 2);
  n = row->slopes
          ? test_model_node (t, "PRelu", 2, n->outputs[0], test_model_random (t, &slopes, 5))
          : test_model_node (t, "Relu", 1, n->outputs[0]);
  return n->outputs[0];
}

static void
fail_if_it_is_no_kernel (const AxonNode *node)
{
  const gchar *by = node->exec_type ? node->exec_type : "";
  if (strstr (by, "ref") == NULL && strstr (by, "gemm:jit") == NULL)
    return;
  g_test_message ("%s runs \"%s\"", node->op->name, by);
  g_test_fail ();
}

/* Most of the work is by others, so that they decide about the layout. */
static void
a_convolution_amid_others_has_a_kernel (gconstpointer data)
{
  static const Row other = { NULL, { 3, 3 }, 1, 1, FALSE };
  const Row *row = data;
  const gint others = (gint)(row->kernel[0] * row->kernel[1]);
  const AxonShape shape = AXON_SHAPE (1, CHANNELS, 10, 18);
  g_autoptr (AxonTensor) x = test_random (&shape, 7);
  g_autoptr (AxonModel) model = NULL, runtime = NULL;
  TestModel t = test_model_new (16);
  AxonValue *y = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  for (gint i = 0; i < others; i++)
    y = convolve (&t, y, &other);
  y = convolve (&t, convolve (&t, y, row), &other);
  model = test_model_finish (&t, y);
  test_compare_devices (model, x, TOLERANCE);
  runtime = test_runtime_model (model, "CPU");
  for (guint i = 0; i < runtime->nodes->len; i++)
    fail_if_it_is_no_kernel (g_ptr_array_index (runtime->nodes, i));
}

/* Channels that fill blocks, and some that do not. */
static const struct {
  const gchar *name, *op;
  gint64 channels;
  enum { NOTHING, RESIDUAL, RESIDUAL_FIRST } added;
} functions[] = {
  { "SiLU", NULL, 16, NOTHING },
  { "SiLU and a residual", NULL, 16, RESIDUAL },
  { "SiLU of a sum", NULL, 16, RESIDUAL_FIRST },
  { "SiLU of 12", NULL, 12, RESIDUAL },
  { "HardSwish of 12", "HardSwish", 12, RESIDUAL },
  { "Sigmoid", "Sigmoid", 16, RESIDUAL },
  { "Sigmoid of 12", "Sigmoid", 12, NOTHING },
  { "Tanh of a sum of 12", "Tanh", 12, RESIDUAL_FIRST },
  { "Gelu", "Gelu", 16, RESIDUAL },
};

static AxonValue *
conv_3x3 (TestModel *t, AxonValue *x, gint64 channels)
{
  AxonShape w = AXON_SHAPE (channels, channels, 3, 3);
  AxonNode *n = test_model_node (t, "Conv", 2, x, weights (t, &w));
  axon_node_set_ints (n, "pads", (gint64[]){ 1, 1, 1, 1 }, 4);
  return n->outputs[0];
}

static AxonValue *
activate (TestModel *t, AxonValue *x, const gchar *op)
{
  AxonValue *y = test_model_node (t, op ? op : "Sigmoid", 1, x)->outputs[0];
  return op ? y : test_model_node (t, "Mul", 2, x, y)->outputs[0];
}

/* What is left in the last block must not reach the convolution behind. */
static void
a_function_behind_a_convolution_agrees (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  const gint64 channels = functions[i].channels;
  const AxonShape shape = AXON_SHAPE (2, channels, 7, 9);
  g_autoptr (AxonTensor) x = test_random (&shape, i);
  g_autoptr (AxonModel) model = NULL;
  TestModel t = test_model_new (20);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &shape), *before, *y;
  before = test_model_node (&t, "Relu", 1, conv_3x3 (&t, in, channels))->outputs[0];
  y = conv_3x3 (&t, before, channels);
  if (functions[i].added == RESIDUAL_FIRST)
    y = test_model_node (&t, "Add", 2, y, before)->outputs[0];
  y = activate (&t, y, functions[i].op);
  if (functions[i].added == RESIDUAL)
    y = test_model_node (&t, "Add", 2, before, y)->outputs[0];
  model = test_model_finish (&t, conv_3x3 (&t, y, channels));
  test_compare_devices (model, x, TOLERANCE);
}

/* Of 24 channels, as in a ghost module: 12, and 12 more that are made of them. */
static AxonValue *
ghost (TestModel *t, AxonValue *x)
{
  AxonShape w = AXON_SHAPE (12, 24, 1, 1), each = AXON_SHAPE (12, 1, 3, 3);
  AxonValue *own = test_model_node (t, "Conv", 2, x, weights (t, &w))->outputs[0];
  AxonNode *made = test_model_node (t, "Conv", 2, own, weights (t, &each)), *n;
  axon_node_set_int (made, "group", 12);
  axon_node_set_ints (made, "pads", (gint64[]){ 1, 1, 1, 1 }, 4);
  n = test_model_node (t, "Concat", 2, own, made->outputs[0]);
  axon_node_set_int (n, "axis", 1);
  return n->outputs[0];
}

/* oneDNN moves pictures into blocks and out of them ("jit:uni"). */
static void
channels_that_do_not_fill_blocks_are_not_moved_into_them (void)
{
  const AxonShape shape = AXON_SHAPE (1, 24, 14, 14);
  g_autoptr (AxonTensor) x = test_random (&shape, 3);
  g_autoptr (AxonModel) model = NULL, runtime = NULL;
  TestModel t = test_model_new (13);
  AxonValue *y = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  for (guint i = 0; i < 4; i++)
    y = ghost (&t, y);
  model = test_model_finish (&t, y);
  test_compare_devices (model, x, TOLERANCE);
  runtime = test_runtime_model (model, "CPU");
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (runtime->nodes, i);
    g_assert_null (node->exec_type ? strstr (node->exec_type, "jit:uni") : NULL);
  }
}

static const struct {
  const gchar *op;
  gdouble low, high; /* of Clip; else alpha */
} pairable[] = {
  { "LeakyRelu", 0.01, 0 }, { "LeakyRelu", 0.5, 0 }, { "Relu", 0, 0 },      { "Elu", 0.5, 0 },
  { "Elu", 2, 0 },          { "Clip", -3, 5 },       { "Clip", -1, 2 },     { "Sigmoid", 0, 0 },
  { "Tanh", 0, 0 },         { "Mish", 0, 0 },        { "HardSwish", 0, 0 }, { "SiLU", 0, 0 },
};

static AxonValue *
apply (TestModel *t, AxonValue *x, guint i)
{
  const gfloat low = (gfloat)pairable[i].low, high = (gfloat)pairable[i].high;
  const AxonShape one = { 0 };
  AxonNode *n;
  if (g_str_equal (pairable[i].op, "SiLU"))
    return activate (t, x, NULL);
  if (g_str_equal (pairable[i].op, "Clip"))
    return test_model_node (t, "Clip", 3, x, test_model_constant (t, &one, &low),
                            test_model_constant (t, &one, &high))
        ->outputs[0];
  n = test_model_node (t, pairable[i].op, 1, x);
  if (pairable[i].low != 0)
    axon_node_set_float (n, "alpha", low);
  return n->outputs[0];
}

/* A product, or a convolution of pixels or of 3x3, then one function, then another: oneDNN computes
 * two of one algorithm (LeakyRelu and Relu, Clip twice) both with the arguments of one. */
static void
two_functions_behind_one_another_agree (void)
{
  const guint n = G_N_ELEMENTS (pairable);
  const AxonShape shape = AXON_SHAPE (1, 16, 5, 16), square = AXON_SHAPE (16, 16);
  const AxonShape pixel = AXON_SHAPE (16, 16, 1, 1);
  for (guint i = 0; i < 3 * n * n; i++) {
    g_autoptr (AxonTensor) x = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    TestModel t = test_model_new (20);
    AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &shape), *y;
    for (gsize k = 0; k < axon_tensor_get_numel (x); k++)
      ((gfloat *)axon_tensor_get_data (x))[k] *= 8;
    y = i % 3 == 2 ? conv_3x3 (&t, in, 16)
                   : test_model_node (&t, i % 3 ? "Conv" : "MatMul", 2, in,
                                      weights (&t, i % 3 ? &pixel : &square))
                         ->outputs[0];
    model = test_model_finish (&t, apply (&t, apply (&t, y, i / 3 % n), i / 3 / n));
    test_compare_devices (model, x, TOLERANCE);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *path = g_strdup_printf ("/amid/kernel/%s", rows[i].name);
    g_test_add_data_func (path, &rows[i], a_convolution_amid_others_has_a_kernel);
  }
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++) {
    g_autofree gchar *path = g_strdup_printf ("/amid/function/%s", functions[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), a_function_behind_a_convolution_agrees);
  }
  g_test_add_func ("/amid/function/two_functions_behind_one_another_agree",
                   two_functions_behind_one_another_agree);
  g_test_add_func ("/amid/channels_that_do_not_fill_blocks_are_not_moved_into_them",
                   channels_that_do_not_fill_blocks_are_not_moved_into_them);
  return g_test_run ();
}
