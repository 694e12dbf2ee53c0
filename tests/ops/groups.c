/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Grouped convolutions between others, where data lie in blocks of channels, and what has a number
 * for each channel there: against the reference, and without taking blocks apart. */
#include "axontest.h"

#include <string.h>

#define TOLERANCE 1e-4

typedef struct {
  const gchar *name;
  gint64 frames, in, out, group; /* channels of a group */
  gint64 height, width, kernel, stride, dilation, pad;
} Shape;

static const Shape shapes[] = {
  { "of two", 1, 2, 2, 16, 9, 8, 3, 1, 1, 1 },
  { "of four", 2, 4, 4, 8, 7, 13, 3, 1, 1, 1 },
  { "of four strided", 1, 4, 4, 6, 15, 14, 3, 2, 1, 1 },
  { "of eight", 2, 8, 8, 3, 11, 17, 3, 1, 1, 1 },
  { "of eight strided", 1, 8, 8, 4, 16, 15, 3, 2, 1, 1 },
  { "of eight dilated", 1, 8, 8, 4, 12, 11, 3, 1, 3, 3 },
  { "of sixteen", 2, 16, 16, 3, 9, 14, 3, 1, 1, 1 },
  { "of sixteen by five", 1, 16, 16, 2, 10, 9, 5, 1, 1, 2 },
  { "of sixteen by one", 1, 16, 16, 4, 9, 8, 1, 1, 1, 0 },
  { "of twenty-four", 1, 24, 24, 2, 8, 9, 3, 1, 1, 1 },
  { "of thirty-two", 1, 32, 32, 2, 7, 7, 3, 2, 1, 1 },
  { "of many weights", 1, 128, 128, 2, 4, 5, 3, 1, 1, 1 },
  { "of four to eight", 1, 4, 8, 4, 9, 9, 3, 1, 1, 1 },
  { "of sixteen to four", 1, 16, 4, 4, 9, 9, 3, 1, 1, 1 },
  { "of eight to sixteen", 1, 8, 16, 3, 9, 9, 3, 1, 1, 0 },
  { "of twelve, which end within blocks", 1, 12, 12, 4, 9, 9, 3, 1, 1, 1 },
  { "of one to four", 1, 1, 4, 16, 9, 9, 3, 1, 1, 1 },
};

static const gchar *const activations[] = { NULL, "Relu", "Sigmoid", "HardSwish", "PRelu" };

static AxonValue *
pointwise (TestModel *t, AxonValue *x, gint64 from, gint64 channels, guint seed)
{
  AxonShape w = AXON_SHAPE (channels, from, 1, 1);
  return test_model_node (t, "Conv", 2, x, test_model_random (t, &w, seed))->outputs[0];
}

static AxonValue *
grouped (TestModel *t, AxonValue *x, const Shape *s, guint seed)
{
  AxonShape w = AXON_SHAPE (s->group * s->out, s->in, s->kernel, s->kernel),
            bias = AXON_SHAPE (s->group * s->out);
  const gint64 strides[] = { s->stride, s->stride }, dilations[] = { s->dilation, s->dilation };
  const gint64 pads[] = { s->pad, s->pad, s->pad, s->pad };
  AxonNode *node = test_model_node (t, "Conv", 3, x, test_model_random (t, &w, seed),
                                    test_model_random (t, &bias, seed + 1));
  test_model_set_window (node, s->group, strides, dilations, pads);
  return node->outputs[0];
}

static AxonModel *
model_of (const Shape *s, const gchar *activation, gboolean sum)
{
  TestModel t = test_model_new (16);
  AxonShape in = AXON_SHAPE (s->frames, 8, s->height, s->width);
  AxonValue *x =
      pointwise (&t, test_model_input (&t, "x", AXON_DTYPE_F32, &in), 8, s->group * s->in, 2);
  AxonValue *y = test_model_activate (&t, grouped (&t, x, s, 3), activation, s->group * s->out, 2);
  if (sum)
    y = test_model_node (&t, "Add", 2, y, grouped (&t, x, s, 7))->outputs[0];
  return test_model_finish (&t, pointwise (&t, y, s->group * s->out, 8, 9));
}

static void
groups_agree_with_what_follows_them (gconstpointer data)
{
  const Shape *s = data;
  AxonShape in = AXON_SHAPE (s->frames, 8, s->height, s->width);
  g_autoptr (AxonTensor) x = test_random (&in, 7);
  for (guint a = 0; a < 2 * G_N_ELEMENTS (activations); a++) {
    g_autoptr (AxonModel) model = model_of (s, activations[a / 2], a % 2 == 1);
    test_compare_devices (model, x, TOLERANCE);
  }
}

/* How the only node of @op is computed, or the only grouped convolution. */
static gchar *
implementation (AxonModel *model, const gchar *op)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *n = runtime->nodes->pdata[i];
    if (g_str_equal (n->op->name, op) &&
        (!g_str_equal (op, "Conv") || axon_node_get_int (n, "group") > 1))
      return g_strdup (n->exec_type);
  }
  return g_strdup ("none");
}

/* At levels that have none, channels are last, and nothing is converted either. */
static void
groups_are_computed_where_they_lie (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    const Shape *s = &shapes[i];
    g_autoptr (AxonModel) model = model_of (s, "Relu", FALSE);
    g_autofree gchar *got = implementation (model, "Conv");
    if (strstr (s->name, "within blocks") == NULL)
      g_assert_true (g_str_equal (got, "own:dense") || g_str_equal (got, "own:grouped"));
  }
}

/* A number for each channel of something of 24 channels, of some frames. */
typedef struct {
  const gchar *op;
  gint64 frames, height, width;
  AxonShape numbers;
  gboolean turned, apart; /* apart: blocks are taken apart, for it is no number for each channel */
} Scaled;

static const Scaled scaled[] = {
  { "Mul", 1, 9, 8, { 4, { 1, 24, 1, 1 } }, FALSE, FALSE },
  { "Mul", 1, 9, 8, { 3, { 24, 1, 1 } }, TRUE, FALSE },
  { "Mul", 3, 5, 41, { 4, { 3, 24, 1, 1 } }, FALSE, FALSE },
  { "Sub", 3, 5, 41, { 4, { 3, 24, 1, 1 } }, TRUE, FALSE },
  { "Div", 2, 1, 3, { 4, { 1, 24, 1, 1 } }, TRUE, FALSE },
  { "Add", 2, 70, 3, { 3, { 24, 1, 1 } }, FALSE, FALSE },
  { "Max", 2, 7, 3, { 4, { 2, 24, 1, 1 } }, FALSE, FALSE },
  { "Mul", 2, 7, 8, { 4, { 2, 24, 1, 8 } }, FALSE, TRUE },
  { "Mul", 2, 7, 8, { 2, { 7, 8 } }, FALSE, TRUE },
};

static AxonModel *
scaled_model (const Scaled *s, AxonShape *in)
{
  TestModel t = test_model_new (16);
  AxonValue *x, *numbers, *y;
  *in = (AxonShape)AXON_SHAPE (s->frames, 16, s->height, s->width);
  x = pointwise (&t, test_model_input (&t, "x", AXON_DTYPE_F32, in), 16, 24, 2);
  /* no constant: those are fused */
  numbers = test_model_node (&t, "ReduceMax", 1, x)->outputs[0];
  axon_node_set_int (numbers->producer, "keepdims", 0);
  numbers =
      test_model_node (&t, "Add", 2, test_model_random (&t, &s->numbers, 4), numbers)->outputs[0];
  y = test_model_node (&t, s->op, 2, s->turned ? numbers : x, s->turned ? x : numbers)->outputs[0];
  return test_model_finish (&t, pointwise (&t, y, 24, 8, 9));
}

static void
a_number_for_each_channel_meets_blocks_as_they_lie (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (scaled); i++) {
    const Scaled *s = &scaled[i];
    AxonShape in;
    g_autoptr (AxonModel) model = scaled_model (s, &in);
    g_autoptr (AxonTensor) x = test_random (&in, 7);
    g_autofree gchar *got = implementation (model, s->op);
    test_compare_devices (model, x, TOLERANCE);
    if (!s->apart && !g_str_equal (s->op, "Add")) /* of which the numbers are made, too */
      g_assert_null (strstr (got, "jit:blk"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/groups/groups_agree_with_what_follows_them/%s", shapes[i].name);
    g_test_add_data_func (path, &shapes[i], groups_agree_with_what_follows_them);
  }
  g_test_add_func ("/groups/groups_are_computed_where_they_lie",
                   groups_are_computed_where_they_lie);
  g_test_add_func ("/groups/a_number_for_each_channel_meets_blocks_as_they_lie",
                   a_number_for_each_channel_meets_blocks_as_they_lie);
  return g_test_run ();
}
