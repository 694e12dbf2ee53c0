/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the passes make of quantised chains, and that it means the same. Scales are powers of two,
 * so that floats are exact. */
#include "axontest.h"

#include <math.h>
#include <string.h>

#define TO_F32 1 /* TensorProto.DataType */

static AxonValue *
scalar (TestModel *t, gdouble value)
{
  return axon_pass_add_scalar (t->model, AXON_DTYPE_F32, value);
}

static AxonValue *
floats (TestModel *t, guint n, const gfloat *values)
{
  AxonShape shape = AXON_SHAPE (n);
  return test_model_constant (t, &shape, values);
}

static AxonValue *
integers (TestModel *t, AxonDType dtype, const AxonShape *shape, gint step)
{
  g_autoptr (AxonTensor) tensor = axon_tensor_new (dtype, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    axon_dtype_store (dtype, axon_tensor_get_data (tensor), i, (gint)i * step % 11 - 5);
  return axon_model_add_constant (t->model, NULL, tensor);
}

static AxonValue *
dequantized (TestModel *t, AxonValue *x, AxonValue *scale, gint axis)
{
  AxonNode *node = test_model_node (t, "DequantizeLinear", 2, x, scale);
  axon_node_set_int (node, "axis", axis);
  return node->outputs[0];
}

static AxonModel *
quantized (TestModel *t, AxonValue *y, gdouble scale)
{
  AxonValue *zero = axon_pass_add_scalar (t->model, AXON_DTYPE_I8, 3);
  AxonNode *q = test_model_node (t, "QuantizeLinear", 3, y, scalar (t, scale), zero);
  return test_model_finish (t, q->outputs[0]);
}

static AxonValue *
input (TestModel *t, const AxonShape *shape)
{
  return dequantized (t, test_model_input (t, "x", AXON_DTYPE_I8, shape), scalar (t, 0.5), 0);
}

static AxonTensor *
input_tensor (const AxonShape *shape)
{
  AxonTensor *x = axon_tensor_new (AXON_DTYPE_I8, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (x); i++)
    ((gint8 *)axon_tensor_get_data (x))[i] = (gint8)(i * 37 % 255 - 127);
  return x;
}

static AxonNode *
find (AxonModel *model, const gchar *op)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (g_str_equal (node->op->name, op))
      return node;
  }
  return NULL;
}

typedef gboolean (*Pass) (AxonModel *model, GError **error);

static AxonModel *
passed (AxonModel *model, Pass pass)
{
  AxonModel *clone = axon_model_clone (model);
  g_autoptr (GError) error = NULL;
  gboolean ok = pass (clone, &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  g_assert_true (axon_model_verify (clone, NULL));
  return clone;
}

/* Both models give the same on TEMPLATE, without passes. */
static void
assert_same (AxonModel *a, AxonModel *b, AxonTensor *x, gdouble tolerance)
{
  const gchar *plain = "{'DISABLE_TRANSFORMATIONS': <'YES'>}";
  g_autoptr (AxonTensor) p = test_run (a, "TEMPLATE", g_variant_new_parsed (plain), x);
  g_autoptr (AxonTensor) q = test_run (b, "TEMPLATE", g_variant_new_parsed (plain), x);
  g_assert_cmpfloat (test_largest_difference (p, q), <=, tolerance);
}

/* DequantizeLinear, Conv of 2 channels with @bias, Clip, QuantizeLinear */
static AxonModel *
conv_model (TestModel *t, AxonValue *bias, gdouble lo, gdouble hi)
{
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5), ws = AXON_SHAPE (2, 2, 3, 3);
  AxonValue *x = input (t, &xs);
  AxonValue *w = dequantized (t, integers (t, AXON_DTYPE_I8, &ws, 7),
                              floats (t, 2, (gfloat[]){ 0.25f, 0.5f }), 0);
  AxonNode *conv = test_model_node (t, "Conv", 3, x, w, bias);
  AxonNode *clip = test_model_node (t, "Clip", 3, conv->outputs[0], scalar (t, lo), scalar (t, hi));
  return quantized (t, clip->outputs[0], 1);
}

static void
check_bias (AxonModel *model, const AxonTensor *expected)
{
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5);
  g_autoptr (AxonTensor) x = input_tensor (&xs);
  g_autoptr (AxonModel) fused = passed (model, axon_pass_fuse_quantized_convolutions);
  AxonNode *node = find (fused, "QLinearConv");
  if (expected == NULL) {
    g_assert_null (node);
    return;
  }
  g_assert_nonnull (node);
  for (gsize i = 0; i < 2; i++)
    g_assert_cmpfloat (axon_tensor_get_value (node->inputs[8]->type.value, i), ==,
                       axon_tensor_get_value (expected, i));
  assert_same (model, fused, x, 0);
}

static AxonTensor *
pair_of (AxonDType dtype, gdouble a, gdouble b)
{
  AxonShape shape = AXON_SHAPE (2);
  AxonTensor *tensor = axon_tensor_new (dtype, &shape, NULL);
  axon_dtype_store (dtype, axon_tensor_get_data (tensor), 0, a);
  axon_dtype_store (dtype, axon_tensor_get_data (tensor), 1, b);
  return tensor;
}

static void
a_bias_is_brought_to_the_scale_of_the_products (void)
{
  g_autoptr (AxonTensor) given = pair_of (AXON_DTYPE_I32, 100, -36);
  g_autoptr (AxonTensor) rescaled = pair_of (AXON_DTYPE_I32, 800, -144);
  static const struct {
    gfloat scale[2];
    gboolean stands;
  } cases[] = { { { 0.125f, 0.25f }, TRUE }, { { 1, 1 }, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    TestModel t = test_model_new (13);
    AxonValue *bias = dequantized (&t, axon_model_add_constant (t.model, NULL, given),
                                   floats (&t, 2, cases[i].scale), 0);
    g_autoptr (AxonModel) model = conv_model (&t, bias, -3e38, 3e38);
    check_bias (model, cases[i].stands ? given : rescaled);
  }
}

static void
a_bias_that_does_not_fit_stays_a_float (void)
{
  static const gfloat biases[][2] = { { 1e9f, 0 }, { 0, -3e9f }, { INFINITY, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (biases); i++) {
    TestModel t = test_model_new (13);
    g_autoptr (AxonModel) model = conv_model (&t, floats (&t, 2, biases[i]), -3e38, 3e38);
    check_bias (model, NULL);
  }
}

static void
a_bias_whose_scale_only_data_say_stays_a_float (void)
{
  AxonShape one = AXON_SHAPE (1);
  TestModel t = test_model_new (13);
  g_autoptr (AxonTensor) given = pair_of (AXON_DTYPE_I32, 100, -36);
  AxonValue *scale = test_model_input (&t, "scale", AXON_DTYPE_F32, &one);
  AxonValue *bias = dequantized (&t, axon_model_add_constant (t.model, NULL, given), scale, 0);
  g_autoptr (AxonModel) model = conv_model (&t, bias, -3e38, 3e38);
  check_bias (model, NULL);
}

static void
a_float_bias_is_rounded_to_the_scale_of_the_products (void)
{
  TestModel t = test_model_new (13);
  g_autoptr (AxonTensor) expected = pair_of (AXON_DTYPE_I32, 12, -8);
  g_autoptr (AxonModel) model =
      conv_model (&t, floats (&t, 2, (gfloat[]){ 1.5f, -2 }), -3e38, 3e38);
  check_bias (model, expected);
}

static void
a_clamp_survives_fusing_and_expanding (void)
{
  static const gdouble bounds[][2] = { { 0, 3e38 }, { -7, 11 }, { -3e38, 4 }, { 9, -9 } };
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5);
  g_autoptr (AxonTensor) x = input_tensor (&xs);
  for (guint i = 0; i < G_N_ELEMENTS (bounds); i++) {
    TestModel t = test_model_new (13);
    g_autoptr (AxonModel) model =
        conv_model (&t, floats (&t, 2, (gfloat[]){ 1, -1 }), bounds[i][0], bounds[i][1]);
    g_autoptr (AxonModel) fused = passed (model, axon_pass_fuse_quantized_convolutions);
    g_autoptr (AxonModel) expanded = passed (fused, axon_pass_expand_quantized);
    g_assert_nonnull (axon_node_find_attr (find (fused, "QLinearConv"), "axon.clip"));
    g_assert_null (find (expanded, "QLinearConv"));
    assert_same (model, fused, x, 0);
    assert_same (model, expanded, x, 0);
    test_compare_devices (model, x, 0);
  }
}

static void
a_broadcast_sum_keeps_its_clamp (void)
{
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5), bs = AXON_SHAPE (2, 1, 1);
  g_autoptr (AxonTensor) x = input_tensor (&xs);
  TestModel t = test_model_new (13);
  AxonValue *a = input (&t, &xs);
  AxonValue *b = dequantized (&t, integers (&t, AXON_DTYPE_I8, &bs, 7), scalar (&t, 2), 0);
  AxonNode *relu =
      test_model_node (&t, "Relu", 1, test_model_node (&t, "Add", 2, a, b)->outputs[0]);
  g_autoptr (AxonModel) model = quantized (&t, relu->outputs[0], 1);
  g_autoptr (AxonModel) fused = passed (model, axon_pass_fuse_quantized_sums);
  g_autoptr (AxonModel) expanded = passed (fused, axon_pass_expand_quantized);
  g_assert_nonnull (axon_node_find_attr (find (fused, "QLinearAdd"), "axon.clip"));
  g_assert_nonnull (find (expanded, "Clip"));
  assert_same (model, fused, x, 0);
  assert_same (model, expanded, x, 0);
  test_compare_devices (model, x, 0);
}

static void
check_product (TestModel *t, AxonValue *y, const AxonShape *xs, const gchar *op)
{
  AxonNode *relu = test_model_node (t, "Relu", 1, y), *node;
  g_autoptr (AxonModel) model = quantized (t, relu->outputs[0], 1);
  g_autoptr (AxonTensor) x = input_tensor (xs);
  g_autoptr (AxonModel) fused = passed (model, axon_pass_fuse_quantized_products);
  g_autoptr (AxonModel) expanded = passed (fused, axon_pass_expand_quantized);
  node = find (fused, op);
  g_assert_nonnull (node);
  g_assert_cmpuint (fused->nodes->len, ==, 1);
  g_assert_cmpuint (node->origins->len, >=, 4);
  g_assert_nonnull (axon_node_find_attr (node, "axon.clip"));
  assert_same (model, fused, x, 0);
  assert_same (model, expanded, x, 0);
  test_compare_devices (model, x, 0);
}

static void
a_product_with_scaled_columns_becomes_integers (void)
{
  AxonShape xs = AXON_SHAPE (3, 4), ws = AXON_SHAPE (4, 2);
  TestModel t = test_model_new (13);
  AxonValue *x = input (&t, &xs);
  AxonValue *w = dequantized (&t, integers (&t, AXON_DTYPE_I8, &ws, 7),
                              floats (&t, 2, (gfloat[]){ 0.25f, 0.5f }), 1);
  check_product (&t, test_model_node (&t, "MatMul", 2, x, w)->outputs[0], &xs, "QLinearMatMul");
}

static void
a_product_of_two_computed_operands_becomes_integers (void)
{
  AxonShape xs = AXON_SHAPE (4, 4);
  TestModel t = test_model_new (13);
  AxonValue *x = input (&t, &xs), *raw = x->producer->inputs[0];
  AxonValue *turned = test_model_node (&t, "Transpose", 1, raw)->outputs[0];
  AxonNode *matmul =
      test_model_node (&t, "MatMul", 2, x, dequantized (&t, turned, scalar (&t, 0.125), 0));
  g_autoptr (AxonModel) model = quantized (&t, matmul->outputs[0], 64);
  g_autoptr (AxonTensor) tensor = input_tensor (&xs);
  g_autoptr (AxonModel) fused = passed (model, axon_pass_fuse_quantized_products);
  g_assert_nonnull (find (fused, "QLinearMatMul"));
  assert_same (model, fused, tensor, 0);
}

static void
the_factors_of_a_gemm_are_folded (void)
{
  AxonShape xs = AXON_SHAPE (3, 4), ws = AXON_SHAPE (2, 4);
  TestModel t = test_model_new (13);
  AxonValue *x = input (&t, &xs), *bias = floats (&t, 2, (gfloat[]){ 3, -5 });
  AxonValue *w = dequantized (&t, integers (&t, AXON_DTYPE_I8, &ws, 7),
                              floats (&t, 2, (gfloat[]){ 0.25f, 0.5f }), 0);
  AxonNode *gemm = test_model_node (&t, "Gemm", 3, x, w, bias);
  axon_node_set_int (gemm, "transB", 1);
  axon_node_set_float (gemm, "alpha", 0.5);
  axon_node_set_float (gemm, "beta", 4);
  check_product (&t, gemm->outputs[0], &xs, "QGemm");
}

static void
check_transposed (gint64 group, gboolean per_channel)
{
  AxonShape xs = AXON_SHAPE (1, 4, 3, 3), ws = AXON_SHAPE (4, 2, 2, 2);
  TestModel t = test_model_new (13);
  AxonValue *x = input (&t, &xs), *w = integers (&t, AXON_DTYPE_I8, &ws, 7), *bias;
  AxonNode *conv;
  w = dequantized (&t, w,
                   per_channel ? floats (&t, 2, (gfloat[]){ 0.25f, 0.5f }) : scalar (&t, 0.25), 1);
  bias = floats (&t, (guint)(2 * group), (gfloat[]){ 1, -2, 3, 4 });
  conv = test_model_node (&t, "ConvTranspose", 3, x, w, bias);
  axon_node_set_int (conv, "group", group);
  axon_node_set_ints (conv, "strides", (gint64[]){ 2, 2 }, 2);
  axon_node_set_ints (conv, "output_padding", (gint64[]){ 1, 0 }, 2);
  check_product (&t, conv->outputs[0], &xs, "QLinearConvTranspose");
}

static void
a_transposed_convolution_becomes_integers_in_each_group (void)
{
  check_transposed (1, FALSE);
  check_transposed (1, TRUE);
  check_transposed (2, FALSE);
  check_transposed (2, TRUE);
}

/* What dynamic quantisation writes after @quantize, for a Conv or a MatMul with a bias of 2. */
static AxonValue *
dynamic_chain (TestModel *t, AxonNode *quantize, gboolean conv, gboolean swapped)
{
  AxonShape ws = conv ? AXON_SHAPE (2, 2, 3, 3) : AXON_SHAPE (5, 2);
  AxonShape per = conv ? AXON_SHAPE (1, 2, 1, 1) : AXON_SHAPE (2);
  AxonValue *w = integers (t, AXON_DTYPE_I8, &ws, 7);
  AxonNode *product = test_model_node (t, conv ? "ConvInteger" : "MatMulInteger", 3,
                                       quantize->outputs[0], w, quantize->outputs[2]);
  AxonNode *cast = test_model_node (t, "Cast", 1, product->outputs[0]);
  AxonValue *w_scale = test_model_constant (t, &per, (gfloat[]){ 0.25f, 0.5f });
  AxonValue *bias = test_model_constant (t, &per, (gfloat[]){ 3, -1 });
  AxonValue *s[] = { quantize->outputs[1], w_scale }, *y;
  axon_node_set_int (cast, "to", TO_F32);
  y = test_model_node (t, "Mul", 2, s[swapped], s[!swapped])->outputs[0];
  y = test_model_node (t, "Mul", 2, swapped ? y : cast->outputs[0], swapped ? cast->outputs[0] : y)
          ->outputs[0];
  return test_model_node (t, "Add", 2, swapped ? bias : y, swapped ? y : bias)->outputs[0];
}

static AxonNode *
dynamic_input (TestModel *t, const AxonShape *shape)
{
  AxonValue *x = test_model_input (t, "x", AXON_DTYPE_F32, shape);
  return test_model_node_of (t, NULL, "DynamicQuantizeLinear", &x, 1, 3);
}

static void
a_dynamically_quantised_chain_becomes_one_node (void)
{
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5);
  g_autoptr (AxonTensor) x = test_random (&xs, 1);
  for (guint i = 0; i < 4; i++) {
    TestModel t = test_model_new (13);
    AxonValue *y = dynamic_chain (&t, dynamic_input (&t, &xs), i < 2, i % 2);
    g_autoptr (AxonModel) model = test_model_finish (&t, y);
    g_autoptr (AxonModel) fused = passed (model, axon_pass_fuse_dynamic_quantization);
    AxonNode *node = find (fused, i < 2 ? "ConvIntegerToFloat" : "MatMulIntegerToFloat");
    g_assert_nonnull (node);
    g_assert_cmpuint (fused->nodes->len, ==, 2);
    g_assert_cmpuint (node->origins->len, ==, 5);
    assert_same (model, fused, x, 2e-6);
    test_compare_devices (model, x, 2e-6);
  }
}

static void
one_scale_serves_several_chains (void)
{
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5);
  g_autoptr (AxonTensor) x = test_random (&xs, 2);
  TestModel t = test_model_new (13);
  AxonNode *quantize = dynamic_input (&t, &xs);
  AxonValue *a = dynamic_chain (&t, quantize, TRUE, FALSE);
  AxonValue *b = dynamic_chain (&t, quantize, TRUE, TRUE);
  g_autoptr (AxonModel) model =
      test_model_finish (&t, test_model_node (&t, "Concat", 2, a, b)->outputs[0]);
  g_autoptr (AxonModel) fused = NULL;
  axon_node_set_int (find (model, "Concat"), "axis", 1);
  fused = passed (model, axon_pass_fuse_dynamic_quantization);
  g_assert_cmpuint (fused->nodes->len, ==, 4);
  assert_same (model, fused, x, 2e-6);
}

static void
a_chain_whose_sums_are_wanted_stays (void)
{
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5);
  TestModel t = test_model_new (13);
  AxonValue *y = dynamic_chain (&t, dynamic_input (&t, &xs), TRUE, FALSE);
  g_autoptr (AxonModel) fused = NULL;
  axon_model_add_output (t.model, find (t.model, "ConvInteger")->outputs[0]);
  t.model = test_model_finish (&t, y);
  fused = passed (t.model, axon_pass_fuse_dynamic_quantization);
  g_assert_nonnull (find (fused, "ConvInteger"));
  g_assert_null (find (fused, "ConvIntegerToFloat"));
  g_object_unref (t.model);
}

/* HardSwish is not among those that a dynamically quantised convolution takes. */
static void
one_activation_moves_into_a_dynamic_convolution_on_cpu (void)
{
  static const gchar *const activations[] = { "Relu",  "LeakyRelu", "Sigmoid",
                                              "Swish", "HardSwish", NULL };
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5);
  g_autoptr (AxonTensor) x = test_random (&xs, 3);
  for (guint i = 0; activations[i] != NULL; i++) {
    gboolean swish = g_str_equal (activations[i], "Swish");
    guint steps = g_str_equal (activations[i], "HardSwish") ? 4 : 3;
    TestModel t = test_model_new (14);
    AxonValue *y = dynamic_chain (&t, dynamic_input (&t, &xs), TRUE, FALSE), *z;
    g_autoptr (AxonModel) model = NULL, runtime = NULL;
    z = test_model_node (&t, swish ? "Sigmoid" : activations[i], 1, y)->outputs[0];
    z = swish ? test_model_node (&t, "Mul", 2, y, z)->outputs[0] : z;
    model = test_model_finish (&t, test_model_node (&t, "Softmax", 1, z)->outputs[0]);
    runtime = test_runtime_model (model, "CPU");
    g_assert_cmpuint (runtime->nodes->len, ==, steps);
    g_assert_nonnull (find (runtime, "ConvIntegerToFloat"));
    test_compare_devices (model, x, 2e-6);
  }
}

static void
parts_of_one_type_are_concatenated_as_bytes (void)
{
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5);
  g_autoptr (AxonTensor) x = input_tensor (&xs);
  for (guint other = 0; other < 2; other++) {
    TestModel t = test_model_new (13);
    AxonValue *a = input (&t, &xs);
    AxonValue *c = integers (&t, other ? AXON_DTYPE_U8 : AXON_DTYPE_I8, &xs, 3);
    AxonValue *b = dequantized (&t, c, scalar (&t, 2), 0);
    AxonNode *concat = test_model_node (&t, "Concat", 2, a, b);
    g_autoptr (AxonModel) model = NULL, fused = NULL;
    axon_node_set_int (concat, "axis", 1);
    model = quantized (&t, concat->outputs[0], 4);
    fused = passed (model, axon_pass_fuse_quantized_sums);
    g_assert_true ((find (fused, "QLinearConcat") == NULL) == (other == 1));
    g_assert_cmpuint (fused->nodes->len, ==, other ? 4 : 1);
    assert_same (model, fused, x, 0);
    test_compare_devices (model, x, 0);
  }
}

/* One part has the scale and the zero point of the result: it needs no work. */
static void
concatenated_bytes_expand_to_floats_but_for_a_part_of_the_same_scale (void)
{
  AxonShape xs = AXON_SHAPE (1, 2, 5, 5), bs = AXON_SHAPE (1, 3, 5, 5);
  g_autoptr (AxonTensor) x = input_tensor (&xs);
  for (guint same = 0; same < 4; same++) { /* a bit for each part */
    TestModel t = test_model_new (13);
    AxonValue *in[11] = { scalar (&t, 0.25), axon_pass_add_scalar (t.model, AXON_DTYPE_I8, 3) };
    g_autoptr (AxonModel) model = NULL, expanded = NULL;
    AxonNode *n;
    in[2] = test_model_input (&t, "x", AXON_DTYPE_I8, &xs);
    in[5] = integers (&t, AXON_DTYPE_I8, &bs, 3);
    in[8] = integers (&t, AXON_DTYPE_I8, &bs, 7);
    for (guint i = 0; i < 3; i++) {
      gboolean equal = i < 2 && (same >> i & 1);
      in[3 + 3 * i] = scalar (&t, equal ? 0.25 : 0.5);
      in[4 + 3 * i] = axon_pass_add_scalar (t.model, AXON_DTYPE_I8, i == 2 || equal ? 3 : -2);
    }
    n = test_model_node_of (&t, AXON_DOMAIN_MICROSOFT, "QLinearConcat", in, 11, 1);
    axon_node_set_int (n, "axis", 1);
    model = test_model_finish (&t, n->outputs[0]);
    expanded = passed (model, axon_pass_expand_quantized);
    g_assert_null (find (expanded, "QLinearConcat"));
    g_assert_cmpint (axon_node_get_int (find (expanded, "Concat"), "axis"), ==, 1);
    g_assert_cmpint (axon_model_get_output_shape (expanded, 0)->dims[1], ==, 8);
    g_assert_cmpuint (expanded->nodes->len, ==, 1 + 2 * (3 - (same & 1) - (same >> 1)));
    assert_same (model, expanded, x, 0);
    test_compare_devices (model, x, 0);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/quantpasses/" #name, name)
  ADD (a_bias_is_brought_to_the_scale_of_the_products);
  ADD (a_bias_that_does_not_fit_stays_a_float);
  ADD (a_bias_whose_scale_only_data_say_stays_a_float);
  ADD (a_float_bias_is_rounded_to_the_scale_of_the_products);
  ADD (a_clamp_survives_fusing_and_expanding);
  ADD (a_broadcast_sum_keeps_its_clamp);
  ADD (parts_of_one_type_are_concatenated_as_bytes);
  ADD (concatenated_bytes_expand_to_floats_but_for_a_part_of_the_same_scale);
  ADD (a_product_with_scaled_columns_becomes_integers);
  ADD (a_product_of_two_computed_operands_becomes_integers);
  ADD (the_factors_of_a_gemm_are_folded);
  ADD (a_transposed_convolution_becomes_integers_in_each_group);
  ADD (a_dynamically_quantised_chain_becomes_one_node);
  ADD (one_scale_serves_several_chains);
  ADD (a_chain_whose_sums_are_wanted_stays);
  ADD (one_activation_moves_into_a_dynamic_convolution_on_cpu);
  return g_test_run ();
}
