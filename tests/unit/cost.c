/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What models and steps cost. */
#include "axontest.h"

static AxonValue *
weights (TestModel *t, AxonDType dtype, const AxonShape *shape)
{
  g_autoptr (AxonTensor) tensor = axon_tensor_new (dtype, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    axon_dtype_store (dtype, axon_tensor_get_data (tensor), i, 1);
  return axon_model_add_constant (t->model, NULL, tensor);
}

/* One node of operator @op: input x of @dtype, and what stands at @at of @n inputs, of @shape;
 * scalars elsewhere. */
static gdouble
flops_of (const gchar *domain, const gchar *op, guint n, AxonDType dtype, AxonShape x, guint at,
          AxonShape shape)
{
  TestModel t = test_model_new (13);
  AxonShape none = AXON_SHAPE_UNKNOWN;
  AxonValue *in[9] = { NULL };
  g_autoptr (AxonModel) model = NULL;
  none.rank = 0;
  for (guint i = 0; i < n; i++)
    in[i] = i == 0 ? test_model_input (&t, "x", dtype, &x)
            : i == at
                ? weights (&t, dtype, &shape)
                : weights (&t, (n == 8 && (i == 1 || i == 4 || i == 6)) ? AXON_DTYPE_F32 : dtype,
                           &none);
  model = test_model_finish (&t, test_model_node_of (&t, domain, op, in, n, 1)->outputs[0]);
  return axon_model_get_flops (model);
}

static void
a_quantised_product_counts_as_many_operations_as_one_of_floats (void)
{
  AxonShape x = AXON_SHAPE (1, 8, 10, 10), w = AXON_SHAPE (16, 8, 3, 3);
  AxonShape a = AXON_SHAPE (4, 32), b = AXON_SHAPE (32, 5);
  gdouble conv = 2.0 * 16 * 8 * 8 * 8 * 9, matmul = 2.0 * 4 * 5 * 32;
  g_assert_cmpfloat (flops_of (NULL, "Conv", 2, AXON_DTYPE_F32, x, 1, w), ==, conv);
  g_assert_cmpfloat (flops_of (NULL, "ConvInteger", 2, AXON_DTYPE_U8, x, 1, w), ==, conv);
  g_assert_cmpfloat (flops_of (NULL, "QLinearConv", 8, AXON_DTYPE_U8, x, 3, w), ==, conv);
  g_assert_cmpfloat (flops_of (NULL, "MatMul", 2, AXON_DTYPE_F32, a, 1, b), ==, matmul);
  g_assert_cmpfloat (flops_of (NULL, "MatMulInteger", 2, AXON_DTYPE_U8, a, 1, b), ==, matmul);
  g_assert_cmpfloat (flops_of (NULL, "QLinearMatMul", 8, AXON_DTYPE_U8, a, 3, b), ==, matmul);
}

static void
a_transposed_convolution_multiplies_each_input (void)
{
  g_assert_cmpfloat (flops_of (NULL, "ConvTranspose", 2, AXON_DTYPE_F32, AXON_SHAPE (1, 8, 5, 5), 1,
                               AXON_SHAPE (8, 4, 2, 2)),
                     ==, 2.0 * 8 * 25 * 4 * 4);
}

static void
what_sums_up_counts_what_it_reads (void)
{
  g_assert_cmpfloat (flops_of (NULL, "GlobalAveragePool", 1, AXON_DTYPE_F32,
                               AXON_SHAPE (1, 8, 5, 5), 1, AXON_SHAPE (1)),
                     ==, 8 * 25);
  g_assert_cmpfloat (
      flops_of (NULL, "Relu", 1, AXON_DTYPE_F32, AXON_SHAPE (1, 8, 5, 5), 1, AXON_SHAPE (1)), ==,
      8 * 25);
}

/* Conv, Relu, Slice */
static AxonModel *
chain (void)
{
  TestModel t = test_model_new (13);
  AxonShape x = AXON_SHAPE (1, 8, 10, 10), w = AXON_SHAPE (16, 8, 3, 3);
  const gint64 begin = 0, end = 4, axis = 1;
  AxonNode *conv = test_model_node (&t, "Conv", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &x),
                                    test_model_random (&t, &w, 1));
  AxonNode *relu = test_model_node (&t, "Relu", 1, conv->outputs[0]);
  AxonNode *slice =
      test_model_node (&t, "Slice", 4, relu->outputs[0], test_model_ints (&t, &begin, 1),
                       test_model_ints (&t, &end, 1), test_model_ints (&t, &axis, 1));
  return test_model_finish (&t, slice->outputs[0]);
}

/* A number of the row of operator @type. */
static gdouble
row_value (GVariant *nodes, const gchar *type, const gchar *key)
{
  for (gsize i = 0; i < g_variant_n_children (nodes); i++) {
    g_autoptr (GVariant) row = g_variant_get_child_value (nodes, i);
    const gchar *name;
    gdouble value;
    g_variant_lookup (row, "type", "&s", &name);
    if (g_str_equal (name, type))
      return g_variant_lookup (row, key, "d", &value) ? value : -1;
  }
  return -2;
}

static void
a_node_tells_what_it_computes_and_moves (void)
{
  g_autoptr (AxonModel) model = chain ();
  g_autoptr (GVariant) nodes = axon_model_dup_nodes (model);
  g_assert_cmpfloat (row_value (nodes, "Conv", "operations"), ==, 2.0 * 16 * 64 * 72);
  g_assert_cmpfloat (row_value (nodes, "Conv", "bytes"), ==, 4 * (800 + 16 * 72 + 16 * 64));
  g_assert_cmpfloat (row_value (nodes, "Relu", "bytes"), ==, 4 * 2 * 16 * 64);
  /* It reads a quarter only, and three numbers of 64 bits. */
  g_assert_cmpfloat (row_value (nodes, "Slice", "bytes"), ==, 4 * 2 * 4 * 64 + 3 * 8);
}

static void
a_step_costs_what_is_fused_into_it (void)
{
  g_autoptr (AxonModel) model = chain ();
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", NULL, NULL, NULL, NULL, NULL);
  g_autoptr (AxonModel) runtime = axon_compiled_model_get_runtime_model (compiled, NULL);
  g_autoptr (GVariant) nodes = axon_model_dup_nodes (runtime);
  gdouble fused = row_value (nodes, "Relu", "bytes");
  g_assert_cmpfloat (row_value (nodes, "Conv", "bytes"), ==, 4 * (800 + 16 * 72 + 16 * 64));
  g_assert_true (fused == -1 || fused == -2); /* the node is gone, or nothing runs for it */
}

/* Tells bytes from floats, so that each is held against its own peak. */
static void
a_step_says_whether_it_multiplies_bytes (void)
{
  TestModel t = test_model_new (13);
  AxonShape x = AXON_SHAPE (4, 32), w = AXON_SHAPE (32, 5);
  AxonNode *node =
      test_model_node (&t, "MatMulInteger", 2, test_model_input (&t, "x", AXON_DTYPE_U8, &x),
                       weights (&t, AXON_DTYPE_I8, &w));
  g_autoptr (AxonModel) model = test_model_finish (&t, node->outputs[0]);
  g_autoptr (GVariant) nodes = axon_model_dup_nodes (model);
  g_autoptr (GVariant) row = g_variant_get_child_value (nodes, 0);
  gboolean bytes = FALSE;
  g_assert_true (g_variant_lookup (row, "multiplies-bytes", "b", &bytes));
  g_assert_true (bytes);
}

static void
device_cpu_measures_its_peaks (void)
{
  static const gchar *const kinds[] = { "f32:1=", "int8:1=", "memory:1=" };
  g_autoptr (GVariant) value =
      axon_core_get_property (axon_core_get_default (), "CPU", "CPU_PEAKS", NULL);
  g_autofree const gchar **rows = g_variant_get_strv (value, NULL);
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    gdouble found = 0;
    for (guint i = 0; rows[i] != NULL; i++)
      if (g_str_has_prefix (rows[i], kinds[k]))
        found = g_ascii_strtod (strchr (rows[i], '=') + 1, NULL);
    g_assert_cmpfloat (found, >, 0.01);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cost/" #name, name)
  ADD (a_quantised_product_counts_as_many_operations_as_one_of_floats);
  ADD (a_transposed_convolution_multiplies_each_input);
  ADD (what_sums_up_counts_what_it_reads);
  ADD (a_node_tells_what_it_computes_and_moves);
  ADD (a_step_costs_what_is_fused_into_it);
  ADD (a_step_says_whether_it_multiplies_bytes);
  ADD (device_cpu_measures_its_peaks);
  return g_test_run ();
}
