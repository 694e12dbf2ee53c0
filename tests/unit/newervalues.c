/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators by values that can be worked out by hand: those that the backend suite has no case of,
 * or cases that cannot tell. */
#include "axontest.h"

#include <math.h>
#include <string.h>

static AxonTensor *
run_alone (AxonModel *model)
{
  g_autoptr (GError) error = NULL;
  AxonTensor *y = test_try_run_all (model, "CPU", NULL, NULL, 0, &error);
  g_assert_no_error (error);
  return y;
}

static void
assert_values (const AxonTensor *y, const gdouble *expected, gsize n)
{
  g_assert_cmpuint (axon_tensor_get_numel (y), ==, n);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, i), expected[i], 1e-6);
}

/* The share of @y that is within @deviations standard deviations, which are of 2 about 3. */
static gdouble
share_within (const AxonTensor *y, gdouble deviations)
{
  gsize n = 0;
  for (gsize i = 0; i < axon_tensor_get_numel (y); i++)
    n += fabs (axon_tensor_get_value (y, i) - 3) < 2 * deviations;
  return (gdouble)n / (gdouble)axon_tensor_get_numel (y);
}

/* Bounds are five standard errors of 10000 numbers, or more. */
static void
random_normal_has_the_mean_and_the_spread_that_are_asked_for (void)
{
  static const gint64 shape[] = { 100, 100 };
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "RandomNormal", 0);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  gdouble sum = 0;
  axon_node_set_ints (n, "shape", shape, 2);
  axon_node_set_float (n, "mean", 3);
  axon_node_set_float (n, "scale", 2);
  axon_node_set_float (n, "seed", 7);
  model = test_model_finish (&t, n->outputs[0]);
  y = run_alone (model);
  g_assert_cmpuint (axon_tensor_get_numel (y), ==, 10000);
  for (gsize i = 0; i < 10000; i++)
    sum += axon_tensor_get_value (y, i);
  g_assert_cmpfloat_with_epsilon (sum / 10000, 3, 0.1);
  g_assert_cmpfloat_with_epsilon (share_within (y, 1), 0.6827, 0.025);
  g_assert_cmpfloat_with_epsilon (share_within (y, 2), 0.9545, 0.012);
  g_assert_cmpfloat (share_within (y, 6), ==, 1);
}

/* A line of nothing but zeros stays one. */
static void
lp_normalization_divides_every_line_by_its_norm (void)
{
  static const gfloat values[] = { 3, 1, 4, 0, 0, 5, 0, 12 };
  static const struct {
    gint64 axis, p;
    gdouble expected[8];
  } cases[] = {
    { 1, 2, { 0.6, 1, 0.8, 0, 0, 5. / 13, 0, 12. / 13 } },
    { 1, 1, { 3. / 7, 1, 4. / 7, 0, 0, 5. / 17, 0, 12. / 17 } },
    { -1, 2, { 0.9486832981, 0.3162277660, 1, 0, 0, 1, 0, 1 } },
    { 0, 1, { 1, 1. / 6, 1, 0, 0, 5. / 6, 0, 1 } },
  };
  AxonShape shape = AXON_SHAPE (2, 2, 2);
  g_autoptr (AxonTensor) x = test_tensor (&shape, values);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, "LpNormalization", 1,
                                   test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    axon_node_set_int (n, "axis", cases[i].axis);
    axon_node_set_int (n, "p", cases[i].p);
    model = test_model_finish (&t, n->outputs[0]);
    y = test_run (model, "CPU", NULL, x);
    assert_values (y, cases[i].expected, 8);
  }
}

/* x 2 and its gradient 1 + 0.5 * 2 with moments of 1 make 2 - 0.5; a quarter is taken off. */
static void
adam_shrinks_its_result_by_the_post_coefficient (void)
{
  static const gfloat rate = 0.5f, two = 2, one = 1, zero = 0;
  static const gint64 count = 0;
  AxonShape scalar = { 0 };
  TestModel t = test_model_new (13);
  AxonValue *in[] = { test_model_constant (&t, &scalar, &rate),
                      test_model_ints (&t, &count, 1),
                      test_model_input (&t, "x", AXON_DTYPE_F32, &scalar),
                      test_model_constant (&t, &scalar, &one),
                      test_model_constant (&t, &scalar, &zero),
                      test_model_constant (&t, &scalar, &zero) };
  AxonNode *n = test_model_node_of (&t, "ai.onnx.preview.training", "Adam", in, 6, 3);
  g_autoptr (AxonTensor) x = test_tensor (&scalar, &two);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  axon_node_set_float (n, "alpha", 0.5);
  axon_node_set_float (n, "beta", 0.75);
  axon_node_set_float (n, "epsilon", 0);
  axon_node_set_float (n, "norm_coefficient", 0.5);
  axon_node_set_float (n, "norm_coefficient_post", 0.25);
  model = test_model_finish (&t, n->outputs[0]);
  y = test_run (model, "CPU", NULL, x);
  assert_values (y, (gdouble[]){ 0.75 * (2 - 0.5) }, 1);
}

/* Of channel c each of four patches is c + 1 everywhere: corners are in one, the centre in all. */
static void
col2im_makes_as_many_channels_as_the_columns_have_blocks (void)
{
  static const gint64 image[] = { 3, 3 }, block[] = { 2, 2 };
  static const gdouble patches[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 };
  AxonShape shape = AXON_SHAPE (1, 12, 4), expected = AXON_SHAPE (1, 3, 3, 3);
  TestModel t = test_model_new (18);
  AxonNode *n =
      test_model_node (&t, "Col2Im", 3, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                       test_model_ints (&t, image, 2), test_model_ints (&t, block, 2));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  g_autoptr (AxonTensor) y = NULL;
  for (guint i = 0; i < 48; i++)
    ((gfloat *)axon_tensor_get_data (x))[i] = (gfloat)(i / 16 + 1);
  g_assert_true (axon_shape_equal (axon_model_get_output_shape (model, 0), &expected));
  y = test_run (model, "CPU", NULL, x);
  g_assert_true (axon_shape_equal (axon_tensor_get_shape (y), &expected));
  for (guint i = 0; i < 27; i++)
    g_assert_cmpfloat (axon_tensor_get_value (y, i), ==, (i / 9 + 1) * patches[i % 9]);
}

static void
texts_are_joined_with_every_text_that_they_are_broadcast_to (void)
{
  static const gchar *const first[] = { "ab", "" }, *const second[] = { "x", "", "yz" };
  static const gchar *const expected[] = { "abx", "ab", "abyz", "x", "", "yz" };
  AxonShape column = AXON_SHAPE (2, 1), row = AXON_SHAPE (3), whole = AXON_SHAPE (2, 3);
  g_autoptr (AxonTensor) a = axon_tensor_new_strings (&column, first, 2, NULL);
  g_autoptr (AxonTensor) b = axon_tensor_new_strings (&row, second, 3, NULL);
  TestModel t = test_model_new (20);
  AxonNode *n = test_model_node (&t, "StringConcat", 2,
                                 test_model_input (&t, "x", AXON_DTYPE_STRING, &column),
                                 axon_model_add_constant (t.model, NULL, b));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) y = test_run (model, "CPU", NULL, a);
  g_assert_true (axon_shape_equal (axon_tensor_get_shape (y), &whole));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpstr (axon_tensor_get_string (y, i), ==, expected[i]);
}

/* The body's second output is the first one negated. */
/* A sequence whose items nobody set is refused. */
static void
expect_missing_item (AxonModel *model)
{
  static const gchar *const devices[] = { "CPU", "TEMPLATE" };
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_SEQUENCE, &AXON_SHAPE (2), NULL);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (test_try_run (model, devices[d], NULL, x, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, "item 0 of its sequence is missing"));
  }
}

static void
every_output_of_a_sequence_map_is_a_sequence (void)
{
  static const gfloat values[] = { 1, -2, 3 };
  static const gdouble first[] = { 0 }, second[] = { 0, -3 };
  AxonShape any = AXON_SHAPE (-1), shapes[] = { AXON_SHAPE (1), AXON_SHAPE (2) };
  AxonTensor *items[] = { test_tensor (&shapes[0], values + 1),
                          test_tensor (&shapes[1], values + 1) };
  g_autoptr (AxonTensor) x = axon_tensor_new_sequence (items, 2);
  TestModel t = test_model_new (17), body = test_model_new (17);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_SEQUENCE, &any);
  AxonNode *map = test_model_node_of (&t, NULL, "SequenceMap", &in, 1, 2);
  AxonNode *relu =
      test_model_node (&body, "Relu", 1, test_model_input (&body, "i", AXON_DTYPE_F32, &any));
  AxonNode *neg = test_model_node (&body, "Neg", 1, relu->outputs[0]);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  axon_model_add_output (body.model, relu->outputs[0]);
  axon_node_add_attr (map, "body", AXON_ATTR_GRAPH)->graph =
      test_model_finish (&body, neg->outputs[0]);
  axon_model_add_output (t.model, map->outputs[1]);
  model = test_model_read_back (test_model_finish (&t, map->outputs[0]));
  for (guint i = 0; i < 2; i++)
    g_assert_cmpint (axon_model_get_output_dtype (model, i), ==, AXON_DTYPE_SEQUENCE);
  y = test_run (model, "CPU", NULL, x);
  g_assert_cmpuint (axon_tensor_get_numel (y), ==, 2);
  expect_missing_item (model);
  assert_values (axon_tensor_get_item (y, 0), first, 1);
  assert_values (axon_tensor_get_item (y, 1), second, 2);
  for (guint i = 0; i < 2; i++)
    axon_tensor_unref (items[i]);
}

/* Opset 8, where the batch comes first: sums of the sequence so far, each from its own beginning.
 */
static void
every_sequence_of_a_batch_is_scanned_from_its_own_state (void)
{
  static const gfloat begin[] = { 0, 5 }, values[] = { 1, 2, 3, 10, 20, 30 };
  static const gdouble expected[] = { 1, 3, 6, 15, 35, 65 };
  AxonShape batch = AXON_SHAPE (2), scans = AXON_SHAPE (2, 3), scalar = { 0 };
  TestModel t = test_model_new (8), body = test_model_new (8);
  AxonValue *in[] = { NULL, test_model_constant (&t, &batch, begin),
                      test_model_input (&t, "x", AXON_DTYPE_F32, &scans) };
  AxonNode *scan = test_model_node_of (&t, NULL, "Scan", in, 3, 2);
  AxonValue *state = test_model_input (&body, "s", AXON_DTYPE_F32, &scalar);
  AxonNode *add = test_model_node (&body, "Add", 2, state,
                                   test_model_input (&body, "i", AXON_DTYPE_F32, &scalar));
  g_autoptr (AxonTensor) x = test_tensor (&scans, values);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  axon_node_set_int (scan, "num_scan_inputs", 1);
  axon_model_add_output (body.model, add->outputs[0]);
  axon_node_add_attr (scan, "body", AXON_ATTR_GRAPH)->graph = test_model_finish (
      &body, test_model_node (&body, "Identity", 1, add->outputs[0])->outputs[0]);
  model = test_model_read_back (test_model_finish (&t, scan->outputs[1]));
  y = test_run (model, "CPU", NULL, x);
  g_assert_true (axon_shape_equal (axon_tensor_get_shape (y), &scans));
  assert_values (y, expected, 6);
}

/* The upper half of four signed bits are negative numbers, of unsigned ones positive. */
static void
four_bits_are_read_with_the_sign_that_their_type_has (void)
{
  static const AxonDType dtypes[] = { AXON_DTYPE_I4, AXON_DTYPE_U4 };
  static const gdouble expected[][5] = { { -8, -1, 0, 3, 7 }, { 8, 15, 0, 3, 7 } };
  AxonShape shape = AXON_SHAPE (5);
  for (guint i = 0; i < 2; i++) {
    TestModel t = test_model_new (21);
    g_autoptr (AxonTensor) bits = axon_tensor_new (dtypes[i], &shape, NULL);
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    AxonNode *n;
    for (gsize k = 0; k < 5; k++)
      axon_dtype_store (dtypes[i], axon_tensor_get_data (bits), k, expected[i][k]);
    n = test_model_node (&t, "Cast", 1, axon_model_add_constant (t.model, NULL, bits));
    axon_node_set_int (n, "to", AXON_DTYPE_F32);
    model = test_model_read_back (test_model_finish (&t, n->outputs[0]));
    y = run_alone (model);
    assert_values (y, expected[i], 5);
  }
}

/* The largest of each quarter of a region that is the whole picture, then of its upper left part.
 */
static void
max_roi_pool_takes_the_largest_of_each_part_of_a_region (void)
{
  static const gfloat regions[] = { 0, 0, 0, 3, 3, 0, 0, 0, 1, 1 };
  static const gdouble expected[] = { 5, 7, 13, 15, 0, 1, 4, 5 };
  static const gint64 pooled[] = { 2, 2 };
  AxonShape shape = AXON_SHAPE (1, 1, 4, 4), five = AXON_SHAPE (2, 5);
  TestModel t = test_model_new (13);
  AxonNode *n =
      test_model_node (&t, "MaxRoiPool", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                       test_model_constant (&t, &five, regions));
  gfloat values[16];
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) x = NULL, y = NULL;
  for (gint i = 0; i < 16; i++)
    values[i] = (gfloat)i;
  x = test_tensor (&shape, values);
  axon_node_set_ints (n, "pooled_shape", pooled, 2);
  model = test_model_finish (&t, n->outputs[0]);
  y = test_run (model, "TEMPLATE", NULL, x);
  assert_values (y, expected, 8);
}

static void
a_slice_from_before_the_first_element_begins_with_it (void)
{
  static const gint64 starts[] = { -100, 100 }, ends[] = { 3, -100 }, steps[] = { 1, -1 }, axis = 0;
  static const gfloat values[] = { 1, 2, 3, 4, 5 };
  static const gdouble expected[2][5] = { { 1, 2, 3 }, { 5, 4, 3, 2, 1 } };
  AxonShape shape = AXON_SHAPE (5);
  g_autoptr (AxonTensor) x = test_tensor (&shape, values);
  for (guint i = 0; i < 2; i++) {
    TestModel t = test_model_new (13);
    AxonNode *n =
        test_model_node (&t, "Slice", 5, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                         test_model_ints (&t, &starts[i], 1), test_model_ints (&t, &ends[i], 1),
                         test_model_ints (&t, &axis, 1), test_model_ints (&t, &steps[i], 1));
    g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
    g_autoptr (AxonTensor) y = test_run (model, "CPU", NULL, x);
    assert_values (y, expected[i], i ? 5 : 3);
  }
}

static void
a_shape_that_is_an_input_says_how_many_dimensions_there_are (void)
{
  AxonShape shape = AXON_SHAPE (2, 6), three = AXON_SHAPE (3);
  TestModel t = test_model_new (13);
  AxonNode *n =
      test_model_node (&t, "Reshape", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                       test_model_input (&t, "shape", AXON_DTYPE_I64, &three));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_assert_nonnull (model);
  g_assert_cmpint (n->outputs[0]->type.shape.rank, ==, 3);
  for (gint d = 0; d < 3; d++)
    g_assert_cmpint (n->outputs[0]->type.shape.dims[d], ==, -1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/newervalues/" #name, name)
  ADD (random_normal_has_the_mean_and_the_spread_that_are_asked_for);
  ADD (lp_normalization_divides_every_line_by_its_norm);
  ADD (adam_shrinks_its_result_by_the_post_coefficient);
  ADD (col2im_makes_as_many_channels_as_the_columns_have_blocks);
  ADD (texts_are_joined_with_every_text_that_they_are_broadcast_to);
  ADD (every_output_of_a_sequence_map_is_a_sequence);
  ADD (every_sequence_of_a_batch_is_scanned_from_its_own_state);
  ADD (four_bits_are_read_with_the_sign_that_their_type_has);
  ADD (max_roi_pool_takes_the_largest_of_each_part_of_a_region);
  ADD (a_slice_from_before_the_first_element_begins_with_it);
  ADD (a_shape_that_is_an_input_says_how_many_dimensions_there_are);
  return g_test_run ();
}
