/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU's elementwise operators against the reference: special values, broadcasting, layouts. */
#include "axontest.h"

#include <math.h>

#define TOLERANCE 2e-5
#define TO_F32 1 /* TensorProto.DataType */
#define TO_U8 2
#define TO_I8 3
#define TO_I16 5
#define TO_I32 6
#define TO_I64 7
#define TO_F16 10
#define TO_BOOL 9

static AxonTensor *
special_values (void)
{
  static const gfloat values[] = { 0,     -0.0f,    0.5f,      -0.5f,  1.5f, 2.5f, -2.5f,
                                   1e-6f, INFINITY, -INFINITY, NAN,    20,   -20,  3.7f,
                                   -3.2f, 0.49999f, 1e30f,     -1e30f, 4,    -4,   0.01f };
  AxonShape shape = AXON_SHAPE (G_N_ELEMENTS (values));
  return test_tensor (&shape, values);
}

static void
unary_kernels_agree_on_special_values (gconstpointer op)
{
  static const gchar *const waves[] = { "Cos", "Sin", "Tan", NULL };
  TestModel t = test_model_new (24);
  g_autoptr (AxonTensor) x = special_values ();
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, axon_tensor_get_shape (x));
  AxonNode *n = test_model_node (&t, op, 1, in);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  /* Sines of huge angles differ by the angle's own rounding. */
  for (gsize i = 0; g_strv_contains (waves, op) && i < axon_tensor_get_numel (x); i++)
    if (fabsf (((gfloat *)axon_tensor_get_data (x))[i]) > 1e6f)
      ((gfloat *)axon_tensor_get_data (x))[i] = 1;
  test_compare_devices (model, x, TOLERANCE);
}

static AxonNode *
cast_to (TestModel *t, AxonValue *value, gint type)
{
  AxonNode *n = test_model_node (t, "Cast", 1, value);
  axon_node_set_int (n, "to", type);
  return n;
}

static AxonNode *
turn (TestModel *t, AxonValue *value, const gint64 *perm)
{
  AxonNode *n = test_model_node (t, "Transpose", 1, value);
  axon_node_set_ints (n, "perm", perm, 4);
  return n;
}

/* Peaks as detectors without NMS find them: channels last, compared, and bools moved. */
static void
comparisons_agree_however_operands_and_results_lie (void)
{
  static const gint64 first[] = { 0, 3, 1, 2 }, last[] = { 0, 2, 3, 1 };
  AxonShape shape = AXON_SHAPE (2, 5, 7, 33);
  for (gint i = 0; i < 2; i++) {
    TestModel t = test_model_new (20);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
    AxonNode *a = turn (&t, x, first), *n = test_model_node (&t, "Relu", 1, a->outputs[0]);
    g_autoptr (AxonTensor) input = test_random (&shape, 3);
    g_autoptr (AxonModel) model = NULL;
    n = test_model_node (&t, "Equal", 2, a->outputs[0], n->outputs[0]);
    if (i == 1)
      n = turn (&t, n->outputs[0], last);
    n = cast_to (&t, n->outputs[0], TO_F32);
    n = test_model_node (&t, "Mul", 2, n->outputs[0], i == 1 ? x : a->outputs[0]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

static void
whole_numbers_become_the_same_floats (void)
{
  static const gint types[] = { TO_U8, TO_I8, TO_I16, TO_I32, TO_BOOL };
  static const gint64 first[] = { 0, 3, 1, 2 };
  AxonShape shape = AXON_SHAPE (2, 5, 7, 33), scalar = { 0 };
  const gfloat hundred = 100;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    TestModel t = test_model_new (20);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
    AxonNode *n = test_model_node (&t, "Mul", 2, x, test_model_constant (&t, &scalar, &hundred));
    g_autoptr (AxonTensor) input = test_random (&shape, 3);
    g_autoptr (AxonModel) model = NULL;
    n = test_model_node (&t, "Relu", 1, n->outputs[0]);
    n = cast_to (&t, turn (&t, n->outputs[0], first)->outputs[0], types[i]);
    model = test_model_finish (&t, cast_to (&t, n->outputs[0], TO_F32)->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

/* Halves have no layouts: what reads them, as another device, takes them for row-major. */
static void
halves_of_what_lies_channels_last_are_row_major (void)
{
  static const gint64 last[] = { 0, 2, 3, 1 };
  AxonShape shape = AXON_SHAPE (1, 16, 9, 7), weights = AXON_SHAPE (32, 16, 3, 3);
  TestModel t = test_model_new (20);
  AxonNode *n = test_model_node (&t, "Conv", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                                 test_model_random (&t, &weights, 2));
  g_autoptr (AxonTensor) input = test_random (&shape, 3);
  g_autoptr (AxonModel) model = NULL;
  n = turn (&t, cast_to (&t, n->outputs[0], TO_F16)->outputs[0], last);
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, 2e-2);
}

static void
questions_about_numbers_agree (void)
{
  for (gint i = 0; i < 5; i++) {
    TestModel t = test_model_new (20);
    g_autoptr (AxonTensor) x = special_values ();
    AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, axon_tensor_get_shape (x));
    AxonNode *n = test_model_node (&t, i == 4 ? "IsNaN" : "IsInf", 1, in);
    g_autoptr (AxonModel) model = NULL;
    if (i < 4) {
      axon_node_set_int (n, "detect_negative", i & 1);
      axon_node_set_int (n, "detect_positive", i / 2);
    }
    model = test_model_finish (&t, cast_to (&t, n->outputs[0], TO_F32)->outputs[0]);
    test_compare_devices (model, x, 0);
  }
}

/* Of bool, and for what works on bits, of whole numbers of every size. */
static void
bits_agree (gconstpointer op)
{
  static const gint types[] = { TO_BOOL, TO_U8, TO_I16, TO_I32, TO_I64 };
  gboolean bitwise = g_str_has_prefix (op, "Bitwise");
  for (guint i = bitwise; i < (bitwise ? G_N_ELEMENTS (types) : 1); i++) {
    TestModel t = test_model_new (20);
    AxonShape xs = AXON_SHAPE (3, 37), row = AXON_SHAPE (37), scalar = { 0 };
    const gfloat nine = 9;
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &xs);
    AxonNode *a = test_model_node (&t, "Mul", 2, x, test_model_constant (&t, &scalar, &nine));
    AxonNode *b = test_model_node (&t, "Mul", 2, test_model_random (&t, &row, 2),
                                   test_model_constant (&t, &scalar, &nine));
    g_autoptr (AxonTensor) input = test_random (&xs, 3);
    g_autoptr (AxonModel) model = NULL;
    a = test_model_node (&t, "Floor", 1, test_model_node (&t, "Abs", 1, a->outputs[0])->outputs[0]);
    b = test_model_node (&t, "Floor", 1, test_model_node (&t, "Abs", 1, b->outputs[0])->outputs[0]);
    a = cast_to (&t, a->outputs[0], types[i]);
    b = cast_to (&t, b->outputs[0], types[i]);
    a = test_model_node (&t, op, g_str_has_suffix (op, "Not") ? 1 : 2, a->outputs[0],
                         b->outputs[0]);
    model = test_model_finish (&t, cast_to (&t, a->outputs[0], TO_F32)->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

static void
remainders_agree (void)
{
  TestModel t = test_model_new (20);
  AxonShape xs = AXON_SHAPE (3, 37), row = AXON_SHAPE (37);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &xs);
  AxonNode *n = test_model_node (&t, "Mod", 2, x, test_model_random (&t, &row, 2));
  g_autoptr (AxonTensor) input = test_random (&xs, 3);
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_int (n, "fmod", 1);
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
}

/* Of one to five inputs, some of them broadcast. */
static void
folds_agree (gconstpointer op)
{
  static const AxonShape shapes5[] = {
    { 3, { 3, 5, 37 } }, { 3, { 3, 5, 37 } }, { 2, { 5, 1 } }, { 0, { 0 } }, { 1, { 37 } }
  };
  for (guint n_in = 1; n_in <= G_N_ELEMENTS (shapes5); n_in++) {
    TestModel t = test_model_new (13);
    AxonValue *in[G_N_ELEMENTS (shapes5)];
    AxonNode *n;
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) x = test_random (&shapes5[0], 1);
    in[0] = test_model_input (&t, "x", AXON_DTYPE_F32, &shapes5[0]);
    for (guint i = 1; i < n_in; i++)
      in[i] = test_model_random (&t, &shapes5[i], i);
    n = test_model_node_of (&t, NULL, op, in, n_in, 1);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, TOLERANCE);
  }
}

static void
prelu_agrees_with_any_slopes_and_channels (void)
{
  for (gint64 c = 1; c <= 33; c += 4)
    for (gint kind = 0; kind < 4; kind++) {
      TestModel t = test_model_new (13);
      AxonShape xs = AXON_SHAPE (2, c, 5, 7), ws = AXON_SHAPE (c, c, 1, 1);
      const AxonShape slopes[] = {
        { 3, { c, 1, 1 } }, { 0, { 0 } }, { 4, { 1, c, 5, 7 } }, { 4, { 1, 1, 1, 7 } }
      };
      AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &xs);
      AxonNode *n = test_model_node (&t, "Conv", 2, x, test_model_random (&t, &ws, 1));
      g_autoptr (AxonModel) model = NULL;
      g_autoptr (AxonTensor) input = test_random (&xs, 2);
      n = test_model_node (&t, "PRelu", 2, kind == 1 ? x : n->outputs[0],
                           test_model_random (&t, &slopes[kind], 3));
      n = test_model_node (&t, "Conv", 2, n->outputs[0], test_model_random (&t, &ws, 4));
      model = test_model_finish (&t, n->outputs[0]);
      test_compare_devices (model, input, TOLERANCE);
    }
}

/* Where a result is no number, infinite or cut, one bound may be absent. */
static void
clip_agrees_with_and_without_bounds (void)
{
  AxonShape scalar = { 0 };
  const gfloat lo = -1, hi = 3;
  for (guint i = 0; i < 4; i++) {
    TestModel t = test_model_new (13);
    g_autoptr (AxonTensor) x = special_values ();
    AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, axon_tensor_get_shape (x)),
                        i & 1 ? test_model_constant (&t, &scalar, &lo) : NULL,
                        i & 2 ? test_model_constant (&t, &scalar, &hi) : NULL };
    AxonNode *n = test_model_node_of (&t, NULL, "Clip", in, i & 2 ? 3 : 2, 1);
    g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, 0);
  }
}

/* By itself, and behind what it is fused with. */
static void
bounds_in_the_wrong_order_clip_to_the_upper_one (void)
{
  AxonShape scalar = { 0 }, xs = AXON_SHAPE (1, 16, 9, 8), dense = AXON_SHAPE (24, 16, 3, 3),
            depthwise = AXON_SHAPE (16, 1, 3, 3), matrix = AXON_SHAPE (8, 20);
  const gfloat lo = 0.5f, hi = 0.25f;
  for (guint i = 0; i < 4; i++) {
    TestModel t = test_model_new (13);
    AxonValue *y = test_model_input (&t, "x", AXON_DTYPE_F32, &xs);
    AxonNode *n = NULL;
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) x = test_random (&xs, 4);
    if (i == 1 || i == 2)
      n = test_model_node (&t, "Conv", 2, y,
                           test_model_random (&t, i == 1 ? &dense : &depthwise, 5));
    else if (i == 3)
      n = test_model_node (&t, "MatMul", 2, y, test_model_random (&t, &matrix, 5));
    if (i == 2)
      axon_node_set_int (n, "group", 16);
    n = test_model_node (&t, "Clip", 3, n ? n->outputs[0] : y,
                         test_model_constant (&t, &scalar, &lo),
                         test_model_constant (&t, &scalar, &hi));
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, 0);
  }
}

/* Behind a convolution, whose result may lie in blocks of channels: what fills them stays 0. */
static void
activations_of_any_number_of_channels_agree (gconstpointer op)
{
  for (gint64 c = 1; c <= 33; c += 4) {
    TestModel t = test_model_new (24);
    AxonShape xs = AXON_SHAPE (1, 3, 5, 6), ws = AXON_SHAPE (c, 3, 1, 1),
              vs = AXON_SHAPE (2, c, 3, 3);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &xs);
    AxonNode *n = test_model_node (&t, "Conv", 2, x, test_model_random (&t, &ws, 1));
    AxonNode *pool = test_model_node (&t, "MaxPool", 1, n->outputs[0]);
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&xs, 2);
    axon_node_set_ints (pool, "kernel_shape", (gint64[]){ 2, 2 }, 2);
    n = test_model_node (&t, op, 1, pool->outputs[0]);
    n = test_model_node (&t, "Conv", 2, n->outputs[0], test_model_random (&t, &vs, 3));
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

static const struct {
  AxonShape a, b;
} shapes[] = {
  { { 3, { 2, 3, 4 } }, { 3, { 2, 3, 4 } } }, { { 3, { 2, 3, 4 } }, { 1, { 4 } } },
  { { 3, { 2, 3, 4 } }, { 3, { 2, 1, 4 } } }, { { 2, { 3, 1 } }, { 2, { 1, 5 } } },
  { { 1, { 7 } }, { 3, { 2, 3, 7 } } },       { { 3, { 2, 3, 4 } }, { 0, { 0 } } },
  { { 2, { 300, 200 } }, { 2, { 300, 1 } } }, { { 1, { 0 } }, { 1, { 1 } } },
};

static void
pair_kernels_agree_with_every_broadcast (gconstpointer op)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    TestModel t = test_model_new (18);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shapes[i].a);
    AxonNode *n = test_model_node (&t, op, 2, x, test_model_random (&t, &shapes[i].b, 3));
    g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
    g_autoptr (AxonTensor) input = test_random (&shapes[i].a, 4);
    if (g_str_equal (op, "Pow")) /* of positive numbers */
      for (gsize k = 0; k < axon_tensor_get_numel (input); k++)
        ((gfloat *)axon_tensor_get_data (input))[k] += 1.1f;
    test_compare_devices (model, input, TOLERANCE);
  }
}

static void
where_agrees_with_every_broadcast (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint order = 0; order < 2; order++) {
      TestModel t = test_model_new (16);
      AxonShape scalar = { 0 };
      AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shapes[i].a);
      AxonValue *b = test_model_random (&t, &shapes[i].b, 5);
      AxonNode *c = test_model_node (&t, "Less", 2, x, test_model_random (&t, &scalar, 6));
      AxonNode *n = test_model_node (&t, "Where", 3, c->outputs[0], order ? x : b, order ? b : x);
      g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
      g_autoptr (AxonTensor) input = test_random (&shapes[i].a, 7);
      test_compare_devices (model, input, 0);
    }
}

#define ADD(name) g_test_add_func ("/eltwise/" #name, name)
#define ADD_EACH(list, name)                                                                       \
  for (guint i = 0; i < G_N_ELEMENTS (list); i++) {                                                \
    g_autofree gchar *path = g_strconcat ("/eltwise/" #name "/", list[i], NULL);                   \
    g_test_add_data_func (path, list[i], name);                                                    \
  }

int
main (int argc, char **argv)
{
  static const gchar *const unary[] = {
    "Abs",       "Acos",      "Acosh",
    "Asin",      "Asinh",     "Atan",
    "Atanh",     "Ceil",      "Celu",
    "Clip",      "Cos",       "Cosh",
    "Elu",       "Erf",       "Exp",
    "Floor",     "Gelu",      "HardSigmoid",
    "HardSwish", "LeakyRelu", "Log",
    "Mish",      "Neg",       "Reciprocal",
    "Relu",      "Round",     "Selu",
    "Shrink",    "Sigmoid",   "Sign",
    "Sin",       "Sinh",      "Softplus",
    "Softsign",  "Sqrt",      "Swish",
    "Tan",       "Tanh",      "ThresholdedRelu",
  };
  static const gchar *const folds[] = { "Max", "Mean", "Min", "Sum" };
  static const gchar *const bits[] = { "And",        "Not",        "Or",        "Xor",
                                       "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor" };
  static const gchar *const behind[] = { "Exp", "Sigmoid", "Tanh" };
  static const gchar *const pairs[] = { "Add",  "Sub",        "Mul",   "Div",     "Max",
                                        "Min",  "Pow",        "Equal", "Greater", "GreaterOrEqual",
                                        "Less", "LessOrEqual" };
  g_test_init (&argc, &argv, NULL);
  ADD_EACH (unary, unary_kernels_agree_on_special_values);
  ADD_EACH (folds, folds_agree);
  ADD (prelu_agrees_with_any_slopes_and_channels);
  ADD_EACH (bits, bits_agree);
  ADD (comparisons_agree_however_operands_and_results_lie);
  ADD (whole_numbers_become_the_same_floats);
  ADD (halves_of_what_lies_channels_last_are_row_major);
  ADD (questions_about_numbers_agree);
  ADD (remainders_agree);
  ADD (clip_agrees_with_and_without_bounds);
  ADD (bounds_in_the_wrong_order_clip_to_the_upper_one);
  ADD_EACH (behind, activations_of_any_number_of_channels_agree);
  ADD_EACH (pairs, pair_kernels_agree_with_every_broadcast);
  ADD (where_agrees_with_every_broadcast);
  return g_test_run ();
}
