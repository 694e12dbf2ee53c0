/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels of device CPU that go along lines, against the reference. */
#include "axontest.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 2e-5

/* Some equal, 0 of both signs, some no number: one of @each. */
static void
fill_with_equals (AxonTensor *tensor, gfloat size, gsize each)
{
  gfloat *v = axon_tensor_get_data (tensor);
  for (gsize e = 0; e < axon_tensor_get_numel (tensor); e++)
    v[e] = e % each == 7 ? NAN : rintf (v[e] * size) * (e % 2 ? 1 : -0.5f);
}

/* The @k largest or smallest; their values, or (@output 1) indices. */
static void
compare_best (const AxonShape *shape, gint64 axis, gint64 k, gboolean largest, guint output,
              gfloat size, gsize each)
{
  TestModel t = test_model_new (13);
  AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, shape),
                      test_model_ints (&t, &k, 1) };
  AxonNode *n = test_model_node_of (&t, NULL, "TopK", in, 2, 2);
  g_autoptr (AxonTensor) input = test_random (shape, (guint32)k);
  g_autoptr (AxonModel) model = NULL;
  fill_with_equals (input, size, each);
  axon_node_set_int (n, "axis", axis);
  axon_node_set_int (n, "largest", largest);
  model = test_model_finish (&t, n->outputs[output]);
  test_compare_devices (model, input, 0);
}

/* Along every axis. */
static void
the_best_of_lines_come_in_order (void)
{
  const AxonShape shape = AXON_SHAPE (3, 17, 5);
  for (guint i = 0; i < 3 * 2 * 2; i++)
    compare_best (&shape, i % 3, 3, i / 3 % 2, i / 6, 5, 31);
}

/* Longer than what is searched at once; of few, of many, of all. */
static void
the_best_of_long_lines_come_in_order (void)
{
  static const gint64 counts[] = { 1, 10, 400, 1003 };
  const AxonShape shape = AXON_SHAPE (2, 1003);
  for (guint i = 0; i < 4 * G_N_ELEMENTS (counts); i++)
    compare_best (&shape, 1, counts[i / 4], i % 2, i / 2 % 2, 40, 211);
}

/* More rows than are searched together; many elements are equal. */
static void
the_best_of_rows_of_any_length_is_found (void)
{
  for (guint i = 0; i < 4 * 67; i++) {
    AxonShape shape = AXON_SHAPE (70, i / 4 + 1);
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, i & 1 ? "ArgMax" : "ArgMin", 1,
                                   test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonTensor) input = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    gfloat *v = axon_tensor_get_data (input);
    for (gsize e = 0; e < axon_tensor_get_numel (input); e++)
      v[e] = rintf (v[e] * 5);
    axon_node_set_int (n, "axis", 1);
    axon_node_set_int (n, "select_last_index", i / 2 % 2);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

static void
sums_grow_along_every_axis (void)
{
  AxonShape shape = AXON_SHAPE (3, 17, 130);
  for (guint i = 0; i < 3 * 2 * 2; i++) {
    const gint64 axis = (gint64)(i % 3) - (i & 1 ? 3 : 0);
    TestModel t = test_model_new (13);
    AxonNode *n =
        test_model_node (&t, "CumSum", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                         test_model_ints (&t, &axis, 1));
    g_autoptr (AxonTensor) input = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    ((gfloat *)axon_tensor_get_data (input))[200] = INFINITY;
    ((gfloat *)axon_tensor_get_data (input))[600] = NAN;
    axon_node_set_int (n, "exclusive", i / 3 % 2);
    axon_node_set_int (n, "reverse", i / 6);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* 2^100 and 2^-100, as many of each in what is multiplied: it is 1, but parts of it leave the range
 * of floats, and of doubles. */
static void
expect_one (const gint64 *axes, guint n_axes, guint small)
{
  static const gchar *const devices[] = { "CPU", "TEMPLATE" };
  AxonShape shape = AXON_SHAPE (48, 48);
  TestModel t = test_model_new (18);
  AxonNode *n =
      test_model_node (&t, "ReduceProd", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                       test_model_ints (&t, axes, n_axes));
  g_autoptr (AxonTensor) input = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  gfloat *x = axon_tensor_get_data (input);
  for (guint i = 0; i < 48 * 48; i++) {
    const gboolean is_small[] = { i / 48 < 24, i % 48 < 24, (i / 48 + i % 48) % 2 };
    x[i] = is_small[small] ? 0x1p-100f : 0x1p100f;
  }
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    g_autoptr (AxonTensor) y = test_run (model, devices[d], NULL, input);
    const gfloat *product = axon_tensor_get_data (y);
    for (gsize i = 0; i < axon_tensor_get_numel (y); i++)
      g_assert_cmpfloat (product[i], ==, 1);
  }
}

static void
a_product_stays_in_range_whatever_its_parts_are (void)
{
  static const gint64 axes[] = { 0, 1 };
  enum { ABOVE, LEFT, EVERY_OTHER };
  for (guint small = ABOVE; small <= EVERY_OTHER; small++)
    expect_one (axes, 2, small);
  expect_one (axes, 1, ABOVE);
  expect_one (axes, 1, EVERY_OTHER);
  expect_one (axes + 1, 1, LEFT);
  expect_one (axes + 1, 1, EVERY_OTHER);
}

static void
triangles_are_cut_by_every_diagonal (void)
{
  static const gint64 diagonals[] = { 0, 1, -1, 3, -2, 100, -100, G_MAXINT64, G_MININT64 };
  AxonShape shape = AXON_SHAPE (2, 4, 6);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (diagonals); i++) {
    TestModel t = test_model_new (14);
    AxonNode *n =
        test_model_node (&t, "Trilu", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                         test_model_ints (&t, &diagonals[i / 2], 1));
    g_autoptr (AxonTensor) input = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_int (n, "upper", i % 2);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

/* A row with what is no number anywhere in it, one of infinities, and usual ones. */
static void
the_largest_of_rows_of_any_length_agrees (void)
{
  static const gint64 axis = 1;
  for (gint64 i = 0; i < 2 * 70; i++) {
    gint64 n = i / 2 + 1;
    AxonShape shape = AXON_SHAPE (4, n);
    TestModel t = test_model_new (18);
    AxonNode *node = test_model_node (&t, i % 2 ? "ReduceMax" : "ReduceMin", 2,
                                      test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                                      test_model_ints (&t, &axis, 1));
    g_autoptr (AxonTensor) input = test_random (&shape, (guint32)i);
    g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
    gfloat *v = axon_tensor_get_data (input);
    v[n + i * 7 % n] = NAN;
    for (gint64 k = 0; k < n; k++)
      v[2 * n + k] = i % 2 ? -INFINITY : INFINITY;
    test_compare_devices (model, input, 0);
  }
}

/* Along every axis; a line of nothing but 0, and such as nobody can divide. */
static void
lines_of_a_norm_of_one_agree (void)
{
  AxonShape shape = AXON_SHAPE (3, 17, 40);
  for (guint i = 0; i < 4 * 2; i++) {
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, "LpNormalization", 1,
                                   test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonTensor) input = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    gfloat *v = axon_tensor_get_data (input);
    for (gint k = 0; k < 40; k++)
      v[k] = 0;
    v[100] = NAN;
    v[900] = INFINITY;
    if (i < 6)
      axon_node_set_int (n, "axis", (gint64)(i % 3) - (i & 1 ? 3 : 0));
    axon_node_set_int (n, "p", 1 + i / 4);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* Along usual axes and others; a channel that is alike has no variance, whatever a float leaves of
 * its mean. */
static void
means_and_variances_are_taken_away (void)
{
  static const gint64 axes[][4] = { { 1 }, { -1 }, { 0, 1, 2, 3 }, { 2, 3 } };
  static const guint n_axes[] = { 1, 1, 4, 2 };
  const AxonShape shape = AXON_SHAPE (1, 3, 17, 40);
  for (guint i = 0; i <= G_N_ELEMENTS (axes); i++) {
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, "MeanVarianceNormalization", 1,
                                   test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonTensor) input = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    gfloat *v = axon_tensor_get_data (input);
    for (gint k = 0; k < 17 * 40; k++)
      v[k] = 0.1f;
    if (i < G_N_ELEMENTS (axes))
      axon_node_set_ints (n, "axes", axes[i], n_axes[i]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* More often than a tensor may have dimensions. */
static void
an_axis_named_many_times_is_one_axis (void)
{
  const AxonShape shape = AXON_SHAPE (2, 3, 4);
  gint64 axes[40];
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "MeanVarianceNormalization", 1,
                                 test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
  g_autoptr (AxonTensor) input = test_random (&shape, 1);
  g_autoptr (AxonModel) model = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (axes); i++)
    axes[i] = 1;
  axon_node_set_ints (n, "axes", axes, G_N_ELEMENTS (axes));
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
}

/* Of lines of what has no power, of what has one too large for a float, and of what is no number.
 */
static void
logarithms_of_sums_of_powers_agree (void)
{
  static const gint64 axes[][3] = { { 2 }, { 0 }, { 1, -1 }, { 0, 1, 2 } };
  static const guint n_axes[] = { 1, 1, 2, 3 };
  const AxonShape shape = AXON_SHAPE (5, 3, 40);
  for (guint i = 0; i < 2 * 2 * (G_N_ELEMENTS (axes) + 1); i++) {
    const guint k = i / 4;
    const gboolean is_given = k < G_N_ELEMENTS (axes), is_input = i & 1;
    TestModel t = test_model_new (is_input ? 18 : 13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
    AxonNode *n = is_input && is_given ? test_model_node (&t, "ReduceLogSumExp", 2, x,
                                                          test_model_ints (&t, axes[k], n_axes[k]))
                                       : test_model_node (&t, "ReduceLogSumExp", 1, x);
    g_autoptr (AxonTensor) input = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    gfloat *v = axon_tensor_get_data (input);
    for (gint at = 0; at < 40; at++) {
      v[at] = -INFINITY;
      v[120 + at] = at == 7 ? INFINITY : v[120 + at];
      v[240 + at] = 1000 + v[240 + at];
      v[360 + at] = at % 30 == 0 ? NAN : v[360 + at];
    }
    axon_node_set_int (n, "keepdims", i / 2 % 2);
    if (!is_input && is_given)
      axon_node_set_ints (n, "axes", axes[k], n_axes[k]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* Side by side, and far apart; what is no number, infinities of both signs, and what is alike. */
static void
one_of_two_is_as_likely_as_the_other_is_not (void)
{
  static const gfloat special[] = {
    0, 0, 3,   -2,       90, -90,       1e30f, -1e30f,   NAN,
    1, 1, NAN, INFINITY, 1,  -INFINITY, 1,     INFINITY, -INFINITY
  };
  for (gint64 rows = 9; rows < 70; rows++) {
    const AxonShape shape = AXON_SHAPE (rows, 2);
    TestModel t = test_model_new (13);
    AxonNode *n =
        test_model_node (&t, "Softmax", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonTensor) input = test_random (&shape, (guint32)rows);
    g_autoptr (AxonModel) model = NULL;
    memcpy (axon_tensor_get_data (input), special, sizeof special);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* Every fourth element of lines is masked, all of the second line; the third has one that is too
 * far below the largest for a float, the fourth one that is infinite, the fifth one that is no
 * number. */
static AxonTensor *
masked_lines (const AxonShape *shape, gboolean is_last)
{
  AxonTensor *input = test_random (shape, 7);
  gfloat *v = axon_tensor_get_data (input);
  const gint64 lines = shape->dims[is_last ? 0 : 1], n = shape->dims[is_last ? 1 : 0];
  for (gint64 line = 0; line < lines; line++)
    for (gint64 i = 0; i < n; i++) {
      gfloat *at = v + (is_last ? line * n + i : i * lines + line);
      if (line == 1 || i % 4 == 1)
        *at = -INFINITY;
      if (i == n - 1 && line >= 2 && line <= 4)
        *at = line == 2 ? -95 : line == 3 ? INFINITY : NAN;
    }
  return input;
}

static void
what_is_masked_has_no_share (gconstpointer op)
{
  const gboolean is_softmax = g_str_equal (op, "Softmax");
  for (gint64 n = 3; n < 150; n += n < 70 ? 1 : 13)
    for (guint is_last = 0; is_last < 2; is_last++) {
      const AxonShape shape = is_last ? AXON_SHAPE (7, n) : AXON_SHAPE (n, 7);
      TestModel t = test_model_new (13);
      AxonNode *node =
          test_model_node (&t, op, 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
      g_autoptr (AxonTensor) input = masked_lines (&shape, is_last != 0);
      g_autoptr (AxonTensor) y = NULL;
      g_autoptr (AxonModel) model = NULL;
      axon_node_set_int (node, "axis", is_last);
      model = test_model_finish (&t, node->outputs[0]);
      test_compare_devices (model, input, TOLERANCE);
      y = test_run (model, test_device (), NULL, input);
      if (is_softmax) /* element 1 of line 0 */
        g_assert_cmpfloat (axon_tensor_get_value (y, is_last ? 1 : 7), ==, 0);
    }
}

/* Behind a convolution, so that they lie as oneDNN likes them. */
static void
the_end_of_a_long_line_is_interpolated_where_it_is (void)
{
  const AxonShape shape = AXON_SHAPE (1, 8, 9000), filters = AXON_SHAPE (8, 8, 1);
  const gfloat scales[] = { 1, 1, 2 };
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonValue *in[] = {
    test_model_node (&t, "Conv", 2, x, test_model_random (&t, &filters, 1))->outputs[0], NULL,
    test_model_constant (&t, &AXON_SHAPE (G_N_ELEMENTS (scales)), scales)
  };
  AxonNode *n = test_model_node_of (&t, NULL, "Resize", in, G_N_ELEMENTS (in), 1);
  g_autoptr (AxonTensor) input = test_random (&shape, 2);
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_string (n, "mode", "linear");
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
}

#define ADD(name) g_test_add_func ("/lines/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (the_best_of_lines_come_in_order);
  ADD (the_best_of_long_lines_come_in_order);
  ADD (the_best_of_rows_of_any_length_is_found);
  ADD (sums_grow_along_every_axis);
  ADD (a_product_stays_in_range_whatever_its_parts_are);
  ADD (triangles_are_cut_by_every_diagonal);
  ADD (the_largest_of_rows_of_any_length_agrees);
  ADD (lines_of_a_norm_of_one_agree);
  ADD (means_and_variances_are_taken_away);
  ADD (an_axis_named_many_times_is_one_axis);
  ADD (logarithms_of_sums_of_powers_agree);
  g_test_add_data_func ("/lines/what_is_masked_has_no_share/Softmax", "Softmax",
                        what_is_masked_has_no_share);
  g_test_add_data_func ("/lines/what_is_masked_has_no_share/LogSoftmax", "LogSoftmax",
                        what_is_masked_has_no_share);
  ADD (one_of_two_is_as_likely_as_the_other_is_not);
  ADD (the_end_of_a_long_line_is_interpolated_where_it_is);
  return g_test_run ();
}
