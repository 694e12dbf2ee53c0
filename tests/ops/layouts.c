/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels of device CPU that read what lies channels last, row-major or with gaps as it lies: all
 * against the reference, with special values. */
#include "axontest.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 2e-5

typedef enum { ROW_MAJOR, CHANNELS_LAST, WITH_GAPS, APART, OF_CONV, N_ORDERS } Order;

/* Input @shape of the network with the shape's second dimension last in memory, which a Transpose
 * gives for nothing; or some of more channels. Without special values unless asked. */
typedef struct {
  TestModel t;
  AxonValue *x;
  AxonTensor *data;
} Subject;

static void
make_special (AxonTensor *x)
{
  static const gfloat values[] = { INFINITY, NAN, -INFINITY, 1e9f, -0.0f };
  gsize n = axon_tensor_get_numel (x);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    ((gfloat *)axon_tensor_get_data (x))[(i * 7919 + 3) * 31 % n] = values[i];
}

/* What a convolution leaves as it found it, in the order that it likes. */
static AxonValue *
convolve (TestModel *t, AxonValue *x, gint64 channels)
{
  AxonShape w = AXON_SHAPE (channels, channels, 1, 1);
  g_autofree gfloat *unit = g_new0 (gfloat, channels * channels);
  for (gint64 c = 0; c < channels; c++)
    unit[c * channels + c] = 1;
  return test_model_node (t, "Conv", 2, x, test_model_constant (t, &w, unit))->outputs[0];
}

/* Every second channel of some that lie last, or third to fifth, as after a shuffle; @x gets the
 * memory's shape. */
static AxonValue *
take_channels_apart (TestModel *t, const AxonShape *shape, gint64 apart, AxonTensor **x)
{
  static const gint64 axis = 0, first = 1, end = 2;
  AxonShape in = *shape;
  gint64 perm[AXON_MAX_RANK] = { shape->rank, 0, shape->rank - 1 };
  AxonNode *turned, *taken;
  for (gint d = 2; d < shape->rank; d++) {
    in.dims[d - 1] = shape->dims[d];
    perm[d + 1] = d - 1;
  }
  in.dims[shape->rank - 1] = shape->dims[1];
  in.dims[in.rank++] = apart;
  *x = test_random (&in, (guint)apart);
  turned = test_model_node (t, "Transpose", 1, test_model_input (t, "x", AXON_DTYPE_F32, &in));
  axon_node_set_ints (turned, "perm", perm, (guint)in.rank);
  taken = test_model_node (t, "Slice", 4, turned->outputs[0], test_model_ints (t, &first, 1),
                           test_model_ints (t, &end, 1), test_model_ints (t, &axis, 1));
  return test_model_node (t, "Reshape", 2, taken->outputs[0],
                          test_model_ints (t, shape->dims, shape->rank))
      ->outputs[0];
}

static Subject
subject_new (gint opset, const AxonShape *shape, Order order, gboolean special, guint seed)
{
  Subject s = { .t = test_model_new (opset) };
  AxonShape in = *shape;
  gint64 perm[AXON_MAX_RANK] = { 0, shape->rank - 1 };
  if (order == CHANNELS_LAST || order == WITH_GAPS)
    for (gint d = 1; d < shape->rank; d++)
      in.dims[d] = shape->dims[d + 1 < shape->rank ? d + 1 : 1];
  if (order == WITH_GAPS)
    in.dims[in.rank - 1] += 3;
  for (gint d = 2; d < shape->rank; d++)
    perm[d] = d - 1;
  if (order == APART) {
    s.x = take_channels_apart (&s.t, shape, 2 + seed % 4, &s.data);
    if (special)
      make_special (s.data);
    return s;
  }
  s.data = test_random (&in, seed);
  if (special && order != OF_CONV) /* which adds 0 times all to all */
    make_special (s.data);
  s.x = test_model_input (&s.t, "x", AXON_DTYPE_F32, &in);
  if (order == CHANNELS_LAST || order == WITH_GAPS) {
    AxonNode *n = test_model_node (&s.t, "Transpose", 1, s.x);
    axon_node_set_ints (n, "perm", perm, (guint)shape->rank);
    s.x = n->outputs[0];
  }
  if (order == WITH_GAPS) {
    gint64 ends[] = { 1, shape->dims[1] + 1 };
    AxonValue *axis = test_model_ints (&s.t, (gint64[]){ 1 }, 1);
    s.x = test_model_node (&s.t, "Slice", 4, s.x, test_model_ints (&s.t, ends, 1),
                           test_model_ints (&s.t, ends + 1, 1), axis)
              ->outputs[0];
  }
  if (order == OF_CONV && shape->rank == 4)
    s.x = convolve (&s.t, s.x, shape->dims[1]);
  return s;
}

/* FALSE: device CPU leaves a node called @op to the reference kernel. */
static gboolean
has_kernel (AxonModel *model, const gchar *op)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  gboolean has = TRUE;
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *n = runtime->nodes->pdata[i];
    has = has && !(g_str_equal (n->op->name, op) && strstr (n->exec_type, "reference"));
  }
  return has;
}

/* Ends the subject. */
static void
agree (Subject *s, AxonValue *y, const gchar *op)
{
  g_autoptr (AxonModel) model = test_model_finish (&s->t, y);
  test_compare_devices (model, s->data, TOLERANCE);
  g_assert_true (has_kernel (model, op));
  axon_tensor_unref (s->data);
}

typedef struct {
  gint64 kernel, stride, dilation, pad, pad_end;
  gboolean ceil_mode;
} Window;

static const Window windows[] = {
  { 3, 2, 1, 1, 1, FALSE }, { 2, 2, 1, 0, 0, TRUE }, { 3, 1, 1, 1, 1, FALSE },
  { 5, 1, 1, 2, 2, FALSE }, { 3, 2, 2, 2, 1, TRUE }, { 3, 3, 1, 2, 0, FALSE },
  { 1, 2, 1, 0, 0, FALSE }, { 4, 3, 3, 5, 5, TRUE },
};

static void
set_window (AxonNode *n, const Window *w, guint spatial)
{
  gint64 values[4][6];
  for (guint d = 0; d < spatial; d++) {
    values[0][d] = MIN (w->kernel, 2 + d);
    values[1][d] = w->stride;
    values[2][d] = w->dilation;
    values[3][d] = MIN (w->pad, d + 1);
    values[3][d + spatial] = w->pad_end;
  }
  axon_node_set_ints (n, "kernel_shape", values[0], spatial);
  axon_node_set_ints (n, "strides", values[1], spatial);
  axon_node_set_ints (n, "dilations", values[2], spatial);
  axon_node_set_ints (n, "pads", values[3], 2 * spatial);
  axon_node_set_int (n, "ceil_mode", w->ceil_mode);
}

static const AxonShape pictures[] = {
  { 3, { 2, 5, 41 } },      { 4, { 1, 1, 9, 37 } },    { 4, { 2, 33, 12, 11 } },
  { 4, { 1, 3, 17, 70 } },  { 5, { 1, 8, 7, 9, 13 } }, { 4, { 1, 17, 14, 40 } },
  { 4, { 1, 20, 13, 10 } },
};

static void
pooling_agrees_in_every_order (gconstpointer op)
{
  for (guint i = 0; i < G_N_ELEMENTS (pictures) * G_N_ELEMENTS (windows) * N_ORDERS; i++) {
    const AxonShape *shape = &pictures[i / N_ORDERS / G_N_ELEMENTS (windows)];
    Subject s = subject_new (19, shape, (Order)(i % N_ORDERS), i % 2, i);
    AxonNode *n = test_model_node (&s.t, op, 1, s.x);
    set_window (n, &windows[i / N_ORDERS % G_N_ELEMENTS (windows)], (guint)shape->rank - 2);
    if (g_str_equal (op, "AveragePool"))
      axon_node_set_int (n, "count_include_pad", i / 3 % 2);
    if (g_str_equal (op, "LpPool"))
      axon_node_set_int (n, "p", 1 + i / 3 % 2);
    agree (&s, n->outputs[0], op);
  }
}

static void
padding_that_keeps_sizes_agrees (gconstpointer op)
{
  static const gchar *const pads[] = { "SAME_UPPER", "SAME_LOWER", "VALID" };
  for (guint i = 0; i < 3 * 2; i++) {
    Subject s = subject_new (19, &pictures[2], (Order)(i % 2), FALSE, i);
    AxonNode *n = test_model_node (&s.t, op, 1, s.x);
    axon_node_set_ints (n, "kernel_shape", (gint64[]){ 3, 4 }, 2);
    axon_node_set_ints (n, "strides", (gint64[]){ 2, 1 }, 2);
    axon_node_set_string (n, "auto_pad", pads[i / 2]);
    agree (&s, n->outputs[0], op);
  }
}

static void
global_pooling_agrees_in_every_order (gconstpointer op)
{
  static const AxonShape shapes[] = { { 4, { 1, 40, 60, 60 } },
                                      { 4, { 2, 5, 7, 9 } },
                                      { 3, { 1, 300, 5 } },
                                      { 5, { 1, 2, 3, 4, 5 } },
                                      { 4, { 1, 3, 200, 210 } } };
  for (guint i = 0; i < G_N_ELEMENTS (shapes) * N_ORDERS * 2; i++) {
    Subject s = subject_new (13, &shapes[i / N_ORDERS / 2], (Order)(i % N_ORDERS), i % 2, i);
    AxonNode *n = test_model_node (&s.t, op, 1, s.x);
    if (g_str_equal (op, "GlobalLpPool"))
      axon_node_set_int (n, "p", 1 + i / N_ORDERS % 2);
    agree (&s, n->outputs[0], op);
  }
}

/* Every set of axes of four. */
static void
reductions_agree_in_every_order (gconstpointer op)
{
  static const AxonShape shapes[] = { { 4, { 2, 5, 7, 9 } },
                                      { 4, { 1, 33, 5, 16 } },
                                      { 4, { 1, 3, 150, 160 } } };
  for (guint i = 0; i < G_N_ELEMENTS (shapes) * 16 * N_ORDERS; i++) {
    guint mask = i / N_ORDERS % 16, n_axes = 0;
    gint64 axes[4];
    if (shapes[i / N_ORDERS / 16].dims[3] > 100 && mask % 4 == 3)
      continue; /* takes long */
    Subject s = subject_new (18, &shapes[i / N_ORDERS / 16], (Order)(i % N_ORDERS), i % 5 == 0, i);
    AxonValue *x =
        g_str_equal (op, "ReduceLogSum") ? test_model_node (&s.t, "Abs", 1, s.x)->outputs[0] : s.x;
    AxonNode *n;
    for (gint d = 0; d < 4; d++)
      if (mask >> d & 1)
        axes[n_axes++] = d % 2 ? d : d - 4;
    n = test_model_node (&s.t, op, 2, x, test_model_ints (&s.t, axes, n_axes));
    axon_node_set_int (n, "keepdims", i / 2 % 2);
    axon_node_set_int (n, "noop_with_empty_axes", i % 2);
    agree (&s, n->outputs[0], op);
  }
}

static const AxonShape classes[] = { { 4, { 2, 5, 7, 9 } }, { 4, { 1, 33, 5, 16 } },
                                     { 3, { 3, 2, 333 } },  { 4, { 1, 21, 13, 70 } },
                                     { 4, { 1, 1, 3, 4 } }, { 3, { 1, 300, 17 } } };

/* From opset 13 on, and before that, where they flatten what follows the axis. */
static void
sets_of_classes_agree_in_every_order (gconstpointer op)
{
  for (guint i = 0; i < G_N_ELEMENTS (classes) * 4 * N_ORDERS; i++) {
    const AxonShape *shape = &classes[i / N_ORDERS / 4];
    gint axis = MIN ((gint)(i / N_ORDERS % 4), shape->rank - 1);
    Subject s = subject_new (i % 7 ? 13 : 12, shape, (Order)(i % N_ORDERS), i % 5 == 0, i);
    AxonNode *n = test_model_node (&s.t, op, 1, s.x);
    axon_node_set_int (n, "axis", i % 2 ? axis : axis - shape->rank);
    agree (&s, n->outputs[0], op);
  }
}

static const AxonShape channels[] = { { 4, { 2, 5, 7, 9 } },   { 4, { 1, 33, 5, 16 } },
                                      { 3, { 3, 2, 333 } },    { 4, { 1, 300, 3, 5 } },
                                      { 4, { 2, 1, 30, 40 } }, { 5, { 1, 8, 3, 4, 5 } },
                                      { 4, { 1, 17, 40, 60 } } };

static void
a_normalised_batch_agrees_in_every_order (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (channels) * N_ORDERS * 2; i++) {
    const AxonShape *shape = &channels[i / N_ORDERS / 2];
    Subject s = subject_new (15, shape, (Order)(i % N_ORDERS), i % 2, i);
    AxonShape n = AXON_SHAPE (shape->dims[1]);
    AxonValue *in[5] = { s.x };
    for (guint k = 1; k < 4; k++)
      in[k] = test_model_random (&s.t, &n, k);
    in[4] = test_model_node (&s.t, "Exp", 1, test_model_random (&s.t, &n, 4))->outputs[0];
    agree (&s, test_model_node_of (&s.t, NULL, "BatchNormalization", in, 5, 1)->outputs[0],
           "BatchNormalization");
  }
}

/* For each channel, for all, for each element, along the last dimension, and computed ones. */
static void
slopes_of_all_kinds_agree_in_every_order (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (channels) * N_ORDERS * 5; i++) {
    const AxonShape *shape = &channels[i / N_ORDERS / 5];
    guint kind = i / N_ORDERS % 5;
    Subject s = subject_new (16, shape, (Order)(i % N_ORDERS), i % 2, i);
    AxonShape n = *shape;
    AxonValue *slopes;
    for (gint d = 0; d < n.rank; d++)
      n.dims[d] = kind == 2 || (kind == 3 ? d == n.rank - 1 : d == 1 && kind != 1) ? n.dims[d] : 1;
    slopes = test_model_random (&s.t, &n, 3);
    if (kind == 4)
      slopes = test_model_node (&s.t, "Mul", 2, slopes,
                                test_model_node (&s.t, "ReduceMean", 1, s.x)->outputs[0])
                   ->outputs[0];
    agree (&s, test_model_node (&s.t, "PRelu", 2, s.x, slopes)->outputs[0], "PRelu");
  }
}

/* Other powers and neighbours than networks have, too. */
static void
responses_agree_in_every_order (void)
{
  static const gfloat powers[] = { 0.75f, 0.5f, 1, 1.3f };
  for (guint i = 0; i < G_N_ELEMENTS (channels) * N_ORDERS * 4; i++) {
    Subject s = subject_new (13, &channels[i / N_ORDERS / 4], (Order)(i % N_ORDERS), i % 2, i);
    AxonNode *n = test_model_node (&s.t, "LRN", 1, s.x);
    axon_node_set_int (n, "size", 1 + i / 2 % 9);
    axon_node_set_float (n, "alpha", 0.3);
    axon_node_set_float (n, "beta", powers[i / N_ORDERS % 4]);
    axon_node_set_float (n, "bias", 0.8);
    agree (&s, n->outputs[0], "LRN");
  }
}

static void
groups_are_normalised_in_every_order (gconstpointer op)
{
  for (guint i = 0; i < G_N_ELEMENTS (channels) * N_ORDERS; i++) {
    const AxonShape *shape = &channels[i / N_ORDERS];
    gint64 c = shape->dims[1];
    Subject s = subject_new (21, shape, (Order)(i % N_ORDERS), FALSE, i);
    AxonShape n = AXON_SHAPE (c);
    AxonNode *node = test_model_node (&s.t, op, 3, s.x, test_model_random (&s.t, &n, 1),
                                      test_model_random (&s.t, &n, 2));
    for (gsize k = 0; k < axon_tensor_get_numel (s.data); k++) /* far from 0 */
      ((gfloat *)axon_tensor_get_data (s.data))[k] += 3;
    if (g_str_equal (op, "GroupNormalization"))
      axon_node_set_int (node, "num_groups", c % 2 == 0 ? 2 : c % 3 == 0 ? 3 : 1);
    agree (&s, node->outputs[0], op);
  }
}

/* Among many that are equal. */
static void
make_coarse (AxonTensor *x)
{
  for (gsize i = 0; i < axon_tensor_get_numel (x); i++)
    ((gfloat *)axon_tensor_get_data (x))[i] = rintf (((gfloat *)axon_tensor_get_data (x))[i] * 9);
}

static void
the_largest_is_found_in_every_order (gconstpointer op)
{
  for (guint i = 0; i < G_N_ELEMENTS (classes) * 4 * N_ORDERS * 4; i++) {
    const AxonShape *shape = &classes[i / N_ORDERS / 16];
    gint axis = MIN ((gint)(i / N_ORDERS / 4 % 4), shape->rank - 1);
    Subject s = subject_new (13, shape, (Order)(i % N_ORDERS), i % 5 == 0, i);
    AxonNode *n = test_model_node (&s.t, op, 1, s.x);
    make_coarse (s.data);
    axon_node_set_int (n, "axis", i % 2 ? axis : axis - shape->rank);
    axon_node_set_int (n, "keepdims", i / N_ORDERS % 2);
    axon_node_set_int (n, "select_last_index", i / N_ORDERS / 2 % 2);
    agree (&s, n->outputs[0], op);
  }
}

static void
the_k_best_are_found_in_every_order (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (classes) * 4 * N_ORDERS * 2; i++) {
    const AxonShape *shape = &classes[i / N_ORDERS / 8];
    gint axis = MIN ((gint)(i / N_ORDERS / 2 % 4), shape->rank - 1);
    gint64 k = (shape->dims[axis] + 1) / 2;
    Subject s = subject_new (13, shape, (Order)(i % N_ORDERS), i % 5 == 0, i);
    AxonValue *in[] = { s.x, test_model_ints (&s.t, &k, 1) };
    AxonNode *n = test_model_node_of (&s.t, NULL, "TopK", in, 2, 2);
    make_coarse (s.data);
    axon_node_set_int (n, "axis", axis);
    axon_node_set_int (n, "largest", i % 2);
    agree (&s, n->outputs[i / N_ORDERS % 2], "TopK");
  }
}

static void
parts_are_joined_in_every_order (void)
{
  static const gint64 sizes[] = { 1, 2, 3, 5, 8, 12, 17, 24, 33, 300 };
  for (guint i = 0; i < G_N_ELEMENTS (sizes) * 3 * N_ORDERS; i++) {
    AxonShape shape = AXON_SHAPE (1 + i % 2, sizes[i / N_ORDERS / 3], 5, 7);
    Subject s = subject_new (13, &shape, (Order)(i % N_ORDERS), i % 3 == 0, i);
    AxonNode *negative = test_model_node (&s.t, "Neg", 1, s.x);
    AxonNode *n = test_model_node (&s.t, "Concat", 3, s.x, negative->outputs[0], s.x);
    axon_node_set_int (n, "axis", 1 + i / N_ORDERS % 3);
    agree (&s, n->outputs[0], "Concat");
  }
}

/* Of @x every @step-th row and column from @row, @column on, as a view. */
static AxonValue *
sparse (TestModel *t, AxonValue *x, gint64 row, gint64 column, gint64 step)
{
  const gint64 starts[] = { row, column }, axes[] = { 2, 3 }, steps[] = { step, step };
  const gint64 ends[] = { x->type.shape.dims[2], x->type.shape.dims[3] };
  return test_model_node (t, "Slice", 5, x, test_model_ints (t, starts, 2),
                          test_model_ints (t, ends, 2), test_model_ints (t, axes, 2),
                          test_model_ints (t, steps, 2))
      ->outputs[0];
}

/* What the first layers of YOLOv5 and YOLOX take, and others: the channels of four pixels (or of
 * nine, of which four) as those of one. */
static void
every_second_pixel_is_joined_with_its_neighbours (void)
{
  static const AxonShape shapes[] = { { 4, { 1, 3, 8, 12 } },   { 4, { 2, 1, 6, 42 } },
                                      { 4, { 1, 5, 12, 90 } },  { 4, { 1, 2, 6, 6 } },
                                      { 4, { 3, 4, 18, 132 } }, { 4, { 1, 13, 6, 66 } } };
  static const AxonDType types[] = { AXON_DTYPE_F32, AXON_DTYPE_U8 };
  for (guint i = 0; i < G_N_ELEMENTS (shapes) * 4; i++) {
    const AxonShape *shape = &shapes[i / 4];
    AxonDType dtype = types[i % 2];
    gint64 step = i / 2 % 2 ? 3 : 2;
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", dtype, shape);
    AxonNode *n =
        test_model_node (&t, "Concat", 4, sparse (&t, x, 0, 0, step), sparse (&t, x, 1, 0, step),
                         sparse (&t, x, 0, 1, step), sparse (&t, x, 1, 1, step));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) data = axon_tensor_new (dtype, shape, NULL);
    for (gsize k = 0; k < axon_tensor_get_numel (data); k++)
      if (dtype == AXON_DTYPE_U8)
        ((guint8 *)axon_tensor_get_data (data))[k] = (guint8)(k * 31 + 7);
      else
        ((gfloat *)axon_tensor_get_data (data))[k] = (gfloat)k * 0.5f;
    axon_node_set_int (n, "axis", 1);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, data, 0);
  }
}

#define ADD(name) g_test_add_func ("/layouts/" #name, name)
#define ADD_EACH(list, name)                                                                       \
  for (guint i = 0; i < G_N_ELEMENTS (list); i++) {                                                \
    g_autofree gchar *path = g_strconcat ("/layouts/" #name "/", list[i], NULL);                   \
    g_test_add_data_func (path, list[i], name);                                                    \
  }

int
main (int argc, char **argv)
{
  static const gchar *const pools[] = { "MaxPool", "AveragePool", "LpPool" };
  static const gchar *const globals[] = { "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool" };
  static const gchar *const reductions[] = { "ReduceMean", "ReduceSum",       "ReduceMax",
                                             "ReduceMin",  "ReduceL1",        "ReduceL2",
                                             "ReduceProd", "ReduceSumSquare", "ReduceLogSum" };
  static const gchar *const softmaxes[] = { "Softmax", "LogSoftmax" };
  static const gchar *const args[] = { "ArgMax", "ArgMin" };
  static const gchar *const norms[] = { "InstanceNormalization", "GroupNormalization" };
  g_test_init (&argc, &argv, NULL);
  ADD_EACH (pools, pooling_agrees_in_every_order);
  ADD_EACH (pools, padding_that_keeps_sizes_agrees);
  ADD_EACH (globals, global_pooling_agrees_in_every_order);
  ADD_EACH (reductions, reductions_agree_in_every_order);
  ADD_EACH (softmaxes, sets_of_classes_agree_in_every_order);
  ADD (a_normalised_batch_agrees_in_every_order);
  ADD_EACH (norms, groups_are_normalised_in_every_order);
  ADD_EACH (args, the_largest_is_found_in_every_order);
  ADD (the_k_best_are_found_in_every_order);
  ADD (parts_are_joined_in_every_order);
  ADD (every_second_pixel_is_joined_with_its_neighbours);
  ADD (responses_agree_in_every_order);
  ADD (slopes_of_all_kinds_agree_in_every_order);
  return g_test_run ();
}
