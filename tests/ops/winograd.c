/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions after Winograd on device CPU: chosen by the property, with all that is fused,
 * against the reference. */
#include "axontest.h"

#include <axon/axon-cpu.h>
#include <math.h>
#include <string.h>

#define TOLERANCE 1e-4

typedef struct {
  const gchar *name;
  AxonShape x, w;
  gint64 pads[4];      /* top, left, bottom, right; of a line, left, right */
  gint64 dilations[2]; /* 0: none */
  gint64 strides[2];   /* 0: none */
} Shape;

static const Shape shapes[] = {
  { "one channel", { 4, { 1, 1, 9, 11 } }, { 4, { 1, 1, 3, 3 } }, { 1, 1, 1, 1 } },
  { "frames", { 4, { 3, 5, 9, 10 } }, { 4, { 7, 5, 3, 3 } }, { 1, 1, 1, 1 } },
  { "padded on one side", { 4, { 1, 17, 12, 13 } }, { 4, { 33, 17, 3, 3 } }, { 2, 0, 0, 3 } },
  { "not padded", { 4, { 1, 33, 8, 9 } }, { 4, { 18, 33, 3, 3 } }, { 0, 0, 0, 0 } },
  { "whole vectors", { 4, { 2, 32, 13, 14 } }, { 4, { 48, 32, 3, 3 } }, { 1, 1, 1, 1 } },
  { "few tiles", { 4, { 1, 64, 3, 3 } }, { 4, { 96, 64, 3, 3 } }, { 1, 1, 1, 1 } },
  { "many tiles", { 4, { 1, 16, 61, 60 } }, { 4, { 16, 16, 3, 3 } }, { 1, 1, 1, 1 } },
  { "from channels that do not fill blocks",
    { 4, { 1, 12, 30, 31 } },
    { 4, { 16, 12, 3, 3 } },
    { 1, 1, 1, 1 } },
  { "dilated", { 4, { 2, 17, 14, 13 } }, { 4, { 24, 17, 3, 3 } }, { 2, 3, 2, 3 }, { 2, 3 } },
  { "dilated by more than there is",
    { 4, { 1, 8, 5, 9 } },
    { 4, { 16, 8, 3, 3 } },
    { 6, 12, 6, 12 },
    { 6, 12 } },
  { "dilated far beyond what there is",
    { 4, { 40, 2, 3, 3 } },
    { 4, { 3, 2, 3, 3 } },
    { 8000, 8000, 8000, 8000 },
    { 8000, 8000 } },
  { "along rows", { 4, { 2, 16, 9, 15 } }, { 4, { 24, 16, 1, 3 } }, { 0, 1, 0, 1 } },
  { "along rows dilated",
    { 4, { 1, 17, 9, 15 } },
    { 4, { 9, 17, 1, 3 } },
    { 0, 4, 0, 4 },
    { 1, 4 } },
  { "along rows padded above", { 4, { 1, 8, 4, 6 } }, { 4, { 8, 8, 1, 3 } }, { 1, 0, 2, 1 } },
  { "along columns", { 4, { 2, 16, 15, 9 } }, { 4, { 24, 16, 3, 1 } }, { 1, 0, 1, 0 } },
  { "along columns dilated",
    { 4, { 1, 32, 15, 9 } },
    { 4, { 9, 32, 3, 1 } },
    { 5, 0, 5, 0 },
    { 5, 1 } },
  { "a line", { 3, { 3, 16, 41 } }, { 3, { 24, 16, 3 } }, { 1, 1 } },
  { "every second pixel",
    { 4, { 2, 17, 21, 20 } },
    { 4, { 24, 17, 3, 3 } },
    { 1, 1, 1, 1 },
    { 0 },
    { 2, 2 } },
  { "every second pixel padded on one side",
    { 4, { 1, 32, 34, 31 } },
    { 4, { 48, 32, 3, 3 } },
    { 0, 0, 1, 2 },
    { 0 },
    { 2, 2 } },
  { "every second pixel of few",
    { 4, { 1, 64, 5, 4 } },
    { 4, { 96, 64, 3, 3 } },
    { 1, 1, 1, 1 },
    { 0 },
    { 2, 2 } },
  { "along every second row",
    { 4, { 1, 16, 9, 15 } },
    { 4, { 24, 16, 1, 3 } },
    { 0, 1, 0, 1 },
    { 0 },
    { 2, 1 } },
  { "along columns by every second pixel",
    { 4, { 1, 16, 19, 9 } },
    { 4, { 24, 16, 3, 1 } },
    { 1, 0, 1, 0 },
    { 0 },
    { 2, 3 } },
  { "a line by every second pixel",
    { 3, { 3, 16, 41 } },
    { 3, { 24, 16, 3 } },
    { 1, 0 },
    { 0 },
    { 2 } },
  { "a line dilated", { 3, { 1, 9, 41 } }, { 3, { 17, 9, 3 } }, { 8, 0 }, { 4 } },
};

static const gchar *const activations[] = { NULL,        "Relu", "LeakyRelu", "Sigmoid",
                                            "HardSwish", "Tanh", "Elu",       "PRelu" };

static void
use_winograd (const gchar *value)
{
  g_autoptr (GError) error = NULL;
  axon_core_set_property (axon_core_get_default (), "CPU", AXON_CPU_WINOGRAD,
                          g_variant_new_string (value), &error);
  g_assert_no_error (error);
}

/* A 1x1 convolution before it, so that data lie as oneDNN likes them. */
static AxonValue *
add_pointwise (TestModel *t, AxonValue *x, gint64 channels)
{
  AxonShape w = AXON_SHAPE (channels, channels, 1, 1);
  w.rank = x->type.shape.rank;
  return test_model_node (t, "Conv", 2, x, test_model_random (t, &w, 4))->outputs[0];
}

static AxonNode *
add_conv (TestModel *t, AxonValue *x, const Shape *s)
{
  AxonShape channels = AXON_SHAPE (s->w.dims[0]);
  AxonNode *node = test_model_node (t, "Conv", 3, x, test_model_random (t, &s->w, 2),
                                    test_model_random (t, &channels, 3));
  axon_node_set_ints (node, "pads", s->pads, 2 * (s->x.rank - 2));
  if (s->dilations[0] > 0)
    axon_node_set_ints (node, "dilations", s->dilations, s->x.rank - 2);
  if (s->strides[0] > 0)
    axon_node_set_ints (node, "strides", s->strides, s->x.rank - 2);
  return node;
}

/* @sum: something is added behind nothing (0), before (1) or after (2) the activation. */
static AxonModel *
model_of (const Shape *s, const gchar *activation, guint sum)
{
  TestModel t = test_model_new (16);
  AxonValue *x =
      add_pointwise (&t, test_model_input (&t, "x", AXON_DTYPE_F32, &s->x), s->x.dims[1]);
  AxonValue *y = add_conv (&t, x, s)->outputs[0], *other;
  if (sum != 1)
    y = test_model_activate (&t, y, activation, s->w.dims[0], s->x.rank - 2);
  if (sum != 0) {
    other = test_model_node (&t, "Neg", 1, add_conv (&t, x, s)->outputs[0])->outputs[0];
    y = test_model_node (&t, "Add", 2, y, other)->outputs[0];
  }
  if (sum == 1)
    y = test_model_activate (&t, y, activation, s->w.dims[0], s->x.rank - 2);
  return test_model_finish (&t, y);
}

static void
convolutions_after_winograd_agree_with_what_follows_them (gconstpointer data)
{
  const Shape *s = data;
  g_autoptr (AxonTensor) x = test_random (&s->x, 7);
  for (guint a = 0; a < 2 * G_N_ELEMENTS (activations); a++)
    for (guint sum = 0; sum < 3; sum++) {
      g_autoptr (AxonModel) model = model_of (s, activations[a / 2], sum);
      use_winograd (a % 2 ? "ALL_2x2" : "ALL_4x4");
      test_compare_devices (model, x, TOLERANCE);
    }
  use_winograd ("AUTO");
}

/* How the only convolution that may be is computed. */
static gchar *
implementation (const Shape *s, const gchar *key, GVariant *value, const gchar *hint)
{
  g_autoptr (AxonModel) model = model_of (s, "Relu", 0), runtime = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  GVariantDict config;
  GPtrArray *nodes;
  g_variant_dict_init (&config, NULL);
  g_variant_dict_insert_value (&config, key, value);
  g_variant_dict_insert (&config, "EXECUTION_MODE_HINT", "s", hint);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "CPU",
                                      g_variant_dict_end (&config), NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  runtime = axon_compiled_model_get_runtime_model (compiled, &error);
  g_assert_no_error (error);
  nodes = runtime->nodes;
  for (guint i = 0; i < nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (nodes, i);
    const gchar *found = strstr (node->exec_type ? node->exec_type : "", "winograd");
    if (found != NULL)
      return g_strdup (found);
  }
  return g_strdup ("none");
}

static void
the_property_says_which_tiles_there_are (void)
{
  static const Shape large = {
    "", { 4, { 1, 64, 56, 56 } }, { 4, { 64, 64, 3, 3 } }, { 1, 1, 1, 1 }
  };
  static const Shape line = { "", { 3, { 1, 128, 999 } }, { 3, { 128, 128, 3 } }, { 1, 1 } };
  static const Shape down = {
    "", { 4, { 1, 64, 56, 56 } }, { 4, { 64, 64, 3, 1 } }, { 8, 0, 8, 0 }, { 8, 1 }
  };
  static const Shape halved = {
    "", { 4, { 1, 64, 56, 56 } }, { 4, { 128, 64, 3, 3 } }, { 1, 1, 1, 1 }, { 0 }, { 2, 2 }
  };
  static const Shape halved_down = {
    "", { 4, { 1, 64, 56, 56 } }, { 4, { 64, 64, 3, 1 } }, { 1, 0, 1, 0 }, { 0 }, { 2, 1 }
  };
  static const struct {
    const Shape *shape;
    const gchar *value, *hint, *expected;
  } rows[] = {
    { &large, "AUTO", "PERFORMANCE", "winograd-4x4" },
    { &large, "AUTO", "ACCURACY", "winograd-2x2" },
    { &large, "2x2", "PERFORMANCE", "winograd-2x2" },
    { &large, "NO", "PERFORMANCE", "none" },
    { &line, "AUTO", "PERFORMANCE", "winograd-1x4" },
    { &line, "ALL_2x2", "PERFORMANCE", "winograd-1x2" },
    { &line, "NO", "PERFORMANCE", "none" },
    { &down, "AUTO", "PERFORMANCE", "winograd-4x1" },
    { &down, "ALL_2x2", "ACCURACY", "winograd-2x1" },
    { &halved, "AUTO", "PERFORMANCE", "winograd-4x4-stride2" },
    { &halved, "AUTO", "ACCURACY", "winograd-2x2-stride2" },
    { &halved_down, "ALL_4x4", "PERFORMANCE", "winograd-4x1-stride2" },
    { &shapes[0], "AUTO", "PERFORMANCE", "none" }, /* where it would be slower */
    { &shapes[0], "ALL_2x2", "PERFORMANCE", "winograd-2x2" },
    { &shapes[0], "ALL_4x4", "PERFORMANCE", "winograd-4x4" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *got = implementation (rows[i].shape, AXON_CPU_WINOGRAD,
                                            g_variant_new_string (rows[i].value), rows[i].hint);
    g_assert_cmpstr (got, ==, rows[i].expected);
  }
}

/* 9 MiB by tiles of 4x4, 4 by those of 2x2. */
static void
transformed_weights_take_no_more_memory_than_they_may (void)
{
  static const Shape wide = {
    "", { 4, { 1, 256, 28, 28 } }, { 4, { 256, 256, 3, 3 } }, { 1, 1, 1, 1 }
  };
  static const gchar *const expected[] = { "none", "winograd-2x2", "winograd-4x4" };
  static const gint mebibytes[] = { 3, 4, 9 };
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    g_autofree gchar *got = implementation (&wide, AXON_CPU_WINOGRAD_MEMORY,
                                            g_variant_new_int32 (mebibytes[i]), "PERFORMANCE");
    g_assert_cmpstr (got, ==, expected[i]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/winograd/convolutions_after_winograd_agree_with_what_follows_them/%s", shapes[i].name);
    g_test_add_data_func (path, &shapes[i],
                          convolutions_after_winograd_agree_with_what_follows_them);
  }
  g_test_add_func ("/winograd/the_property_says_which_tiles_there_are",
                   the_property_says_which_tiles_there_are);
  g_test_add_func ("/winograd/transformed_weights_take_no_more_memory_than_they_may",
                   transformed_weights_take_no_more_memory_than_they_may);
  return g_test_run ();
}
