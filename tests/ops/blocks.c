/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines, pictures and volumes that lie in blocks of channels, as convolutions leave them: what
 * reads them against the reference, and where they lie. */
#include "axontest.h"

#define TOLERANCE 1e-4

/* What comes in, of 8 channels. */
static const AxonShape shapes[] = {
  { 3, { 1, 8, 40 } },   { 3, { 2, 8, 7 } },        { 4, { 1, 8, 9, 11 } },
  { 4, { 2, 8, 4, 5 } }, { 5, { 1, 8, 4, 6, 10 } }, { 5, { 2, 8, 2, 3, 5 } },
};
static const gint64 channels[] = { 24, 13, 64 }; /* that fill blocks, that do not, many */

/* Of pixels: it leaves its result in blocks where the processor has those. */
static AxonValue *
add_pointwise (TestModel *t, AxonValue *x, gint64 from, gint64 to, gint rank)
{
  AxonShape w = { rank, { to, from, 1, 1, 1 } };
  return test_model_node (t, "Conv", 2, x, test_model_random (t, &w, 5))->outputs[0];
}

/* Of the only node of @op. */
static void
expect_implementation (AxonModel *model, const gchar *op, const gchar *expected)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  const AxonNode *found = NULL;
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = runtime->nodes->pdata[i];
    found = g_str_equal (node->op->name, op) ? node : found;
  }
  g_assert_nonnull (found);
  g_assert_cmpstr (found->exec_type, ==, expected);
}

/* What is done to it; @arg: the operator's own. */
typedef AxonValue *(*AddFunc) (TestModel *t, AxonValue *x, gint rank, const gchar *op, gint arg);

/* @expected: how whole blocks are read; NULL: in any way. */
static void
compare (AddFunc add, const gchar *op, gint arg, const gchar *expected)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes) * G_N_ELEMENTS (channels); i++) {
    const AxonShape *shape = &shapes[i / G_N_ELEMENTS (channels)];
    gint64 n = channels[i % G_N_ELEMENTS (channels)];
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, shape);
    g_autoptr (AxonTensor) input = test_random (shape, i);
    g_autoptr (AxonModel) model = NULL;
    x = add_pointwise (&t, x, 8, n, shape->rank);
    model = test_model_finish (&t, add (&t, x, shape->rank, op, arg));
    test_compare_devices (model, input, TOLERANCE);
    if (expected != NULL && n % 8 == 0)
      expect_implementation (model, op, expected);
  }
}

static AxonValue *
add_reduction (TestModel *t, AxonValue *x, gint rank, const gchar *op, gint keepdims)
{
  static const gint64 axes[] = { 2, 3, 4 };
  AxonNode *node;
  if (g_str_equal (op, "ReduceSum"))
    node = test_model_node (t, op, 2, x, test_model_ints (t, axes, (guint)rank - 2));
  else
    axon_node_set_ints (node = test_model_node (t, op, 1, x), "axes", axes, (guint)rank - 2);
  axon_node_set_int (node, "keepdims", keepdims);
  return node->outputs[0];
}

static AxonValue *
add_global_pool (TestModel *t, AxonValue *x, gint rank, const gchar *op, G_GNUC_UNUSED gint arg)
{
  x = test_model_node (t, op, 1, x)->outputs[0];
  return add_pointwise (t, x, x->producer->inputs[0]->producer->inputs[1]->type.shape.dims[0], 16,
                        rank);
}

static void
places_of_blocks_are_pooled_where_they_lie (void)
{
  compare (add_global_pool, "GlobalAveragePool", 0, "own");
  compare (add_global_pool, "GlobalMaxPool", 0, "own");
}

static void
places_of_blocks_are_reduced_where_they_lie (void)
{
  static const gchar *const ops[] = { "ReduceMax", "ReduceMean", "ReduceSum", "ReduceL2",
                                      "ReduceProd" };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (ops); i++)
    compare (add_reduction, ops[i / 2], (gint)(i % 2), "own");
}

/* By three, volumes by two, in steps of two, padded by one; and what is left of that times a number
 * for each channel, and more. */
static AxonValue *
add_pool (TestModel *t, AxonValue *x, gint rank, const gchar *op, gint normed)
{
  static const gint64 strides[] = { 2, 2, 2 }, pads[6] = { 1, 1, 1, 1, 1, 1 };
  const gint64 side = rank == 5 ? 2 : 3, kernel[] = { side, side, side };
  AxonNode *node = test_model_node (t, op, 1, x);
  AxonShape n = AXON_SHAPE (node->inputs[0]->producer->inputs[1]->type.shape.dims[0]);
  AxonValue *y = node->outputs[0], *variance;
  axon_node_set_ints (node, "kernel_shape", kernel, (guint)rank - 2);
  axon_node_set_ints (node, "strides", strides, (guint)rank - 2);
  axon_node_set_ints (node, "pads", pads, 2 * ((guint)rank - 2));
  if (!normed)
    return y;
  variance = test_model_random (t, &n, 4);
  for (gint64 i = 0; i < n.dims[0]; i++)
    ((gfloat *)axon_tensor_get_data (variance->type.value))[i] = 1 + (gfloat)i / 64;
  return test_model_node (t, "BatchNormalization", 5, y, test_model_random (t, &n, 1),
                          test_model_random (t, &n, 2), test_model_random (t, &n, 3), variance)
      ->outputs[0];
}

static void
lines_and_volumes_in_blocks_are_pooled_where_they_lie (void)
{
  for (gint normed = 0; normed < 2; normed++) {
    compare (add_pool, "MaxPool", normed, "own");
    compare (add_pool, "AveragePool", normed, "own");
  }
}

static AxonValue *
add_softmax (TestModel *t, AxonValue *x, G_GNUC_UNUSED gint rank, const gchar *op, gint axis)
{
  AxonNode *node = test_model_node (t, op, 1, x);
  axon_node_set_int (node, "axis", axis);
  return node->outputs[0];
}

/* Along channels: blocks become planes. */
static void
classes_of_each_place_are_weighed (void)
{
  static const gchar *const ops[] = { "Softmax", "LogSoftmax" };
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    compare (add_softmax, ops[i], 1, NULL);
}

/* Out of blocks, and into those of lines. */
static AxonValue *
add_flatten (TestModel *t, AxonValue *x, G_GNUC_UNUSED gint rank, const gchar *op, gint axis)
{
  const gint64 dims[] = { 0, x->producer->inputs[1]->type.shape.dims[0], -1 };
  AxonNode *node = test_model_node (t, op, 1, x);
  axon_node_set_int (node, "axis", axis);
  x = test_model_node (t, "Reshape", 2, node->outputs[0], test_model_ints (t, dims, 3))->outputs[0];
  return add_pointwise (t, x, dims[1], 16, 3);
}

static void
blocks_become_rows_and_those_blocks_of_lines (void)
{
  compare (add_flatten, "Flatten", 1, NULL);
}

/* oneDNN's copy of some hundred numbers takes longer to begin than to copy them. */
static void
few_numbers_leave_blocks_by_a_loop_of_ours (void)
{
  const AxonShape shape = AXON_SHAPE (1, 8, 9, 11);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  g_autoptr (AxonModel) model = NULL;
  x = add_flatten (&t, add_pointwise (&t, x, 8, 24, 4), 4, "Flatten", 1);
  model = test_model_finish (&t, x);
  expect_implementation (model, "Flatten", "own");
}

static AxonValue *
add_conv (TestModel *t, AxonValue *x, const AxonShape *w, gint64 group)
{
  static const gint64 pads[] = { 1, 1, 1, 1 };
  AxonNode *node = test_model_node (t, "Conv", 2, x, test_model_random (t, w, 3));
  axon_node_set_ints (node, "pads", pads, 2 * ((guint)w->rank - 2));
  axon_node_set_int (node, "group", group);
  return node->outputs[0];
}

/* Their rows were read as if they lay in blocks, which lines did not. */
static void
lines_behind_pictures_in_blocks_are_right (void)
{
  static const gint64 dims[] = { 2, 32, 256 };
  const AxonShape picture = AXON_SHAPE (2, 32, 16, 16), square = AXON_SHAPE (32, 32, 3, 3);
  const AxonShape line = AXON_SHAPE (32, 32, 3), grouped = AXON_SHAPE (32, 8, 3);
  for (guint i = 0; i < 3; i++) { /* of one group, of four, of both */
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &picture);
    g_autoptr (AxonTensor) input = test_random (&picture, i);
    g_autoptr (AxonModel) model = NULL;
    for (guint k = 0; k < 4; k++)
      x = add_conv (&t, x, &square, 1);
    x = test_model_node (&t, "Reshape", 2, x, test_model_ints (&t, dims, 3))->outputs[0];
    if (i != 1)
      x = add_conv (&t, x, &line, 1);
    if (i != 0)
      x = add_conv (&t, x, &grouped, 4);
    model = test_model_finish (&t, x);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* The rows that Reshape had of them were overwritten by what followed, and then read as theirs. */
static void
rows_of_blocks_that_are_read_again_are_not_overwritten (void)
{
  static const gchar *const ops[] = { "Abs", "Erf", "Relu", "Softmax" };
  static const gint64 turned[] = { 1, 24, 11, 9 };
  const AxonShape shape = AXON_SHAPE (1, 8, 9, 11);
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape), *y;
    g_autoptr (AxonTensor) input = test_random (&shape, i);
    g_autoptr (AxonModel) model = NULL;
    x = add_pointwise (&t, x, 8, 24, 4);
    y = test_model_node (&t, "Reshape", 2, x, test_model_ints (&t, turned, 4))->outputs[0];
    y = test_model_node (&t, ops[i], 1, y)->outputs[0];
    model = test_model_finish (&t, test_model_node (&t, "MatMul", 2, x, y)->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/blocks/" #name, name)
  ADD (places_of_blocks_are_reduced_where_they_lie);
  ADD (places_of_blocks_are_pooled_where_they_lie);
  ADD (lines_and_volumes_in_blocks_are_pooled_where_they_lie);
  ADD (classes_of_each_place_are_weighed);
  ADD (blocks_become_rows_and_those_blocks_of_lines);
  ADD (few_numbers_leave_blocks_by_a_loop_of_ours);
  ADD (rows_of_blocks_that_are_read_again_are_not_overwritten);
  ADD (lines_behind_pictures_in_blocks_are_right);
  return g_test_run ();
}
