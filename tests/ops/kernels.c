/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU's own kernels against the reference: axes, views, fused operators. */
#include "axontest.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 2e-5
#define TO_F32 1 /* TensorProto.DataType */
#define TO_I32 6

static const struct {
  const gchar *op;
  AxonShape x, param;
  gint64 axis, groups;
} norms[] = {
  { "LayerNormalization", { 3, { 4, 7, 33 } }, { 1, { 33 } }, -1, 0 },
  { "LayerNormalization", { 3, { 4, 7, 33 } }, { 2, { 7, 33 } }, 1, 0 },
  { "LayerNormalization", { 3, { 4, 7, 33 } }, { 2, { 7, 1 } }, 1, 0 },
  { "LayerNormalization", { 3, { 4, 7, 7 } }, { 2, { 7, 1 } }, -1, 0 },
  { "LayerNormalization", { 3, { 4, 1, 7 } }, { 2, { 1, 7 } }, -1, 0 },
  { "LayerNormalization", { 3, { 4, 1, 7 } }, { 1, { 7 } }, 1, 0 },
  { "RMSNormalization", { 3, { 4, 7, 33 } }, { 1, { 33 } }, -1, 0 },
  { "InstanceNormalization", { 4, { 2, 6, 5, 9 } }, { 1, { 6 } }, 0, 0 },
  { "InstanceNormalization", { 3, { 2, 6, 1 } }, { 1, { 6 } }, 0, 0 },
  { "GroupNormalization", { 4, { 2, 6, 5, 9 } }, { 1, { 6 } }, 0, 3 },
};

static void
normalisations_agree (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (norms); i++) {
    TestModel t = test_model_new (23);
    gboolean biased = !g_str_equal (norms[i].op, "RMSNormalization");
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &norms[i].x);
    AxonNode *n = test_model_node (&t, norms[i].op, biased ? 3 : 2, x,
                                   test_model_random (&t, &norms[i].param, 8),
                                   test_model_random (&t, &norms[i].param, 9));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&norms[i].x, 10);
    if (norms[i].axis != 0)
      axon_node_set_int (n, "axis", norms[i].axis);
    if (norms[i].groups != 0)
      axon_node_set_int (n, "num_groups", norms[i].groups);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

static void
reductions_agree_along_all_axes (gconstpointer op)
{
  static const gint64 axes[][3] = { { 2 }, { 1, 2 }, { 0, 1, 2 }, { 0 }, { 1 }, { 0, 2 }, { -1 } };
  static const guint counts[] = { 1, 2, 3, 1, 1, 2, 1 };
  AxonShape shape = AXON_SHAPE (3, 4, 37);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (counts); i++) {
    TestModel t = test_model_new (18);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
    AxonNode *n = test_model_node (&t, op, 2, x, test_model_ints (&t, axes[i / 2], counts[i / 2]));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&shape, 11);
    axon_node_set_int (n, "keepdims", i % 2);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* f32 -> i32 and back: what a reduction leaves of a fraction is its business. */
static void
reductions_of_whole_numbers_agree (gconstpointer op)
{
  static const gint64 axis = 1;
  AxonShape shape = AXON_SHAPE (3, 5, 7), scalar = { 0 };
  const gfloat nine = 9;
  TestModel t = test_model_new (18);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *n = test_model_node (&t, "Mul", 2, x, test_model_constant (&t, &scalar, &nine));
  g_autoptr (AxonTensor) input = test_random (&shape, 11);
  g_autoptr (AxonModel) model = NULL;
  if (g_str_equal (op, "ReduceLogSum"))
    n = test_model_node (&t, "Exp", 1, n->outputs[0]);
  n = test_model_node (&t, "Cast", 1, n->outputs[0]);
  axon_node_set_int (n, "to", TO_I32);
  n = test_model_node (&t, op, 2, n->outputs[0], test_model_ints (&t, &axis, 1));
  n = test_model_node (&t, "Cast", 1, n->outputs[0]);
  axon_node_set_int (n, "to", TO_F32);
  model = test_model_finish (&t, n->outputs[0]);
  test_compare_devices (model, input, 0);
}

static void
the_largest_is_found_along_all_axes (gconstpointer op)
{
  AxonShape shape = AXON_SHAPE (3, 5, 6);
  for (gint i = 0; i < 6; i++) {
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, op, 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&shape, 12);
    for (gsize k = 0; k < axon_tensor_get_numel (input); k++) /* many are equal */
      ((gfloat *)axon_tensor_get_data (input))[k] =
          rintf (((gfloat *)axon_tensor_get_data (input))[k] * 2);
    axon_node_set_int (n, "axis", i % 3);
    axon_node_set_int (n, "select_last_index", i / 3);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

static void
the_k_best_come_in_order (void)
{
  static const gint64 counts[] = { 0, 1, 7, 50 };
  AxonShape shape = AXON_SHAPE (2, 50);
  for (guint i = 0; i < 4 * G_N_ELEMENTS (counts); i++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
    AxonNode *n = test_model_node (&t, "TopK", 2, x, test_model_ints (&t, &counts[i / 4], 1));
    AxonValue *indices = axon_model_add_value (t.model, "indices");
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&shape, 13);
    n->outputs = g_renew (AxonValue *, n->outputs, 2);
    n->outputs[1] = NULL;
    n->n_outputs = 2;
    axon_node_set_output (n, 1, indices);
    for (gsize k = 0; k < axon_tensor_get_numel (input); k++)
      ((gfloat *)axon_tensor_get_data (input))[k] =
          rintf (((gfloat *)axon_tensor_get_data (input))[k] * 9);
    ((gfloat *)axon_tensor_get_data (input))[17] = NAN;
    axon_node_set_int (n, "largest", i % 2);
    model = test_model_finish (&t, n->outputs[i / 2 % 2]);
    test_compare_devices (model, input, 0);
  }
}

/* Self-attention in both forms of its input, which CPU makes of matrix products. */
static void
attention_agrees_with_what_it_is_made_of (void)
{
  static const AxonShape shapes3[] = { { 3, { 2, 7, 24 } }, { 4, { 2, 3, 7, 8 } } };
  for (guint i = 0; i < 8; i++) {
    TestModel t = test_model_new (23);
    const AxonShape *s = &shapes3[i % 2];
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, s);
    AxonNode *n = test_model_node (&t, "Attention", 3, x, test_model_random (&t, s, 40),
                                   test_model_random (&t, s, 41));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (s, 42);
    if (i % 2 == 0) {
      axon_node_set_int (n, "q_num_heads", 3);
      axon_node_set_int (n, "kv_num_heads", 3);
    }
    axon_node_set_int (n, "is_causal", i / 2 % 2);
    if (i >= 4)
      axon_node_set_float (n, "softcap", 0.5);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* oneDNN describes no such view; it aborted once. */
static void
a_slice_whose_last_step_ends_beyond_its_axis_agrees (void)
{
  static const gint64 start[] = { 0 }, end[] = { 4 }, axis[] = { 1 }, step[] = { 3 };
  AxonShape shape = AXON_SHAPE (2, 4, 6);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *n = test_model_node (&t, "Slice", 5, x, test_model_ints (&t, start, 1),
                                 test_model_ints (&t, end, 1), test_model_ints (&t, axis, 1),
                                 test_model_ints (&t, step, 1));
  AxonNode *to = test_model_node (&t, "Cast", 1, n->outputs[0]);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) input = test_random (&shape, 31);
  axon_node_set_int (to, "to", AXON_DTYPE_F64);
  model = test_model_finish (&t, to->outputs[0]);
  test_compare_devices (model, input, 0);
}

/* What takes the second part of a split: floats as they are, or bytes made of them. */
static AxonNode *
take_part (TestModel *t, AxonNode *split, gint how, gint64 channels)
{
  AxonShape one = { 0 }, many = AXON_SHAPE (channels);
  gfloat scales[8];
  AxonNode *n;
  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    scales[i] = 0.01f * (gfloat)(i + 1);
  if (how == 0)
    return test_model_node (t, "Relu", 1, split->outputs[1]);
  if (how == 1)
    return test_model_node_of (t, NULL, "DynamicQuantizeLinear", &split->outputs[1], 1, 3);
  n = test_model_node (t, "QuantizeLinear", 2, split->outputs[1],
                       test_model_constant (t, how == 2 ? &one : &many, scales));
  axon_node_set_int (n, "axis", 1);
  return n;
}

/* Parts are views; of a Transpose's result, which is one, too, they are channels last. */
static void
parts_of_a_split_agree_however_they_lie (void)
{
  static const gint64 sizes[][2] = { { 3, 5 }, { 4, 4 } };
  AxonShape shape = AXON_SHAPE (2, 8, 8, 8);
  for (gint i = 0; i < 2 * 2 * 3 * 4; i++) {
    gint axis = i / 4 % 3 + 1, how = i % 4;
    const gint64 *parts = sizes[i / 24];
    gint64 channels = axis == 1 ? parts[1] : 8;
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape), *in[2];
    AxonNode *n = test_model_node (&t, "Transpose", 1, x);
    g_autoptr (AxonTensor) input = test_random (&shape, (guint)i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_ints (n, "perm", (gint64[]){ 0, 3, 1, 2 }, 4);
    in[0] = i / 12 % 2 ? n->outputs[0] : x;
    in[1] = test_model_ints (&t, parts, 2);
    n = test_model_node_of (&t, NULL, "Split", in, parts[0] == parts[1] ? 1 : 2, 2);
    axon_node_set_int (n, "axis", axis == 3 ? -1 : axis);
    model = test_model_finish (&t, take_part (&t, n, how, channels)->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

static AxonNode *
contrib_node (TestModel *t, const gchar *op, AxonValue *const *in, guint n_in)
{
  AxonValue *out = axon_model_add_value (t->model, NULL);
  return axon_model_add_node (t->model, axon_builtin_op (AXON_DOMAIN_MICROSOFT, op, 1), 1, op, in,
                              n_in, &out, 1);
}

static void
a_fused_convolution_agrees_with_every_activation (void)
{
  static const gchar *const activations[] = { "",          "Relu", "Tanh",       "Sigmoid",
                                              "LeakyRelu", "Clip", "HardSigmoid" };
  AxonShape x = AXON_SHAPE (1, 4, 6, 6), w = AXON_SHAPE (8, 4, 3, 3), b = AXON_SHAPE (8),
            z = AXON_SHAPE (1, 8, 4, 4);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (activations); i++) {
    static const gfloat params[] = { 0.1f, 0.4f };
    TestModel t = test_model_new (13);
    AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, &x),
                        test_model_random (&t, &w, 20), test_model_random (&t, &b, 21),
                        test_model_random (&t, &z, 22) };
    AxonNode *n = contrib_node (&t, "FusedConv", in, i % 2 ? 4 : 3);
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&x, 23);
    axon_node_set_string (n, "activation", activations[i / 2]);
    axon_node_set_floats (n, "activation_params", params, 2);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

static void
gelus_of_all_kinds_agree (void)
{
  static const gchar *const ops[] = { "Gelu", "BiasGelu", "FastGelu", "QuickGelu" };
  AxonShape x = AXON_SHAPE (3, 40), b = AXON_SHAPE (40);
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    TestModel t = test_model_new (13);
    AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, &x),
                        test_model_random (&t, &b, 24) };
    AxonNode *n = contrib_node (&t, ops[i], in, i == 1 || i == 2 ? 2 : 1);
    g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
    g_autoptr (AxonTensor) input = test_random (&x, 25);
    test_compare_devices (model, input, TOLERANCE);
  }
}

enum { AS_IT_COMES, CONVOLVED, CHANNELS_LAST, N_WAYS };

/* A picture of @shape, behind a convolution in whose layout it lies, or with its channels last. */
static AxonValue *
picture (TestModel *t, const AxonShape *shape, guint way)
{
  const gint64 *d = shape->dims;
  AxonShape ws = AXON_SHAPE (d[1], d[1], 1, 1), bs = AXON_SHAPE (d[1]);
  AxonShape given = way == CHANNELS_LAST ? AXON_SHAPE (d[0], d[2], d[3], d[1]) : *shape;
  AxonValue *x = test_model_input (t, "x", AXON_DTYPE_F32, &given);
  AxonNode *n;
  if (way == AS_IT_COMES)
    return x;
  if (way == CONVOLVED)
    return test_model_node (t, "Conv", 3, x, test_model_random (t, &ws, 6),
                            test_model_random (t, &bs, 7))
        ->outputs[0];
  n = test_model_node (t, "Transpose", 1, x);
  axon_node_set_ints (n, "perm", (gint64[]){ 0, 3, 1, 2 }, 4);
  return test_model_node (t, "Relu", 1, n->outputs[0])->outputs[0];
}

static void
blocks_of_pixels_become_channels_and_back (void)
{
  static const gint64 channels[] = { 4, 8, 64, 68 }; /* few are put elsewhere than many */
  for (guint i = 0; i < 4 * N_WAYS * G_N_ELEMENTS (channels); i++) {
    AxonShape shape = AXON_SHAPE (2, channels[i / 4 / N_WAYS], 6, 4);
    const gchar *op = i & 1 ? "DepthToSpace" : "SpaceToDepth";
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, op, 1, picture (&t, &shape, i / 4 % N_WAYS));
    g_autoptr (AxonTensor) x = NULL;
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_int (n, "blocksize", 2);
    if ((i & 1) && (i & 2))
      axon_node_set_string (n, "mode", "CRD");
    model = test_model_finish (&t, n->outputs[0]);
    x = test_random (&((AxonValue *)g_ptr_array_index (model->inputs, 0))->type.shape, 5);
    test_compare_devices (model, x, TOLERANCE);
  }
}

static void
assert_no_reference_kernel (AxonModel *model)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  for (guint i = 0; i < runtime->nodes->len; i++)
    g_assert_cmpstr (((AxonNode *)g_ptr_array_index (runtime->nodes, i))->exec_type, !=,
                     "reference");
}

/* A slice is a view with gaps, which oneDNN's activations do not take as it is. */
static void
an_activation_of_a_slice_runs_no_reference_kernel (void)
{
  AxonShape xs = AXON_SHAPE (1, 4, 5, 7);
  g_autoptr (AxonTensor) x = test_random (&xs, 3);
  TestModel t = test_model_new (17);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &xs);
  AxonValue *start = test_model_ints (&t, (gint64[]){ 1 }, 1);
  AxonValue *end = test_model_ints (&t, (gint64[]){ 3 }, 1);
  AxonNode *slice = test_model_node (&t, "Slice", 4, in, start, end, start);
  AxonNode *sigmoid = test_model_node (&t, "Sigmoid", 1, slice->outputs[0]);
  g_autoptr (AxonModel) model = test_model_finish (&t, sigmoid->outputs[0]);
  assert_no_reference_kernel (model);
  test_compare_devices (model, x, TOLERANCE);
}

static void
set_window (AxonNode *n, gint64 kernel, gint64 stride, gint64 dilation, gint64 pad, gint rank)
{
  const gint64 values[] = { kernel, stride, dilation, pad };
  static const gchar *const names[] = { "kernel_shape", "strides", "dilations", "pads" };
  for (guint a = 0; a < G_N_ELEMENTS (names); a++) {
    gint64 all[] = { values[a], values[a], values[a], values[a], values[a], values[a] };
    axon_node_set_ints (n, names[a], all, (guint)(rank - 2) * (a == 3 ? 2 : 1));
  }
}

/* Of fewer bytes than a vector has, of as many, and of more; windows wider than the picture. */
static void
the_largest_of_bytes_in_a_window_runs_no_reference_kernel (void)
{
  static const struct {
    AxonShape x;
    gint64 kernel, stride, dilation, pad;
  } pools[] = {
    { { 4, { 1, 24, 13, 11 } }, 3, 2, 1, 1 }, { { 4, { 2, 17, 9, 12 } }, 2, 1, 3, 1 },
    { { 4, { 1, 1, 16, 16 } }, 5, 1, 1, 2 },  { { 3, { 2, 5, 33 } }, 4, 3, 1, 2 },
    { { 5, { 1, 3, 5, 6, 7 } }, 3, 1, 1, 1 }, { { 4, { 1, 15, 7, 9 } }, 3, 2, 1, 0 },
    { { 4, { 1, 16, 8, 20 } }, 2, 2, 1, 0 },  { { 4, { 2, 33, 9, 7 } }, 5, 2, 1, 2 },
    { { 4, { 1, 70, 4, 3 } }, 3, 1, 2, 2 },   { { 4, { 1, 40, 3, 2 } }, 3, 3, 1, 1 },
  };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (pools); i++) {
    const AxonShape *shape = &pools[i / 2].x;
    TestModel t = test_model_new (12);
    AxonDType dtype = i % 2 ? AXON_DTYPE_I8 : AXON_DTYPE_U8;
    AxonNode *n = test_model_node (&t, "MaxPool", 1, test_model_input (&t, "x", dtype, shape));
    g_autoptr (AxonTensor) x = axon_tensor_new (dtype, shape, NULL);
    g_autoptr (GRand) rand = g_rand_new_with_seed (i);
    g_autoptr (AxonModel) model = NULL;
    for (gsize k = 0; k < axon_tensor_get_numel (x); k++)
      ((guint8 *)axon_tensor_get_data (x))[k] = (guint8)g_rand_int (rand);
    set_window (n, pools[i / 2].kernel, pools[i / 2].stride, pools[i / 2].dilation,
                pools[i / 2].pad, shape->rank);
    model = test_model_finish (&t, n->outputs[0]);
    assert_no_reference_kernel (model);
    test_compare_devices (model, x, 0);
  }
}

#define ADD(name) g_test_add_func ("/kernels/" #name, name)
#define ADD_EACH(list, name)                                                                       \
  for (guint i = 0; i < G_N_ELEMENTS (list); i++) {                                                \
    g_autofree gchar *path = g_strconcat ("/kernels/" #name "/", list[i], NULL);                   \
    g_test_add_data_func (path, list[i], name);                                                    \
  }

int
main (int argc, char **argv)
{
  static const gchar *const reductions[] = { "ReduceMean",     "ReduceSum", "ReduceMax",
                                             "ReduceMin",      "ReduceL1",  "ReduceL2",
                                             "ReduceSumSquare" };
  static const gchar *const whole[] = { "ReduceMean", "ReduceL2", "ReduceLogSum",
                                        "ReduceLogSumExp" };
  static const gchar *const args[] = { "ArgMax", "ArgMin" };
  g_test_init (&argc, &argv, NULL);
  ADD_EACH (whole, reductions_of_whole_numbers_agree);
  ADD_EACH (reductions, reductions_agree_along_all_axes);
  ADD_EACH (args, the_largest_is_found_along_all_axes);
  ADD (normalisations_agree);
  ADD (the_k_best_come_in_order);
  ADD (a_fused_convolution_agrees_with_every_activation);
  ADD (gelus_of_all_kinds_agree);
  ADD (a_slice_whose_last_step_ends_beyond_its_axis_agrees);
  ADD (blocks_of_pixels_become_channels_and_back);
  ADD (an_activation_of_a_slice_runs_no_reference_kernel);
  ADD (the_largest_of_bytes_in_a_window_runs_no_reference_kernel);
  ADD (parts_of_a_split_agree_however_they_lie);
  ADD (attention_agrees_with_what_it_is_made_of);
  return g_test_run ();
}
