/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.Elementwise: a run of operators in one node, as exports of device CPU hold it. */
#include "axontest.h"

#include <string.h>

static void
set_steps (AxonNode *node, const gchar *const *steps, const gint64 *operands, const gfloat *args,
           guint n)
{
  AxonAttr *names = axon_node_add_attr (node, "steps", AXON_ATTR_STRINGS);
  names->strings = g_new0 (gchar *, n + 1);
  names->n = n;
  for (guint i = 0; i < n; i++)
    names->strings[i] = g_strdup (steps[i]);
  axon_node_set_ints (node, "operands", operands, 2 * n);
  axon_node_set_floats (node, "args", args, 2 * n);
}

/* Of x [2, 3] and a row of three. */
static AxonModel *
model_of (const gchar *const *steps, const gint64 *operands, const gfloat *args, guint n)
{
  AxonShape shape = AXON_SHAPE (2, 3), row = AXON_SHAPE (3);
  static const gfloat values[] = { 1, -2, 3 };
  TestModel t = test_model_new (13);
  AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                      test_model_constant (&t, &row, values) };
  AxonNode *node = test_model_node_of (&t, AXON_DOMAIN_AXON, "Elementwise", in, 2, 1);
  set_steps (node, steps, operands, args, n);
  return test_model_finish (&t, node->outputs[0]);
}

static void
a_run_of_operators_is_each_of_them_in_turn (void)
{
  static const gchar *const steps[] = { "Add", "LeakyRelu", "Mul", "Clip" };
  static const gint64 operands[] = { 0, 1, 2, -1, 3, 0, 4, -1 };
  static const gfloat args[] = { 0, 0, 0.5f, 0, 0, 0, -10, 20 };
  g_autoptr (AxonModel) model = model_of (steps, operands, args, 4);
  AxonShape shape = AXON_SHAPE (2, 3);
  g_autoptr (AxonTensor) x = test_random (&shape, 4), y = NULL;
  gfloat *v = axon_tensor_get_data (x);
  const gfloat *out;
  for (gint i = 0; i < 6; i++)
    v[i] *= 4;
  y = test_run (model, "TEMPLATE", NULL, x);
  out = axon_tensor_get_data (y);
  for (gint i = 0; i < 6; i++) {
    const gfloat row[] = { 1, -2, 3 };
    gfloat sum = v[i] + row[i % 3], leaky = sum < 0 ? 0.5f * sum : sum;
    g_assert_cmpfloat_with_epsilon (out[i], CLAMP (leaky * v[i], -10, 20), 1e-5);
  }
  test_compare_devices (model, x, 1e-5);
}

static const struct {
  const gchar *step, *said;
  gint64 operands[2];
} wrong[] = {
  { "Softmax", "no elementwise operator of 1 operands", { 0, -1 } },
  { "Nothing", "no elementwise operator of 1 operands", { 0, -1 } },
  { "Add", "no elementwise operator of 1 operands", { 0, -1 } },
  { "Relu", "no elementwise operator of 2 operands", { 0, 1 } },
  { "Relu", "operands 2 and -1, expected some below 2", { 2, -1 } },
  { "Relu", "operands -1 and -1, expected some below 2", { -1, -1 } },
  { "Add", "operands 0 and 7, expected some below 2", { 0, 7 } },
};

static void
a_run_of_anything_else_is_an_error_that_names_the_step (void)
{
  static const gfloat args[] = { 0, 0 };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    TestModel t = test_model_new (13);
    AxonShape shape = AXON_SHAPE (2, 3);
    AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                        test_model_random (&t, &shape, 1) };
    AxonNode *node = test_model_node_of (&t, AXON_DOMAIN_AXON, "Elementwise", in, 2, 1);
    g_autoptr (GError) error = NULL;
    set_steps (node, &wrong[i].step, wrong[i].operands, args, 1);
    g_assert_false (axon_model_infer_shapes (t.model, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
    g_assert_nonnull (strstr (error->message, wrong[i].said));
    g_object_unref (t.model);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elementwise/a_run_of_operators_is_each_of_them_in_turn",
                   a_run_of_operators_is_each_of_them_in_turn);
  g_test_add_func ("/elementwise/a_run_of_anything_else_is_an_error_that_names_the_step",
                   a_run_of_anything_else_is_an_error_that_names_the_step);
  return g_test_run ();
}
