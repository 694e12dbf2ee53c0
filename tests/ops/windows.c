/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows that reach far beyond any input: they cost what lies within it, and agree with the
 * reference. */
#include "axontest.h"

#define TOLERANCE 2e-5
#define MOST G_MAXINT32

typedef struct {
  const gchar *name;
  AxonShape x;
  gint64 kernel[3], dilation[3], pads[6];
  const gchar *auto_pad;
} Case;

static const Case cases[] = {
  { "far", { 4, { 1, 3, 9, 4 } }, { MOST, 2 }, { 1, 1 }, { 0 }, "SAME_UPPER" },
  { "far-along-rows", { 4, { 1, 3, 9, 4 } }, { 2, MOST }, { 1, 1 }, { 0 }, "SAME_LOWER" },
  { "everywhere", { 4, { 2, 17, 5, 40 } }, { MOST, MOST }, { 1, 1 }, { 0 }, "SAME_UPPER" },
  { "product-of-0",
    { 5, { 1, 2, 3, 4, 5 } },
    { 1 << 30, 1 << 30, 16 },
    { 1, 1, 1 },
    { 0 },
    "SAME_UPPER" },
  { "padded",
    { 4, { 1, 3, 9, 4 } },
    { MOST, 3 },
    { 1, 1 },
    { 1 << 30, 1, (1 << 30) - 6, 1 },
    "NOTSET" },
  { "dilated", { 4, { 1, 3, 9, 4 } }, { 3, 3 }, { MOST, 2 }, { 0 }, "SAME_UPPER" },
  { "dilated-far", { 3, { 1, 3, 9 } }, { MOST }, { MOST }, { 0 }, "SAME_LOWER" },
};

static const Case far[] = {
  { "both", { 0 }, { 0 }, { MOST, MOST }, { 0 }, "SAME_UPPER" },
  { "rows", { 0 }, { 0 }, { MOST, 1 }, { 0 }, "SAME_LOWER" },
  { "columns", { 0 }, { 0 }, { 2, MOST }, { 0 }, "SAME_UPPER" },
  { "half", { 0 }, { 0 }, { 1, 1 << 30 }, { 0 }, "SAME_UPPER" },
  { "padded", { 0 }, { 0 }, { 1, 1 << 29 }, { 1, 1 << 29, 1, 1 << 29 }, "NOTSET" },
};

static guint
count_spatial (const Case *c)
{
  return (guint)c->x.rank - 2;
}

static void
set_window (const Case *c, AxonNode *n)
{
  guint spatial = count_spatial (c);
  axon_node_set_ints (n, "kernel_shape", c->kernel, spatial);
  axon_node_set_ints (n, "dilations", c->dilation, spatial);
  axon_node_set_string (n, "auto_pad", c->auto_pad);
  if (g_str_equal (c->auto_pad, "NOTSET"))
    axon_node_set_ints (n, "pads", c->pads, 2 * spatial);
}

static void
expect (const Case *c, const gchar *op, gboolean include_pad, guint n_outputs)
{
  TestModel t = test_model_new (19);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &c->x);
  AxonNode *n = test_model_node_of (&t, NULL, op, &x, 1, n_outputs);
  g_autoptr (AxonTensor) input = test_random (&c->x, 7);
  g_autoptr (AxonModel) model = NULL;
  set_window (c, n);
  if (include_pad)
    axon_node_set_int (n, "count_include_pad", 1);
  model = test_model_finish (&t, n->outputs[n_outputs - 1]);
  g_test_message ("%s %s of %u outputs", op, c->name, n_outputs);
  test_compare_devices (model, input, TOLERANCE);
}

static void
a_far_convolution_agrees (gconstpointer data)
{
  static const AxonShape weights = AXON_SHAPE (16, 3, 3, 3), x = AXON_SHAPE (1, 3, 9, 40);
  const Case *c = data;
  TestModel t = test_model_new (19);
  g_autoptr (AxonTensor) w = test_random (&weights, 3), input = test_random (&x, 7);
  AxonNode *n = test_model_node (&t, "Conv", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &x),
                                 test_model_constant (&t, &weights, axon_tensor_get_data (w)));
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_ints (n, "dilations", c->dilation, 2);
  axon_node_set_string (n, "auto_pad", c->auto_pad);
  if (g_str_equal (c->auto_pad, "NOTSET"))
    axon_node_set_ints (n, "pads", c->pads, 4);
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, TOLERANCE);
}

static void
a_window_costs_what_lies_within_the_input (gconstpointer data)
{
  expect (data, "MaxPool", FALSE, 1);
  expect (data, "MaxPool", FALSE, 2);
  expect (data, "AveragePool", FALSE, 1);
  expect (data, "AveragePool", TRUE, 1);
  expect (data, "LpPool", FALSE, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_strconcat ("/windows/", cases[i].name, NULL);
    g_test_add_data_func (path, &cases[i], a_window_costs_what_lies_within_the_input);
  }
  for (guint i = 0; i < G_N_ELEMENTS (far); i++) {
    g_autofree gchar *path = g_strconcat ("/windows/far-convolution-", far[i].name, NULL);
    g_test_add_data_func (path, &far[i], a_far_convolution_agrees);
  }
  return g_test_run ();
}
