/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that models of older operator sets write as several nodes, and devices compute as one.
 */
#include "axontest.h"

#include <math.h>

#define TOLERANCE 1e-4

static const gfloat odd_values[] = { NAN, INFINITY, -INFINITY, 0, -0.0f, 100, -100, 1, -1.3f };

static AxonValue *
number (TestModel *t, gfloat value)
{
  AxonShape scalar = { 0 };
  return test_model_constant (t, &scalar, &value);
}

static AxonValue *
pair (TestModel *t, const gchar *op, AxonValue *a, AxonValue *b)
{
  return test_model_node (t, op, 2, a, b)->outputs[0];
}

static AxonValue *
apply (TestModel *t, const gchar *op, AxonValue *x)
{
  return test_model_node (t, op, 1, x)->outputs[0];
}

static gboolean
is_cpu (void)
{
  return g_str_equal (test_device (), "CPU");
}

/* Whichever way round the product is written; of infinities and what is no number, too. */
static void
mish_that_is_written_out_is_one_node (void)
{
  AxonShape s = AXON_SHAPE (G_N_ELEMENTS (odd_values));
  g_autoptr (AxonTensor) input = test_tensor (&s, odd_values);
  for (guint first = 0; first < 2; first++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
    g_autoptr (AxonModel) model =
        test_model_finish (&t, test_model_mish (&t, x, first)->outputs[0]);
    g_assert_cmpuint (test_count_nodes (model, NULL, "Mish"), ==, 1);
    g_assert_cmpuint (test_count_nodes (model, NULL, "Mul") +
                          test_count_nodes (model, AXON_DOMAIN_AXON, "Elementwise"),
                      ==, 0);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* What is read by something else, and what is a product of others. */
static void
mish_of_which_parts_are_read_stays (void)
{
  AxonShape s = AXON_SHAPE (4, 9);
  g_autoptr (AxonTensor) input = test_random (&s, 1);
  for (guint k = 0; k < 3; k++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
    AxonNode *from = k == 2 ? test_model_node (&t, "Neg", 1, x) : NULL;
    AxonNode *softplus = test_model_node (&t, "Softplus", 1, from ? from->outputs[0] : x);
    AxonNode *tanh = test_model_node (&t, "Tanh", 1, softplus->outputs[0]);
    AxonNode *y = test_model_node (&t, "Mul", 2, x, tanh->outputs[0]);
    g_autoptr (AxonModel) model = NULL;
    if (k < 2)
      y = test_model_node (&t, "Sub", 2, y->outputs[0],
                           k == 0 ? softplus->outputs[0] : tanh->outputs[0]);
    model = test_model_finish (&t, y->outputs[0]);
    g_assert_cmpuint (test_count_nodes (model, NULL, "Mish"), ==, 0);
    test_compare_devices (model, input, TOLERANCE);
  }
}

static AxonValue *
mean (TestModel *t, AxonValue *x, const gint64 *axes, guint n)
{
  AxonNode *node = test_model_node (t, "ReduceMean", 1, x);
  axon_node_set_ints (node, "axes", axes, n);
  return node->outputs[0];
}

/* Over all dimensions from @axis on, of rank 3. */
static AxonValue *
normalise (TestModel *t, AxonValue *x, gint axis, gboolean centred, const AxonShape *scale)
{
  const gint64 axes[] = { -1, 1 };
  AxonValue *d = centred ? pair (t, "Sub", x, mean (t, x, axes, 3 - (guint)axis)) : x;
  AxonValue *variance = mean (t, pair (t, "Pow", d, number (t, 2)), axes, 3 - (guint)axis);
  AxonValue *root = apply (t, "Sqrt", pair (t, "Add", variance, number (t, 1e-5f)));
  AxonValue *y = pair (t, "Mul", pair (t, "Div", d, root), test_model_random (t, scale, 3));
  return centred ? pair (t, "Add", y, test_model_random (t, scale, 4)) : y;
}

static void
normalisation_that_is_written_out_is_one_node (void)
{
  static const gchar *const names[] = { "RMSNormalization", "LayerNormalization" };
  const AxonShape s = AXON_SHAPE (4, 5, 37), scales[] = { AXON_SHAPE (5, 37), AXON_SHAPE (37) };
  g_autoptr (AxonTensor) input = test_random (&s, 1);
  for (gint axis = 1; axis < 3; axis++)
    for (guint centred = 0; centred < 2; centred++) {
      TestModel t = test_model_new (13);
      AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
      g_autoptr (AxonModel) model =
          test_model_finish (&t, normalise (&t, x, axis, centred != 0, &scales[axis - 1]));
      g_assert_cmpuint (test_count_nodes (model, NULL, names[centred]), ==, 1);
      test_compare_devices (model, input, TOLERANCE);
    }
}

/* Axes are an input from operator set 18 on. */
static void
axes_that_are_an_input_are_read (void)
{
  const AxonShape s = AXON_SHAPE (3, 19);
  const gint64 axis = 1;
  g_autoptr (AxonTensor) input = test_random (&s, 1);
  TestModel t = test_model_new (18);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
  AxonValue *axes = test_model_ints (&t, &axis, 1);
  AxonValue *d = pair (&t, "Sub", x, pair (&t, "ReduceMean", x, axes));
  AxonValue *variance = pair (&t, "ReduceMean", pair (&t, "Mul", d, d), axes);
  AxonValue *root = apply (&t, "Sqrt", pair (&t, "Add", number (&t, 0.1f), variance));
  g_autoptr (AxonModel) model = test_model_finish (&t, pair (&t, "Div", d, root));
  g_assert_cmpuint (test_count_nodes (model, NULL, "LayerNormalization"), ==, 1);
  test_compare_devices (model, input, TOLERANCE);
}

/* The number of rows need not be known, but what shares a mean. */
static void
rows_may_be_of_any_number (void)
{
  const AxonShape s = AXON_SHAPE (4, 5, 37), scale = AXON_SHAPE (37);
  g_autoptr (AxonTensor) input = test_random (&s, 1);
  for (gint free = 1; free < 3; free++) {
    TestModel t = test_model_new (13);
    AxonShape open = s;
    g_autoptr (AxonModel) model = NULL;
    open.dims[free] = -1;
    model = test_model_finish (
        &t, normalise (&t, test_model_input (&t, "x", AXON_DTYPE_F32, &open), 2, TRUE, &scale));
    test_compare_devices (model, input, TOLERANCE);
  }
}

static AxonValue *
gelu (TestModel *t, AxonValue *x, gboolean by_tanh, guint order)
{
  AxonValue *y = by_tanh ? pair (t, "Pow", x, number (t, 3)) : x;
  if (by_tanh) {
    y = pair (t, "Add", x, pair (t, "Mul", y, number (t, 0.044715f)));
    y = apply (t, "Tanh", pair (t, "Mul", y, number (t, 0.7978846f)));
  } else {
    y = apply (t, "Erf", pair (t, "Div", x, number (t, 1.4142135f)));
  }
  y = pair (t, "Add", y, number (t, 1));
  if (order == 0)
    return pair (t, "Mul", pair (t, "Mul", x, y), number (t, 0.5f));
  if (order == 1)
    return pair (t, "Mul", x, pair (t, "Mul", number (t, 0.5f), y));
  return pair (t, "Mul", pair (t, "Mul", x, number (t, 0.5f)), y);
}

/* What is infinite or no number is left to each OpenCL. */
static void
gelu_that_is_written_out_is_one_node (void)
{
  const AxonShape s = AXON_SHAPE (G_N_ELEMENTS (odd_values)), more = AXON_SHAPE (7, 33);
  for (guint order = 0; order < 3; order++)
    for (guint by_tanh = 0; by_tanh < 2; by_tanh++)
      for (guint odd = 0; odd < (is_cpu () ? 2 : 1); odd++) {
        const AxonShape *shape = odd ? &s : &more;
        g_autoptr (AxonTensor) input =
            odd ? test_tensor (shape, odd_values) : test_random (shape, 1);
        TestModel t = test_model_new (13);
        AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, shape);
        g_autoptr (AxonModel) model = test_model_finish (&t, gelu (&t, x, by_tanh != 0, order));
        g_assert_cmpuint (test_count_nodes (model, NULL, "Gelu"), ==, 1);
        test_compare_devices (model, input, TOLERANCE);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/written/" #name, name)
  if (is_cpu ()) { /* a pass of its own */
    ADD (mish_that_is_written_out_is_one_node);
    ADD (mish_of_which_parts_are_read_stays);
  }
  ADD (normalisation_that_is_written_out_is_one_node);
  ADD (axes_that_are_an_input_are_read);
  ADD (rows_may_be_of_any_number);
  ADD (gelu_that_is_written_out_is_one_node);
  return g_test_run ();
}
