/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* base, tensor, model, passes, plan: small facts. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <math.h>

static void
numel_of_an_overflowing_shape_is_unknown (void)
{
  AxonShape s = AXON_SHAPE (G_MAXINT64 / 2, 4);
  g_assert_cmpint (axon_shape_get_numel (&s), ==, -1);
  s = AXON_SHAPE (0, G_MAXINT64);
  g_assert_cmpint (axon_shape_get_numel (&s), ==, 0);
}

static void
shapes_read_back_from_their_text (void)
{
  AxonShape a = AXON_SHAPE (1, -1, 224), b;
  g_autofree gchar *text = axon_shape_to_string (&a);
  g_autoptr (GError) error = NULL;
  g_assert_cmpstr (text, ==, "[1,?,224]");
  g_assert_true (axon_shape_from_string (text, &b, &error));
  g_assert_true (axon_shape_equal (&a, &b));
  g_assert_false (axon_shape_from_string ("1,two,3", &b, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

static void
an_operand_that_repeats_before_an_axis_is_a_tail (void)
{
  static const struct {
    AxonShape shape;
    gint axis;
    gboolean is_tail;
  } rows[] = {
    { { 1, { 5 } }, 2, TRUE },           { { 3, { 1, 1, 5 } }, 2, TRUE },
    { { 2, { 5, 5 } }, 1, TRUE },        { { 2, { 5, 5 } }, 2, FALSE },
    { { 2, { 5, 1 } }, 2, FALSE },       { { 1, { 5 } }, 1, FALSE },
    { { 0, { 0 } }, 3, TRUE },           { { 0, { 0 } }, 2, FALSE },
    { { 4, { 1, 1, 1, 5 } }, 2, FALSE }, { { -1, { 0 } }, 2, FALSE },
  };
  AxonShape of = AXON_SHAPE (4, 5, 5);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (axon_shape_is_tail (&rows[i].shape, &of, rows[i].axis), ==, rows[i].is_tail);
}

static void
storing_a_float_saturates_integers (void)
{
  gint8 v[3];
  axon_dtype_store (AXON_DTYPE_I8, v, 0, 1e9);
  axon_dtype_store (AXON_DTYPE_I8, v, 1, -INFINITY);
  axon_dtype_store (AXON_DTYPE_I8, v, 2, NAN);
  g_assert_cmpint (v[0], ==, 127);
  g_assert_cmpint (v[1], ==, -128);
  g_assert_cmpint (v[2], ==, 0);
}

static void
half_precision_round_trips (void)
{
  for (guint bits = 0; bits < 0x7c00; bits++) {
    guint16 half = (guint16)bits, again;
    axon_dtype_store (AXON_DTYPE_F16, &again, 0, axon_dtype_load (AXON_DTYPE_F16, &half, 0));
    g_assert_cmpuint (again, ==, half);
  }
}

static void
every_dtype_name_leads_to_its_row (void)
{
  for (guint i = 1; i < AXON_N_DTYPES; i++)
    if (axon_dtype_get_size ((AxonDType)i) > 0)
      g_assert_cmpint (axon_dtype_from_name (axon_dtype_get_name ((AxonDType)i)), ==, i);
}

static void
a_tensor_of_the_wrong_size_is_refused (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new ("abc", 3);
  AxonShape s = AXON_SHAPE (4);
  g_assert_null (axon_tensor_new_from_bytes (AXON_DTYPE_U8, &s, bytes, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "needs 4 bytes, got 3"));
}

static void
an_impossible_tensor_is_an_error_not_an_abort (void)
{
  g_autoptr (GError) error = NULL;
  AxonShape s = AXON_SHAPE (G_MAXINT64 / 16);
  g_assert_null (axon_tensor_new (AXON_DTYPE_F64, &s, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MEMORY);
}

static void
npy_files_round_trip (void)
{
  AxonShape s = AXON_SHAPE (2, 3);
  g_autoptr (AxonTensor) a = test_random (&s, 1);
  g_autoptr (AxonTensor) b = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "t.npy", NULL);
  g_assert_true (axon_tensor_save_npy (a, path, &error));
  b = axon_tensor_load_npy (path, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (test_largest_difference (a, b), ==, 0);
  g_file_set_contents (path, "\x93NUMPY\x01\x00\xff\xff{", 11, NULL);
  g_assert_null (axon_tensor_load_npy (path, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_unlink (path);
  g_rmdir (dir);
}

/* Conv (1 -> 1, 1x1, weight 2), BatchNormalization, Relu, Identity */
static AxonModel *
conv_chain (void)
{
  TestModel t = test_model_new (13);
  AxonShape x = AXON_SHAPE (1, 1, 2, 2), w = AXON_SHAPE (1, 1, 1, 1), c = AXON_SHAPE (1);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &x);
  AxonValue *scale = test_model_constant (&t, &c, (gfloat[]){ 3 });
  AxonValue *shift = test_model_constant (&t, &c, (gfloat[]){ 1 });
  AxonValue *mean = test_model_constant (&t, &c, (gfloat[]){ 0.5f });
  AxonValue *var = test_model_constant (&t, &c, (gfloat[]){ 4 });
  AxonNode *n = test_model_node (&t, "Conv", 2, in, test_model_constant (&t, &w, (gfloat[]){ 2 }));
  n = test_model_node (&t, "BatchNormalization", 5, n->outputs[0], scale, shift, mean, var);
  axon_node_set_float (n, "epsilon", 0);
  n = test_model_node (&t, "Relu", 1, n->outputs[0]);
  n = test_model_node (&t, "Identity", 1, n->outputs[0]);
  return test_model_finish (&t, n->outputs[0]);
}

/* NumPy has no type of these bits. */
static void
an_element_type_that_npy_lacks_is_refused_and_nothing_is_written (void)
{
  AxonShape s = AXON_SHAPE (2);
  g_autoptr (AxonTensor) tensor = axon_tensor_new (AXON_DTYPE_BF16, &s, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (dir, "t.npy", NULL);
  g_autofree gchar *says = g_strdup_printf ("%s: .npy has no element type bf16", path);
  g_assert_false (axon_tensor_save_npy (tensor, path, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==, says);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_rmdir (dir);
}

static void
passes_keep_meaning_and_names_P20 (void)
{
  g_autoptr (AxonModel) model = conv_chain ();
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  g_autoptr (GError) error = NULL;
  AxonNode *conv;
  g_assert_true (axon_passes_run_common (clone, NULL, &error));
  g_assert_cmpuint (axon_model_get_n_nodes (clone), ==, 2); /* Conv, Relu */
  g_assert_cmpuint (axon_model_get_n_nodes (model), ==, 4); /* the caller's model stays */
  conv = g_ptr_array_index (clone->nodes, 0);
  g_assert_cmpuint (conv->origins->len, ==, 2);
  g_assert_cmpstr (axon_model_get_output_name (clone, 0), ==,
                   axon_model_get_output_name (model, 0));
  AxonShape s = AXON_SHAPE (1, 1, 2, 2);
  g_autoptr (AxonTensor) x = test_tensor (&s, (gfloat[]){ 1, -1, 2, 0 });
  g_autoptr (AxonTensor) y = test_run (clone, "TEMPLATE", NULL, x);
  g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, 0), (2 - 0.5) * 1.5 + 1, 1e-6);
  g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, 1), 0, 1e-6);
}

static void
buffers_that_live_together_do_not_overlap (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  AxonArenaItem items[60];
  gsize total, sum = 0;
  for (guint i = 0; i < G_N_ELEMENTS (items); i++) {
    guint first = (guint)g_rand_int_range (rand, 0, 50);
    items[i] = (AxonArenaItem){ (gsize)g_rand_int_range (rand, 1, 1000), first,
                                first + (guint)g_rand_int_range (rand, 0, 6), 0 };
    sum += items[i].size + 64;
  }
  total = axon_plan_arena (items, G_N_ELEMENTS (items), 64);
  g_assert_cmpuint (total, <, sum);
  for (guint i = 0; i < G_N_ELEMENTS (items); i++)
    for (guint k = 0; k < i; k++)
      if (items[i].first <= items[k].last && items[k].first <= items[i].last)
        g_assert_true (items[i].offset + items[i].size <= items[k].offset ||
                       items[k].offset + items[k].size <= items[i].offset);
}

/* The third lives with the second; the others are alone while they live. */
static void
buffers_that_never_live_together_share_memory (void)
{
  AxonArenaItem items[] = {
    { 640, 0, 1, 0 }, { 320, 2, 4, 0 }, { 256, 3, 5, 0 }, { 640, 6, 9, 0 }
  };
  g_assert_cmpuint (axon_plan_arena (items, G_N_ELEMENTS (items), 64), ==, 640);
  g_assert_cmpuint (items[0].offset, ==, 0);
  g_assert_cmpuint (items[1].offset, ==, 0);
  g_assert_cmpuint (items[2].offset, ==, 320);
  g_assert_cmpuint (items[3].offset, ==, 0);
}

static void
only_inputs_that_are_used_as_frames_may_have_any_size (void)
{
  g_autoptr (AxonPreprocess) frames = axon_preprocess_new ();
  g_autoptr (AxonModel) relu = test_relu_model ();
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GError) error = NULL;
  AxonShape s = AXON_SHAPE (2);
  guint n;
  axon_preprocess_set_size (frames, 4, 4);
  model = axon_preprocess_build (frames, NULL, 0, &error);
  g_assert_no_error (error);
  n = axon_model_get_n_inputs (model);
  g_assert_cmpuint (n, >, 1);
  axon_model_add_input (model, "unused", AXON_DTYPE_F32, &s);
  for (guint i = 0; i < n; i++)
    g_assert_true (axon_model_input_is_any_size (model, i));
  g_assert_false (axon_model_input_is_any_size (model, n));
  g_assert_false (axon_model_input_is_any_size (relu, 0));
}

static void
a_cycle_is_found (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (2);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
  AxonNode *a = test_model_node (&t, "Add", 2, in, in), *b;
  g_autoptr (GError) error = NULL;
  b = test_model_node (&t, "Relu", 1, a->outputs[0]);
  axon_node_set_input (a, 1, b->outputs[0]);
  g_assert_false (axon_model_sort (t.model, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "cycle"));
  g_object_unref (t.model);
}

static void
a_shape_mismatch_names_node_expected_and_got (void)
{
  TestModel t = test_model_new (11);
  AxonShape x = AXON_SHAPE (1, 3, 8, 8), w = AXON_SHAPE (4, 32, 1, 1);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &x);
  g_autofree gfloat *zeros = g_new0 (gfloat, 128);
  g_autoptr (GError) error = NULL;
  test_model_node (&t, "Conv", 2, in, test_model_constant (&t, &w, zeros));
  g_assert_false (axon_model_infer_shapes (t.model, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "(opset 11): W has 32 input channels, X has 3"));
  g_object_unref (t.model);
}

static void
division_by_zero_in_a_model_does_not_trap (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (2);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_I64, &s);
  AxonNode *n = test_model_node (&t, "Div", 2, in, test_model_ints (&t, (gint64[]){ 0, -1 }, 2));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) x = axon_tensor_new_i64 ((gint64[]){ 5, G_MININT64 }, 2);
  g_autoptr (AxonTensor) y = test_run (model, "TEMPLATE", NULL, x);
  g_assert_nonnull (y);
}

static gchar *
refuse_relu (const AxonNode *node, G_GNUC_UNUSED gpointer user_data)
{
  return g_str_equal (node->op->name, "Relu") ? g_strdup ("no Relu here") : NULL;
}

/* Q7: two nodes of the transformed graph stand for one original node, and disagree about it. */
static void
one_refusal_outweighs_any_acceptance (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1, 4);
  AxonNode *a = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  AxonNode *b = test_model_node (&t, "Sigmoid", 1, a->outputs[0]);
  g_autoptr (AxonModel) model = test_model_finish (&t, b->outputs[0]);
  g_autoptr (AxonModel) transformed = axon_model_clone (model);
  g_autoptr (AxonSupportedOps) ops = axon_supported_ops_new ();
  axon_node_add_origins (g_ptr_array_index (transformed->nodes, 0), b);
  axon_supported_ops_collect (ops, model, transformed, "D", 1, refuse_relu, NULL);
  g_assert_cmpuint (g_hash_table_size (ops->devices), ==, 0);
  g_assert_cmpstr (g_hash_table_lookup (ops->reasons, b->name), ==, "no Relu here");
}

/* Q8, Q9: a Constant node is taken with a user that is taken, and not without. */
static void
constants_follow_their_users (void)
{
  for (guint taken = 0; taken < 2; taken++) {
    TestModel t = test_model_new (13);
    AxonShape s = AXON_SHAPE (1, 4);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
    AxonNode *constant = test_model_node (&t, "Constant", 0);
    g_autoptr (AxonTensor) value = test_random (&s, 1);
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonSupportedOps) ops = axon_supported_ops_new ();
    AxonNode *user;
    axon_node_add_attr (constant, "value", AXON_ATTR_TENSOR)->tensor = axon_tensor_ref (value);
    user = taken ? test_model_node (&t, "Add", 2, constant->outputs[0], x)
                 : test_model_node (&t, "Relu", 1, constant->outputs[0]);
    axon_model_add_output (t.model, user->outputs[0]);
    model = t.model;
    axon_supported_ops_collect (ops, model, model, "D", 1, refuse_relu, NULL);
    g_assert_true (g_hash_table_contains (ops->devices, constant->name) == (gboolean)taken);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/library/" #name, name)
  ADD (numel_of_an_overflowing_shape_is_unknown);
  ADD (shapes_read_back_from_their_text);
  ADD (an_operand_that_repeats_before_an_axis_is_a_tail);
  ADD (storing_a_float_saturates_integers);
  ADD (half_precision_round_trips);
  ADD (every_dtype_name_leads_to_its_row);
  ADD (a_tensor_of_the_wrong_size_is_refused);
  ADD (an_impossible_tensor_is_an_error_not_an_abort);
  ADD (npy_files_round_trip);
  ADD (an_element_type_that_npy_lacks_is_refused_and_nothing_is_written);
  ADD (passes_keep_meaning_and_names_P20);
  ADD (buffers_that_live_together_do_not_overlap);
  ADD (buffers_that_never_live_together_share_memory);
  ADD (only_inputs_that_are_used_as_frames_may_have_any_size);
  ADD (a_cycle_is_found);
  ADD (a_shape_mismatch_names_node_expected_and_got);
  ADD (division_by_zero_in_a_model_does_not_trap);
  ADD (one_refusal_outweighs_any_acceptance);
  ADD (constants_follow_their_users);
  return g_test_run ();
}
