/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where loops begin and end: results in which the first element, the last one or one too many would
 * be seen, on the reference and on device CPU. */
#include "axontest.h"

#include <math.h>
#include <string.h>

static const gchar *const devices[] = { "TEMPLATE", "CPU" };

/* Boxes apart from each other, so that all are chosen, the best first: the order of a heap. */
static AxonModel *
make_suppression (gint64 n)
{
  g_autofree gfloat *corners = g_new (gfloat, 4 * n);
  AxonShape boxes = AXON_SHAPE (1, n, 4), shape = AXON_SHAPE (1, 1, n);
  TestModel t = test_model_new (13);
  AxonNode *node;
  for (gint64 i = 0; i < n; i++) {
    corners[4 * i] = corners[4 * i + 1] = (gfloat)(2 * i);
    corners[4 * i + 2] = corners[4 * i + 3] = (gfloat)(2 * i + 1);
  }
  node = test_model_node (&t, "NonMaxSuppression", 3, test_model_constant (&t, &boxes, corners),
                          test_model_input (&t, "scores", AXON_DTYPE_F32, &shape),
                          test_model_ints (&t, &n, 1));
  return test_model_finish (&t, node->outputs[0]);
}

static void
boxes_are_chosen_in_the_order_of_their_scores_however_many_there_are (void)
{
  for (gint64 n = 2; n <= 12; n++) {
    AxonShape shape = AXON_SHAPE (1, 1, n);
    g_autoptr (AxonTensor) scores = test_random (&shape, (guint32)n);
    const gfloat *score = axon_tensor_get_data (scores);
    for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
      g_autoptr (AxonModel) model = make_suppression (n);
      g_autoptr (AxonTensor) y = test_run (model, devices[d], NULL, scores);
      const gint64 *chosen = axon_tensor_get_data (y);
      g_assert_cmpint (axon_tensor_get_dim (y, 0), ==, n);
      for (gint64 i = 1; i < n; i++)
        g_assert_cmpfloat (score[chosen[3 * i + 2]], <=, score[chosen[3 * i - 1]]);
    }
  }
}

/* The third class never comes; bounds are five standard errors. */
static void
multinomial_draws_a_class_as_often_as_its_probability_says (void)
{
  static const gdouble share[] = { 0.25, 0.5 };
  const gfloat rows[] = { 0, logf (3), -100, 5, 5, -100 };
  const gint64 samples = 10000;
  AxonShape shape = AXON_SHAPE (2, 3);
  TestModel t = test_model_new (13);
  AxonNode *node =
      test_model_node (&t, "Multinomial", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
  g_autoptr (AxonTensor) x = test_tensor (&shape, rows), y = NULL;
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_int (node, "sample_size", samples);
  axon_node_set_float (node, "seed", 7);
  model = test_model_finish (&t, node->outputs[0]);
  y = test_run (model, "CPU", NULL, x);
  g_assert_cmpint (axon_tensor_get_dtype (y), ==, AXON_DTYPE_I32);
  g_assert_cmpint (axon_tensor_get_dim (y, 1), ==, samples);
  for (gint64 row = 0; row < 2; row++) {
    guint counts[3] = { 0 };
    for (gint64 i = 0; i < samples; i++)
      counts[((const gint32 *)axon_tensor_get_data (y))[row * samples + i]]++;
    g_assert_cmpfloat_with_epsilon (counts[0] / (gdouble)samples, share[row], 0.025);
    g_assert_cmpuint (counts[2], ==, 0);
  }
}

/* exp() of the first score alone would be infinite. */
static void
a_first_score_that_is_large_has_a_finite_loss (void)
{
  static const gfloat scores[] = { 1000, 0, 1 };
  static const gdouble expected[] = { 0, 1000, 999 };
  AxonShape shape = AXON_SHAPE (1, 3);
  g_autoptr (AxonTensor) x = test_tensor (&shape, scores);
  for (gint64 label = 0; label < 3; label++)
    for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
      TestModel t = test_model_new (13);
      AxonNode *node = test_model_node (&t, "SoftmaxCrossEntropyLoss", 2,
                                        test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                                        test_model_ints (&t, &label, 1));
      g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
      g_autoptr (AxonTensor) y = test_run (model, devices[d], NULL, x);
      g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, 0), expected[label], 1e-3);
    }
}

static void
the_largest_truth_is_false_where_none_is_true_and_the_least_true_where_all_are (void)
{
  static const gboolean values[3][2] = { { FALSE, FALSE }, { FALSE, TRUE }, { TRUE, TRUE } };
  static const gchar *const operators[] = { "ReduceMax", "ReduceMin" };
  static const gboolean expected[2][3] = { { FALSE, TRUE, TRUE }, { FALSE, FALSE, TRUE } };
  AxonShape shape = AXON_SHAPE (3, 2);
  const gint64 axis = 1;
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_BOOL, &shape, NULL);
  for (guint i = 0; i < 6; i++)
    axon_dtype_store (AXON_DTYPE_BOOL, axon_tensor_get_data (x), i, values[i / 2][i % 2]);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (operators); i++) {
    TestModel t = test_model_new (20);
    AxonNode *node = test_model_node (&t, operators[i / 2], 2,
                                      test_model_input (&t, "x", AXON_DTYPE_BOOL, &shape),
                                      test_model_ints (&t, &axis, 1));
    g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
    g_autoptr (AxonTensor) y = test_run (model, devices[i % 2], NULL, x);
    for (guint row = 0; row < 3; row++)
      g_assert_cmpfloat (axon_tensor_get_value (y, row), ==, expected[i / 2][row]);
  }
}

/* The scale follows from the largest and the least, wherever they stand. */
static void
a_dynamic_scale_holds_the_first_number_and_the_last (void)
{
  static const gfloat values[][4] = {
    { 510, 1, 2, 3 }, { 3, 2, 1, 510 }, { -510, 1, 0, 0 }, { 0, 1, 0, -510 }
  };
  static const gdouble expected[][4] = {
    { 255, 0, 1, 2 }, { 2, 1, 0, 255 }, { 0, 255, 255, 255 }, { 255, 255, 255, 0 }
  };
  AxonShape shape = AXON_SHAPE (4);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (values); i++) {
    TestModel t = test_model_new (13);
    AxonNode *node = test_model_node (&t, "DynamicQuantizeLinear", 1,
                                      test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
    g_autoptr (AxonTensor) x = test_tensor (&shape, values[i / 2]);
    g_autoptr (AxonTensor) y = test_run (model, devices[i % 2], NULL, x);
    for (guint k = 0; k < 4; k++)
      g_assert_cmpfloat (axon_tensor_get_value (y, k), ==, expected[i / 2][k]);
  }
}

/* The sum x + 2 (x before), times its sigmoid. */
static void
a_causal_convolution_is_followed_by_its_activation (void)
{
  static const gfloat x[] = { 1, -2, 3 }, weights[] = { 2, 1 };
  static const gdouble sums[] = { 1, 0, -1 };
  AxonShape shape = AXON_SHAPE (1, 1, 3), of_weights = AXON_SHAPE (1, 1, 2);
  TestModel t = test_model_new (27);
  AxonNode *node = test_model_node (&t, "CausalConvWithState", 2,
                                    test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                                    test_model_constant (&t, &of_weights, weights));
  g_autoptr (AxonTensor) input = test_tensor (&shape, x), y = NULL;
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_string (node, "activation", "silu");
  model = test_model_finish (&t, node->outputs[0]);
  y = test_run (model, "CPU", NULL, input);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, i), sums[i] / (1 + exp (-sums[i])),
                                    1e-6);
}

/* The root of the sum of all powers: 1 + 8 + 27 + 64 = 100. */
static void
the_norm_of_a_whole_plane_is_a_root_of_the_sum_of_its_powers (void)
{
  static const gfloat values[] = { 1, -2, 3, -4 };
  AxonShape shape = AXON_SHAPE (1, 1, 2, 2);
  g_autoptr (AxonTensor) x = test_tensor (&shape, values);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    TestModel t = test_model_new (13);
    AxonNode *node =
        test_model_node (&t, "GlobalLpPool", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    axon_node_set_int (node, "p", 3);
    model = test_model_finish (&t, node->outputs[0]);
    y = test_run (model, devices[d], NULL, x);
    g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, 0), cbrt (100), 1e-5);
  }
}

static void
a_dropout_is_removed_unless_it_drops_or_may (void)
{
  AxonShape shape = AXON_SHAPE (4), scalar = { 0 };
  for (guint i = 0; i < 3; i++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
    AxonValue *ratio = test_model_constant (&t, &scalar, (const gfloat[]){ 0.5f });
    AxonValue *training = i == 2 ? test_model_input (&t, "training", AXON_DTYPE_BOOL, &scalar)
                                 : axon_pass_add_scalar (t.model, AXON_DTYPE_BOOL, i);
    AxonNode *node = test_model_node (&t, "Dropout", 3, x, ratio, training);
    AxonNode *relu = test_model_node (&t, "Relu", 1, node->outputs[0]);
    g_autoptr (AxonModel) model = test_model_finish (&t, relu->outputs[0]);
    g_autoptr (GError) error = NULL;
    g_assert_true (axon_pass_remove_identity (model, &error));
    g_assert_no_error (error);
    g_assert_cmpuint (model->nodes->len, ==, i ? 2 : 1);
  }
}

static void
what_is_unpooled_may_have_a_shape_that_only_data_say (void)
{
  AxonShape unknown = { .rank = -1 };
  TestModel t = test_model_new (13);
  AxonNode *node =
      test_model_node (&t, "MaxUnpool", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &unknown),
                       test_model_input (&t, "indices", AXON_DTYPE_I64, &unknown));
  const gint64 kernel[] = { 2, 2 };
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_ints (node, "kernel_shape", kernel, 2);
  model = test_model_finish (&t, node->outputs[0]);
  g_assert_cmpint (axon_model_get_output_shape (model, 0)->rank, ==, -1);
  g_assert_cmpint (axon_model_get_output_dtype (model, 0), ==, AXON_DTYPE_F32);
}

/* Symptom: a node whose only output has no name ended the process on device TEMPLATE. */
static void
an_output_that_nobody_uses_needs_no_name (void)
{
  AxonShape shapes[] = { AXON_SHAPE (3, 5), AXON_SHAPE (5) };
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_BOOL, &shapes[0], NULL);
  g_autoptr (AxonTensor) y = axon_tensor_new (AXON_DTYPE_BOOL, &shapes[1], NULL);
  axon_dtype_store (AXON_DTYPE_BOOL, axon_tensor_get_data (x), 7, 1);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonModel) model = axon_core_read_model (
        axon_core_get_default (), TEST_SOURCE_ROOT "/tests/fuzz/corpus/model/or_without_output",
        NULL, &error);
    g_autoptr (AxonTensor) out = NULL;
    g_assert_no_error (error);
    out = test_try_run_all (model, devices[d], NULL, (AxonTensor *[]){ x, y }, 2, &error);
    g_assert_no_error (error);
    g_assert_cmpfloat (axon_tensor_get_value (out, 7), ==, 1);
  }
}

/* Symptom: the second of two outputs of a node that had one name took the place of the first. */
static void
a_node_with_two_outputs_of_one_name_is_refused (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = axon_core_read_model (
      axon_core_get_default (), TEST_SOURCE_ROOT "/tests/fuzz/corpus/model/maxpool_output_twice",
      NULL, &error);
  g_assert_null (model);
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "output \"y\" is defined twice"));
}

static void
a_compiled_model_tells_all_its_properties (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", NULL, NULL, NULL, NULL, &error);
  g_autoptr (GVariant) all = NULL, threads = NULL;
  g_assert_no_error (error);
  all = axon_compiled_model_dup_properties (compiled);
  g_assert_cmpuint (g_variant_n_children (all), >, 5);
  threads = g_variant_lookup_value (all, "INFERENCE_NUM_THREADS", NULL);
  g_assert_nonnull (threads);
}

/* Half way between 0.2 and 0.6 of a row from 0 to 4. */
static void
a_region_that_becomes_one_place_is_read_in_its_middle (void)
{
  static const gfloat values[] = { 0, 1, 2, 3, 4 }, region[] = { 0, 0.2f, 1, 0.6f };
  AxonShape in = AXON_SHAPE (1, 5), four = AXON_SHAPE (4);
  g_autoptr (AxonTensor) x = test_tensor (&in, values);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    TestModel t = test_model_new (13);
    gint64 sizes[] = { 1, 1 };
    AxonNode *n = test_model_node (&t, "Resize", 4, test_model_input (&t, "x", AXON_DTYPE_F32, &in),
                                   test_model_constant (&t, &four, region), NULL,
                                   test_model_ints (&t, sizes, 2));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    axon_node_set_string (n, "mode", "linear");
    axon_node_set_string (n, "coordinate_transformation_mode", "tf_crop_and_resize");
    model = test_model_finish (&t, n->outputs[0]);
    y = test_run (model, devices[d], NULL, x);
    g_assert_cmpfloat (fabs (axon_tensor_get_value (y, 0) - 1.6), <, 1e-6);
  }
}

/* Symptom would be: -1 is no multiple of four. */
static void
depth_that_is_not_known_yet_becomes_space (void)
{
  AxonShape open = AXON_SHAPE (1, -1, 2, 3), in = AXON_SHAPE (1, 4, 2, 3);
  g_autoptr (AxonTensor) x = test_random (&in, 3);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    TestModel t = test_model_new (13);
    AxonNode *n =
        test_model_node (&t, "DepthToSpace", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &open));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    axon_node_set_int (n, "blocksize", 2);
    model = test_model_finish (&t, n->outputs[0]);
    y = test_run (model, devices[d], NULL, x);
    g_assert_true (axon_shape_equal (axon_tensor_get_shape (y), &AXON_SHAPE (1, 1, 4, 6)));
    g_assert_cmpfloat (axon_tensor_get_value (y, 1), ==, axon_tensor_get_value (x, 6));
  }
}

/* One row in front and two behind, of dimension 1 of three. */
static void
dimensions_that_axes_do_not_name_are_not_padded (void)
{
  AxonShape in = AXON_SHAPE (2, 3, 4);
  gint64 pads[] = { 1, 2 }, axis = -2;
  g_autoptr (AxonTensor) x = test_random (&in, 3);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    TestModel t = test_model_new (18);
    AxonNode *n =
        test_model_node (&t, "Pad", 4, test_model_input (&t, "x", AXON_DTYPE_F32, &in),
                         test_model_ints (&t, pads, 2), NULL, test_model_ints (&t, &axis, 1));
    g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
    g_autoptr (AxonTensor) y = test_run (model, devices[d], NULL, x);
    g_assert_true (axon_shape_equal (axon_tensor_get_shape (y), &AXON_SHAPE (2, 6, 4)));
    g_assert_cmpfloat (axon_tensor_get_value (y, 3), ==, 0);
    g_assert_cmpfloat (axon_tensor_get_value (y, 4), ==, axon_tensor_get_value (x, 0));
    g_assert_cmpfloat (axon_tensor_get_value (y, 28), ==, axon_tensor_get_value (x, 12));
  }
}

/* As many places as there are numbers other than 0, which nobody knows before. */
static void
what_was_gathered_is_scattered_to_where_it_was (void)
{
  static const gfloat values[] = { 0, 1, 2, 0, -3, 0 }, zero = 0;
  AxonShape in = AXON_SHAPE (3, 2), scalar = { .rank = 0 };
  g_autoptr (AxonTensor) x = test_tensor (&in, values);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    TestModel t = test_model_new (13);
    AxonValue *v = test_model_input (&t, "x", AXON_DTYPE_F32, &in);
    AxonValue *at = test_model_node (&t, "NonZero", 1, v)->outputs[0], *nothing, *found;
    at = test_model_node (&t, "Transpose", 1, at)->outputs[0];
    found = test_model_node (&t, "GatherND", 2, v, at)->outputs[0];
    nothing =
        test_model_node (&t, "Mul", 2, v, test_model_constant (&t, &scalar, &zero))->outputs[0];
    g_autoptr (AxonModel) model = test_model_finish (
        &t, test_model_node (&t, "ScatterND", 3, nothing, at, found)->outputs[0]);
    g_autoptr (AxonTensor) y = test_run (model, devices[d], NULL, x);
    g_assert_cmpfloat (test_largest_difference (x, y), ==, 0);
  }
}

/* Symptom would be: fused into one of bytes, it forgets where the padding stands. */
static void
a_convolution_between_quantised_values_keeps_its_padding (void)
{
  static const gfloat one = 1, values[] = { 1, 2, 3, 4 };
  static const gdouble taps[] = { 1, 0, 10 };
  static const struct {
    const gchar *padding;
    gdouble expected[2];
  } cases[] = { { "SAME_LOWER", { 20, 42 } }, { "SAME_UPPER", { 31, 3 } } };
  AxonShape in = AXON_SHAPE (1, 1, 4), kernel = AXON_SHAPE (1, 1, 3), scalar = { 0 };
  const gint64 stride = 2;
  g_autoptr (AxonTensor) x = test_tensor (&in, values);
  g_autoptr (AxonTensor) weights = axon_tensor_new (AXON_DTYPE_I8, &kernel, NULL);
  g_autoptr (AxonTensor) none = axon_tensor_new (AXON_DTYPE_U8, &scalar, NULL);
  *(guint8 *)axon_tensor_get_data (none) = 0;
  for (guint i = 0; i < 3; i++)
    axon_dtype_store (AXON_DTYPE_I8, axon_tensor_get_data (weights), i, taps[i]);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    TestModel t = test_model_new (13);
    AxonValue *scale = test_model_constant (&t, &scalar, &one);
    AxonValue *zero = axon_model_add_constant (t.model, NULL, none);
    AxonValue *v = test_model_input (&t, "x", AXON_DTYPE_F32, &in), *w;
    AxonNode *n;
    v = test_model_node (&t, "QuantizeLinear", 3, v, scale, zero)->outputs[0];
    v = test_model_node (&t, "DequantizeLinear", 3, v, scale, zero)->outputs[0];
    w = axon_model_add_constant (t.model, NULL, weights);
    w = test_model_node (&t, "DequantizeLinear", 2, w, scale)->outputs[0];
    n = test_model_node (&t, "Conv", 2, v, w);
    axon_node_set_string (n, "auto_pad", cases[i / 2].padding);
    axon_node_set_ints (n, "strides", &stride, 1);
    v = test_model_node (&t, "QuantizeLinear", 3, n->outputs[0], scale, zero)->outputs[0];
    v = test_model_node (&t, "DequantizeLinear", 3, v, scale, zero)->outputs[0];
    g_autoptr (AxonModel) model = test_model_finish (&t, v);
    g_autoptr (AxonTensor) y = test_run (model, devices[i % 2], NULL, x);
    for (guint k = 0; k < 2; k++)
      g_assert_cmpfloat (axon_tensor_get_value (y, k), ==, cases[i / 2].expected[k]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/edges/" #name, name)
  ADD (boxes_are_chosen_in_the_order_of_their_scores_however_many_there_are);
  ADD (multinomial_draws_a_class_as_often_as_its_probability_says);
  ADD (a_first_score_that_is_large_has_a_finite_loss);
  ADD (the_largest_truth_is_false_where_none_is_true_and_the_least_true_where_all_are);
  ADD (a_dynamic_scale_holds_the_first_number_and_the_last);
  ADD (a_causal_convolution_is_followed_by_its_activation);
  ADD (the_norm_of_a_whole_plane_is_a_root_of_the_sum_of_its_powers);
  ADD (a_dropout_is_removed_unless_it_drops_or_may);
  ADD (what_is_unpooled_may_have_a_shape_that_only_data_say);
  ADD (an_output_that_nobody_uses_needs_no_name);
  ADD (a_node_with_two_outputs_of_one_name_is_refused);
  ADD (a_region_that_becomes_one_place_is_read_in_its_middle);
  ADD (depth_that_is_not_known_yet_becomes_space);
  ADD (dimensions_that_axes_do_not_name_are_not_padded);
  ADD (what_was_gathered_is_scattered_to_where_it_was);
  ADD (a_convolution_between_quantised_values_keeps_its_padding);
  ADD (a_compiled_model_tells_all_its_properties);
  return g_test_run ();
}
