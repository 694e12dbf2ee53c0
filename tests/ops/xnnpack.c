/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What XNNPACK computes for device CPU where it is asked for, against the reference, and what it
 * leaves to others. */
#include "axontest.h"

#include <axon/axon-cpu.h>
#include <string.h>

#define TOLERANCE 1e-4

typedef struct {
  const gchar *name, *impl;
  AxonShape x, w;
  gint64 group;
  gint64 strides[2], dilations[2], pads[4]; /* pads: top, left, bottom, right */
} Shape;

static const Shape shapes[] = {
  { "dense",
    "dense",
    { 4, { 2, 5, 9, 11 } },
    { 4, { 17, 5, 3, 3 } },
    1,
    { 1, 1 },
    { 1, 1 },
    { 1, 1, 1, 1 } },
  { "strided",
    "dense",
    { 4, { 1, 16, 12, 13 } },
    { 4, { 33, 16, 3, 3 } },
    1,
    { 2, 3 },
    { 1, 1 },
    { 1, 0, 0, 2 } },
  { "strided, with pixels left over",
    "dense",
    { 4, { 1, 8, 10, 11 } },
    { 4, { 16, 8, 2, 2 } },
    1,
    { 3, 3 },
    { 1, 1 },
    { 0, 0, 0, 0 } },
  { "dilated",
    "dense",
    { 4, { 1, 8, 12, 13 } },
    { 4, { 18, 8, 3, 3 } },
    1,
    { 1, 1 },
    { 2, 3 },
    { 2, 3, 1, 0 } },
  { "pointwise",
    "dense",
    { 4, { 3, 24, 7, 5 } },
    { 4, { 41, 24, 1, 1 } },
    1,
    { 1, 1 },
    { 1, 1 },
    { 0, 0, 0, 0 } },
  { "pointwise and strided",
    "dense",
    { 4, { 1, 24, 7, 5 } },
    { 4, { 40, 24, 1, 1 } },
    1,
    { 2, 2 },
    { 1, 1 },
    { 0, 0, 0, 0 } },
  { "a filter as large as the picture",
    "dense",
    { 4, { 1, 9, 5, 4 } },
    { 4, { 20, 9, 5, 4 } },
    1,
    { 1, 1 },
    { 1, 1 },
    { 0, 0, 0, 0 } },
  { "more padding than filter",
    "dense",
    { 4, { 1, 7, 3, 4 } },
    { 4, { 16, 7, 2, 2 } },
    1,
    { 1, 1 },
    { 1, 1 },
    { 3, 3, 3, 3 } },
  { "one channel of many",
    "dense",
    { 4, { 1, 130, 6, 7 } },
    { 4, { 1, 130, 3, 3 } },
    1,
    { 1, 1 },
    { 1, 1 },
    { 1, 1, 1, 1 } },
  { "grouped",
    "grouped",
    { 4, { 2, 24, 9, 8 } },
    { 4, { 12, 8, 3, 3 } },
    3,
    { 1, 1 },
    { 1, 1 },
    { 1, 1, 1, 1 } },
  { "grouped and pointwise",
    "grouped",
    { 4, { 2, 20, 5, 6 } },
    { 4, { 30, 10, 1, 1 } },
    2,
    { 1, 1 },
    { 1, 1 },
    { 0, 0, 0, 0 } },
  { "depthwise with a multiplier",
    "grouped",
    { 4, { 1, 6, 9, 8 } },
    { 4, { 18, 1, 3, 3 } },
    6,
    { 1, 2 },
    { 1, 1 },
    { 1, 1, 1, 1 } },
  { "depthwise",
    "depthwise",
    { 4, { 2, 33, 9, 8 } },
    { 4, { 33, 1, 3, 3 } },
    33,
    { 1, 1 },
    { 1, 1 },
    { 1, 1, 1, 1 } },
  { "depthwise 5x5",
    "depthwise",
    { 4, { 2, 20, 9, 8 } },
    { 4, { 20, 1, 5, 5 } },
    20,
    { 2, 2 },
    { 1, 1 },
    { 2, 2, 2, 2 } },
  { "depthwise and dilated",
    "depthwise",
    { 4, { 1, 7, 12, 13 } },
    { 4, { 7, 1, 3, 3 } },
    7,
    { 1, 2 },
    { 2, 2 },
    { 2, 2, 2, 2 } },
  { "depthwise 7x6",
    "depthwise",
    { 4, { 1, 19, 13, 9 } },
    { 4, { 19, 1, 7, 6 } },
    19,
    { 1, 1 },
    { 1, 1 },
    { 3, 2, 3, 3 } },
  { "depthwise and pointwise",
    "depthwise",
    { 4, { 2, 21, 5, 3 } },
    { 4, { 21, 1, 1, 1 } },
    21,
    { 1, 1 },
    { 1, 1 },
    { 0, 0, 0, 0 } },
  { "one dimension", "dense", { 3, { 2, 9, 30 } }, { 3, { 18, 9, 5 } }, 1, { 2 }, { 1 }, { 2, 1 } },
};

/* Bounds are of Clip. */
static const struct {
  const gchar *op;
  gfloat bounds[2];
} clamps[] = {
  { NULL, { 0 } }, { "Relu", { 0 } }, { "Clip", { 0, 6 } }, { "Clip", { -0.5f, 0.25f } }
};

static void
set_property (const gchar *key, GVariant *value)
{
  g_autoptr (GError) error = NULL;
  axon_core_set_property (axon_core_get_default (), "CPU", key, value, &error);
  g_assert_no_error (error);
}

static AxonNode *
add_conv (TestModel *t, AxonValue *x, const Shape *s, gboolean bias)
{
  AxonShape channels = AXON_SHAPE (s->w.dims[0]);
  guint n = (guint)s->x.rank - 2;
  AxonNode *node = test_model_node (t, "Conv", bias ? 3 : 2, x, test_model_random (t, &s->w, 2),
                                    bias ? test_model_random (t, &channels, 3) : NULL);
  axon_node_set_int (node, "group", s->group);
  axon_node_set_ints (node, "strides", s->strides, n);
  axon_node_set_ints (node, "dilations", s->dilations, n);
  axon_node_set_ints (node, "pads", s->pads, 2 * n);
  return node;
}

static AxonValue *
add_clamp (TestModel *t, AxonValue *y, guint k)
{
  AxonShape scalar = { .rank = 0 };
  if (clamps[k].op == NULL)
    return y;
  if (g_str_equal (clamps[k].op, "Relu"))
    return test_model_node (t, "Relu", 1, y)->outputs[0];
  return test_model_node (t, "Clip", 3, y, test_model_constant (t, &scalar, &clamps[k].bounds[0]),
                          test_model_constant (t, &scalar, &clamps[k].bounds[1]))
      ->outputs[0];
}

/* What computes node @index of what runs. */
static gchar *
implementation (AxonModel *model, guint index)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  const AxonNode *node;
  node = g_ptr_array_index (runtime->nodes, index);
  return g_strdup (node->exec_type);
}

static void
is_by_xnnpack (AxonModel *model, const gchar *kind)
{
  g_autofree gchar *found = implementation (model, 0);
  g_autofree gchar *wanted = g_strconcat ("xnnpack:", kind, NULL);
  g_assert_nonnull (strstr (found, wanted));
}

static void
is_not_by_xnnpack (AxonModel *model, guint index)
{
  g_autofree gchar *found = implementation (model, index);
  g_assert_null (strstr (found, "xnnpack"));
}

static void
convolutions_agree_with_their_clamps (gconstpointer data)
{
  const Shape *s = data;
  g_autoptr (AxonTensor) x = test_random (&s->x, 7);
  for (guint i = 0; i < 2 * 2 * G_N_ELEMENTS (clamps); i++) {
    TestModel t = test_model_new (14);
    AxonNode *conv = add_conv (&t, test_model_input (&t, "x", AXON_DTYPE_F32, &s->x), s, i & 1);
    g_autoptr (AxonModel) model = test_model_finish (&t, add_clamp (&t, conv->outputs[0], i / 4));
    set_property ("INFERENCE_NUM_THREADS", g_variant_new_int32 (i & 2 ? 3 : 1));
    is_by_xnnpack (model, s->impl);
    test_compare_devices (model, x, TOLERANCE);
  }
}

static void
products_agree_with_their_clamps (void)
{
  static const AxonShape rows[] = {
    { 2, { 1, 40 } }, { 2, { 7, 33 } }, { 3, { 2, 13, 64 } }, { 2, { 300, 17 } }
  };
  static const gint64 columns[] = { 1, 5, 64, 101 };
  for (guint i = 0; i < 16 * G_N_ELEMENTS (clamps); i++) {
    const AxonShape *a = &rows[i / 4 % 4];
    gint64 inner = a->dims[a->rank - 1], outer = columns[i % 4];
    AxonShape b = AXON_SHAPE (inner, outer), turned = AXON_SHAPE (outer, inner);
    AxonShape row = AXON_SHAPE (outer);
    gboolean gemm = a->rank == 2 && i % 3 != 0;
    TestModel t = test_model_new (14);
    AxonNode *n = test_model_node (&t, gemm ? "Gemm" : "MatMul", gemm ? 3 : 2,
                                   test_model_input (&t, "x", AXON_DTYPE_F32, a),
                                   test_model_random (&t, i % 3 == 1 && gemm ? &turned : &b, 2),
                                   gemm ? test_model_random (&t, &row, 3) : NULL);
    g_autoptr (AxonTensor) x = test_random (a, i);
    g_autoptr (AxonModel) model = NULL;
    if (gemm)
      axon_node_set_int (n, "transB", i % 3 == 1);
    model = test_model_finish (&t, add_clamp (&t, n->outputs[0], i / 16));
    set_property ("INFERENCE_NUM_THREADS", g_variant_new_int32 (1 + i % 3));
    is_by_xnnpack (model, "product");
    test_compare_devices (model, x, TOLERANCE);
  }
}

/* An activation that is no clamp, bounds that leave one number. */
static void
what_it_cannot_do_falls_to_the_next_kernel (void)
{
  static const gfloat bounds[] = { 0.5f, 0.5f };
  const Shape *s = &shapes[0];
  AxonShape scalar = { .rank = 0 };
  g_autoptr (AxonTensor) x = test_random (&s->x, 7);
  for (guint i = 0; i < 3; i++) {
    TestModel t = test_model_new (14);
    AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &s->x);
    AxonValue *y = add_conv (&t, in, s, TRUE)->outputs[0];
    g_autoptr (AxonModel) model = NULL;
    if (i == 0)
      y = test_model_node (&t, "Sigmoid", 1, y)->outputs[0];
    else if (i == 1)
      y = test_model_node (&t, "Clip", 3, y, test_model_constant (&t, &scalar, &bounds[0]),
                           test_model_constant (&t, &scalar, &bounds[1]))
              ->outputs[0];
    else
      y = test_model_node (&t, "PRelu", 2, y, test_model_random (&t, &scalar, 5))->outputs[0];
    model = test_model_finish (&t, y);
    is_not_by_xnnpack (model, 0);
    test_compare_devices (model, x, TOLERANCE);
  }
}

/* The first convolution is XNNPACK's, the one that adds the other's result is not. */
static void
a_sum_falls_to_the_next_kernel (void)
{
  const Shape *s = &shapes[4];
  g_autoptr (AxonTensor) x = test_random (&s->x, 7);
  TestModel t = test_model_new (14);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_F32, &s->x);
  AxonValue *first = add_conv (&t, in, s, TRUE)->outputs[0];
  AxonValue *second = add_conv (&t, in, s, FALSE)->outputs[0];
  g_autoptr (AxonModel) model =
      test_model_finish (&t, test_model_node (&t, "Add", 2, first, second)->outputs[0]);
  is_by_xnnpack (model, "dense");
  is_not_by_xnnpack (model, 1);
  test_compare_devices (model, x, TOLERANCE);
}

static void
nobody_gets_it_unasked (void)
{
  const Shape *s = &shapes[0];
  TestModel t = test_model_new (14);
  AxonNode *conv = add_conv (&t, test_model_input (&t, "x", AXON_DTYPE_F32, &s->x), s, TRUE);
  g_autoptr (AxonModel) model = test_model_finish (&t, conv->outputs[0]);
  set_property (AXON_CPU_XNNPACK, g_variant_new_boolean (FALSE));
  is_not_by_xnnpack (model, 0);
  set_property (AXON_CPU_XNNPACK, g_variant_new_boolean (TRUE));
}

#define REQUESTS 6

/* Each stream has operators of its own. */
static void
streams_run_it_at_once (void)
{
  const Shape *s = &shapes[0];
  TestModel t = test_model_new (14);
  AxonNode *conv = add_conv (&t, test_model_input (&t, "x", AXON_DTYPE_F32, &s->x), s, TRUE);
  g_autoptr (AxonModel) model = test_model_finish (&t, conv->outputs[0]);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  AxonInferRequest *requests[REQUESTS];
  GVariant *config = g_variant_new_parsed ("{'NUM_STREAMS': <'3'>}");
  compiled = axon_core_compile_model (axon_core_get_default (), model, "CPU", config, NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < REQUESTS; i++) {
    g_autoptr (AxonTensor) x = test_random (&s->x, i);
    requests[i] = axon_compiled_model_create_infer_request (compiled);
    g_assert_true (axon_infer_request_set_input_tensor (requests[i], 0, x, &error));
    g_assert_true (axon_infer_request_start_async (requests[i], &error));
  }
  for (guint i = 0; i < REQUESTS; i++) {
    g_autoptr (AxonTensor) x = test_random (&s->x, i);
    g_autoptr (AxonTensor) expected = test_run (model, "TEMPLATE", NULL, x);
    g_autoptr (AxonTensor) got = NULL;
    g_assert_true (axon_infer_request_wait (requests[i], &error));
    got = axon_infer_request_get_output_tensor (requests[i], 0);
    g_assert_cmpfloat (test_largest_difference (expected, got), <=, 10 * TOLERANCE);
    g_object_unref (requests[i]);
  }
}

#define ADD(name) g_test_add_func ("/xnnpack/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("AXON_CPU_DISABLE_KERNELS", "columns", TRUE); /* which are asked before */
  set_property (AXON_CPU_WINOGRAD, g_variant_new_string ("NO"));
  set_property (AXON_CPU_XNNPACK, g_variant_new_boolean (TRUE));
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/xnnpack/convolutions_agree_with_their_clamps/%s", shapes[i].name);
    g_test_add_data_func (path, &shapes[i], convolutions_agree_with_their_clamps);
  }
  ADD (products_agree_with_their_clamps);
  ADD (what_it_cannot_do_falls_to_the_next_kernel);
  ADD (a_sum_falls_to_the_next_kernel);
  ADD (nobody_gets_it_unasked);
  ADD (streams_run_it_at_once);
  return g_test_run ();
}
