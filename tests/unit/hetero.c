/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device HETERO. Names the requirements that tests prove: P, Q, X, I as in the plugin documents. */
#include "axontest.h"

#include <string.h>

static AxonModel *
ball (void)
{
  g_autofree gchar *path = test_ball_model ();
  g_autoptr (GError) error = NULL;
  AxonModel *model = axon_core_read_model (axon_core_get_default (), path, NULL, &error);
  g_assert_no_error (error);
  return model;
}

/* x -> Relu "a" -> Sigmoid "b" -> Relu "c"; b also leaves; x and a constant leave unchanged. */
static AxonModel *
chain (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (2, 3);
  const gfloat values[] = { 1, 2, 3, 4, 5, 6 };
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
  AxonValue *constant = test_model_constant (&t, &s, values);
  AxonNode *a = test_model_node (&t, "Relu", 1, x);
  AxonNode *b = test_model_node (&t, "Sigmoid", 1, a->outputs[0]);
  AxonNode *c = test_model_node (&t, "Add", 2, b->outputs[0], constant);
  AxonModel *model = test_model_finish (&t, c->outputs[0]);
  axon_model_add_output (model, b->outputs[0]);
  axon_model_add_output (model, x);
  axon_model_add_output (model, constant);
  return model;
}

static AxonCompiledModel *
compile (AxonModel *model, const gchar *device, const gchar *config)
{
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled = axon_core_compile_model (
      axon_core_get_default (), model, device, config ? g_variant_new_parsed (config) : NULL, NULL,
      NULL, NULL, &error);
  g_assert_no_error (error);
  return compiled;
}

static void
assert_same_outputs (AxonCompiledModel *compiled, AxonModel *model, gdouble tolerance)
{
  g_autoptr (AxonCompiledModel) oracle =
      compile (model, "TEMPLATE", "{'DISABLE_TRANSFORMATIONS': <true>}");
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonInferRequest) o = axon_compiled_model_create_infer_request (oracle);
  g_autoptr (AxonTensor) x = test_random (axon_model_get_input_shape (model, 0), 7);
  g_autoptr (GError) error = NULL;
  axon_infer_request_set_input_tensor (o, 0, x, &error);
  g_assert_true (axon_infer_request_infer (o, &error));
  axon_infer_request_set_input_tensor (r, 0, x, &error);
  for (guint run = 0; run < 2; run++) {
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
    for (guint i = 0; i < axon_model_get_n_outputs (model); i++) {
      g_autoptr (AxonTensor) got = axon_infer_request_get_output_tensor (r, i);
      g_autoptr (AxonTensor) expected = axon_infer_request_get_output_tensor (o, i);
      g_assert_cmpfloat (test_largest_difference (got, expected), <=, tolerance);
    }
  }
}

static gint
number_of_parts (AxonCompiledModel *compiled)
{
  g_autoptr (GVariant) n =
      axon_compiled_model_get_property (compiled, "HETERO_NUMBER_OF_SUBMODELS", NULL);
  return g_variant_get_int32 (n);
}

/* Q1: affinity per node, random; the tolerance is CPU's against the reference. */
static void
two_hundred_random_cuts_give_the_results_of_one_device (void)
{
  g_autoptr (AxonModel) model = ball ();
  g_auto (GStrv) names = axon_model_get_node_names (model);
  g_autoptr (GRand) random = g_rand_new_with_seed (20);
  gint most = 0;
  for (guint cut = 0; cut < 200; cut++) {
    g_autoptr (AxonCompiledModel) compiled = NULL;
    gboolean on_cpu = g_rand_boolean (random);
    for (guint i = 0; names[i] != NULL; i++) {
      on_cpu = g_rand_int_range (random, 0, 1 + (gint)cut % 5) == 0 ? !on_cpu : on_cpu;
      axon_model_set_affinity (model, names[i], on_cpu ? "CPU" : "TEMPLATE");
    }
    compiled = compile (model, "HETERO", NULL);
    most = MAX (most, number_of_parts (compiled));
    assert_same_outputs (compiled, model, 1e-4);
  }
  g_assert_cmpint (most, >, 3);
}

static void
inputs_and_constants_may_be_outputs_of_a_cut_model (void)
{
  g_autoptr (AxonModel) model = chain ();
  g_auto (GStrv) names = axon_model_get_node_names (model);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  for (guint i = 0; names[i] != NULL; i++)
    axon_model_set_affinity (model, names[i], i % 2 ? "CPU" : "TEMPLATE");
  compiled = compile (model, "HETERO", NULL);
  g_assert_cmpint (number_of_parts (compiled), ==, 3);
  assert_same_outputs (compiled, model, 1e-6);
}

/* Devices in order of priority; the first that takes a node has it. */
static void
nodes_go_to_the_first_device_that_takes_them (void)
{
  g_autoptr (AxonModel) model = chain ();
  g_autoptr (AxonCompiledModel) compiled =
      compile (model, "HETERO:MOCK,CPU",
               "{'DEVICE_PROPERTIES_MOCK': <{'MOCK_REFUSE': <'Sigmoid'>, 'MOCK_COMPUTE': <true>}>,"
               " 'DEVICE_PROPERTIES': <{'GPU': <{'NO_SUCH_KEY': <'1'>}>}>}");
  g_autoptr (GVariant) devices =
      axon_compiled_model_get_property (compiled, "EXECUTION_DEVICES", NULL);
  g_autofree gchar *text = g_variant_print (devices, FALSE);
  g_assert_cmpstr (text, ==, "['MOCK', 'CPU']");
  g_assert_cmpint (number_of_parts (compiled), ==, 3);
  assert_same_outputs (compiled, model, 1e-6);
}

static void
a_node_that_no_device_takes_is_named_with_every_reason (void)
{
  g_autoptr (AxonModel) model = chain ();
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "HETERO:MOCK.0,MOCK.1",
                                          g_variant_new_parsed ("{'MOCK_REFUSE': <'Sigmoid'>}"),
                                          NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "1 of 3 nodes"));
  g_assert_nonnull (strstr (error->message, "MOCK.0: mock refuses Sigmoid"));
  g_assert_nonnull (strstr (error->message, "MOCK.1: mock refuses Sigmoid"));
}

static void
missing_affinities_are_completed_from_the_priorities (void)
{
  g_autoptr (AxonModel) model = chain ();
  g_auto (GStrv) names = axon_model_get_node_names (model);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  axon_model_set_affinity (model, names[1], "TEMPLATE");
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "HETERO", NULL, NULL,
                                          NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  compiled = compile (model, "HETERO:CPU", NULL);
  g_assert_cmpint (number_of_parts (compiled), ==, 3);
  assert_same_outputs (compiled, model, 1e-6);
}

/* Q11, PIPELINE_PARALLEL */
static void
a_share_of_the_constants_cuts_a_model_in_two (void)
{
  g_autoptr (AxonModel) model = ball ();
  g_autoptr (AxonCompiledModel) compiled =
      compile (model, "HETERO:TEMPLATE,CPU",
               "{'DEVICE_PROPERTIES_TEMPLATE': <{'QUERY_MODEL_RATIO': <0.5>}>}");
  g_assert_cmpint (number_of_parts (compiled), ==, 2);
  assert_same_outputs (compiled, model, 1e-4);
}

static void
profiling_names_the_part (void)
{
  g_autoptr (AxonModel) model = ball ();
  g_autoptr (AxonCompiledModel) compiled = compile (
      model, "HETERO:TEMPLATE,CPU",
      "{'PERF_COUNT': <true>, 'DEVICE_PROPERTIES_TEMPLATE': <{'QUERY_MODEL_RATIO': <0.5>}>}");
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonTensor) x = test_random (axon_model_get_input_shape (model, 0), 7);
  guint n, last = 0;
  axon_infer_request_set_input_tensor (r, 0, x, NULL);
  g_assert_true (axon_infer_request_infer (r, NULL));
  n = axon_infer_request_get_n_profiling (r);
  g_assert_cmpuint (n, >, 4);
  for (guint i = 0; i < n; i++) {
    const AxonProfilingInfo *row = axon_infer_request_get_profiling (r, i);
    guint part = row->node_name[strlen ("subgraph")] == '0' ? 0 : 1;
    g_assert_true (g_str_has_prefix (row->node_name, part ? "subgraph1: " : "subgraph0: "));
    g_assert_cmpuint (part, >=, last);
    last = part;
  }
}

/* I1 to I5 for a virtual device: parts that export and parts that do not. */
static void
an_exported_cut_model_runs_after_import (void)
{
  g_autoptr (AxonModel) model = chain ();
  g_auto (GStrv) names = axon_model_get_node_names (model);
  const gchar *const devices[] = { "TEMPLATE", "CPU", "MOCK" };
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonCompiledModel) imported = NULL;
  g_autoptr (GError) error = NULL;
  for (guint i = 0; names[i] != NULL; i++)
    axon_model_set_affinity (model, names[i], devices[i]);
  compiled = compile (model, "HETERO", "{'DEVICE_PROPERTIES_MOCK': <{'MOCK_COMPUTE': <true>}>}");
  assert_same_outputs (compiled, model, 1e-6);
  axon_compiled_model_export (compiled, stream, NULL, &error);
  g_assert_no_error (error);
  g_output_stream_close (stream, NULL, NULL);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  imported = axon_core_import_model (
      axon_core_get_default (), bytes, "HETERO", NULL,
      g_variant_new_parsed ("{'DEVICE_PROPERTIES_MOCK': <{'MOCK_COMPUTE': <true>}>}"), NULL, NULL,
      NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (number_of_parts (imported), ==, 3);
  g_assert_cmpuint (axon_compiled_model_get_n_inputs (imported), ==, 1);
  assert_same_outputs (imported, model, 1e-6);
}

static void
a_cancelled_cut_model_runs_again (void)
{
  g_autoptr (AxonModel) model = chain ();
  g_auto (GStrv) names = axon_model_get_node_names (model);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (GError) error = NULL;
  for (guint i = 0; names[i] != NULL; i++)
    axon_model_set_affinity (model, names[i], i == 1 ? "MOCK" : "CPU");
  compiled = compile (model, "HETERO", "{'DEVICE_PROPERTIES_MOCK': <{'MOCK_STALL_AT': <'0'>}>}");
  r = axon_compiled_model_create_infer_request (compiled);
  g_object_unref (axon_compiled_model_create_infer_request (compiled));
  axon_tensor_unref (axon_infer_request_get_input_tensor (r, 0));
  g_assert_cmpuint (test_cancel_until_it_ends (r), >, 0);
  g_assert_true (axon_infer_request_infer (r, &error));
}

static void
boundary_memory_is_used_again (void)
{
  g_autoptr (AxonModel) model = ball ();
  g_autoptr (AxonCompiledModel) compiled =
      compile (model, "HETERO:TEMPLATE,CPU",
               "{'DEVICE_PROPERTIES_TEMPLATE': <{'QUERY_MODEL_RATIO': <0.5>}>}");
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  gpointer last = NULL;
  axon_tensor_unref (axon_infer_request_get_input_tensor (r, 0));
  for (guint i = 0; i < 3; i++) {
    g_autoptr (AxonTensor) out = NULL;
    g_assert_true (axon_infer_request_infer (r, NULL));
    out = axon_infer_request_get_output_tensor (r, 0);
    g_assert_true (last == NULL || last == axon_tensor_get_data (out));
    last = axon_tensor_get_data (out);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/hetero/" #name, name)
  ADD (two_hundred_random_cuts_give_the_results_of_one_device);
  ADD (inputs_and_constants_may_be_outputs_of_a_cut_model);
  ADD (nodes_go_to_the_first_device_that_takes_them);
  ADD (a_node_that_no_device_takes_is_named_with_every_reason);
  ADD (missing_affinities_are_completed_from_the_priorities);
  ADD (a_share_of_the_constants_cuts_a_model_in_two);
  ADD (profiling_names_the_part);
  ADD (an_exported_cut_model_runs_after_import);
  ADD (a_cancelled_cut_model_runs_again);
  ADD (boundary_memory_is_used_again);
  return g_test_run ();
}
