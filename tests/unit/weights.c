/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs that become constants, weights that are written as inputs, what errors are about. */
#include "axontest.h"

#include <string.h>

static const gfloat twelve[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };

/* x f32[1,4] x w f32[4,3] */
static AxonModel *
product (AxonValue **weight)
{
  const AxonShape x = AXON_SHAPE (1, 4), w = AXON_SHAPE (4, 3);
  TestModel t = test_model_new (13);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &x);
  *weight = test_model_constant (&t, &w, twelve);
  return test_model_finish (&t, test_model_node (&t, "MatMul", 2, in, *weight)->outputs[0]);
}

static AxonModel *
read_back (AxonModel *model, AxonWriteFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes =
      axon_core_write_model_to_bytes (axon_core_get_default (), model, flags, &error);
  AxonModel *back;
  g_assert_no_error (error);
  back = axon_core_read_model_from_bytes (axon_core_get_default (), bytes, NULL, &error);
  g_assert_no_error (error);
  return back;
}

static void
weights_are_written_within_or_beside_a_model (void)
{
  static const struct {
    AxonWriteFlags flags;
    guint n_inputs, n_initializers;
  } rows[] = { { AXON_WRITE_DEFAULT, 1, 1 },
               { AXON_WRITE_WEIGHTS_AS_INPUTS, 1, 1 },
               { AXON_WRITE_WITHOUT_WEIGHTS, 2, 0 },
               { AXON_WRITE_WEIGHTS_AS_INPUTS | AXON_WRITE_WITHOUT_WEIGHTS, 2, 0 } };
  AxonValue *w;
  g_autoptr (AxonModel) model = product (&w);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (AxonModel) back = read_back (model, rows[i].flags);
    g_assert_cmpuint (axon_model_get_n_inputs (back), ==, rows[i].n_inputs);
    g_assert_cmpuint (axon_model_get_n_initializers (back), ==, rows[i].n_initializers);
  }
}

static void
a_fixed_input_is_a_constant_and_no_input (void)
{
  AxonValue *w;
  g_autoptr (AxonModel) model = product (&w);
  g_autoptr (AxonModel) open = read_back (model, AXON_WRITE_WITHOUT_WEIGHTS);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) x = test_random (axon_model_get_input_shape (model, 0), 3);
  g_autoptr (AxonTensor) expected = test_run (model, "CPU", NULL, x);
  g_autoptr (AxonTensor) y = NULL;
  g_assert_true (axon_model_fix_input (open, 1, w->type.value, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (axon_model_get_n_inputs (open), ==, 1);
  g_assert_true (axon_model_verify (open, &error));
  y = test_run (open, "CPU", NULL, x);
  g_assert_cmpfloat (test_largest_difference (expected, y), ==, 0);
}

static void
a_value_that_does_not_fit_an_input_is_refused (void)
{
  const AxonShape other = AXON_SHAPE (4, 2), ints = AXON_SHAPE (1);
  AxonValue *w;
  g_autoptr (AxonModel) model = product (&w);
  g_autoptr (AxonModel) open = read_back (model, AXON_WRITE_WITHOUT_WEIGHTS);
  AxonTensor *wrong[] = { test_random (&other, 1), axon_tensor_new (AXON_DTYPE_I64, &ints, NULL) };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (axon_model_fix_input (open, 1, wrong[i], &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, "expected f32[4,3], got"));
    g_assert_cmpuint (axon_model_get_n_inputs (open), ==, 2);
    axon_tensor_unref (wrong[i]);
  }
}

static void
a_node_alone_is_a_model (void)
{
  AxonValue *w;
  const AxonShape shape = AXON_SHAPE (1, 3);
  g_autoptr (AxonModel) model = product (&w);
  g_autoptr (AxonModel) alone = NULL;
  g_autoptr (GError) error = NULL;
  alone = axon_partition_node (model, g_ptr_array_index (model->nodes, 0), &error);
  g_assert_no_error (error);
  g_assert_cmpuint (axon_model_get_n_nodes (alone), ==, 1);
  g_assert_cmpuint (axon_model_get_n_inputs (alone), ==, 1);
  g_assert_true (axon_shape_equal (axon_model_get_output_shape (alone, 0), &shape));
}

static void
errors_say_what_they_are_about (void)
{
  static const struct {
    const gchar *bytes;
    gsize n;
    AxonErrorReason reason;
  } files[] = {
    { "\xff\xff\xff", 3, AXON_REASON_ENCODING },
    { "\x08\x63\x42\x04\x0a\x00\x10\x0d\x3a\x00", 10, AXON_REASON_VERSION },
    { "\x08\x04\x42\x04\x0a\x00\x10\x0d\x3a\x08\x0a\x06\x22\x04None", 18, AXON_REASON_OPERATOR },
    { "\x08\x04\x42\x04\x0a\x00\x10\x0d\x3a\x04\x12\x02\xff\xfe", 14, AXON_REASON_ENCODING },
    { "\x08\x04\x42\x04\x0a\x00\x10\x0d\x3a\x00", 10, AXON_REASON_UNKNOWN },
  };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (GBytes) bytes = g_bytes_new_static (files[i].bytes, files[i].n);
    g_autoptr (GError) error = NULL;
    g_autoptr (GError) copy = NULL;
    g_assert_null (axon_core_read_model_from_bytes (axon_core_get_default (), bytes, NULL, &error));
    g_test_message ("%s", error->message);
    g_assert_cmpint (axon_error_get_reason (error), ==, files[i].reason);
    g_prefix_error (&error, "here: ");
    copy = g_error_copy (error);
    g_assert_cmpint (axon_error_get_reason (copy), ==, files[i].reason);
  }
  g_assert_cmpint (axon_error_get_reason (NULL), ==, AXON_REASON_UNKNOWN);
}

/* GVariants are made of names, and abort on others. */
static void
a_name_that_is_not_utf8_is_refused (void)
{
  static const gchar file[] = "\x08\x04\x42\x04\x0a\x00\x10\x0d\x3a\x04\x12\x02\xff\xfe";
  g_autoptr (GBytes) bytes = g_bytes_new_static (file, sizeof file - 1);
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_read_model_from_bytes (axon_core_get_default (), bytes, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "a name is not UTF-8"));
}

#define ADD(test) g_test_add_func ("/weights/" #test, test)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (weights_are_written_within_or_beside_a_model);
  ADD (a_fixed_input_is_a_constant_and_no_input);
  ADD (a_value_that_does_not_fit_an_input_is_refused);
  ADD (a_node_alone_is_a_model);
  ADD (errors_say_what_they_are_about);
  ADD (a_name_that_is_not_utf8_is_refused);
  return g_test_run ();
}
