/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fourier transforms on device CPU, which are products of matrices there. */
#include "axontest.h"

#define TOLERANCE 1e-4

/* Lengths: 0: none is given. */
static const struct {
  AxonShape shape;
  gint64 axis, length;
  gboolean inverse, onesided;
} transforms[] = {
  { { 3, { 3, 16, 1 } }, 1, 0, FALSE, FALSE },      { { 3, { 3, 16, 1 } }, 1, 0, FALSE, TRUE },
  { { 3, { 3, 15, 2 } }, 1, 0, FALSE, FALSE },      { { 3, { 3, 15, 2 } }, 1, 0, TRUE, FALSE },
  { { 3, { 2, 9, 2 } }, 1, 0, TRUE, TRUE },         { { 3, { 2, 9, 2 } }, 1, 17, TRUE, TRUE },
  { { 4, { 2, 12, 5, 1 } }, 1, 0, FALSE, FALSE },   { { 4, { 7, 12, 5, 2 } }, 0, 0, TRUE, FALSE },
  { { 4, { 7, 12, 5, 2 } }, -2, 8, FALSE, TRUE },   { { 3, { 3, 16, 1 } }, 1, 10, FALSE, TRUE },
  { { 3, { 3, 16, 2 } }, 1, 20, FALSE, FALSE },     { { 3, { 3, 16, 1 } }, -3, 5, TRUE, FALSE },
  { { 2, { 1, 2 } }, 0, 0, FALSE, FALSE },          { { 3, { 1, 300, 1 } }, 1, 0, FALSE, TRUE },
  { { 5, { 2, 4, 3, 6, 1 } }, 2, 0, FALSE, FALSE },
};

static AxonNode *
add_dft (TestModel *t, gsize i, gboolean by_input, AxonValue *x)
{
  const gint64 axis = transforms[i].axis, length = transforms[i].length;
  AxonValue *in[] = { x, length > 0 ? test_model_ints (t, &length, 1) : NULL,
                      by_input ? test_model_ints (t, &axis, 1) : NULL };
  AxonNode *n = test_model_node_of (t, NULL, "DFT", in, by_input ? 3 : length > 0 ? 2 : 1, 1);
  axon_node_set_int (n, "inverse", transforms[i].inverse);
  axon_node_set_int (n, "onesided", transforms[i].onesided);
  if (!by_input)
    axon_node_set_int (n, "axis", axis < 0 ? axis + transforms[i].shape.rank : axis);
  return n;
}

static gboolean
has (AxonModel *model, const gchar *name)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  for (guint i = 0; i < runtime->nodes->len; i++)
    if (g_str_equal (((const AxonNode *)runtime->nodes->pdata[i])->op->name, name))
      return TRUE;
  return FALSE;
}

static void
transforms_are_products (void)
{
  for (gsize i = 0; i < 2 * G_N_ELEMENTS (transforms); i++) {
    const AxonShape *shape = &transforms[i / 2].shape;
    TestModel t = test_model_new (i % 2 ? 20 : 17);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, shape);
    g_autoptr (AxonTensor) input = test_random (shape, (guint32)i);
    g_autoptr (AxonModel) model = test_model_finish (&t, add_dft (&t, i / 2, i % 2, x)->outputs[0]);
    g_test_message ("row %" G_GSIZE_FORMAT, i / 2);
    test_compare_devices (model, input, TOLERANCE);
    g_assert_false (has (model, "DFT"));
  }
}

/* With a window, or a length, or both; of real numbers, with their dimension and without, and of
 * complex ones. */
static void
spectra_of_frames_are_products (void)
{
  static const AxonShape shapes[] = { { 2, { 2, 100 } },
                                      { 3, { 2, 100, 1 } },
                                      { 3, { 1, 77, 2 } } };
  static const gint64 step = 7, length = 24;
  const AxonShape window = AXON_SHAPE (length);
  for (guint i = 0; i < 3 * 3 * 2; i++) {
    const AxonShape *shape = &shapes[i % 3];
    TestModel t = test_model_new (17);
    AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, shape),
                        test_model_ints (&t, &step, 1),
                        i / 3 % 3 != 1 ? test_model_random (&t, &window, i) : NULL,
                        i / 3 % 3 != 0 ? test_model_ints (&t, &length, 1) : NULL };
    AxonNode *n = test_model_node_of (&t, NULL, "STFT", in, in[3] != NULL ? 4 : 3, 1);
    g_autoptr (AxonTensor) input = test_random (shape, i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_int (n, "onesided", shape->rank == 3 && shape->dims[2] == 2 ? 0 : i / 9);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
    g_assert_false (has (model, "STFT"));
  }
}

/* The matrix would be larger than all that it is for. */
static void
a_long_transform_is_left_to_the_reference (void)
{
  const AxonShape shape = AXON_SHAPE (1, 2100, 1);
  TestModel t = test_model_new (17);
  AxonNode *n = test_model_node (&t, "DFT", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
  g_autoptr (AxonTensor) input = test_random (&shape, 1);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
  g_assert_true (has (model, "DFT"));
}

#define ADD(name) g_test_add_func ("/fourier/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (transforms_are_products);
  ADD (spectra_of_frames_are_products);
  ADD (a_long_transform_is_left_to_the_reference);
  return g_test_run ();
}
