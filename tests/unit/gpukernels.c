/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels of device GPU that come in variants: fused, tiled, measured, in half precision, of bytes.
 */
#include "axontest.h"

#include <axon/axon-gpu.h>
#include <string.h>

/* conv -> relu; conv * sigmoid (conv) + x: two kernels, no host step. */
static void
chains_become_part_of_the_convolution_before_them (void)
{
  AxonShape shape = AXON_SHAPE (1, 8, 6, 6), w = AXON_SHAPE (8, 8, 3, 3);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *a = test_model_node (&t, "Conv", 2, x, test_model_random (&t, &w, 1)), *b, *s;
  g_autoptr (AxonTensor) input = test_random (&shape, 3);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (GError) error = NULL;
  guint n_kernels = 0;
  axon_node_set_ints (a, "pads", (gint64[]){ 1, 1, 1, 1 }, 4);
  a = test_model_node (&t, "Relu", 1, a->outputs[0]);
  b = test_model_node (&t, "Conv", 2, a->outputs[0], test_model_random (&t, &w, 2));
  axon_node_set_ints (b, "pads", (gint64[]){ 1, 1, 1, 1 }, 4);
  s = test_model_node (&t, "Sigmoid", 1, b->outputs[0]);
  b = test_model_node (&t, "Mul", 2, b->outputs[0], s->outputs[0]);
  b = test_model_node (&t, "Add", 2, b->outputs[0], a->outputs[0]);
  model = test_model_finish (&t, b->outputs[0]);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "GPU",
                                      g_variant_new_parsed ("{'PERF_COUNT': <true>}"), NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, input, &error));
  g_assert_true (axon_infer_request_infer (request, &error));
  for (guint i = 0; i < axon_infer_request_get_n_profiling (request); i++) {
    const AxonProfilingInfo *row = axon_infer_request_get_profiling (request, i);
    g_test_message ("%s %s %s", row->node_name, row->exec_type, row->node_type);
    if (row->status != AXON_PROFILING_EXECUTED)
      continue;
    g_assert_true (g_str_has_prefix (row->exec_type, "conv"));
    n_kernels++;
  }
  g_assert_cmpuint (n_kernels, ==, 2);
}

static gdouble
difference_with (AxonModel *model, AxonTensor *x, const gchar *emulate, const gchar **used)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) expected = test_run (model, "GPU", NULL, x);
  g_autoptr (AxonTensor) y = NULL;
  g_autoptr (GVariant) hint = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "GPU",
      g_variant_new_parsed ("{'INFERENCE_PRECISION_HINT': <'f16'>, %s: <%s>}",
                            AXON_GPU_EMULATE_HALF, emulate),
      NULL, NULL, NULL, &error);
  g_autoptr (AxonInferRequest) request = NULL;
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, &error));
  g_assert_true (axon_infer_request_infer (request, &error));
  hint = axon_compiled_model_get_property (compiled, "INFERENCE_PRECISION_HINT", &error);
  *used = g_intern_string (g_variant_get_string (hint, NULL));
  y = axon_infer_request_get_output_tensor (request, 0);
  return test_largest_difference (expected, y);
}

static void
half_precision_is_close_and_never_silent (void)
{
  AxonShape shape = AXON_SHAPE (1, 16, 9, 9), w = AXON_SHAPE (24, 16, 3, 3);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *n = test_model_node (&t, "Conv", 2, x, test_model_random (&t, &w, 1));
  g_autoptr (AxonTensor) input = test_random (&shape, 3);
  g_autoptr (AxonModel) model = NULL;
  const gchar *used;
  gdouble difference;
  n = test_model_node (&t, "Sigmoid", 1, n->outputs[0]);
  n = test_model_node (&t, "Softmax", 1, n->outputs[0]);
  model = test_model_finish (&t, n->outputs[0]);
  difference = difference_with (model, input, "YES", &used);
  g_assert_cmpstr (used, ==, "f16");
  g_assert_cmpfloat (difference, >, 0);
  g_assert_cmpfloat (difference, <, 2e-3);
  difference = difference_with (model, input, "NO", &used);
  g_assert_true (g_str_equal (used, "f16") || difference == 0);
}

/* Two convolutions, exported after measuring; the import uses the same kernels. */
static void
what_was_measured_is_kept_in_an_export (void)
{
  AxonShape shape = AXON_SHAPE (1, 8, 20, 20), w = AXON_SHAPE (16, 8, 5, 5);
  TestModel t = test_model_new (13);
  AxonCore *core = axon_core_get_default ();
  AxonNode *n = test_model_node (&t, "Conv", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                                 test_model_random (&t, &w, 1));
  g_autoptr (AxonTensor) input = test_random (&shape, 3);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  AxonCompiledModel *compiled[2];
  const gchar *kernels[2];
  compiled[0] = axon_core_compile_model (
      core, model, "GPU", g_variant_new_parsed ("{%s: <true>}", AXON_GPU_TUNE_KERNELS), NULL, NULL,
      NULL, &error);
  g_assert_no_error (error);
  g_assert_true (axon_compiled_model_export (compiled[0], stream, NULL, &error));
  g_output_stream_close (stream, NULL, NULL);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  compiled[1] = axon_core_import_model (core, bytes, "GPU", NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (AxonModel) runtime = axon_compiled_model_get_runtime_model (compiled[i], &error);
    kernels[i] = g_intern_string (((AxonNode *)g_ptr_array_index (runtime->nodes, 0))->exec_type);
    g_object_unref (compiled[i]);
  }
  g_assert_true (g_str_has_prefix (kernels[0], "conv"));
  g_assert_cmpstr (kernels[0], ==, kernels[1]);
  test_compare_devices (model, input, 2e-5);
}

/* Runs @model, in which @prefix begins the name of one kernel at least, against the reference. */
static void
agrees (AxonModel *model, AxonTensor *x, const gchar *config, const gchar *prefix)
{
  g_autoptr (GVariant) properties = g_variant_ref_sink (g_variant_new_parsed (config));
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "GPU", properties, NULL, NULL, NULL, &error);
  g_autoptr (AxonModel) runtime = NULL;
  g_autoptr (AxonTensor) expected = NULL;
  g_autoptr (AxonTensor) y = NULL;
  gboolean found = prefix == NULL;
  g_assert_no_error (error);
  runtime = axon_compiled_model_get_runtime_model (compiled, &error);
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (runtime->nodes, i);
    g_test_message ("%s %s", node->op->name, node->exec_type);
    found |= prefix != NULL && g_str_has_prefix (node->exec_type, prefix);
  }
  g_assert_true (found);
  expected =
      test_run (model, "TEMPLATE", g_variant_new_parsed ("{'DISABLE_TRANSFORMATIONS': <true>}"), x);
  y = test_run (model, "GPU", properties, x);
  g_assert_cmpfloat (test_largest_difference (expected, y), <, 2e-5);
}

#define IN_LOCAL_MEMORY                                                                            \
  "{'" AXON_GPU_EMULATE_LOCAL_MEMORY "': <true>, '" AXON_GPU_DISABLE_WINOGRAD_CONVOLUTION          \
  "': <true>}"
#define IN_TILE                                                                                    \
  "{'" AXON_GPU_EMULATE_LOCAL_MEMORY "': <true>, '" AXON_GPU_DISABLE_WINOGRAD_CONVOLUTION          \
  "': <true>, '" AXON_GPU_TILE "': <'%s'>}"
#define MEASURED                                                                                   \
  "{'" AXON_GPU_EMULATE_LOCAL_MEMORY "': <true>, '" AXON_GPU_TUNE_KERNELS "': <true>}"

static const struct {
  AxonShape x, w;
  gint64 group, stride, pad, dilation;
  const gchar *kernel; /* NULL: as the device's size wants it */
} convolutions[] = {
  { { 4, { 2, 16, 13, 17 } }, { 4, { 40, 16, 3, 3 } }, 1, 2, 1, 1, NULL },
  { { 4, { 1, 12, 96, 80 } }, { 4, { 100, 12, 3, 3 } }, 1, 1, 1, 1, NULL },
  { { 4, { 8, 9, 120, 120 } }, { 4, { 70, 9, 1, 1 } }, 1, 1, 0, 1, "convtileone" },
  { { 4, { 1, 3, 40, 40 } }, { 4, { 7, 3, 3, 3 } }, 1, 2, 1, 1, NULL },
  { { 4, { 3, 100, 1, 1 } }, { 4, { 33, 100, 1, 1 } }, 1, 1, 0, 1, "matmulrow3x" },
  { { 4, { 1, 24, 31, 29 } }, { 4, { 33, 24, 1, 1 } }, 1, 2, 0, 1, NULL },
  { { 4, { 1, 32, 15, 15 } }, { 4, { 80, 16, 5, 3 } }, 2, 1, 2, 2, NULL },
  { { 5, { 1, 8, 5, 9, 7 } }, { 5, { 32, 8, 2, 3, 3 } }, 1, 1, 1, 1, NULL },
};

/* Convolution @i of the table, and an activation. */
static AxonModel *
convolution_model (guint i)
{
  TestModel t = test_model_new (13);
  gint64 values[4][6];
  guint n_spatial = (guint)convolutions[i].x.rank - 2;
  const AxonShape bias = AXON_SHAPE (convolutions[i].w.dims[0]);
  AxonNode *n = test_model_node (
      &t, "Conv", 3, test_model_input (&t, "x", AXON_DTYPE_F32, &convolutions[i].x),
      test_model_random (&t, &convolutions[i].w, 1), test_model_random (&t, &bias, 2));
  for (guint k = 0; k < 6; k++) {
    values[0][k] = convolutions[i].stride;
    values[1][k] = convolutions[i].pad;
    values[2][k] = convolutions[i].dilation;
  }
  axon_node_set_int (n, "group", convolutions[i].group);
  axon_node_set_ints (n, "strides", values[0], n_spatial);
  axon_node_set_ints (n, "pads", values[1], 2 * n_spatial);
  axon_node_set_ints (n, "dilations", values[2], n_spatial);
  n = test_model_node (&t, "Relu", 1, n->outputs[0]);
  return test_model_finish (&t, n->outputs[0]);
}

static void
convolutions_in_local_memory_agree (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (convolutions); i++) {
    g_autoptr (AxonTensor) input = test_random (&convolutions[i].x, 3);
    g_autoptr (AxonModel) model = convolution_model (i);
    agrees (model, input, IN_LOCAL_MEMORY, convolutions[i].kernel);
    if (i == 0)
      agrees (model, input, MEASURED, NULL);
  }
}

static const gchar *const tiles[] = { "1x8", "2x1", "4x4", "8x2" };

/* The kernel's name begins with @family and the tile. */
static void
agrees_in_each_tile (AxonModel *model, AxonTensor *input, const gchar *family)
{
  for (guint i = 0; i < G_N_ELEMENTS (tiles); i++) {
    g_autofree gchar *config = g_strdup_printf (IN_TILE, tiles[i]);
    g_autofree gchar *kernel = g_str_has_suffix (tiles[i], "x1")
                                   ? g_strdup_printf ("%s%c_", family, tiles[i][0])
                                   : g_strdup_printf ("%s%s_", family, tiles[i]);
    agrees (model, input, config, kernel);
  }
}

static void
convolutions_agree_in_tiles_of_all_sizes (void)
{
  static const struct {
    guint i;
    const gchar *family;
  } cases[] = { { 0, "convtile" }, { 5, "convtileone" }, { 7, "convtile" } };
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autoptr (AxonTensor) input = test_random (&convolutions[cases[c].i].x, 3);
    g_autoptr (AxonModel) model = convolution_model (cases[c].i);
    agrees_in_each_tile (model, input, cases[c].family);
  }
}

static const struct {
  AxonShape a, b;
  const gchar *kernel;
} products[] = {
  { { 3, { 2, 70, 50 } }, { 2, { 50, 90 } }, NULL },
  { { 2, { 640, 33 } }, { 2, { 33, 1000 } }, "matmultile" },
  { { 3, { 2, 5, 77 } }, { 2, { 77, 130 } }, "matmulrow5x" },
  { { 2, { 1, 1003 } }, { 2, { 1003, 70 } }, "matmulrow1x" },
  { { 4, { 3, 1, 33, 8 } }, { 4, { 1, 2, 8, 65 } }, NULL },
};

static AxonModel *
product_model (guint i)
{
  TestModel t = test_model_new (13);
  AxonNode *n =
      test_model_node (&t, "MatMul", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &products[i].a),
                       test_model_random (&t, &products[i].b, 1));
  return test_model_finish (&t, n->outputs[0]);
}

static void
products_in_local_memory_agree (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (products); i++) {
    g_autoptr (AxonTensor) input = test_random (&products[i].a, 3);
    g_autoptr (AxonModel) model = product_model (i);
    agrees (model, input, IN_LOCAL_MEMORY, products[i].kernel);
    if (i == 0)
      agrees (model, input, MEASURED, NULL);
  }
}

static void
products_agree_in_tiles_of_all_sizes (void)
{
  g_autoptr (AxonTensor) input = test_random (&products[0].a, 3);
  g_autoptr (AxonModel) model = product_model (0);
  agrees_in_each_tile (model, input, "matmultile");
}

static void
softmax_of_long_lines_agrees_by_groups (void)
{
  static const AxonShape shapes[] = { { 2, { 3, 64 } }, { 4, { 2, 101, 3, 2 } } };
  static const gchar *const names[] = { "Softmax", "LogSoftmax" };
  for (guint i = 0; i < 4; i++) {
    const AxonShape *shape = &shapes[i / 2];
    TestModel t = test_model_new (13);
    AxonNode *n =
        test_model_node (&t, names[i % 2], 1, test_model_input (&t, "x", AXON_DTYPE_F32, shape));
    g_autoptr (AxonTensor) input = test_random (shape, 3);
    g_autoptr (AxonModel) model = NULL;
    g_autofree gchar *kernel = g_strconcat (names[i % 2], "_group", NULL);
    axon_node_set_int (n, "axis", 1);
    model = test_model_finish (&t, n->outputs[0]);
    agrees (model, input, "@a{sv} {}", kernel);
  }
}

static void
a_scaled_product_of_turned_matrices_agrees_in_local_memory (void)
{
  const AxonShape a = AXON_SHAPE (40, 72), b = AXON_SHAPE (200, 40), c = AXON_SHAPE (200);
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "Gemm", 3, test_model_input (&t, "x", AXON_DTYPE_F32, &a),
                                 test_model_random (&t, &b, 1), test_model_random (&t, &c, 2));
  g_autoptr (AxonTensor) input = test_random (&a, 3);
  g_autoptr (AxonModel) model = NULL;
  axon_node_set_int (n, "transA", 1);
  axon_node_set_int (n, "transB", 1);
  axon_node_set_float (n, "alpha", 0.5f);
  axon_node_set_float (n, "beta", 2);
  model = test_model_finish (&t, n->outputs[0]);
  agrees (model, input, IN_LOCAL_MEMORY, NULL);
}

static AxonValue *
bytes (TestModel *t, AxonDType dtype, const AxonShape *shape, guint32 seed)
{
  g_autoptr (AxonTensor) tensor = axon_tensor_new (dtype, shape, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint8 *data = axon_tensor_get_data (tensor);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    data[i] = (guint8)g_rand_int_range (rand, 0, 256);
  return axon_model_add_constant (t->model, NULL, tensor);
}

static AxonValue *
one_byte (TestModel *t, AxonDType dtype, gint value)
{
  const AxonShape scalar = { 0 };
  g_autoptr (AxonTensor) tensor = axon_tensor_new (dtype, &scalar, NULL);
  *(guint8 *)axon_tensor_get_data (tensor) = (guint8)value;
  return axon_model_add_constant (t->model, NULL, tensor);
}

static AxonValue *
scale (TestModel *t, gfloat value)
{
  const AxonShape scalar = { 0 };
  return test_model_constant (t, &scalar, &value);
}

static const struct {
  AxonShape x, w;
  gint64 group;
  AxonDType x_type, w_type;
  gint x_zero, w_zero, y_zero;
  const gchar *kernel;
} quantized[] = {
  { { 4, { 1, 3, 9, 11 } },
    { 4, { 10, 3, 3, 3 } },
    1,
    AXON_DTYPE_U8,
    AXON_DTYPE_I8,
    120,
    0,
    3,
    "conv" },
  { { 4, { 2, 8, 9, 11 } },
    { 4, { 10, 8, 1, 1 } },
    1,
    AXON_DTYPE_I8,
    AXON_DTYPE_I8,
    -7,
    0,
    9,
    "pointwise" },
  { { 4, { 1, 8, 9, 11 } },
    { 4, { 6, 4, 3, 3 } },
    2,
    AXON_DTYPE_U8,
    AXON_DTYPE_U8,
    1,
    128,
    0,
    "conv" },
  { { 4, { 1, 6, 9, 11 } },
    { 4, { 4, 3, 3, 3 } },
    2,
    AXON_DTYPE_U8,
    AXON_DTYPE_I8,
    255,
    0,
    0,
    "conv" },
  { { 4, { 1, 8, 9, 11 } },
    { 4, { 6, 8, 3, 3 } },
    1,
    AXON_DTYPE_U8,
    AXON_DTYPE_U8,
    9,
    77,
    200,
    "conv" },
  { { 4, { 1, 6, 9, 11 } },
    { 4, { 6, 1, 3, 3 } },
    6,
    AXON_DTYPE_I8,
    AXON_DTYPE_U8,
    5,
    3,
    100,
    "depthwise" },
  { { 4, { 4, 64, 60, 60 } },
    { 4, { 64, 64, 3, 3 } },
    1,
    AXON_DTYPE_U8,
    AXON_DTYPE_I8,
    99,
    0,
    3,
    "convtile" },
};

/* x -> q -> dq -> conv (dq (w)) [-> relu] -> q -> dq. Scales are powers of 2: sums
 * and products are exact everywhere. */
static void
quantized_convolutions_sum_bytes_and_agree (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (quantized); i++) {
    TestModel t = test_model_new (13);
    AxonDType x_type = quantized[i].x_type;
    AxonValue *s = scale (&t, 1 / 64.0f), *zero = one_byte (&t, x_type, quantized[i].x_zero);
    AxonValue *ws = scale (&t, 1 / 512.0f), *ys = scale (&t, 1 / 16.0f);
    AxonValue *yz = one_byte (&t, AXON_DTYPE_U8, quantized[i].y_zero);
    AxonNode *x =
        test_model_node (&t, "QuantizeLinear", 3,
                         test_model_input (&t, "x", AXON_DTYPE_F32, &quantized[i].x), s, zero);
    AxonNode *w = test_model_node (&t, "DequantizeLinear", 3,
                                   bytes (&t, quantized[i].w_type, &quantized[i].w, 5), ws,
                                   one_byte (&t, quantized[i].w_type, quantized[i].w_zero));
    AxonNode *n = test_model_node (&t, "DequantizeLinear", 3, x->outputs[0], s, zero);
    g_autoptr (AxonTensor) input = test_random (&quantized[i].x, 3);
    g_autoptr (AxonModel) model = NULL;
    n = test_model_node (&t, "Conv", 2, n->outputs[0], w->outputs[0]);
    axon_node_set_int (n, "group", quantized[i].group);
    if (quantized[i].w.dims[2] == 3)
      axon_node_set_ints (n, "pads", (gint64[]){ 1, 1, 1, 1 }, 4);
    if (i % 2)
      n = test_model_node (&t, "Relu", 1, n->outputs[0]);
    n = test_model_node (&t, "QuantizeLinear", 3, n->outputs[0], ys, yz);
    n = test_model_node (&t, "DequantizeLinear", 3, n->outputs[0], ys, yz);
    model = test_model_finish (&t, n->outputs[0]);
    agrees (model, input, IN_LOCAL_MEMORY, quantized[i].kernel);
  }
}

/* Plans of other sizes take the weights that the first one packed. */
static void
weights_of_every_kind_serve_all_sizes (void)
{
  AxonShape shape = AXON_SHAPE (1, 16, -1, -1);
  const AxonShape three = AXON_SHAPE (16, 16, 3, 3), five = AXON_SHAPE (8, 16, 5, 5);
  const AxonShape one = AXON_SHAPE (8, 8, 1, 1), bias = AXON_SHAPE (8);
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "Conv", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &shape),
                                 test_model_random (&t, &three, 1));
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (GError) error = NULL;
  n = test_model_node (&t, "Relu", 1, n->outputs[0]);
  n = test_model_node (&t, "Conv", 3, n->outputs[0], test_model_random (&t, &five, 2),
                       test_model_random (&t, &bias, 3));
  n = test_model_node (&t, "ConvTranspose", 2, n->outputs[0], test_model_random (&t, &one, 4));
  model = test_model_finish (&t, n->outputs[0]);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "GPU", NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  for (gint size = 9; size < 30; size += 10) {
    g_autoptr (AxonTensor) x = NULL;
    g_autoptr (AxonTensor) y = NULL;
    g_autoptr (AxonTensor) expected = NULL;
    shape.dims[2] = size;
    shape.dims[3] = size + 3;
    x = test_random (&shape, (guint32)size);
    expected = test_run (model, "TEMPLATE",
                         g_variant_new_parsed ("{'DISABLE_TRANSFORMATIONS': <true>}"), x);
    g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, &error));
    g_assert_true (axon_infer_request_infer (request, &error));
    y = axon_infer_request_get_output_tensor (request, 0);
    g_assert_cmpfloat (test_largest_difference (expected, y), <, 5e-4);
  }
}

#define ADD(test) g_test_add_func ("/gpukernels/" #test, test)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (chains_become_part_of_the_convolution_before_them);
  ADD (half_precision_is_close_and_never_silent);
  ADD (what_was_measured_is_kept_in_an_export);
  ADD (convolutions_in_local_memory_agree);
  ADD (convolutions_agree_in_tiles_of_all_sizes);
  ADD (products_in_local_memory_agree);
  ADD (products_agree_in_tiles_of_all_sizes);
  ADD (softmax_of_long_lines_agrees_by_groups);
  ADD (a_scaled_product_of_turned_matrices_agrees_in_local_memory);
  ADD (weights_of_every_kind_serve_all_sizes);
  ADD (quantized_convolutions_sum_bytes_and_agree);
  return g_test_run ();
}
