/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recurrent layers of device CPU against the reference. */
#include "axontest.h"

#define TOLERANCE 2e-5

static const struct {
  const gchar *op, *direction;
  gint64 gates, hidden, input, steps, batch;
  gboolean batch_first, linear, has_bias, has_state;
} layers[] = {
  { "LSTM", "forward", 4, 5, 7, 9, 1, FALSE, FALSE, TRUE, FALSE },
  { "LSTM", "reverse", 4, 33, 3, 4, 3, FALSE, FALSE, TRUE, TRUE },
  { "LSTM", "bidirectional", 4, 48, 20, 6, 2, FALSE, FALSE, FALSE, TRUE },
  { "LSTM", "bidirectional", 4, 16, 20, 6, 2, TRUE, FALSE, TRUE, TRUE },
  { "LSTM", "forward", 4, 6, 7, 150, 2, FALSE, FALSE, TRUE, FALSE }, /* many rows */
  { "GRU", "forward", 3, 5, 7, 9, 1, FALSE, FALSE, TRUE, FALSE },
  { "GRU", "bidirectional", 3, 19, 8, 5, 3, FALSE, FALSE, TRUE, TRUE },
  { "GRU", "forward", 3, 5, 7, 9, 1, FALSE, TRUE, FALSE, FALSE },
  { "GRU", "bidirectional", 3, 19, 8, 5, 3, TRUE, TRUE, TRUE, TRUE },
  { "RNN", "forward", 1, 1, 1, 1, 1, FALSE, FALSE, FALSE, FALSE },
  { "RNN", "bidirectional", 1, 31, 6, 7, 2, FALSE, FALSE, TRUE, TRUE },
  { "RNN", "reverse", 1, 64, 6, 7, 2, TRUE, FALSE, TRUE, TRUE },
};

/* Weights of a size that keeps the gates from being open or shut all the time. */
static AxonValue *
weights (TestModel *t, const AxonShape *shape, guint32 seed)
{
  g_autoptr (AxonTensor) values = test_random (shape, seed);
  gfloat *v = axon_tensor_get_data (values);
  for (gsize i = 0; i < axon_tensor_get_numel (values); i++)
    v[i] *= 0.3f;
  return test_model_constant (t, shape, v);
}

static AxonNode *
layer (TestModel *t, guint k, AxonValue *x)
{
  gint64 dirs = g_str_equal (layers[k].direction, "bidirectional") ? 2 : 1, h = layers[k].hidden;
  gint64 n = layers[k].gates * h;
  AxonShape w = AXON_SHAPE (dirs, n, layers[k].input), r = AXON_SHAPE (dirs, n, h),
            b = AXON_SHAPE (dirs, 2 * n), s = AXON_SHAPE (dirs, layers[k].batch, h);
  gboolean is_lstm = layers[k].gates == 4;
  AxonNode *node;
  if (layers[k].batch_first)
    s = AXON_SHAPE (layers[k].batch, dirs, h);
  AxonValue *in[] = { x,
                      weights (t, &w, k + 1),
                      weights (t, &r, k + 2),
                      layers[k].has_bias ? weights (t, &b, k + 3) : NULL,
                      NULL,
                      layers[k].has_state ? weights (t, &s, k + 4) : NULL,
                      layers[k].has_state && is_lstm ? weights (t, &s, k + 5) : NULL };
  node = test_model_node_of (t, NULL, layers[k].op, in, is_lstm ? 7 : 6, is_lstm ? 3 : 2);
  axon_node_set_int (node, "hidden_size", h);
  axon_node_set_int (node, "layout", layers[k].batch_first);
  axon_node_set_string (node, "direction", layers[k].direction);
  if (layers[k].gates == 3)
    axon_node_set_int (node, "linear_before_reset", layers[k].linear);
  return node;
}

/* Y, Y_h and Y_c */
static void
every_output_of_a_layer_agrees (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (layers); k++)
    for (guint output = 0; output < (layers[k].gates == 4 ? 3 : 2); output++) {
      TestModel t = test_model_new (14);
      AxonShape shape = layers[k].batch_first
                            ? AXON_SHAPE (layers[k].batch, layers[k].steps, layers[k].input)
                            : AXON_SHAPE (layers[k].steps, layers[k].batch, layers[k].input);
      AxonNode *node = layer (&t, k, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
      g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[output]);
      g_autoptr (AxonTensor) input = test_random (&shape, k);
      test_compare_devices (model, input, TOLERANCE);
    }
}

/* What the kernel does not know stays with the reference. */
static void
layers_with_a_limit_agree (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (layers); k += 4) {
    TestModel t = test_model_new (14);
    AxonShape shape = AXON_SHAPE (layers[k].steps, layers[k].batch, layers[k].input);
    AxonNode *node = layer (&t, k, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&shape, k);
    axon_node_set_float (node, "clip", 0.25);
    model = test_model_finish (&t, node->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recurrent/every_output_of_a_layer_agrees", every_output_of_a_layer_agrees);
  g_test_add_func ("/recurrent/layers_with_a_limit_agree", layers_with_a_limit_agree);
  return g_test_run ();
}
