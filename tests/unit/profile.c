/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles and runtime models. */
#include "axontest.h"

static AxonModel *
chain (AxonShape shape)
{
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *relu = test_model_node (&t, "Relu", 1, x);
  AxonNode *same = test_model_node (&t, "Identity", 1, relu->outputs[0]);
  AxonNode *root = test_model_node (&t, "Softmax", 1, same->outputs[0]);
  return test_model_finish (&t, root->outputs[0]);
}

static AxonCompiledModel *
compile (AxonModel *model, const gchar *device, const gchar *config)
{
  g_autoptr (GVariant) values = g_variant_ref_sink (g_variant_new_parsed (config));
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled = axon_core_compile_model (axon_core_get_default (), model, device,
                                                         values, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return compiled;
}

static void
run (AxonInferRequest *request, AxonShape shape)
{
  g_autoptr (AxonTensor) x = test_random (&shape, 3);
  g_autoptr (GError) error = NULL;
  axon_infer_request_set_input_tensor (request, 0, x, &error);
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
}

static const AxonProfilingInfo *
row_of_type (AxonInferRequest *request, const gchar *type)
{
  for (guint i = 0; i < axon_infer_request_get_n_profiling (request); i++) {
    const AxonProfilingInfo *row = axon_infer_request_get_profiling (request, i);
    if (g_str_equal (row->node_type, type))
      return row;
  }
  return NULL;
}

static void
a_node_that_a_pass_removed_is_optimized_out (void)
{
  static const gchar *const devices[] = { "TEMPLATE", "CPU", "HETERO:TEMPLATE", "MULTI:CPU" };
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autoptr (AxonModel) model = chain (AXON_SHAPE (1, 64));
    g_autoptr (AxonCompiledModel) compiled = compile (model, devices[i], "{'PERF_COUNT': <true>}");
    g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
    for (guint k = 0; k < 2; k++) {
      run (r, AXON_SHAPE (1, 64));
      g_assert_cmpint (row_of_type (r, "Relu")->status, ==, AXON_PROFILING_EXECUTED);
      g_assert_cmpint (row_of_type (r, "Identity")->status, ==, AXON_PROFILING_OPTIMIZED_OUT);
      g_assert_cmpuint (axon_infer_request_get_n_profiling (r), ==, 3);
    }
  }
}

/* Symptom: names of a profile were those of freed memory once other shapes had run. */
/* Nodes are often named as what they make, and casts of that were, too: the time of the first
 * counted as that of the other. */
static void
a_cast_at_an_output_is_a_step_of_its_own (void)
{
  AxonShape shape = AXON_SHAPE (1, 64);
  TestModel t = test_model_new (13);
  AxonNode *relu =
      test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F16, &shape));
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) x = test_random (&shape, 3), halves = NULL;
  g_free (relu->name);
  relu->name = g_strdup (relu->outputs[0]->name);
  model = test_model_finish (&t, relu->outputs[0]);
  compiled = compile (model, "CPU", "{'PERF_COUNT': <true>}");
  r = axon_compiled_model_create_infer_request (compiled);
  halves = axon_tensor_convert (x, AXON_DTYPE_F16, NULL);
  axon_infer_request_set_input_tensor (r, 0, halves, NULL);
  g_assert_true (axon_infer_request_infer (r, NULL));
  for (guint i = 0; i < axon_infer_request_get_n_profiling (r); i++)
    g_assert_true (
        g_hash_table_add (names, (gpointer)axon_infer_request_get_profiling (r, i)->node_name));
  g_assert_cmpuint (g_hash_table_size (names), ==, 3);
}

static void
a_profile_outlives_the_plan_that_it_came_from (void)
{
  g_autoptr (AxonModel) model = chain (AXON_SHAPE (1, -1));
  g_autoptr (AxonCompiledModel) compiled =
      compile (model, "CPU", "{'PERF_COUNT': <true>, 'CPU_RUNTIME_CACHE_CAPACITY': <1>}");
  g_autoptr (AxonInferRequest) a = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonInferRequest) b = axon_compiled_model_create_infer_request (compiled);
  g_autofree gchar *name = NULL;
  run (a, AXON_SHAPE (1, 32));
  name = g_strdup (row_of_type (a, "Relu")->node_name);
  for (gint n = 2; n < 6; n++)
    run (b, AXON_SHAPE (1, 8 * n));
  g_assert_cmpstr (row_of_type (a, "Relu")->node_name, ==, name);
}

static void
the_drawing_of_a_profiled_model_shows_times (void)
{
  g_autoptr (AxonModel) model = chain (AXON_SHAPE (1, 65536));
  g_autoptr (AxonCompiledModel) compiled = compile (model, "CPU", "{'PERF_COUNT': <true>}");
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonModel) runtime = NULL;
  g_autofree gchar *dot = NULL;
  run (r, AXON_SHAPE (1, 65536));
  runtime = axon_compiled_model_get_runtime_model (compiled, NULL);
  dot = axon_model_to_dot (runtime);
  g_assert_nonnull (strstr (dot, " us\""));
  g_assert_nonnull (strstr (dot, "fillcolor=\"#ff"));
}

/* Parts meet at their boundary; device and part of every node are told. */
static void
the_runtime_model_of_a_cut_model_joins_its_parts (void)
{
  g_autoptr (AxonModel) model = chain (AXON_SHAPE (1, 16));
  g_auto (GStrv) names = axon_model_get_node_names (model);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonModel) runtime = NULL;
  g_autoptr (GVariant) nodes = NULL;
  g_autofree gchar *first = NULL;
  g_autofree gchar *second = NULL;
  axon_model_set_affinity (model, names[0], "TEMPLATE");
  axon_model_set_affinity (model, names[1], "CPU");
  axon_model_set_affinity (model, names[2], "CPU");
  compiled = compile (model, "HETERO:CPU,TEMPLATE", "@a{sv} {}");
  runtime = axon_compiled_model_get_runtime_model (compiled, NULL);
  nodes = axon_model_dup_nodes (runtime);
  g_assert_cmpuint (g_variant_n_children (nodes), ==, 2);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GVariant) row = g_variant_get_child_value (nodes, i);
    g_autoptr (GVariant) in = g_variant_lookup_value (row, "inputs", NULL);
    const gchar *name, *device;
    g_assert_true (g_variant_lookup (row, "name", "&s", &name));
    g_assert_true (g_variant_lookup (row, "device", "&s", &device));
    g_assert_cmpstr (device, ==, i ? "CPU" : "TEMPLATE");
    g_assert_true (g_str_has_prefix (name, i ? "subgraph1: " : "subgraph0: "));
    g_variant_get_child (in, 0, "s", i ? &second : &first);
  }
  g_assert_cmpstr (first, ==, "x");
  g_assert_cmpstr (second, !=, "x");
  g_assert_true (axon_model_infer_shapes (runtime, NULL));
}

static void
a_runtime_model_outlives_everything (void)
{
  g_autoptr (AxonModel) runtime = NULL;
  g_autofree gchar *text = NULL;
  {
    g_autoptr (AxonModel) model = chain (AXON_SHAPE (1, 16));
    g_autoptr (AxonCore) core = axon_core_new ();
    g_autoptr (AxonCompiledModel) compiled =
        axon_core_compile_model (core, model, "HETERO:CPU,TEMPLATE", NULL, NULL, NULL, NULL, NULL);
    runtime = axon_compiled_model_get_runtime_model (compiled, NULL);
  }
  text = axon_model_to_text (runtime);
  g_assert_nonnull (strstr (text, "Softmax"));
}

static void
a_device_that_does_not_tell_how_it_runs_says_so (void)
{
  g_autoptr (AxonModel) model = chain (AXON_SHAPE (1, 16));
  g_autoptr (AxonCompiledModel) compiled = compile (model, "MOCK", "@a{sv} {}");
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_compiled_model_get_runtime_model (compiled, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/profile/" #name, name)
  ADD (a_node_that_a_pass_removed_is_optimized_out);
  ADD (a_cast_at_an_output_is_a_step_of_its_own);
  ADD (a_profile_outlives_the_plan_that_it_came_from);
  ADD (the_drawing_of_a_profiled_model_shows_times);
  ADD (the_runtime_model_of_a_cut_model_joins_its_parts);
  ADD (a_runtime_model_outlives_everything);
  ADD (a_device_that_does_not_tell_how_it_runs_says_so);
  return g_test_run ();
}
