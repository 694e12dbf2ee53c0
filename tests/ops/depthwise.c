/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise convolutions within graphs whose channels lie in blocks (without AVX-512; elsewhere
 * channels last), and pointwise ones of few pixels, against the reference. */
#include "axontest.h"

#include <math.h>

#define TOLERANCE 1e-4
#define OUTSIDE 8 /* channels before the block and behind it */

typedef struct {
  gint64 frames, channels, height, width;
  gint64 kernel_h, kernel_w, stride_h, stride_w, dilation, top, left, bottom, right;
  gboolean by_rows; /* kernels of ours that go row by row have such */
} Case;

static const Case cases[] = {
  { 1, 24, 7, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, TRUE },
  { 2, 16, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1, TRUE },
  { 1, 16, 33, 35, 3, 3, 2, 2, 1, 1, 1, 1, 1, TRUE },
  { 1, 16, 34, 20, 3, 3, 2, 2, 1, 0, 0, 1, 1, TRUE },
  { 1, 32, 20, 21, 5, 5, 1, 1, 1, 2, 2, 2, 2, TRUE },
  { 2, 8, 11, 11, 5, 5, 2, 2, 1, 2, 2, 2, 2, TRUE },
  /* more rows than the first cache holds, and more columns than one piece has */
  { 1, 8, 40, 150, 3, 3, 1, 1, 1, 1, 1, 1, 1, TRUE },
  { 1, 8, 29, 300, 3, 3, 2, 2, 1, 1, 1, 1, 1, TRUE },
  /* smaller than the filter, and padded by more than half of it */
  { 1, 16, 2, 3, 5, 5, 1, 1, 1, 2, 2, 2, 2, TRUE },
  { 1, 16, 6, 9, 3, 3, 1, 1, 1, 2, 2, 2, 2, TRUE },
  { 1, 16, 1, 40, 1, 3, 1, 1, 1, 0, 1, 0, 1, TRUE },
  { 1, 16, 12, 9, 3, 3, 2, 1, 1, 1, 1, 1, 1, TRUE },
  /* others */
  { 1, 16, 12, 13, 3, 3, 1, 1, 2, 2, 2, 2, 2, FALSE },
  { 1, 24, 9, 9, 7, 7, 1, 1, 1, 3, 3, 3, 3, FALSE },
  { 1, 13, 9, 11, 3, 3, 1, 1, 1, 1, 1, 1, 1, FALSE },
};

static const gchar *const activations[] = {
  NULL, "Relu", "Clip", "HardSwish", "LeakyRelu", "Sigmoid", "PRelu", "Swish", "sum",
};

static AxonValue *
add_pointwise (TestModel *t, AxonValue *x, gint64 from, gint64 to, guint32 seed)
{
  const AxonShape w = AXON_SHAPE (to, from, 1, 1), n = AXON_SHAPE (to);
  return test_model_node (t, "Conv", 3, x, test_model_random (t, &w, seed),
                          test_model_random (t, &n, seed + 1))
      ->outputs[0];
}

static AxonValue *
add_depthwise (TestModel *t, AxonValue *x, const Case *c)
{
  const AxonShape w = AXON_SHAPE (c->channels, 1, c->kernel_h, c->kernel_w);
  const AxonShape n = AXON_SHAPE (c->channels);
  const gint64 strides[] = { c->stride_h, c->stride_w }, dilations[] = { c->dilation, c->dilation };
  const gint64 pads[] = { c->top, c->left, c->bottom, c->right };
  AxonNode *node =
      test_model_node (t, "Conv", 3, x, test_model_random (t, &w, 5), test_model_random (t, &n, 6));
  test_model_set_window (node, c->channels, strides, dilations, pads);
  return node->outputs[0];
}

/* @name of @y; a sum adds what another convolution makes of @x. */
static AxonValue *
activate (TestModel *t, AxonValue *y, AxonValue *x, const gchar *name, const Case *c)
{
  static const gfloat limits[] = { -0.4f, 0.7f };
  const AxonShape scalar = { 0 };
  AxonValue *other;
  if (g_strcmp0 (name, "Clip") == 0)
    return test_model_node (t, name, 3, y, test_model_constant (t, &scalar, &limits[0]),
                            test_model_constant (t, &scalar, &limits[1]))
        ->outputs[0];
  if (g_strcmp0 (name, "Swish") == 0) {
    other = test_model_node (t, "Sigmoid", 1, y)->outputs[0];
    return test_model_node (t, "Mul", 2, y, other)->outputs[0];
  }
  if (g_strcmp0 (name, "sum") != 0)
    return test_model_activate (t, y, name, c->channels, 2);
  other = add_depthwise (t, x, c);
  y = test_model_node (t, "Add", 2, y, other)->outputs[0];
  return test_model_node (t, "Relu", 1, y)->outputs[0];
}

/* Nothing is put in another order for them. */
static void
expect_rows (AxonModel *model)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  guint n = 0;
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = runtime->nodes->pdata[i];
    n += g_str_has_prefix (node->exec_type, "own:depthwise") ? 1 : 0;
  }
  g_assert_cmpuint (n, >, 0);
}

static void
compare (const Case *c, const gchar *activation, guint32 seed)
{
  const AxonShape shape = AXON_SHAPE (c->frames, OUTSIDE, c->height, c->width);
  TestModel t = test_model_new (14);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape), *y;
  g_autoptr (AxonTensor) input = test_random (&shape, seed);
  g_autoptr (AxonModel) model = NULL;
  x = add_pointwise (&t, x, OUTSIDE, c->channels, 1);
  y = activate (&t, add_depthwise (&t, x, c), x, activation, c);
  model = test_model_finish (&t, add_pointwise (&t, y, c->channels, OUTSIDE, 3));
  test_compare_devices (model, input, TOLERANCE);
  if (c->by_rows)
    expect_rows (model);
}

/* For one thread, and for two, which have some channels each. */
static void
set_threads (guint n)
{
  g_setenv ("AXON_TEST_CONFIG",
            n > 1 ? "{'INFERENCE_NUM_THREADS': <'2'>}" : "{'INFERENCE_NUM_THREADS': <'1'>}", TRUE);
}

static void
depthwise_rows_agree_with_all_that_follows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint k = 0; k < G_N_ELEMENTS (activations); k++) {
      set_threads (1 + (i + k) % 2);
      compare (&cases[i], activations[k], i);
    }
}

/* Numbers that are not finite stay in their channel: edges read zeros, and nothing of others. */
static void
infinity_stays_in_its_channel_and_window (void)
{
  const Case *c = &cases[0];
  const AxonShape shape = AXON_SHAPE (c->frames, c->channels, c->height, c->width);
  TestModel t = test_model_new (14);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  g_autoptr (AxonTensor) input = test_random (&shape, 1);
  g_autoptr (AxonModel) model = NULL;
  gfloat *values = axon_tensor_get_data (input);
  values[c->height * c->width * 3] = INFINITY;
  values[c->height * c->width * 9 - 1] = NAN;
  set_threads (1);
  model = test_model_finish (&t, add_depthwise (&t, x, c));
  test_compare_devices (model, input, TOLERANCE);
}

static void
few_pixels_between_blocks_agree (void)
{
  static const gint64 sides[] = { 1, 3, 7, 8 };
  static const gint64 channels[][2] = { { 256, 640 }, { 648, 200 }, { 250, 640 }, { 256, 646 } };
  for (guint i = 0; i < G_N_ELEMENTS (sides) * G_N_ELEMENTS (channels); i++) {
    const gint64 *n = channels[i / G_N_ELEMENTS (sides)], side = sides[i % G_N_ELEMENTS (sides)];
    const AxonShape shape = AXON_SHAPE (1 + i % 2, 16, side, side);
    TestModel t = test_model_new (14);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape), *y;
    g_autoptr (AxonTensor) input = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    set_threads (1);
    x = add_pointwise (&t, x, 16, n[0], 1);
    y = add_pointwise (&t, x, n[0], n[1], 3);
    y = test_model_activate (&t, y, activations[i % 3 ? 1 : 5], n[1], 2);
    model = test_model_finish (&t, add_pointwise (&t, y, n[1], 16, 5));
    test_compare_devices (model, input, TOLERANCE);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/depthwise/" #name, name)
  ADD (depthwise_rows_agree_with_all_that_follows);
  ADD (infinity_stays_in_its_channel_and_window);
  ADD (few_pixels_between_blocks_agree);
  return g_test_run ();
}
