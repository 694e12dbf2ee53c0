/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups infer, dynamic, profiling. */
#include "behaviour.h"

static void
results_are_those_of_the_reference_kernels (void)
{
  for (guint m = 0; m < BEHAVIOUR_N_MODELS; m++) {
    g_autoptr (AxonModel) model = behaviour_any_model (m);
    g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
    g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 11);
    for (guint run = 0; run < 3; run++) {
      g_autoptr (GError) error = NULL;
      axon_infer_request_infer (r, &error);
      g_assert_no_error (error);
      behaviour_assert_result (r, model, 11);
    }
  }
}

static void
new_inputs_give_new_results (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  for (guint seed = 0; seed < 5; seed++) {
    behaviour_bind (r, compiled, seed);
    g_assert_true (axon_infer_request_infer (r, NULL));
    behaviour_assert_result (r, model, seed);
  }
}

/* The output of one request is the input of the next, without a copy. */
static void
an_output_can_be_the_next_input (void)
{
  g_autoptr (AxonModel) model = behaviour_batch_model (1);
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) a = behaviour_request (compiled, 3);
  g_autoptr (AxonInferRequest) b = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonTensor) middle = NULL;
  g_autoptr (AxonTensor) got = NULL;
  g_autofree AxonTensor **expected = NULL;
  g_assert_true (axon_infer_request_infer (a, NULL));
  middle = axon_infer_request_get_output_tensor (a, 0);
  g_assert_true (axon_infer_request_set_input_tensor (b, 0, middle, NULL));
  g_assert_true (axon_infer_request_infer (b, NULL));
  got = axon_infer_request_get_output_tensor (b, 0);
  expected = behaviour_reference (model, &middle);
  behaviour_assert_close (got, expected[0]);
  axon_tensor_unref (expected[0]);
}

static void
a_run_without_input_says_which_is_missing (void)
{
  g_autoptr (AxonModel) model = behaviour_two_port_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GError) error = NULL;
  g_assert_false (axon_infer_request_infer (r, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (g_strstr_len (error->message, -1, "\"a\""));
}

static void
free_shapes_take_what_comes (void)
{
  static const gint64 sizes[] = { 2, 5, 2, 1, 7 };
  g_autoptr (AxonModel) model = behaviour_dynamic_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, "a free dimension");
  g_autoptr (AxonInferRequest) r = NULL;
  if (compiled == NULL)
    return;
  r = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    AxonShape shape = AXON_SHAPE (sizes[i], 4);
    g_autoptr (AxonTensor) x = behaviour_random (&shape, i);
    g_autoptr (AxonTensor) got = NULL;
    g_autofree AxonTensor **expected = behaviour_reference (model, &x);
    g_autoptr (GError) error = NULL;
    axon_infer_request_set_input_tensor (r, 0, x, &error);
    g_assert_no_error (error);
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
    got = axon_infer_request_get_output_tensor (r, 0);
    behaviour_assert_close (got, expected[0]);
    axon_tensor_unref (expected[0]);
  }
}

static void
a_shape_that_does_not_fit_the_free_one_is_refused (void)
{
  g_autoptr (AxonModel) model = behaviour_dynamic_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, "a free dimension");
  g_autoptr (AxonInferRequest) r = NULL;
  AxonShape wrong = AXON_SHAPE (2, 5);
  g_autoptr (AxonTensor) x = behaviour_random (&wrong, 1);
  g_autoptr (GError) error = NULL;
  if (compiled == NULL)
    return;
  r = axon_compiled_model_create_infer_request (compiled);
  g_assert_false (axon_infer_request_set_input_tensor (r, 0, x, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

/* P8 */
static void
profiles_are_there_when_asked_for_and_only_then (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (2);
  g_autoptr (AxonCompiledModel) with = behaviour_compile_with (model, "PERF_COUNT", "YES", NULL);
  g_autoptr (AxonCompiledModel) without = behaviour_compile_with (model, "PERF_COUNT", "NO", NULL);
  g_autoptr (AxonInferRequest) a = behaviour_request (with, 1);
  g_autoptr (AxonInferRequest) b = behaviour_request (without, 1);
  guint n_executed = 0;
  for (guint async = 0; async < 2; async++) {
    if (async) {
      g_assert_true (axon_infer_request_start_async (a, NULL));
      g_assert_true (axon_infer_request_wait (a, NULL));
    } else {
      g_assert_true (axon_infer_request_infer (a, NULL));
    }
    g_assert_cmpuint (axon_infer_request_get_n_profiling (a), >, 0);
    for (guint i = 0; i < axon_infer_request_get_n_profiling (a); i++) {
      const AxonProfilingInfo *row = axon_infer_request_get_profiling (a, i);
      gboolean ran = row->status == AXON_PROFILING_EXECUTED;
      g_assert_nonnull (row->node_name);
      g_assert_nonnull (row->node_type);
      g_assert_cmpint (*row->exec_type != '\0', ==, ran);
      g_assert_cmpfloat (row->real_time_us, >=, 0);
      g_assert_true (ran || row->real_time_us == 0);
      n_executed += ran;
    }
    g_assert_cmpuint (n_executed, >, 0);
  }
  g_assert_true (axon_infer_request_infer (b, NULL));
  g_assert_cmpuint (axon_infer_request_get_n_profiling (b), ==, 0);
}

/* Every node once, times only after a profiled run; the sum of the times. */
static gdouble
check_runtime_model (AxonCompiledModel *compiled)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) runtime = axon_compiled_model_get_runtime_model (compiled, &error);
  g_autoptr (GVariant) nodes = NULL;
  gdouble total = 0, time;
  g_assert_no_error (error);
  g_assert_cmpstr (axon_model_get_input_name (runtime, 0), ==,
                   axon_compiled_model_get_input_name (compiled, 0));
  g_assert_cmpstr (axon_model_get_output_name (runtime, 0), ==,
                   axon_compiled_model_get_output_name (compiled, 0));
  nodes = axon_model_dup_nodes (runtime);
  g_assert_cmpuint (g_variant_n_children (nodes), >, 0);
  for (gsize i = 0; i < g_variant_n_children (nodes); i++) {
    g_autoptr (GVariant) row = g_variant_get_child_value (nodes, i);
    g_autoptr (GVariant) originals = g_variant_lookup_value (row, "originals", NULL);
    gchar *name = NULL;
    g_assert_true (g_variant_lookup (row, "name", "s", &name));
    g_assert_true (g_hash_table_add (names, name));
    g_assert_cmpuint (g_variant_n_children (originals), >, 0);
    g_assert_true (g_variant_lookup (row, "exec-type", "s", NULL));
    if (g_variant_lookup (row, "exec-time", "d", &time))
      total += time;
  }
  return total;
}

static void
the_runtime_model_tells_what_runs_and_how_long (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (2);
  g_autoptr (AxonCompiledModel) compiled =
      behaviour_compile_with (model, "PERF_COUNT", "YES", NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) runtime = axon_compiled_model_get_runtime_model (compiled, &error);
  if (g_error_matches (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED)) {
    g_test_skip ("the device does not tell how it runs a model");
    return;
  }
  g_assert_no_error (error);
  g_assert_nonnull (runtime);
  g_assert_cmpfloat (check_runtime_model (compiled), ==, 0);
  for (guint i = 0; i < 20; i++)
    g_assert_true (axon_infer_request_infer (r, NULL));
  if (axon_infer_request_get_n_profiling (r) > 0)
    g_assert_cmpfloat (check_runtime_model (compiled), >, 0);
}

void
behaviour_add_infer (void)
{
  BEHAVIOUR_ADD ("infer", results_are_those_of_the_reference_kernels);
  BEHAVIOUR_ADD ("infer", new_inputs_give_new_results);
  BEHAVIOUR_ADD ("infer", an_output_can_be_the_next_input);
  BEHAVIOUR_ADD ("infer", a_run_without_input_says_which_is_missing);
  BEHAVIOUR_ADD ("dynamic", free_shapes_take_what_comes);
  BEHAVIOUR_ADD ("dynamic", a_shape_that_does_not_fit_the_free_one_is_refused);
  BEHAVIOUR_ADD ("profiling", profiles_are_there_when_asked_for_and_only_then);
  BEHAVIOUR_ADD ("profiling", the_runtime_model_tells_what_runs_and_how_long);
}
