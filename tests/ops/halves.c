/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* INFERENCE_PRECISION_HINT on device CPU: products in half precision (f16) or by tiles of bf16
 * where the processor computes in it, with all that is fused; elsewhere floats, and the compiled
 * model says so. */
#include "axontest.h"

#include <axon/axon-cpu.h>
#include <math.h>
#include <string.h>

/* Of the largest sum: rounded sources and weights, and sums of short runs. */
#define TOLERANCE 4e-3
#define TOLERANCE_BF16 2e-2

typedef struct {
  const gchar *name, *op;
  AxonShape x, w;
  const gchar *attribute; /* of integers (nullable) */
  gint64 values[4];
  guint n;
} Shape;

static const Shape shapes[] = {
  { "1x1", "Conv", { 4, { 2, 48, 9, 11 } }, { 4, { 64, 48, 1, 1 } }, NULL, { 0 }, 0 },
  { "3x3", "Conv", { 4, { 1, 33, 12, 13 } }, { 4, { 96, 33, 3, 3 } }, "pads", { 1, 0, 2, 1 }, 4 },
  { "strided", "Conv", { 4, { 1, 16, 15, 14 } }, { 4, { 48, 16, 3, 3 } }, "strides", { 2, 2 }, 2 },
  { "dilated",
    "Conv",
    { 4, { 1, 20, 15, 14 } },
    { 4, { 32, 20, 3, 3 } },
    "dilations",
    { 2, 3 },
    2 },
  { "grouped", "Conv", { 4, { 1, 64, 9, 9 } }, { 4, { 128, 16, 3, 3 } }, "group", { 4 }, 0 },
  { "long sums", "Conv", { 4, { 1, 700, 5, 6 } }, { 4, { 31, 700, 3, 3 } }, NULL, { 0 }, 0 },
  { "transposed",
    "ConvTranspose",
    { 4, { 1, 24, 7, 8 } },
    { 4, { 24, 32, 3, 3 } },
    "strides",
    { 2, 2 },
    2 },
  { "matrix", "MatMul", { 3, { 1, 7, 100 } }, { 2, { 100, 72 } }, NULL, { 0 }, 0 },
  { "turned matrix", "Gemm", { 2, { 3, 100 } }, { 2, { 90, 100 } }, "transB", { 1 }, 0 },
};

/* With a bias, an activation and, of convolutions, a residual behind it. */
static AxonModel *
model_of (const Shape *s, const gchar *activation)
{
  TestModel t = test_model_new (16);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s->x);
  AxonNode *node = test_model_node (&t, s->op, 2, x, test_model_random (&t, &s->w, 2));
  AxonValue *y;
  if (s->n > 0)
    axon_node_set_ints (node, s->attribute, s->values, s->n);
  else if (s->attribute != NULL)
    axon_node_set_int (node, s->attribute, s->values[0]);
  y = node->outputs[0];
  if (activation != NULL)
    y = test_model_node (&t, activation, 1, y)->outputs[0];
  return test_model_finish (&t, y);
}

static GVariant *
hint (const gchar *precision)
{
  return g_variant_new_parsed ("{'INFERENCE_PRECISION_HINT': <%s>}", precision);
}

/* The largest magnitude of @t. */
static gdouble
largest (const AxonTensor *t)
{
  const gfloat *v = axon_tensor_get_data (t);
  gdouble most = 0;
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    most = MAX (most, fabs ((gdouble)v[i]));
  return most;
}

static gboolean
processor_has_halves (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) level =
      axon_core_get_property (axon_core_get_default (), "CPU", AXON_CPU_ISA_IN_USE, &error);
  g_assert_no_error (error);
  return g_str_has_suffix (g_variant_get_string (level, NULL), "FP16");
}

static void
products_in_half_precision_are_close_to_those_of_floats (gconstpointer data)
{
  static const gchar *const activations[] = { NULL, "Relu", "HardSwish", "Sigmoid" };
  const Shape *s = data;
  g_autoptr (AxonTensor) x = test_random (&s->x, 7);
  gdouble most = 1;
  for (guint i = 0; i < G_N_ELEMENTS (activations); i++) { /* the sums themselves first */
    g_autoptr (AxonModel) model = model_of (s, activations[i]);
    g_autoptr (AxonTensor) floats = test_run (model, "CPU", NULL, x);
    g_autoptr (AxonTensor) halves = test_run (model, "CPU", hint ("f16"), x);
    gdouble difference = test_largest_difference (floats, halves);
    most = MAX (most, largest (floats));
    g_assert_cmpfloat (difference, <, TOLERANCE * most);
    if (processor_has_halves ())
      g_assert_cmpfloat (difference, >, 0);
    else
      g_assert_cmpfloat (difference, ==, 0);
  }
}

/* What the model of @s, compiled with @precision allowed, says it computes in; a step's name has
 * it, too. */
static void
assert_precision (const Shape *s, const gchar *precision, gboolean is_there)
{
  g_autoptr (AxonModel) model = model_of (s, NULL), runtime = NULL;
  g_autoptr (GVariant) used = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", hint (precision), NULL, NULL, NULL, &error);
  gboolean found = FALSE;
  g_assert_no_error (error);
  used = axon_compiled_model_get_property (compiled, "INFERENCE_PRECISION_HINT", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (g_variant_get_string (used, NULL), ==, is_there ? precision : "f32");
  runtime = axon_compiled_model_get_runtime_model (compiled, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (runtime->nodes, i);
    found |= node->exec_type != NULL && strstr (node->exec_type, precision) != NULL;
  }
  g_assert_cmpint (found, ==, is_there);
}

/* Enough products that tiles pay, a residual and an activation are fused. */
static const Shape large = {
  "", "Conv", { 4, { 1, 64, 56, 60 } }, { 4, { 64, 64, 3, 3 } }, "pads", { 1, 1, 1, 1 }, 4
};

static gboolean
onednn_has_tiles (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) isa =
      axon_core_get_property (axon_core_get_default (), "CPU", AXON_CPU_ONEDNN_ISA, &error);
  g_assert_no_error (error);
  return g_str_equal (g_variant_get_string (isa, NULL), "AVX512_AMX");
}

static void
the_compiled_model_says_which_precision_it_has (void)
{
  assert_precision (&shapes[0], "f16", processor_has_halves ());
  assert_precision (&large, "bf16", onednn_has_tiles ());
}

static void
products_of_bf16_are_close_to_those_of_floats (void)
{
  g_autoptr (AxonModel) model = model_of (&large, "Relu");
  g_autoptr (AxonTensor) x = test_random (&large.x, 7);
  g_autoptr (AxonTensor) floats = test_run (model, "CPU", NULL, x);
  g_autoptr (AxonTensor) narrow = test_run (model, "CPU", hint ("bf16"), x);
  gdouble difference = test_largest_difference (floats, narrow);
  g_assert_cmpfloat (difference, <, TOLERANCE_BF16 * largest (floats));
  if (onednn_has_tiles ())
    g_assert_cmpfloat (difference, >, 0);
  else
    g_assert_cmpfloat (difference, ==, 0);
}

/* Two convolutions read one source, one of them in bf16: each has its own form of it. */
static void
who_reads_the_same_source_as_floats_is_not_given_bf16 (void)
{
  const AxonShape one = AXON_SHAPE (64, 64, 1, 1), few = AXON_SHAPE (8, 64, 1, 1);
  TestModel t = test_model_new (16);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &large.x);
  AxonNode *wide = test_model_node (&t, "Conv", 2, x, test_model_random (&t, &large.w, 2));
  AxonNode *first = test_model_node (&t, "Conv", 2, x, test_model_random (&t, &one, 3));
  AxonNode *narrow =
      test_model_node (&t, "Conv", 2, first->outputs[0], test_model_random (&t, &few, 4));
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) input = test_random (&large.x, 7), floats = NULL, mixed = NULL;
  AxonValue *sums[2];
  axon_node_set_ints (wide, "pads", large.values, 4);
  for (guint i = 0; i < 2; i++)
    sums[i] = test_model_node (&t, "ReduceMean", 1, i ? narrow->outputs[0] : wide->outputs[0])
                  ->outputs[0];
  model = test_model_finish (&t, test_model_node (&t, "Add", 2, sums[0], sums[1])->outputs[0]);
  floats = test_run (model, "CPU", NULL, input);
  mixed = test_run (model, "CPU", hint ("bf16"), input);
  g_assert_cmpfloat (test_largest_difference (floats, mixed), <, TOLERANCE_BF16);
}

/* What no half holds is taken as the largest, and a sum of it is still a number. */
static void
numbers_beyond_the_largest_half_do_not_become_infinite (void)
{
  const Shape *s = &shapes[0];
  g_autoptr (AxonModel) model = model_of (s, NULL);
  g_autoptr (AxonTensor) x = test_random (&s->x, 7), y = NULL;
  gfloat *v = axon_tensor_get_data (x);
  for (gsize i = 0; i < axon_tensor_get_numel (x); i += 5)
    v[i] = i % 2 ? 1e9f : -1e9f;
  y = test_run (model, "CPU", hint ("f16"), x);
  g_assert_true (isfinite (largest (y)));
}

static void
no_number_stays_none_in_half_precision (void)
{
  const Shape *s = &shapes[0];
  g_autoptr (AxonModel) model = model_of (s, NULL);
  g_autoptr (AxonTensor) x = test_random (&s->x, 7), y = NULL;
  ((gfloat *)axon_tensor_get_data (x))[0] = NAN;
  y = test_run (model, "CPU", hint ("f16"), x);
  g_assert_true (isnan (((gfloat *)axon_tensor_get_data (y))[0]));
  g_assert_false (isnan (((gfloat *)axon_tensor_get_data (y))[1]));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/halves/products_in_half_precision_are_close_to_those_of_floats/%s", shapes[i].name);
    g_test_add_data_func (path, &shapes[i],
                          products_in_half_precision_are_close_to_those_of_floats);
  }
#define ADD(name) g_test_add_func ("/halves/" #name, name)
  ADD (the_compiled_model_says_which_precision_it_has);
  ADD (products_of_bf16_are_close_to_those_of_floats);
  ADD (who_reads_the_same_source_as_floats_is_not_given_bf16);
  ADD (numbers_beyond_the_largest_half_do_not_become_infinite);
  ADD (no_number_stays_none_in_half_precision);
  return g_test_run ();
}
