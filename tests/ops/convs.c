/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of floats on device CPU, with what is fused into them, against the reference. */
#include "axontest.h"

#include <string.h>

#define TOLERANCE 1e-4
#define DISABLE "AXON_CPU_DISABLE_KERNELS"

typedef struct {
  const gchar *name;
  gboolean transposed;
  AxonShape x, w;
  gint64 group, stride, dilation, pad;
} Shape;

static const Shape shapes[] = {
  { "dense", FALSE, { 4, { 2, 5, 9, 11 } }, { 4, { 7, 5, 3, 3 } }, 1, 1, 1, 1 },
  { "strided", FALSE, { 4, { 1, 16, 12, 13 } }, { 4, { 33, 16, 3, 3 } }, 1, 2, 1, 1 },
  { "dilated", FALSE, { 4, { 1, 8, 12, 13 } }, { 4, { 17, 8, 3, 3 } }, 1, 1, 2, 2 },
  { "dilated further than kernels reach",
    FALSE,
    { 4, { 1, 8, 3, 5 } },
    { 4, { 17, 8, 3, 3 } },
    1,
    1,
    16400,
    16400 },
  { "pointwise", FALSE, { 4, { 3, 24, 7, 5 } }, { 4, { 40, 24, 1, 1 } }, 1, 1, 1, 0 },
  { "pointwise and strided", FALSE, { 4, { 1, 24, 7, 5 } }, { 4, { 40, 24, 1, 1 } }, 1, 2, 1, 0 },
  { "grouped", FALSE, { 4, { 1, 24, 9, 8 } }, { 4, { 12, 8, 3, 3 } }, 3, 1, 1, 1 },
  { "depthwise", FALSE, { 4, { 1, 33, 9, 8 } }, { 4, { 33, 1, 3, 3 } }, 33, 1, 1, 1 },
  { "depthwise 5x5", FALSE, { 4, { 2, 20, 9, 8 } }, { 4, { 20, 1, 5, 5 } }, 20, 2, 1, 2 },
  { "depthwise with a multiplier",
    FALSE,
    { 4, { 1, 6, 9, 8 } },
    { 4, { 12, 1, 3, 3 } },
    6,
    1,
    1,
    1 },
  { "one dimension", FALSE, { 3, { 1, 9, 30 } }, { 3, { 18, 9, 5 } }, 1, 2, 1, 2 },
  { "a wave", FALSE, { 3, { 2, 1, 200 } }, { 3, { 33, 1, 40 } }, 1, 4, 1, 18 },
  { "depthwise in one dimension", FALSE, { 3, { 1, 33, 40 } }, { 3, { 33, 1, 15 } }, 33, 1, 1, 7 },
  { "transposed", TRUE, { 4, { 1, 10, 6, 7 } }, { 4, { 10, 5, 2, 2 } }, 1, 2, 1, 0 },
  { "transposed 3x3", TRUE, { 4, { 2, 10, 6, 7 } }, { 4, { 10, 17, 3, 3 } }, 1, 2, 1, 1 },
  { "transposed and grouped", TRUE, { 4, { 1, 12, 6, 7 } }, { 4, { 12, 3, 4, 4 } }, 3, 2, 1, 1 },
  { "transposed depthwise", TRUE, { 4, { 1, 18, 6, 7 } }, { 4, { 18, 1, 4, 4 } }, 18, 2, 1, 1 },
  { "transposed in one dimension", TRUE, { 3, { 1, 6, 20 } }, { 3, { 6, 9, 3 } }, 1, 3, 2, 0 },
  { "transposed further than kernels reach",
    TRUE,
    { 4, { 1, 6, 3, 5 } },
    { 4, { 6, 9, 3, 3 } },
    1,
    1,
    16400,
    16400 },
  { "depthwise of few channels", FALSE, { 4, { 2, 8, 9, 37 } }, { 4, { 8, 1, 3, 3 } }, 8, 1, 1, 1 },
  { "depthwise of twelve channels",
    FALSE,
    { 4, { 1, 12, 7, 41 } },
    { 4, { 12, 1, 5, 5 } },
    12,
    1,
    1,
    2 },
  { "depthwise and dilated", FALSE, { 4, { 1, 24, 9, 33 } }, { 4, { 24, 1, 3, 3 } }, 24, 1, 2, 2 },
  { "depthwise of two channels", FALSE, { 4, { 1, 2, 4, 70 } }, { 4, { 2, 1, 3, 3 } }, 2, 1, 1, 0 },
  { "pointwise of few channels",
    FALSE,
    { 4, { 1, 12, 7, 9 } },
    { 4, { 8, 12, 1, 1 } },
    1,
    1,
    1,
    0 },
  { "a grey picture", FALSE, { 4, { 1, 1, 13, 37 } }, { 4, { 17, 1, 3, 3 } }, 1, 2, 1, 1 },
  { "two planes", FALSE, { 4, { 2, 2, 11, 9 } }, { 4, { 5, 2, 5, 5 } }, 1, 1, 1, 2 },
  { "a picture", FALSE, { 4, { 2, 3, 33, 31 } }, { 4, { 40, 3, 3, 3 } }, 1, 2, 1, 1 },
  { "a picture without padding", FALSE, { 4, { 1, 3, 9, 15 } }, { 4, { 8, 3, 3, 3 } }, 1, 2, 1, 0 },
  { "a picture, 7x7", FALSE, { 4, { 1, 3, 29, 35 } }, { 4, { 65, 3, 7, 7 } }, 1, 2, 1, 3 },
  { "a picture, dilated", FALSE, { 4, { 1, 3, 17, 19 } }, { 4, { 16, 3, 3, 3 } }, 1, 2, 3, 3 },
  { "a picture, pointwise", FALSE, { 4, { 2, 3, 7, 9 } }, { 4, { 12, 3, 1, 1 } }, 1, 1, 1, 0 },
  { "four planes", FALSE, { 4, { 1, 4, 21, 23 } }, { 4, { 33, 4, 6, 6 } }, 1, 4, 1, 2 },
  { "planes in one dimension", FALSE, { 3, { 2, 3, 50 } }, { 3, { 18, 3, 5 } }, 1, 2, 2, 4 },
  { "to one channel", FALSE, { 4, { 2, 9, 15, 21 } }, { 4, { 1, 9, 5, 5 } }, 1, 1, 1, 2 },
  { "to three channels, 9x9", FALSE, { 4, { 1, 8, 23, 19 } }, { 4, { 3, 8, 9, 9 } }, 1, 1, 1, 4 },
  { "to two channels, strided", FALSE, { 4, { 2, 7, 13, 17 } }, { 4, { 2, 7, 7, 7 } }, 1, 2, 1, 3 },
  { "to three channels, dilated",
    FALSE,
    { 4, { 1, 5, 19, 20 } },
    { 4, { 3, 5, 2, 5 } },
    1,
    1,
    2,
    3 },
  { "to a channel, without padding",
    FALSE,
    { 4, { 1, 17, 9, 40 } },
    { 4, { 1, 17, 3, 4 } },
    1,
    1,
    1,
    0 },
  { "vectors to one channel", FALSE, { 4, { 2, 64, 7, 37 } }, { 4, { 1, 64, 1, 1 } }, 1, 1, 1, 0 },
  { "vectors to four channels",
    FALSE,
    { 4, { 1, 64, 5, 23 } },
    { 4, { 4, 64, 1, 1 } },
    1,
    1,
    1,
    0 },
  { "vectors to one channel, 3x3",
    FALSE,
    { 4, { 2, 32, 13, 21 } },
    { 4, { 1, 32, 3, 3 } },
    1,
    1,
    1,
    1 },
  { "vectors to two channels, strided",
    FALSE,
    { 4, { 1, 32, 9, 38 } },
    { 4, { 2, 32, 3, 3 } },
    1,
    2,
    1,
    1 },
  { "vectors to three channels, dilated",
    FALSE,
    { 4, { 1, 48, 17, 20 } },
    { 4, { 3, 48, 3, 3 } },
    1,
    1,
    2,
    3 },
  { "vectors to two channels, one dimension",
    FALSE,
    { 3, { 2, 32, 40 } },
    { 3, { 2, 32, 5 } },
    1,
    1,
    1,
    2 },
  { "vectors to one channel of a few pixels",
    FALSE,
    { 4, { 1, 64, 3, 2 } },
    { 4, { 1, 64, 3, 3 } },
    1,
    1,
    1,
    1 },
  { "groups of four", FALSE, { 4, { 2, 48, 9, 15 } }, { 4, { 48, 4, 3, 3 } }, 12, 1, 1, 1 },
  { "groups of two", FALSE, { 4, { 1, 32, 9, 13 } }, { 4, { 32, 2, 3, 3 } }, 16, 1, 1, 1 },
  { "groups of two, strided",
    FALSE,
    { 4, { 1, 32, 11, 30 } },
    { 4, { 32, 2, 3, 3 } },
    16,
    2,
    1,
    1 },
  { "groups of eight, dilated",
    FALSE,
    { 4, { 1, 32, 13, 9 } },
    { 4, { 32, 8, 3, 5 } },
    4,
    1,
    2,
    3 },
  { "groups of four without padding",
    FALSE,
    { 4, { 1, 64, 6, 7 } },
    { 4, { 64, 4, 2, 3 } },
    16,
    1,
    1,
    0 },
  { "groups of four, three of them",
    FALSE,
    { 4, { 1, 12, 9, 7 } },
    { 4, { 12, 4, 3, 3 } },
    3,
    1,
    1,
    1 },
  { "groups in one dimension", FALSE, { 3, { 1, 32, 40 } }, { 3, { 32, 4, 5 } }, 8, 2, 1, 2 },
  { "to two channels by one row",
    FALSE,
    { 4, { 2, 9, 8, 21 } },
    { 4, { 2, 9, 2, 7 } },
    1,
    1,
    1,
    3 },
  { "transposed to one channel",
    TRUE,
    { 4, { 2, 24, 9, 11 } },
    { 4, { 24, 1, 2, 2 } },
    1,
    2,
    1,
    0 },
  { "transposed to three channels, 4x4",
    TRUE,
    { 4, { 1, 20, 8, 9 } },
    { 4, { 20, 3, 4, 4 } },
    1,
    2,
    1,
    1 },
  { "transposed to three channels, 5x5",
    TRUE,
    { 4, { 2, 33, 7, 6 } },
    { 4, { 33, 3, 5, 5 } },
    1,
    3,
    1,
    1 },
  { "transposed to two channels, every pixel",
    TRUE,
    { 4, { 1, 16, 9, 10 } },
    { 4, { 16, 2, 3, 3 } },
    1,
    1,
    1,
    1 },
  { "transposed to a channel, wider than apart",
    TRUE,
    { 4, { 1, 9, 5, 4 } },
    { 4, { 9, 1, 7, 3 } },
    1,
    2,
    1,
    2 },
  { "transposed by runs", TRUE, { 4, { 2, 24, 9, 7 } }, { 4, { 24, 24, 2, 2 } }, 1, 2, 1, 0 },
  { "transposed by runs of three",
    TRUE,
    { 4, { 1, 7, 5, 6 } },
    { 4, { 7, 17, 4, 3 } },
    1,
    3,
    1,
    0 },
  { "transposed by runs with gaps",
    TRUE,
    { 4, { 1, 7, 5, 6 } },
    { 4, { 7, 20, 1, 2 } },
    1,
    2,
    1,
    0 },
  { "transposed depthwise of few channels",
    TRUE,
    { 4, { 1, 4, 6, 30 } },
    { 4, { 4, 1, 3, 3 } },
    4,
    1,
    1,
    1 },
  { "a multiplier of two", FALSE, { 4, { 2, 16, 9, 8 } }, { 4, { 32, 1, 3, 3 } }, 16, 1, 1, 1 },
  { "a multiplier of four", FALSE, { 4, { 1, 8, 9, 13 } }, { 4, { 32, 1, 5, 5 } }, 8, 2, 1, 2 },
  { "a multiplier of eight", FALSE, { 4, { 1, 4, 9, 8 } }, { 4, { 32, 1, 3, 3 } }, 4, 1, 2, 2 },
  { "dilated far", FALSE, { 4, { 1, 16, 15, 26 } }, { 4, { 24, 16, 3, 3 } }, 1, 1, 6, 6 },
  { "of 9x9", FALSE, { 4, { 2, 16, 12, 14 } }, { 4, { 17, 16, 9, 9 } }, 1, 1, 1, 4 },
};

/* "swish", "mish": written out; "slope": PRelu with one for all; "slopes": one for each channel. */
static const gchar *const activations[] = { NULL,        "Relu",  "LeakyRelu", "Sigmoid", "Tanh",
                                            "HardSwish", "swish", "slope",     "slopes",  "mish" };

static AxonNode *
conv_node (TestModel *t, const Shape *s, gboolean bias)
{
  const gint64 spatial[] = { s->stride, s->stride }, dilations[] = { s->dilation, s->dilation };
  const gint64 pads[] = { s->pad, s->pad, s->pad, s->pad };
  AxonShape channels = AXON_SHAPE (s->transposed ? s->w.dims[1] * s->group : s->w.dims[0]);
  guint n = (guint)s->w.rank - 2;
  AxonNode *node = test_model_node (t, s->transposed ? "ConvTranspose" : "Conv", bias ? 3 : 2,
                                    test_model_input (t, "x", AXON_DTYPE_F32, &s->x),
                                    test_model_random (t, &s->w, 2),
                                    bias ? test_model_random (t, &channels, 3) : NULL);
  axon_node_set_int (node, "group", s->group);
  axon_node_set_ints (node, "strides", spatial, n);
  axon_node_set_ints (node, "dilations", dilations, n);
  axon_node_set_ints (node, "pads", pads, 2 * n);
  return node;
}

static AxonValue *
activate (TestModel *t, AxonValue *y, const Shape *s, const gchar *name)
{
  AxonShape slopes = { .rank = s->w.rank - 1 };
  gboolean each = g_strcmp0 (name, "slopes") == 0;
  for (gint i = 0; i < slopes.rank; i++)
    slopes.dims[i] = 1;
  if (each)
    slopes.dims[0] = s->transposed ? s->w.dims[1] * s->group : s->w.dims[0];
  if (name == NULL)
    return y;
  if (each || g_str_equal (name, "slope"))
    return test_model_node (t, "PRelu", 2, y, test_model_random (t, &slopes, 5))->outputs[0];
  if (g_str_equal (name, "mish"))
    return test_model_mish (t, y, 1)->outputs[0];
  if (g_str_equal (name, "swish"))
    return test_model_node (t, "Mul", 2, y, test_model_node (t, "Sigmoid", 1, y)->outputs[0])
        ->outputs[0];
  return test_model_node (t, name, 1, y)->outputs[0];
}

/* @sum: behind it nothing (0), or something computed from the input is added before (1) or after
 * (2) the activation. */
static void
compare (const Shape *s, const gchar *activation, guint sum, gboolean bias)
{
  TestModel t = test_model_new (14);
  AxonNode *conv = conv_node (&t, s, bias), *other;
  AxonValue *y = conv->outputs[0];
  g_autoptr (AxonTensor) x = test_random (&s->x, 7);
  g_autoptr (AxonModel) model = NULL;
  if (sum != 1)
    y = activate (&t, y, s, activation);
  if (sum != 0) {
    other = conv_node (&t, s, FALSE);
    axon_node_set_input (other, 0, conv->inputs[0]);
    y = test_model_node (&t, "Add", 2, y,
                         test_model_node (&t, "Neg", 1, other->outputs[0])->outputs[0])
            ->outputs[0];
  }
  if (sum == 1)
    y = activate (&t, y, s, activation);
  model = test_model_finish (&t, y);
  test_compare_devices (model, x, TOLERANCE);
}

static void
convolutions_agree_with_what_follows_them (gconstpointer data)
{
  const Shape *s = data;
  for (guint a = 0; a < G_N_ELEMENTS (activations); a++)
    for (guint sum = 0; sum < 3; sum++)
      compare (s, activations[a], sum, (a + sum) % 2 == 0);
}

static const Shape *
shape_named (const gchar *name)
{
  guint i = 0;
  while (!g_str_equal (shapes[i].name, name))
    i++;
  return &shapes[i];
}

static void
few_channels_have_kernels_of_their_own (void)
{
  static const struct {
    const gchar *shape, *expected;
  } rows[] = { { "to one channel", "own:columns" },
               { "vectors to one channel", "own:dots" },
               { "transposed to one channel", "own:columns" },
               { "a multiplier of two", "own:grouped" },
               { "groups of two", "own:grouped" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    TestModel t = test_model_new (14);
    AxonNode *conv = conv_node (&t, shape_named (rows[i].shape), TRUE);
    g_autoptr (AxonModel) model = test_model_finish (&t, conv->outputs[0]);
    g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
    conv = g_ptr_array_index (runtime->nodes, 0);
    g_assert_nonnull (strstr (conv->exec_type, rows[i].expected));
  }
}

/* A bias that is computed, a size that is asked for: kernels that take no activation take those. */
static void
an_activation_is_not_lost_behind_what_only_the_reference_computes (void)
{
  static const gint64 size[] = { 12, 14 };
  const Shape *s = &shapes[10];
  for (guint i = 0; i < 2; i++) {
    TestModel t = test_model_new (14);
    AxonNode *first = conv_node (&t, s, FALSE), *n = first;
    g_autoptr (AxonTensor) x = test_random (&s->x, 7);
    g_autoptr (AxonModel) model = NULL;
    if (i == 0) { /* computed from the input, so no constant */
      AxonNode *mean = test_model_node (&t, "ReduceMean", 1, first->outputs[0]);
      axon_node_set_int (mean, "keepdims", 0);
      mean = test_model_node (&t, "Add", 2, mean->outputs[0],
                              test_model_random (&t, &(AxonShape){ 1, { 5 } }, 4));
      n = conv_node (&t, s, FALSE);
      axon_node_set_input (n, 0, first->inputs[0]);
      axon_node_set_input (n, 2, mean->outputs[0]);
    } else {
      axon_node_set_ints (n, "output_shape", size, 2);
    }
    n = test_model_node (&t, "Relu", 1, n->outputs[0]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, TOLERANCE);
  }
}

static void
refuse_fused_convolution (void)
{
  TestModel t = test_model_new (14);
  AxonNode *n = test_model_node (&t, "Relu", 1, conv_node (&t, &shapes[0], TRUE)->outputs[0]);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "CPU", NULL, NULL, NULL,
                                          NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "AXON_CPU_DISABLE_PASSES=fuse-activation"));
}

/* Found by its name; another one is an error that says so. */
static void
a_family_of_kernels_can_be_left_out (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_setenv (DISABLE, "float_conv,float_con", TRUE);
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "CPU", NULL, NULL, NULL,
                                          NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "\"float_con\""));
  g_setenv (DISABLE, "float_conv", TRUE);
  compare (&shapes[0], "slopes", 1, TRUE);
  compare (&shapes[13], "swish", 0, TRUE);
  g_setenv (DISABLE, "columns,float_conv,dnn_conv", TRUE);
  refuse_fused_convolution ();
  g_unsetenv (DISABLE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/convs/convolutions_agree_with_what_follows_them/%s", shapes[i].name);
    g_test_add_data_func (path, &shapes[i], convolutions_agree_with_what_follows_them);
  }
  g_test_add_func ("/convs/few_channels_have_kernels_of_their_own",
                   few_channels_have_kernels_of_their_own);
  g_test_add_func ("/convs/an_activation_is_not_lost_behind_what_only_the_reference_computes",
                   an_activation_is_not_lost_behind_what_only_the_reference_computes);
  g_test_add_func ("/convs/a_family_of_kernels_can_be_left_out",
                   a_family_of_kernels_can_be_left_out);
  return g_test_run ();
}
