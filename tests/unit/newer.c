/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators newer than the installed backend suite. */
#include "axontest.h"

#include <math.h>
#include <string.h>

/* Two by two pixels, 24 bits, rows from the bottom: blue green / red white. */
static AxonTensor *
bitmap (gsize length)
{
  static const guint8 bmp[70] = {
    'B', 'M', 70, 0, 0,  0, 0,   0, 0, 0, 54,  0, 0, 0, 40, 0, 0,   0,   2,   0,   0, 0, 2, 0,
    0,   0,   1,  0, 24, 0, 0,   0, 0, 0, 16,  0, 0, 0, 0,  0, 0,   0,   0,   0,   0, 0, 0, 0,
    0,   0,   0,  0, 0,  0, 255, 0, 0, 0, 255, 0, 0, 0, 0,  0, 255, 255, 255, 255, 0, 0,
  };
  AxonShape shape = AXON_SHAPE ((gint64)length);
  AxonTensor *tensor = axon_tensor_new (AXON_DTYPE_U8, &shape, NULL);
  memcpy (axon_tensor_get_data (tensor), bmp, length);
  return tensor;
}

static AxonTensor *
decode (gsize length, const gchar *format)
{
  g_autoptr (AxonTensor) in = bitmap (length);
  TestModel t = test_model_new (20);
  AxonNode *n =
      test_model_node (&t, "ImageDecoder", 1,
                       test_model_input (&t, "stream", AXON_DTYPE_U8, axon_tensor_get_shape (in)));
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GError) error = NULL;
  AxonTensor *y;
  axon_node_set_string (n, "pixel_format", format);
  model = test_model_finish (&t, n->outputs[0]);
  g_assert_cmpint (axon_model_get_output_dtype (model, 0), ==, AXON_DTYPE_U8);
  y = test_try_run (model, "CPU", NULL, in, &error);
  if (g_error_matches (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED))
    g_test_skip (error->message);
  else
    g_assert_no_error (error);
  return y;
}

static void
a_picture_is_decoded_in_the_order_that_is_asked_for (void)
{
  static const struct {
    const gchar *format;
    guint8 top[6], n; /* the upper row: red, white */
  } cases[] = { { "RGB", { 255, 0, 0, 255, 255, 255 }, 6 },
                { "BGR", { 0, 0, 255, 255, 255, 255 }, 6 },
                { "Grayscale", { 76, 255 }, 2 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (AxonTensor) y = decode (70, cases[i].format);
    if (y == NULL)
      return;
    g_assert_cmpint (axon_tensor_get_dim (y, 0), ==, 2);
    g_assert_cmpint (axon_tensor_get_dim (y, 1), ==, 2);
    g_assert_cmpmem (axon_tensor_get_data (y), cases[i].n, cases[i].top, cases[i].n);
  }
}

static void
a_picture_cut_short_is_an_empty_one (void)
{
  g_autoptr (AxonTensor) y = decode (20, "RGB");
  if (y != NULL)
    g_assert_cmpuint (axon_tensor_get_numel (y), ==, 0);
}

/* CausalConvWithState without a past is a convolution padded at its beginning. */
static void
a_causal_convolution_agrees_with_a_padded_one (void)
{
  static const gint64 pads[] = { 2, 0 };
  AxonShape x = AXON_SHAPE (2, 3, 7), w = AXON_SHAPE (3, 1, 3), b = AXON_SHAPE (3);
  g_autoptr (AxonTensor) input = test_random (&x, 1);
  AxonTensor *results[2];
  for (guint i = 0; i < 2; i++) {
    TestModel t = test_model_new (27);
    AxonNode *n = test_model_node (&t, i ? "CausalConvWithState" : "Conv", 3,
                                   test_model_input (&t, "x", AXON_DTYPE_F32, &x),
                                   test_model_random (&t, &w, 2), test_model_random (&t, &b, 3));
    g_autoptr (AxonModel) model = NULL;
    if (i == 0) {
      axon_node_set_int (n, "group", 3);
      axon_node_set_ints (n, "pads", pads, 2);
    }
    model = test_model_finish (&t, n->outputs[0]);
    results[i] = test_run (model, "CPU", NULL, input);
  }
  g_assert_cmpfloat (test_largest_difference (results[0], results[1]), <, 1e-5);
  axon_tensor_unref (results[0]);
  axon_tensor_unref (results[1]);
}

/* One head of one dimension, rule linear: the state is the sum of k v, and q k v sum comes out. */
static void
linear_attention_sums_what_it_saw (void)
{
  static const gfloat q[] = { 1, 2, 3 }, kv[] = { 1, 1, 2 };
  AxonShape shape = AXON_SHAPE (1, 3, 1);
  TestModel t = test_model_new (27);
  AxonValue *k = test_model_constant (&t, &shape, kv);
  AxonNode *n = test_model_node (&t, "LinearAttention", 3,
                                 test_model_input (&t, "q", AXON_DTYPE_F32, &shape), k, k);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) input = test_tensor (&shape, q);
  g_autoptr (AxonTensor) y = NULL;
  axon_node_set_int (n, "q_num_heads", 1);
  axon_node_set_int (n, "kv_num_heads", 1);
  axon_node_set_string (n, "update_rule", "linear");
  model = test_model_finish (&t, n->outputs[0]);
  y = test_run (model, "TEMPLATE", NULL, input);
  g_assert_cmpfloat (axon_tensor_get_value (y, 0), ==, 1);
  g_assert_cmpfloat (axon_tensor_get_value (y, 1), ==, 4);
  g_assert_cmpfloat (axon_tensor_get_value (y, 2), ==, 18);
}

#define ADD(name) g_test_add_func ("/newer/" #name, name)

static void
bits_are_taken_for_another_type_of_their_size (void)
{
  AxonShape shape = AXON_SHAPE (1, 3);
  TestModel t = test_model_new (26);
  AxonNode *n =
      test_model_node (&t, "BitCast", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  static const gfloat values[] = { 1, -2, 0 };
  static const gint32 bits[] = { 0x3f800000, (gint32)0xc0000000, 0 };
  memcpy (axon_tensor_get_data (x), values, sizeof values);
  axon_node_set_int (n, "to", 6); /* INT32 */
  model = test_model_finish (&t, n->outputs[0]);
  y = test_run (model, "CPU", NULL, x);
  g_assert_cmpint (axon_tensor_get_dtype (y), ==, AXON_DTYPE_I32);
  g_assert_true (axon_shape_equal (axon_tensor_get_shape (y), &shape));
  g_assert_cmpmem (axon_tensor_get_data (y), axon_tensor_get_n_bytes (y), bits, sizeof bits);
}

/* One dimension is cropped and the other padded; where it is odd, less goes before. */
static void
the_centre_stays_the_centre (void)
{
  static const gint64 sizes[] = { 2, 6 };
  static const gfloat values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
  static const gfloat expected[] = { 0, 4, 5, 6, 0, 0, 0, 7, 8, 9, 0, 0 };
  AxonShape shape = AXON_SHAPE (5, 3);
  TestModel t = test_model_new (18);
  AxonNode *n =
      test_model_node (&t, "CenterCropPad", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                       test_model_ints (&t, sizes, 2));
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) y = NULL;
  memcpy (axon_tensor_get_data (x), values, sizeof values);
  y = test_run (model, "CPU", NULL, x);
  g_assert_cmpmem (axon_tensor_get_data (y), axon_tensor_get_n_bytes (y), expected,
                   sizeof expected);
}

/* x goes from one edge to the other, y between: of a map that leaves all where it is. */
static void
an_affine_grid_with_aligned_corners_ends_at_the_edges (void)
{
  static const gint64 size[] = { 1, 1, 2, 3 };
  static const gfloat same[] = { 1, 0, 0, 0, 1, 0 };
  static const gfloat expected[] = { -1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1 };
  AxonShape shape = AXON_SHAPE (1, 2, 3);
  TestModel t = test_model_new (20);
  AxonNode *n =
      test_model_node (&t, "AffineGrid", 2, test_model_input (&t, "theta", AXON_DTYPE_F32, &shape),
                       test_model_ints (&t, size, 4));
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  memcpy (axon_tensor_get_data (x), same, sizeof same);
  axon_node_set_int (n, "align_corners", 1);
  model = test_model_finish (&t, n->outputs[0]);
  y = test_run (model, "CPU", NULL, x);
  g_assert_cmpmem (axon_tensor_get_data (y), axon_tensor_get_n_bytes (y), expected,
                   sizeof expected);
}

static void
a_mel_matrix_of_sizes_that_come_later_is_a_matrix (void)
{
  static const gint64 length = 16, rate = 8000;
  static const gfloat low = 0, high = 4000;
  AxonShape scalar = { 0 };
  TestModel t = test_model_new (17);
  AxonNode *n = test_model_node (
      &t, "MelWeightMatrix", 5, test_model_input (&t, "bins", AXON_DTYPE_I64, &scalar),
      test_model_ints (&t, &length, 1), test_model_ints (&t, &rate, 1),
      test_model_constant (&t, &scalar, &low), test_model_constant (&t, &scalar, &high));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  const AxonShape *shape = axon_model_get_output_shape (model, 0);
  g_assert_cmpint (shape->rank, ==, 2);
  g_assert_cmpint (shape->dims[0], ==, -1);
}

static void
a_picture_of_unknown_rank_is_resized_to_one (void)
{
  static const gfloat scales[] = { 1, 1, 2, 2 };
  AxonShape unknown = AXON_SHAPE_UNKNOWN, four = AXON_SHAPE (4);
  TestModel t = test_model_new (13);
  AxonNode *n =
      test_model_node (&t, "Resize", 3, test_model_input (&t, "x", AXON_DTYPE_F32, &unknown), NULL,
                       test_model_constant (&t, &four, scales));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_assert_cmpint (axon_model_get_output_shape (model, 0)->rank, ==, -1);
}

/* Symptom was: a free batch hid height and width, too. */
static void
a_free_size_hides_no_other_size_of_a_resized_picture (void)
{
  static const gfloat scales[] = { 1, 1, 2, 2 };
  static const struct {
    AxonShape in;
    gboolean by_sizes;
    const gchar *policy;
    gint64 out[4];
  } rows[] = {
    { AXON_SHAPE (-1, 3, 5, 6), FALSE, NULL, { -1, 3, 10, 12 } },
    { AXON_SHAPE (1, 3, -1, 6), FALSE, NULL, { 1, 3, -1, 12 } },
    { AXON_SHAPE (1, 3, -1, -1), TRUE, NULL, { 1, 3, 10, 24 } },
    { AXON_SHAPE (-1, 3, 5, 6), TRUE, "not_larger", { -1, 3, 10, 12 } },
    { AXON_SHAPE (1, 3, 5, -1), TRUE, "not_larger", { 1, 3, -1, -1 } },
  };
  gint64 sizes[] = { 10, 24 }, axes[] = { 2, 3 };
  AxonShape four = AXON_SHAPE (4);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    TestModel t = test_model_new (18);
    AxonNode *n =
        test_model_node (&t, "Resize", 4, test_model_input (&t, "x", AXON_DTYPE_F32, &rows[i].in),
                         NULL, rows[i].by_sizes ? NULL : test_model_constant (&t, &four, scales),
                         rows[i].by_sizes ? test_model_ints (&t, sizes, 2) : NULL);
    g_autoptr (AxonModel) model = NULL;
    if (rows[i].by_sizes)
      axon_node_set_ints (n, "axes", axes, 2);
    if (rows[i].policy != NULL)
      axon_node_set_string (n, "keep_aspect_ratio_policy", rows[i].policy);
    model = test_model_finish (&t, n->outputs[0]);
    for (gint d = 0; d < 4; d++)
      g_assert_cmpint (axon_model_get_output_shape (model, 0)->dims[d], ==, rows[i].out[d]);
  }
}

/* SiLU of A where alpha is 1: 2 / (1 + exp (-2)) is 1.7616. */
static void
swiglu_gates_b_by_a_and_alpha (void)
{
  static const gfloat b[] = { 10, 3, -2, 0.5f }, a[] = { 0, 2, -1, 100 };
  static const gdouble alphas[] = { 1, 0, 2 };
  AxonShape shape = AXON_SHAPE (2, 2);
  g_autoptr (AxonTensor) x = test_tensor (&shape, a);
  for (guint i = 0; i < G_N_ELEMENTS (alphas); i++) {
    TestModel t = test_model_new (27);
    AxonNode *n =
        test_model_node (&t, "SwiGLU", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                         test_model_constant (&t, &shape, b));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    if (i > 0)
      axon_node_set_float (n, "alpha", alphas[i]);
    model = test_model_finish (&t, n->outputs[0]);
    y = test_run (model, "CPU", NULL, x);
    g_assert_true (axon_shape_equal (axon_tensor_get_shape (y), &shape));
    if (i == 0)
      g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, 1), 1.7616 * 3, 1e-3);
    for (guint k = 0; k < 4; k++)
      g_assert_cmpfloat_with_epsilon (
          axon_tensor_get_value (y, k),
          (gdouble)a[k] * (gdouble)b[k] / (1 + exp (-alphas[i] * (gdouble)a[k])), 1e-5);
  }
}

/* A scale is a power of two; half way is up, and what is too large is the largest. */
static void
a_scale_is_rounded_to_the_power_of_two_that_round_mode_says (void)
{
  static const gchar *const modes[] = { NULL, "up", "down", "nearest" };
  static const struct {
    gfloat x, expected[3]; /* up, down, nearest */
  } cases[] = {
    { 1, { 1, 1, 1 } },
    { 1.25f, { 2, 1, 1 } },
    { 1.5f, { 2, 1, 2 } },
    { 1.75f, { 2, 1, 2 } },
    { 3, { 4, 2, 4 } },
    { 0.3f, { 0.5f, 0.25f, 0.25f } },
    { 0.375f, { 0.5f, 0.25f, 0.5f } },
    { 0, { 0x1p-127f, 0x1p-127f, 0x1p-127f } },
    { INFINITY, { 0x1p127f, 0x1p127f, 0x1p127f } },
    { NAN, { NAN, NAN, NAN } },
  };
  AxonShape shape = AXON_SHAPE (G_N_ELEMENTS (cases));
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ((gfloat *)axon_tensor_get_data (x))[i] = cases[i].x;
  for (guint m = 0; m < G_N_ELEMENTS (modes); m++) {
    TestModel t = test_model_new (25);
    AxonNode *n =
        test_model_node (&t, "Cast", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) y = NULL;
    axon_node_set_int (n, "to", 24); /* FLOAT8E8M0 */
    if (modes[m] != NULL)
      axon_node_set_string (n, "round_mode", modes[m]);
    model = test_model_finish (&t, n->outputs[0]);
    y = test_run (model, "CPU", NULL, x);
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
      gdouble got = axon_tensor_get_value (y, i);
      gdouble expected = (gdouble)cases[i].expected[m > 0 ? m - 1 : 0];
      g_test_message ("%g by %s: %g, expected %g", (gdouble)cases[i].x, modes[m], got, expected);
      g_assert_true (got == expected || (isnan (got) && isnan (expected)));
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (a_picture_is_decoded_in_the_order_that_is_asked_for);
  ADD (a_picture_cut_short_is_an_empty_one);
  ADD (a_causal_convolution_agrees_with_a_padded_one);
  ADD (linear_attention_sums_what_it_saw);
  ADD (bits_are_taken_for_another_type_of_their_size);
  ADD (the_centre_stays_the_centre);
  ADD (a_picture_of_unknown_rank_is_resized_to_one);
  ADD (a_free_size_hides_no_other_size_of_a_resized_picture);
  ADD (a_mel_matrix_of_sizes_that_come_later_is_a_matrix);
  ADD (swiglu_gates_b_by_a_and_alpha);
  ADD (a_scale_is_rounded_to_the_power_of_two_that_round_mode_says);
  ADD (an_affine_grid_with_aligned_corners_ends_at_the_edges);
  return g_test_run ();
}
