/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolutions of volumes on device CPU, which are convolutions of pictures there. */
#include "axontest.h"

#include <string.h>

#define TOLERANCE 2e-5

/* Frames, channels, pictures, rows, columns; the rest of a picture, a row, a column. */
static const struct {
  AxonShape shape;
  gint64 kernel[3], strides[3], dilations[3], pads[6];
} convs[] = {
  { { 5, { 1, 24, 5, 9, 11 } }, { 3, 3, 3 }, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1, 1, 1, 1 } },
  { { 5, { 2, 5, 4, 7, 6 } }, { 3, 3, 3 }, { 1, 2, 2 }, { 1, 1, 1 }, { 1, 1, 1, 1, 1, 1 } },
  { { 5, { 2, 33, 7, 8, 5 } }, { 3, 3, 1 }, { 2, 1, 1 }, { 1, 1, 1 }, { 1, 0, 0, 0, 1, 0 } },
  { { 5, { 1, 16, 9, 6, 6 } }, { 3, 1, 3 }, { 2, 1, 2 }, { 2, 1, 1 }, { 2, 0, 1, 2, 0, 1 } },
  { { 5, { 1, 17, 6, 12, 10 } }, { 5, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 }, { 2, 0, 0, 2, 0, 0 } },
  { { 5, { 2, 8, 9, 5, 7 } }, { 3, 1, 1 }, { 2, 1, 1 }, { 2, 1, 1 }, { 1, 0, 0, 2, 0, 0 } },
  { { 5, { 2, 12, 3, 20, 21 } }, { 1, 3, 3 }, { 1, 2, 2 }, { 1, 1, 1 }, { 0, 1, 1, 0, 1, 1 } },
  { { 5, { 1, 3, 1, 9, 9 } }, { 1, 5, 5 }, { 1, 1, 1 }, { 1, 2, 1 }, { 0, 4, 2, 0, 4, 2 } },
  { { 5, { 2, 4, 3, 5, 5 } }, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0, 0, 0, 0 } },
  { { 5, { 1, 6, 4, 5, 5 } }, { 1, 1, 1 }, { 2, 2, 2 }, { 1, 1, 1 }, { 0, 0, 0, 0, 0, 0 } },
  { { 5, { 1, 7, 5, 5, 5 } }, { 3, 1, 1 }, { 1, 2, 2 }, { 1, 1, 1 }, { 1, 0, 0, 1, 0, 0 } },
  { { 5, { 1, 2, 36, 4, 5 } }, { 33, 1, 3 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 1, 0, 0, 1 } },
  { { 5, { 1, 9, 2, 1, 30 } }, { 2, 1, 4 }, { 1, 1, 1 }, { 1, 1, 2 }, { 1, 0, 3, 0, 0, 3 } },
};

static AxonValue *
add_depthwise (TestModel *t, gsize i, AxonValue *x, guint32 seed)
{
  const gint64 channels = convs[i].shape.dims[1], *kernel = convs[i].kernel;
  const AxonShape w = AXON_SHAPE (channels, 1, kernel[0], kernel[1], kernel[2]);
  const AxonShape b = AXON_SHAPE (channels);
  AxonNode *n = test_model_node (t, "Conv", 3, x, test_model_random (t, &w, seed),
                                 test_model_random (t, &b, seed + 1));
  axon_node_set_int (n, "group", channels);
  axon_node_set_ints (n, "strides", convs[i].strides, 3);
  axon_node_set_ints (n, "dilations", convs[i].dilations, 3);
  axon_node_set_ints (n, "pads", convs[i].pads, 6);
  return n->outputs[0];
}

/* Of pixels: what makes oneDNN lay channels out as it likes. */
static AxonValue *
add_pointwise (TestModel *t, AxonValue *x, gint64 channels, guint32 seed)
{
  const AxonShape w = AXON_SHAPE (channels, channels, 1, 1, 1);
  return test_model_node (t, "Conv", 2, x, test_model_random (t, &w, seed))->outputs[0];
}

/* As they come in, and between convolutions of pixels, with an activation. */
static void
depthwise_convolutions_of_volumes_agree (void)
{
  for (gsize i = 0; i < 2 * G_N_ELEMENTS (convs); i++) {
    const AxonShape *shape = &convs[i / 2].shape;
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, shape);
    g_autoptr (AxonTensor) input = test_random (shape, (guint32)i);
    g_autoptr (AxonModel) model = NULL;
    if (i % 2)
      x = add_pointwise (&t, x, shape->dims[1], 3);
    x = add_depthwise (&t, i / 2, x, (guint32)i);
    if (i % 2)
      x = add_pointwise (&t, test_model_node (&t, "Relu", 1, x)->outputs[0], shape->dims[1], 4);
    model = test_model_finish (&t, x);
    g_test_message ("row %" G_GSIZE_FORMAT, i / 2);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* Not oneDNN, which multiplies matrices of one row for each channel. */
static void
own_loops_have_them (void)
{
  for (gsize i = 0; i < 8; i++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &convs[i].shape);
    g_autoptr (AxonModel) model = test_model_finish (&t, add_depthwise (&t, i, x, 1));
    g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
    gboolean is_own = FALSE;
    for (guint k = 0; k < runtime->nodes->len; k++) {
      const AxonNode *n = g_ptr_array_index (runtime->nodes, k);
      is_own |= n->exec_type != NULL && strstr (n->exec_type, "own:depthwise") != NULL;
    }
    g_test_message ("row %" G_GSIZE_FORMAT, i);
    g_assert_true (is_own);
  }
}

#define ADD(name) g_test_add_func ("/volumes/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (depthwise_convolutions_of_volumes_agree);
  ADD (own_loops_have_them);
  return g_test_run ();
}
