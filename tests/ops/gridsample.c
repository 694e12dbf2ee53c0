/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GridSample on device CPU against the reference. */
#include "axontest.h"

#include <math.h>

#define TOLERANCE 2e-5

static const gchar *const modes[] = { "nearest", "linear", "cubic" };
static const gchar *const paddings[] = { "zeros", "border", "reflection" };

static const struct {
  AxonShape x, grid;
} cases[] = {
  { { 4, { 1, 3, 5, 7 } }, { 4, { 1, 4, 9, 2 } } },
  { { 4, { 2, 33, 6, 5 } }, { 4, { 2, 7, 3, 2 } } },
  { { 4, { 1, 1, 1, 1 } }, { 4, { 1, 2, 2, 2 } } },
  { { 4, { 1, 2, 9, 8 } }, { 4, { 1, 40, 30, 2 } } },
  { { 4, { 1, 2, 3, 2 } }, { 4, { 1, 10, 9, 2 } } },
  { { 5, { 2, 2, 3, 4, 5 } }, { 5, { 2, 3, 2, 5, 3 } } },
  { { 5, { 2, 4, 3, 4, 5 } }, { 5, { 2, 3, 5, 5, 3 } } }, /* of all of it, few channels */
  { { 4, { 2, 3, 1, 4 } }, { 4, { 2, 1, 3, 2 } } },
  { { 4, { 1, 1, 300, 2000 } }, { 4, { 1, 30, 40, 2 } } }, /* floats tell few parts of a pixel */
};

/* From -1.6 to 1.6, with some that are no places. */
static AxonValue *
grid_of (TestModel *t, const AxonShape *shape, guint32 seed)
{
  g_autoptr (AxonTensor) values = test_random (shape, seed);
  gfloat *v = axon_tensor_get_data (values);
  gsize n = axon_tensor_get_numel (values);
  for (gsize i = 0; i < n; i++)
    v[i] *= 1.6f;
  v[n / 2] = NAN;
  v[n / 3] = INFINITY;
  v[0] = -1;
  v[n - 1] = 1;
  return test_model_constant (t, shape, v);
}

static void
places_of_every_kind_are_sampled (gconstpointer data)
{
  gboolean transposed = GPOINTER_TO_INT (data) != 0;
  for (guint i = 0; i < 18 * G_N_ELEMENTS (cases); i++) {
    const AxonShape *shape = &cases[i / 18].x;
    AxonShape given = *shape;
    TestModel t;
    AxonValue *x;
    AxonNode *n;
    g_autoptr (AxonTensor) input = NULL;
    g_autoptr (AxonModel) model = NULL;
    if (transposed && shape->rank != 4)
      continue;
    t = test_model_new (20);
    if (transposed)
      given = AXON_SHAPE (shape->dims[0], shape->dims[2], shape->dims[3], shape->dims[1]);
    input = test_random (&given, i);
    x = test_model_input (&t, "x", AXON_DTYPE_F32, &given);
    if (transposed) {
      n = test_model_node (&t, "Transpose", 1, x);
      axon_node_set_ints (n, "perm", (gint64[]){ 0, 3, 1, 2 }, 4);
      x = test_model_node (&t, "Relu", 1, n->outputs[0])->outputs[0];
    } else {
      ((gfloat *)axon_tensor_get_data (input))[0] = INFINITY;
    }
    n = test_model_node (&t, "GridSample", 2, x, grid_of (&t, &cases[i / 18].grid, i));
    axon_node_set_string (n, "mode", modes[i % 3]);
    axon_node_set_string (n, "padding_mode", paddings[i / 3 % 3]);
    axon_node_set_int (n, "align_corners", i / 9 % 2);
    if (shape->rank == 5 && i % 3 == 2)
      axon_node_set_string (n, "mode", "linear");
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* More pixels than floats can count. */
static void
a_very_long_line_is_sampled_between_its_pixels (void)
{
  const AxonShape shape = AXON_SHAPE (1, 1, 1, (1 << 24) + 7), places = AXON_SHAPE (1, 5, 8, 2);
  g_autoptr (AxonTensor) input = test_random (&shape, 3);
  g_autoptr (AxonModel) model = NULL;
  TestModel t = test_model_new (20);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *n = test_model_node (&t, "GridSample", 2, x, grid_of (&t, &places, 4));
  axon_node_set_string (n, "padding_mode", "border");
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/gridsample/places_of_every_kind_are_sampled", GINT_TO_POINTER (0),
                        places_of_every_kind_are_sampled);
  g_test_add_data_func ("/gridsample/places_of_every_kind_are_sampled_channels_last",
                        GINT_TO_POINTER (1), places_of_every_kind_are_sampled);
  g_test_add_func ("/gridsample/a_very_long_line_is_sampled_between_its_pixels",
                   a_very_long_line_is_sampled_between_its_pixels);
  return g_test_run ();
}
