/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures that the second cache does not hold, between convolutions of which device CPU makes
 * bands of rows (passes/splitbands.c), and parts that are written where a Concat wants them
 * (kernels/placed.c). */
#include "axontest.h"

#include <axon/axon-cpu.h>
#include <string.h>
#include <unistd.h>

#define TOLERANCE 2e-5
#define CHANNELS 24 /* between the convolutions */
#define COLUMNS 37
#define INPUTS 3
#define OUTPUTS 8

typedef struct {
  const gchar *name;
  gint64 before;    /* a side of the first convolution's window; 0: there is none */
  gint64 kernel[2]; /* of the node in the middle */
  gint64 stride, dilation, pads[4];
  gboolean is_pool, is_alone; /* is_alone: no convolution follows */
  const gchar *function;      /* behind each convolution */
  gboolean has_residual;      /* with the last convolution */
  gboolean has_slopes;        /* behind the node in the middle */
} Row;

static const Row rows[] = {
  { "3x3", 1, { 3, 3 }, 1, 1, { 1, 1, 1, 1 }, .function = "Relu" },
  { "by every second row", 1, { 3, 3 }, 2, 1, { 1, 1, 1, 1 }, .function = "HardSwish" },
  { "padded below", 1, { 3, 3 }, 2, 1, { 0, 0, 1, 1 }, .function = "Relu" },
  { "not padded, 5x3", 1, { 5, 3 }, 1, 1, { 0, 0, 0, 0 }, .function = "Sigmoid" },
  { "dilated", 1, { 3, 3 }, 1, 3, { 3, 3, 3, 3 }, .function = "Relu" },
  { "7x7 behind 3x3", 3, { 7, 7 }, 1, 1, { 3, 3, 3, 3 }, .function = "Relu" },
  { "a residual", 1, { 3, 3 }, 1, 1, { 1, 1, 1, 1 }, .function = "Relu", .has_residual = TRUE },
  { "slopes", 1, { 3, 3 }, 1, 1, { 1, 1, 1, 1 }, .has_slopes = TRUE },
  { "nothing before", 0, { 3, 3 }, 1, 1, { 1, 1, 1, 1 }, .function = "Relu" },
  { "nothing behind", 1, { 3, 3 }, 1, 1, { 1, 1, 1, 1 }, .is_alone = TRUE, .function = "Relu" },
  { "the largest", 3, { 3, 3 }, 2, 1, { 1, 1, 1, 1 }, .is_pool = TRUE, .function = "Relu" },
  { "the largest of pairs", 1, { 2, 2 }, 2, 1, { 0, 0, 0, 0 }, .is_pool = TRUE, .is_alone = TRUE },
};

/* So many that pictures of CHANNELS are four times what the second caches of two threads hold. */
static gint64
count_rows (void)
{
  long size = sysconf (_SC_LEVEL2_CACHE_SIZE);
  gint64 bytes = size > 0 ? size : 512 * 1024;
  return 4 * 2 * bytes / (gint64)sizeof (gfloat) / CHANNELS / COLUMNS + 1;
}

static AxonValue *
apply (TestModel *t, AxonValue *x, const gchar *function)
{
  return function != NULL ? test_model_node (t, function, 1, x)->outputs[0] : x;
}

static AxonValue *
convolve (TestModel *t, AxonValue *x, gint64 in, gint64 out, gint64 side, const gchar *function)
{
  const AxonShape w = AXON_SHAPE (out, in, side, side), bias = AXON_SHAPE (out);
  const gint64 pad = side / 2;
  AxonNode *n = test_model_node (t, "Conv", 3, x, test_model_random (t, &w, (guint32)side),
                                 test_model_random (t, &bias, 2));
  axon_node_set_ints (n, "pads", (gint64[]){ pad, pad, pad, pad }, 4);
  return apply (t, n->outputs[0], function);
}

static AxonValue *
add_middle (TestModel *t, AxonValue *x, const Row *row)
{
  const AxonShape w = AXON_SHAPE (CHANNELS, 1, row->kernel[0], row->kernel[1]);
  const AxonShape slopes = AXON_SHAPE (CHANNELS, 1, 1);
  AxonNode *n = row->is_pool ? test_model_node (t, "MaxPool", 1, x)
                             : test_model_node (t, "Conv", 2, x, test_model_random (t, &w, 5));
  axon_node_set_ints (n, "kernel_shape", row->kernel, 2);
  axon_node_set_ints (n, "strides", (gint64[]){ row->stride, row->stride }, 2);
  axon_node_set_ints (n, "dilations", (gint64[]){ row->dilation, row->dilation }, 2);
  axon_node_set_ints (n, "pads", row->pads, 4);
  if (row->is_pool)
    return n->outputs[0];
  axon_node_set_int (n, "group", CHANNELS);
  if (row->has_slopes)
    n = test_model_node (t, "PRelu", 2, n->outputs[0], test_model_random (t, &slopes, 6));
  return apply (t, n->outputs[0], row->function);
}

static AxonModel *
make_model (const Row *row, const AxonShape *shape)
{
  TestModel t = test_model_new (14);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, shape), *other = NULL;
  if (row->has_residual)
    other = convolve (&t, x, INPUTS, OUTPUTS, 3, NULL);
  x = row->before > 0 ? convolve (&t, x, INPUTS, CHANNELS, row->before, row->function)
                      : test_model_node (&t, "Abs", 1, x)->outputs[0];
  x = add_middle (&t, x, row);
  if (!row->is_alone)
    x = convolve (&t, x, CHANNELS, OUTPUTS, 1, row->has_residual ? NULL : row->function);
  if (other != NULL)
    x = test_model_node (&t, "Add", 2, x, other)->outputs[0];
  return test_model_finish (&t, x);
}

static AxonShape
shape_for (const Row *row)
{
  return AXON_SHAPE (1, row->before > 0 ? INPUTS : CHANNELS, count_rows (), COLUMNS);
}

static void
bands_are_what_the_whole_is (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    const AxonShape shape = shape_for (&rows[i]);
    g_autoptr (AxonModel) model = make_model (&rows[i], &shape);
    g_autoptr (AxonTensor) x = test_random (&shape, (guint32)i);
    g_test_message ("%s", rows[i].name);
    g_setenv ("AXON_TEST_CONFIG",
              i % 2 ? "{'INFERENCE_NUM_THREADS': <'2'>}" : "{'INFERENCE_NUM_THREADS': <'1'>}",
              TRUE);
    test_compare_devices (model, x, TOLERANCE);
  }
  g_unsetenv ("AXON_TEST_CONFIG");
}

/* Nodes of @model on device CPU of operator @name; @last: channels lie last. */
static guint
count_nodes (AxonModel *model, const gchar *name, gboolean *last)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  guint n = 0;
  *last = FALSE;
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (runtime->nodes, i);
    const gchar *by = node->exec_type ? node->exec_type : "";
    n += g_str_equal (node->op->name, name);
    *last |= strstr (by, "brgconv") != NULL || strstr (by, "own:dense") != NULL;
  }
  return n;
}

static void
large_pictures_are_cut_where_channels_lie_last (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    const AxonShape shape = shape_for (&rows[i]),
                    small = AXON_SHAPE (1, shape.dims[1], 16, COLUMNS);
    g_autoptr (AxonModel) large = make_model (&rows[i], &shape);
    g_autoptr (AxonModel) other = make_model (&rows[i], &small);
    const gchar *name = rows[i].is_pool ? "MaxPool" : "Conv";
    gboolean last;
    guint once = count_nodes (other, name, &last), n = count_nodes (large, name, &last);
    g_test_message ("%s: %u, of %u", rows[i].name, n, once);
    if (last)
      g_assert_cmpuint (n, >, once);
    g_setenv ("AXON_CPU_DISABLE_PASSES", "split-bands", TRUE);
    n = count_nodes (large, name, &last);
    g_assert_cmpuint (n, ==, once);
    g_unsetenv ("AXON_CPU_DISABLE_PASSES");
  }
}

static const Row outside = {
  "rows of nothing", 1, { 1, 1 }, 1, 1, { 3, 0, 2, 0 }, .is_alone = TRUE
};

/* What is not computed row by row, or whose result others want, too, or rows of which meet nothing
 * but what pads the picture. */
static void
some_are_never_cut (void)
{
  const AxonShape shape = AXON_SHAPE (1, INPUTS, count_rows (), COLUMNS);
  const AxonShape frames = AXON_SHAPE (2, INPUTS, count_rows (), COLUMNS);
  for (guint i = 0; i < 3; i++) {
    TestModel t = test_model_new (14);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, i == 0 ? &frames : &shape), *y, *z;
    g_autoptr (AxonModel) model = NULL;
    gboolean last;
    guint n;
    y = convolve (&t, x, INPUTS, CHANNELS, 1, "Relu");
    z = add_middle (&t, y, i == 2 ? &outside : &rows[0]);
    if (i == 1)
      z = test_model_node (&t, "Add", 2, z, y)->outputs[0];
    model = test_model_finish (&t, z);
    n = count_nodes (model, "Conv", &last);
    g_assert_cmpuint (n, ==, 2);
  }
}

/* A convolution between two windows goes with the one that its larger side is at. */
static void
what_expands_is_in_the_bands_of_the_window_behind_it (void)
{
  static const Row pool = { "", 1, { 3, 3 }, 2, 1, { 1, 1, 1, 1 }, .is_pool = TRUE };
  const AxonShape shape = AXON_SHAPE (1, INPUTS, count_rows (), COLUMNS);
  TestModel t = test_model_new (14);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  g_autoptr (AxonModel) model = NULL, runtime = NULL;
  guint pools = 0;
  x = add_middle (&t, convolve (&t, x, INPUTS, CHANNELS, 1, "Relu"), &rows[0]);
  x = add_middle (&t, convolve (&t, x, CHANNELS, 2 * CHANNELS, 1, "Relu"), &pool);
  model = test_model_finish (&t, x);
  axon_node_set_info (g_ptr_array_index (model->nodes, 0), AXON_CPU_LAYOUT, "channels-last");
  runtime = test_runtime_model (model, "CPU");
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (runtime->nodes, i);
    if (!axon_node_is (node, "MaxPool"))
      continue;
    g_assert_true (axon_node_is (node->inputs[0]->producer, "Conv"));
    pools++;
  }
  g_assert_cmpuint (pools, >, 1);
}

/* A part of a Concat. */
typedef enum { CONV, INPUT, CONSTANT, AGAIN, JOINED, READ_TWICE } Kind;

static const struct {
  const gchar *name;
  gint axis;
  gint64 frames, outputs; /* channels of each part that is convolved */
  Kind parts[4];
  guint n;
} concats[] = {
  { "rows", 2, 1, 8, { CONV, CONV, CONV }, 3 },
  { "rows of two frames", 2, 2, 8, { CONV, CONV }, 2 },
  { "blocks of channels", 1, 1, 16, { CONV, CONV, CONV }, 3 },
  { "channels", 1, 1, 12, { CONV, CONV }, 2 },
  { "columns", 3, 1, 8, { CONV, CONV }, 2 },
  { "frames", 0, 1, 8, { CONV, CONV }, 2 },
  { "what comes in", 2, 1, INPUTS, { INPUT, CONV }, 2 },
  { "a constant", 2, 1, INPUTS, { CONV, CONSTANT, CONV }, 3 },
  { "one twice", 2, 1, 16, { CONV, AGAIN, CONV }, 3 },
  { "one in another", 2, 1, 16, { JOINED, CONV, JOINED }, 3 },
  { "blocks in others", 1, 1, 16, { CONV, JOINED, CONV }, 3 },
  { "read by others, too", 2, 1, 8, { READ_TWICE, CONV, READ_TWICE }, 3 },
};

static AxonValue *
join (TestModel *t, AxonValue *a, AxonValue *b, gint axis)
{
  AxonNode *n = test_model_node (t, "Concat", 2, a, b);
  axon_node_set_int (n, "axis", axis);
  return n->outputs[0];
}

static AxonValue *
add_part (TestModel *t, AxonValue *x, gsize row, guint k, AxonValue *before, AxonValue **also)
{
  AxonValue *y = convolve (t, x, INPUTS, concats[row].outputs, k % 2 ? 1 : 3, "Relu");
  switch (concats[row].parts[k]) {
  case INPUT:
    return x;
  case CONSTANT:
    return test_model_random (t, &x->type.shape, 9);
  case AGAIN:
    return before;
  case JOINED:
    return join (t, y, convolve (t, x, INPUTS, concats[row].outputs, 1, NULL), concats[row].axis);
  case READ_TWICE:
    *also = test_model_node (t, "Neg", 1, y)->outputs[0];
    return y;
  default:
    return y;
  }
}

static void
fail_if_concat_runs (AxonModel *runtime)
{
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (runtime->nodes, i);
    if (g_str_equal (node->op->name, "Concat"))
      g_assert_null (node->exec_type);
  }
}

/* Nothing is copied of parts that follow each other in memory. */
static void
fail_if_it_is_copied (AxonModel *model, gsize row)
{
  gboolean last;
  gint axis = concats[row].axis;
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  for (guint k = 0; k < concats[row].n; k++)
    if (concats[row].parts[k] != CONV)
      return;
  count_nodes (model, "Concat", &last);
  if (last ? axis != 0 && (axis != 2 || concats[row].frames > 1)
           : axis != 1 || concats[row].outputs % 16 != 0)
    return;
  fail_if_concat_runs (runtime);
}

static void
parts_stand_where_the_whole_wants_them (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (concats); i++) {
    const AxonShape shape = AXON_SHAPE (concats[i].frames, INPUTS, 9, 7);
    TestModel t = test_model_new (14);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape), *y = NULL, *also = NULL;
    g_autoptr (AxonTensor) input = test_random (&shape, (guint32)i);
    g_autoptr (AxonModel) model = NULL;
    AxonValue *parts[4] = { NULL };
    AxonNode *n;
    for (guint k = 0; k < concats[i].n; k++)
      parts[k] = y = add_part (&t, x, i, k, y, &also);
    n = test_model_node (&t, "Concat", concats[i].n, parts[0], parts[1], parts[2], parts[3]);
    axon_node_set_int (n, "axis", concats[i].axis);
    y = test_model_node (&t, "Tanh", 1, n->outputs[0])->outputs[0];
    if (also != NULL)
      y = join (&t, y, also, concats[i].axis);
    model = test_model_finish (&t, y);
    g_test_message ("%s", concats[i].name);
    test_compare_devices (model, input, TOLERANCE);
    fail_if_it_is_copied (model, i);
    g_setenv ("AXON_CPU_DISABLE_KERNELS", "placed", TRUE);
    test_compare_devices (model, input, TOLERANCE);
    g_unsetenv ("AXON_CPU_DISABLE_KERNELS");
  }
}

/* A head of a detector: @n rows of 4 numbers from what a product makes; @also: the product itself.
 */
static AxonValue *
add_head (TestModel *t, AxonValue *x, gint64 n, guint n_views, AxonValue **also)
{
  const gint64 apart[] = { 1, n, 2, 2 }, shape[] = { 1, n, 4 };
  const AxonShape w = AXON_SHAPE (x->type.shape.dims[2], 4 * n / x->type.shape.dims[1]);
  AxonValue *y = test_model_node (t, "MatMul", 2, x, test_model_random (t, &w, 5))->outputs[0];
  *also = y;
  if (n_views > 1)
    y = test_model_node (t, "Reshape", 2, y, test_model_ints (t, apart, 4))->outputs[0];
  return test_model_node (t, "Reshape", 2, y, test_model_ints (t, shape, 3))->outputs[0];
}

static void
parts_stand_there_that_get_another_shape_on_the_way (void)
{
  const AxonShape shape = AXON_SHAPE (1, 6, 33);
  g_autoptr (AxonTensor) input = test_random (&shape, 1);
  for (guint i = 0; i < 4; i++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape), *also, *a, *b, *y;
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonModel) runtime = NULL;
    a = add_head (&t, x, 12, 1 + i % 2, &also);
    b = add_head (&t, x, 24, 1, i < 2 ? &y : &also);
    y = test_model_node (&t, "Tanh", 1, join (&t, a, b, 1))->outputs[0];
    if (i >= 2) { /* in its own shape it is read after the whole was */
      AxonNode *most = test_model_node (&t, "ReduceMax", 1, also);
      axon_node_set_int (most, "keepdims", 0);
      y = test_model_node (&t, "Add", 2, y, most->outputs[0])->outputs[0];
    }
    model = test_model_finish (&t, y);
    test_compare_devices (model, input, TOLERANCE);
    runtime = test_runtime_model (model, "CPU");
    fail_if_concat_runs (runtime);
  }
}

#define ADD(name) g_test_add_func ("/bands/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  axon_core_set_property (axon_core_get_default (), "CPU", "INFERENCE_NUM_THREADS",
                          g_variant_new_string ("2"), NULL); /* as in count_rows () */
  ADD (bands_are_what_the_whole_is);
  ADD (large_pictures_are_cut_where_channels_lie_last);
  ADD (some_are_never_cut);
  ADD (what_expands_is_in_the_bands_of_the_window_behind_it);
  ADD (parts_stand_where_the_whole_wants_them);
  ADD (parts_stand_there_that_get_another_shape_on_the_way);
  return g_test_run ();
}
