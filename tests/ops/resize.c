/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize on device CPU against the reference: every mode, sizes and layouts. */
#include "axontest.h"

#define TOLERANCE 2e-5

static const gchar *const modes[] = { "nearest", "linear", "cubic" };
static const gchar *const coordinates[] = { "half_pixel", "align_corners", "asymmetric",
                                            "pytorch_half_pixel", "half_pixel_symmetric" };
static const gchar *const nearest_modes[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
                                              "ceil" };

static const struct {
  AxonShape x;
  gfloat scales[5];
} sizes[] = {
  { { 4, { 1, 3, 5, 7 } }, { 1, 1, 2, 2 } },
  { { 4, { 2, 17, 6, 5 } }, { 1, 1, 1.5f, 0.6f } },
  { { 4, { 1, 1, 1, 9 } }, { 1, 1, 3, 1 } },
  { { 4, { 1, 8, 9, 9 } }, { 1, 1, 0.34f, 0.34f } },
  { { 4, { 1, 33, 4, 4 } }, { 1, 1, 1, 2.5f } },
  { { 3, { 2, 3, 8 } }, { 1, 1, 1.75f } },
  { { 5, { 1, 2, 3, 4, 5 } }, { 1, 1, 1, 2, 3 } },
  { { 5, { 1, 2, 3, 4, 5 } }, { 1, 1, 2, 2, 2 } },
  { { 5, { 2, 3, 5, 4, 7 } }, { 1, 1, 0.6f, 1.5f, 1 } },
};

static AxonNode *
add_resize (TestModel *t, AxonValue *x, guint size, guint how)
{
  AxonShape n = AXON_SHAPE (sizes[size].x.rank);
  AxonNode *node =
      test_model_node (t, "Resize", 3, x, NULL, test_model_constant (t, &n, sizes[size].scales));
  axon_node_set_string (node, "mode", modes[how % 3]);
  axon_node_set_string (node, "coordinate_transformation_mode", coordinates[how / 3 % 5]);
  axon_node_set_string (node, "nearest_mode", nearest_modes[how / 15 % 4]);
  return node;
}

static void
every_mode_agrees (void)
{
  for (guint i = 0; i < 60 * G_N_ELEMENTS (sizes); i++) {
    const AxonShape *shape = &sizes[i / 60].x;
    TestModel t = test_model_new (19);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, shape);
    g_autoptr (AxonModel) model =
        test_model_finish (&t, add_resize (&t, x, i / 60, i % 60)->outputs[0]);
    g_autoptr (AxonTensor) input = test_random (shape, i);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* As a transposed tensor lies. */
static void
every_mode_agrees_channels_last (void)
{
  for (guint i = 0; i < 60 * 5; i++) {
    const AxonShape *shape = &sizes[i / 60].x;
    AxonShape last = AXON_SHAPE (shape->dims[0], shape->dims[2], shape->dims[3], shape->dims[1]);
    TestModel t = test_model_new (19);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &last);
    AxonNode *n = test_model_node (&t, "Transpose", 1, x);
    g_autoptr (AxonTensor) input = test_random (&last, i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_ints (n, "perm", (gint64[]){ 0, 3, 1, 2 }, 4);
    n = test_model_node (&t, "Relu", 1, n->outputs[0]);
    model = test_model_finish (&t, add_resize (&t, n->outputs[0], i / 60, i % 60)->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* Antialiased, by more than four taps. */
static void
antialiased_pictures_agree (void)
{
  for (guint i = 0; i < 2 * 5; i++) {
    const AxonShape *shape = &sizes[i % 5].x;
    TestModel t = test_model_new (19);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, shape);
    AxonNode *n = add_resize (&t, x, i % 5, 1 + i / 5);
    g_autoptr (AxonTensor) input = test_random (shape, i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_int (n, "antialias", 1);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* To sizes that no scale gives. */
static void
volumes_become_as_large_as_is_asked_for (void)
{
  static const gint64 to[] = { 2, 3, 7, 5, 4 };
  const AxonShape shape = AXON_SHAPE (2, 3, 5, 4, 7);
  for (guint how = 0; how < 15; how++) {
    TestModel t = test_model_new (13);
    AxonNode *n =
        test_model_node (&t, "Resize", 4, test_model_input (&t, "x", AXON_DTYPE_F32, &shape), NULL,
                         NULL, test_model_ints (&t, to, 5));
    g_autoptr (AxonTensor) input = test_random (&shape, how);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_string (n, "mode", modes[how % 3]);
    axon_node_set_string (n, "coordinate_transformation_mode", coordinates[how / 3 % 4]);
    axon_node_set_int (n, "exclude_outside", how / 12);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/resize/every_mode_agrees", every_mode_agrees);
  g_test_add_func ("/resize/every_mode_agrees_channels_last", every_mode_agrees_channels_last);
  g_test_add_func ("/resize/volumes_become_as_large_as_is_asked_for",
                   volumes_become_as_large_as_is_asked_for);
  g_test_add_func ("/resize/antialiased_pictures_agree", antialiased_pictures_agree);
  return g_test_run ();
}
