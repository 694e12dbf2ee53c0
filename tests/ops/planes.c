/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of few channels to few, as filters of pictures are, against the reference: of planes
 * as a picture comes, and of what another convolution left channels last. */
#include "axontest.h"

#include <string.h>

#define TOLERANCE 1e-4

typedef struct {
  const gchar *name;
  AxonShape x, w;
  gint64 stride[2], dilation[2], pads[4];
} Shape;

/* Rows shorter than a vector, of some vectors, and of more than are computed together. */
static const Shape shapes[] = {
  { "a blur", { 4, { 2, 1, 9, 33 } }, { 4, { 1, 1, 5, 5 } }, { 1, 1 }, { 1, 1 }, { 2, 2, 2, 2 } },
  { "edges", { 4, { 1, 1, 7, 150 } }, { 4, { 2, 1, 3, 3 } }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } },
  { "colours", { 4, { 1, 3, 5, 70 } }, { 4, { 3, 3, 1, 1 } }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 } },
  { "to four", { 4, { 1, 3, 8, 97 } }, { 4, { 4, 3, 3, 3 } }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } },
  { "of four", { 4, { 3, 4, 6, 40 } }, { 4, { 1, 4, 3, 1 } }, { 1, 1 }, { 1, 1 }, { 0, 0, 2, 0 } },
  { "strided", { 4, { 2, 3, 21, 85 } }, { 4, { 3, 3, 3, 3 } }, { 2, 2 }, { 1, 1 }, { 1, 1, 1, 1 } },
  { "by three",
    { 4, { 1, 2, 11, 99 } },
    { 4, { 2, 2, 4, 5 } },
    { 2, 3 },
    { 1, 1 },
    { 0, 4, 3, 1 } },
  { "by four", { 4, { 1, 2, 4, 170 } }, { 4, { 4, 2, 2, 7 } }, { 1, 4 }, { 1, 2 }, { 1, 9, 0, 3 } },
  { "dilated", { 4, { 1, 2, 30, 40 } }, { 4, { 3, 2, 3, 3 } }, { 1, 1 }, { 4, 6 }, { 4, 6, 4, 6 } },
  { "mostly padding",
    { 4, { 1, 2, 3, 4 } },
    { 4, { 2, 2, 3, 3 } },
    { 1, 1 },
    { 1, 1 },
    { 9, 20, 5, 31 } },
  { "a line", { 3, { 2, 2, 300 } }, { 3, { 3, 2, 7 } }, { 2, 0 }, { 1, 0 }, { 3, 3, 0, 0 } },
};

static const gchar *const activations[] = { NULL, "Relu", "HardSwish" };

static AxonNode *
convolve (TestModel *t, AxonValue *x, const Shape *s, guint seed)
{
  AxonShape bias = AXON_SHAPE (s->w.dims[0]);
  guint n = (guint)s->w.rank - 2;
  AxonNode *node =
      test_model_node (t, "Conv", seed % 2 ? 3 : 2, x, test_model_random (t, &s->w, seed),
                       test_model_random (t, &bias, seed + 1));
  axon_node_set_ints (node, "strides", s->stride, n);
  axon_node_set_ints (node, "dilations", s->dilation, n);
  axon_node_set_ints (node, "pads", s->pads, 2 * n);
  return node;
}

/* Of as many channels, by a convolution that leaves them side by side. */
static AxonValue *
lay_channels_last (TestModel *t, const Shape *s)
{
  AxonShape more = s->x, w = { s->x.rank, { s->x.dims[1], 16, 1, 1 } };
  more.dims[1] = 16;
  return test_model_node (t, "Conv", 2, test_model_input (t, "x", AXON_DTYPE_F32, &more),
                          test_model_random (t, &w, 9))
      ->outputs[0];
}

static gboolean
is_by_planes (AxonModel *model)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  gboolean found = FALSE;
  for (guint i = 0; i < runtime->nodes->len; i++)
    found |= strstr (((AxonNode *)runtime->nodes->pdata[i])->exec_type, "own:planes") != NULL;
  return found;
}

/* With a residual or without, and an activation before it or behind. */
static void
compare (const Shape *s, guint a, gboolean last, guint sum)
{
  TestModel t = test_model_new (14);
  AxonValue *x =
      last ? lay_channels_last (&t, s) : test_model_input (&t, "x", AXON_DTYPE_F32, &s->x);
  AxonValue *other =
      sum > 0 ? test_model_node (&t, "Neg", 1, convolve (&t, x, s, 4)->outputs[0])->outputs[0]
              : NULL;
  AxonValue *y = convolve (&t, x, s, 2 + a)->outputs[0];
  g_autoptr (AxonTensor) data = NULL;
  g_autoptr (AxonModel) model = NULL;
  if (sum == 1)
    y = test_model_node (&t, "Add", 2, y, other)->outputs[0];
  if (activations[a] != NULL)
    y = test_model_node (&t, activations[a], 1, y)->outputs[0];
  if (sum == 2)
    y = test_model_node (&t, "Add", 2, y, other)->outputs[0];
  model = test_model_finish (&t, y);
  data = test_random (&((AxonValue *)model->inputs->pdata[0])->type.shape, 7);
  g_test_message ("%s, %s, channels %s, sum %u", s->name, activations[a] ? activations[a] : "alone",
                  last ? "last" : "first", sum);
  test_compare_devices (model, data, TOLERANCE);
  g_assert_true (is_by_planes (model));
}

static void
filters_of_pictures_agree (gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (activations) * 2 * 3; i++)
    compare (data, i % G_N_ELEMENTS (activations), i / G_N_ELEMENTS (activations) % 2,
             i / G_N_ELEMENTS (activations) / 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/planes/filters_of_pictures_agree/%s", shapes[i].name);
    g_test_add_data_func (path, &shapes[i], filters_of_pictures_agree);
  }
  return g_test_run ();
}
