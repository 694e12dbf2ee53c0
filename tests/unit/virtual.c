/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices MULTI, AUTO and BATCH, mostly before mock devices. */
#include "axontest.h"

#include <string.h>

static AxonCompiledModel *
try_compile (AxonModel *model, const gchar *device, const gchar *config, GError **error)
{
  return axon_core_compile_model (axon_core_get_default (), model, device,
                                  config ? g_variant_new_parsed (config) : NULL, NULL, NULL, NULL,
                                  error);
}

static AxonCompiledModel *
compile (const gchar *device, const gchar *config)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled = try_compile (model, device, config, &error);
  g_assert_no_error (error);
  return compiled;
}

static gchar *
property (AxonCompiledModel *compiled, const gchar *key)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) value = axon_compiled_model_get_property (compiled, key, &error);
  g_assert_no_error (error);
  return g_variant_print (value, FALSE);
}

static void
assert_property (AxonCompiledModel *compiled, const gchar *key, const gchar *expected)
{
  g_autofree gchar *text = property (compiled, key);
  g_assert_cmpstr (text, ==, expected);
}

/* Many requests at once, each with its own input; every result must be its own. */
static void
run_many (AxonCompiledModel *compiled, guint n_requests, guint n_rounds)
{
  AxonShape s = AXON_SHAPE (1, 4);
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < n_requests; i++) {
    g_ptr_array_add (requests, axon_compiled_model_create_infer_request (compiled));
    g_ptr_array_add (inputs, test_random (&s, i));
    axon_infer_request_set_input_tensor (requests->pdata[i], 0, inputs->pdata[i], &error);
    g_assert_no_error (error);
  }
  for (guint round = 0; round < n_rounds; round++) {
    for (guint i = 0; i < n_requests; i++) {
      axon_infer_request_start_async (requests->pdata[i], &error);
      g_assert_no_error (error);
    }
    for (guint i = 0; i < n_requests; i++) {
      g_autoptr (AxonTensor) out = NULL;
      axon_infer_request_wait (requests->pdata[i], &error);
      g_assert_no_error (error);
      out = axon_infer_request_get_output_tensor (requests->pdata[i], 0);
      for (gsize k = 0; k < 4; k++)
        g_assert_cmpfloat (axon_tensor_get_value (out, k), ==,
                           MAX (axon_tensor_get_value (inputs->pdata[i], k), 0));
    }
  }
}

#define MOCK "'MOCK_COMPUTE': <true>, 'MOCK_JITTER': <'3'>"

static void
multi_gives_every_request_its_own_result (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("MULTI:MOCK(3),CPU(2),TEMPLATE", "{'DEVICE_PROPERTIES_MOCK': <{" MOCK "}>}");
  assert_property (compiled, "EXECUTION_DEVICES", "['MOCK', 'CPU', 'TEMPLATE']");
  assert_property (compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", "6");
  run_many (compiled, 16, 20);
}

static void
multi_by_round_robin_uses_every_device (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("MULTI:CPU,TEMPLATE", "{'SCHEDULE_POLICY': <'ROUND_ROBIN'>}");
  g_autoptr (GVariant) shares = NULL;
  gdouble cpu = 0, template = 0;
  run_many (compiled, 8, 20);
  shares = axon_compiled_model_get_property (compiled, "DEVICE_SHARES", NULL);
  g_variant_lookup (shares, "CPU", "d", &cpu);
  g_variant_lookup (shares, "TEMPLATE", "d", &template);
  g_assert_cmpfloat (cpu, >, 0);
  g_assert_cmpfloat (template, >, 0);
  g_assert_cmpfloat_with_epsilon (cpu + template, 1, 1e-9);
}

static void
multi_leaves_out_a_device_that_cannot_compile (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("MULTI:MOCK,CPU", "{'DEVICE_PROPERTIES_MOCK': <{'MOCK_FAIL_COMPILE': <true>}>}");
  assert_property (compiled, "EXECUTION_DEVICES", "['CPU']");
  run_many (compiled, 4, 3);
}

static void
multi_moves_requests_away_from_a_device_that_fails (void)
{
  g_autoptr (AxonCompiledModel) compiled = compile (
      "MULTI:MOCK,CPU", "{'DEVICE_PROPERTIES_MOCK': <{" MOCK ", 'MOCK_FAIL_FROM': <'5'>}>}");
  run_many (compiled, 8, 5);
  assert_property (compiled, "EXECUTION_DEVICES", "['CPU']");
}

static void
multi_says_what_every_device_said_when_none_compiles (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_assert_null (
      try_compile (model, "MULTI:MOCK.0,MOCK.1", "{'MOCK_FAIL_COMPILE': <true>}", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "MOCK.0: mock failure"));
  g_assert_nonnull (strstr (error->message, "MOCK.1: mock failure"));
}

static void
multi_wants_a_list_and_no_other_spreading_device_in_it (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  static const gchar *const wrong[] = {
    "MULTI",       "MULTI:AUTO", "MULTI:MULTI", "MULTI:CPU(0)",
    "MULTI:CPU(2", "MULTI:",     "CPU(2)",      "CPU:TEMPLATE"
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (try_compile (model, wrong[i], NULL, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  }
}

static void
bound_requests_stay_with_their_device (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("MULTI:CPU(1),TEMPLATE(1)",
               "{'DEVICE_BIND_BUFFER': <true>, 'SCHEDULE_POLICY': <'ROUND_ROBIN'>}");
  run_many (compiled, 2, 20);
}

/* A waiting request ends at once, a running one soon. */
static void
requests_of_multi_can_be_cancelled_waiting_and_running (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("MULTI:MOCK(1)", "{'MOCK_STALL_AT': <'0'>, 'MOCK_COMPUTE': <true>}");
  AxonInferRequest *r[2];
  for (guint i = 0; i < 2; i++) {
    r[i] = axon_compiled_model_create_infer_request (compiled);
    axon_tensor_unref (axon_infer_request_get_input_tensor (r[i], 0));
    g_assert_true (axon_infer_request_start_async (r[i], NULL));
  }
  for (guint i = 2; i-- > 0;) {
    g_autoptr (GError) error = NULL;
    g_usleep (5000);
    axon_infer_request_cancel (r[i]);
    g_assert_false (axon_infer_request_wait (r[i], &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_CANCELLED);
  }
  test_cancel_until_it_ends (r[1]);
  g_object_unref (r[0]);
  g_object_unref (r[1]);
}

static void
wait_for_device (AxonCompiledModel *compiled, const gchar *expected)
{
  for (guint i = 0; i < 500; i++) {
    g_autofree gchar *text = property (compiled, "EXECUTION_DEVICES");
    if (g_str_equal (text, expected))
      return;
    g_usleep (10000);
  }
  assert_property (compiled, "EXECUTION_DEVICES", expected);
}

static void
auto_runs_on_the_processor_until_the_device_is_ready (void)
{
  gint64 start = g_get_monotonic_time ();
  g_autoptr (AxonCompiledModel) compiled = compile (
      "AUTO:MOCK,CPU", "{'DEVICE_PROPERTIES_MOCK': <{" MOCK ", 'MOCK_COMPILE_MS': <'300'>}>}");
  g_assert_cmpint (g_get_monotonic_time () - start, <, 250000);
  assert_property (compiled, "EXECUTION_DEVICES", "['(CPU)']");
  run_many (compiled, 4, 3);
  wait_for_device (compiled, "['MOCK']");
  run_many (compiled, 4, 3);
}

/* The helper was compiled without what AUTO itself was told. */
static void
auto_profiles_while_the_helper_runs (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("AUTO:MOCK,CPU", "{'PERF_COUNT': <true>, 'DEVICE_PROPERTIES_MOCK': <{" MOCK
                                ", 'MOCK_COMPILE_MS': <'300'>}>}");
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GError) error = NULL;
  axon_tensor_unref (axon_infer_request_get_input_tensor (request, 0));
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (axon_infer_request_get_n_profiling (request), >, 0);
}

static void
auto_without_startup_fallback_waits_for_the_device (void)
{
  g_autoptr (AxonCompiledModel) compiled = compile (
      "AUTO:MOCK,CPU", "{'ENABLE_STARTUP_FALLBACK': <false>, 'DEVICE_PROPERTIES_MOCK': <{" MOCK
                       ", 'MOCK_COMPILE_MS': <'50'>}>}");
  assert_property (compiled, "EXECUTION_DEVICES", "['MOCK']");
}

static void
auto_takes_the_next_device_where_one_cannot_compile (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("AUTO:MOCK,TEMPLATE", "{'DEVICE_PROPERTIES_MOCK': <{'MOCK_FAIL_COMPILE': <true>}>}");
  assert_property (compiled, "EXECUTION_DEVICES", "['TEMPLATE']");
  run_many (compiled, 4, 3);
}

static void
auto_moves_on_while_running (void)
{
  g_autoptr (AxonCompiledModel) compiled = compile (
      "AUTO:MOCK,TEMPLATE", "{'DEVICE_PROPERTIES_MOCK': <{" MOCK ", 'MOCK_FAIL_FROM': <'3'>}>}");
  run_many (compiled, 6, 3);
  assert_property (compiled, "EXECUTION_DEVICES", "['TEMPLATE']");
}

static void
auto_tells_every_failure_when_running_fails_everywhere (void)
{
  g_autoptr (AxonCompiledModel) compiled = compile (
      "AUTO:MOCK.0,MOCK.1", "{'DEVICE_PROPERTIES': <{'MOCK.0': <{'MOCK_FAIL_FROM': <'0'>}>, "
                            "'MOCK.1': <{'MOCK_FAIL_COMPILE': <true>}>}>}");
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GError) error = NULL;
  axon_tensor_unref (axon_infer_request_get_input_tensor (r, 0));
  g_assert_false (axon_infer_request_infer (r, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "mock failure in run 0"));
  g_assert_nonnull (strstr (error->message, "mock failure of device"));
  g_clear_error (&error);
  g_assert_false (axon_infer_request_infer (r, &error)); /* and does not hang */
}

static void
auto_without_a_list_never_takes_a_reference_device (void)
{
  g_autoptr (AxonCompiledModel) compiled = compile ("AUTO", NULL);
  g_autoptr (AxonCompiledModel) unnamed = compile (NULL, NULL);
  assert_property (compiled, "EXECUTION_DEVICES", "['CPU']");
  assert_property (unnamed, "EXECUTION_DEVICES", "['CPU']");
}

static void
auto_leaves_out_what_is_excluded (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = compile ("AUTO:TEMPLATE,MOCK,-MOCK", NULL);
  assert_property (compiled, "EXECUTION_DEVICES", "['TEMPLATE']");
  g_assert_null (try_compile (model, "AUTO:-CPU", NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
}

static void
a_more_important_model_keeps_its_device_to_itself (void)
{
  g_autoptr (AxonCompiledModel) high = compile (
      "AUTO:TEMPLATE,CPU", "{'MODEL_PRIORITY': <'HIGH'>, 'ENABLE_STARTUP_FALLBACK': <false>}");
  g_autoptr (AxonCompiledModel) low = compile (
      "AUTO:TEMPLATE,CPU", "{'MODEL_PRIORITY': <'LOW'>, 'ENABLE_STARTUP_FALLBACK': <false>}");
  g_autoptr (AxonCompiledModel) later = NULL;
  assert_property (high, "EXECUTION_DEVICES", "['TEMPLATE']");
  assert_property (low, "EXECUTION_DEVICES", "['CPU']");
  g_clear_object (&high);
  later = compile ("AUTO:TEMPLATE,CPU",
                   "{'MODEL_PRIORITY': <'LOW'>, 'ENABLE_STARTUP_FALLBACK': <false>}");
  assert_property (later, "EXECUTION_DEVICES", "['TEMPLATE']");
}

static void
auto_for_cumulative_throughput_uses_all (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("AUTO:TEMPLATE,CPU", "{'PERFORMANCE_HINT': <'CUMULATIVE_THROUGHPUT'>}");
  assert_property (compiled, "EXECUTION_DEVICES", "['TEMPLATE', 'CPU']");
  run_many (compiled, 8, 10);
}

static void
dropping_a_model_while_auto_still_searches_is_safe (void)
{
  for (guint i = 0; i < 20; i++) {
    g_autoptr (AxonCompiledModel) compiled =
        compile ("AUTO:MOCK,CPU", "{'DEVICE_PROPERTIES_MOCK': <{'MOCK_COMPILE_MS': <'60000'>}>}");
    run_many (compiled, 1, 1);
  }
}

static void
batches_give_every_request_its_own_result (void)
{
  static const gchar *const devices[] = { "BATCH:CPU(4)", "BATCH:TEMPLATE(3)", "BATCH:CPU(1)" };
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autoptr (AxonCompiledModel) compiled = compile (devices[i], NULL);
    run_many (compiled, 16, 10);
    run_many (compiled, 1, 3); /* alone: the time runs out */
    run_many (compiled, 7, 3); /* partial batches */
  }
}

static void
the_time_of_a_batch_can_be_set_while_it_runs (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("BATCH:CPU(4)", "{'AUTO_BATCH_TIMEOUT': <'60000'>}");
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GError) error = NULL;
  gboolean done;
  assert_property (compiled, "AUTO_BATCH_TIMEOUT", "60000");
  axon_tensor_unref (axon_infer_request_get_input_tensor (r, 0));
  g_assert_true (axon_infer_request_start_async (r, NULL));
  axon_infer_request_wait_for (r, 30, &done, NULL);
  g_assert_false (done);
  g_assert_true (axon_compiled_model_set_property (compiled, "AUTO_BATCH_TIMEOUT",
                                                   g_variant_new_string ("0"), &error));
  g_assert_true (axon_infer_request_wait (r, &error));
  g_assert_false (axon_compiled_model_set_property (compiled, "AUTO_BATCH_TIMEOUT",
                                                    g_variant_new_string ("-1"), &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_clear_error (&error);
  g_assert_false (axon_compiled_model_set_property (compiled, "NETWORK_NAME",
                                                    g_variant_new_string ("x"), &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

static void
flush_runs_what_a_batch_holds_back (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("BATCH:CPU(4)", "{'AUTO_BATCH_TIMEOUT': <'60000'>}");
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  axon_tensor_unref (axon_infer_request_get_input_tensor (r, 0));
  g_assert_true (axon_infer_request_start_async (r, NULL));
  axon_compiled_model_flush (compiled);
  g_assert_true (axon_infer_request_wait (r, NULL));
}

static void
a_waiting_member_of_a_batch_can_be_cancelled (void)
{
  g_autoptr (AxonCompiledModel) compiled =
      compile ("BATCH:CPU(4)", "{'AUTO_BATCH_TIMEOUT': <'60000'>}");
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GError) error = NULL;
  axon_tensor_unref (axon_infer_request_get_input_tensor (r, 0));
  g_assert_true (axon_infer_request_start_async (r, NULL));
  axon_infer_request_cancel (r);
  g_assert_false (axon_infer_request_wait (r, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_CANCELLED);
}

static void
a_model_that_no_batch_fits_says_which_port (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (2, 4);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (GError) error = NULL;
  g_assert_null (try_compile (model, "BATCH:CPU(4)", NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "input \"x\" of shape [2,4]"));
}

static void
inputs_of_one_shape_run_as_one_batch (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1, -1);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = try_compile (model, "BATCH:CPU(3)", NULL, &error);
  AxonInferRequest *r[12];
  AxonTensor *in[12];
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (r); i++) {
    s.dims[1] = 3 + i * 7 % 4;
    in[i] = test_random (&s, i);
    r[i] = axon_compiled_model_create_infer_request (compiled);
    g_assert_true (axon_infer_request_set_input_tensor (r[i], 0, in[i], NULL));
    g_assert_true (axon_infer_request_start_async (r[i], NULL));
  }
  for (guint i = 0; i < G_N_ELEMENTS (r); i++) {
    g_autoptr (AxonTensor) out = NULL;
    axon_infer_request_wait (r[i], &error);
    g_assert_no_error (error);
    out = axon_infer_request_get_output_tensor (r[i], 0);
    g_assert_true (axon_shape_equal (axon_tensor_get_shape (out), axon_tensor_get_shape (in[i])));
    for (gsize k = 0; k < axon_tensor_get_numel (out); k++)
      g_assert_cmpfloat (axon_tensor_get_value (out, k), ==,
                         MAX (axon_tensor_get_value (in[i], k), 0));
    axon_tensor_unref (in[i]);
    g_object_unref (r[i]);
  }
}

/* Models that begin with a frame: every member of a batch brings a frame of its own. */
static void
frames_of_different_sizes_run_as_one_batch (void)
{
  g_autofree gchar *path = test_ball_model ();
  AxonCore *core = axon_core_get_default ();
  g_autoptr (AxonModel) model = axon_core_read_model (core, path, NULL, NULL);
  g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
  g_autoptr (AxonModel) full = axon_preprocess_build (pp, model, 0, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) batch = try_compile (full, "BATCH:CPU(3)", NULL, &error);
  g_autoptr (AxonCompiledModel) plain = try_compile (full, "CPU", NULL, &error);
  AxonInferRequest *r[3], *p = axon_compiled_model_create_infer_request (plain);
  g_assert_no_error (error);
  for (guint i = 0; i < 3; i++) {
    r[i] = axon_compiled_model_create_infer_request (batch);
    test_bind_frame (r[i], 40 + 8 * (gint)i, 30, i);
    g_assert_true (axon_infer_request_start_async (r[i], NULL));
  }
  for (guint i = 0; i < 3; i++) {
    g_autoptr (AxonTensor) got = NULL;
    g_autoptr (AxonTensor) expected = NULL;
    axon_infer_request_wait (r[i], &error);
    g_assert_no_error (error);
    test_bind_frame (p, 40 + 8 * (gint)i, 30, i);
    g_assert_true (axon_infer_request_infer (p, NULL));
    got = axon_infer_request_get_output_tensor (r[i], 0);
    expected = axon_infer_request_get_output_tensor (p, 0);
    g_assert_cmpfloat (test_largest_difference (got, expected), <, 1e-4);
    g_object_unref (r[i]);
  }
  g_object_unref (p);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/virtual/" #name, name)
  ADD (multi_gives_every_request_its_own_result);
  ADD (multi_by_round_robin_uses_every_device);
  ADD (multi_leaves_out_a_device_that_cannot_compile);
  ADD (multi_moves_requests_away_from_a_device_that_fails);
  ADD (multi_says_what_every_device_said_when_none_compiles);
  ADD (multi_wants_a_list_and_no_other_spreading_device_in_it);
  ADD (bound_requests_stay_with_their_device);
  ADD (requests_of_multi_can_be_cancelled_waiting_and_running);
  ADD (auto_runs_on_the_processor_until_the_device_is_ready);
  ADD (auto_profiles_while_the_helper_runs);
  ADD (auto_without_startup_fallback_waits_for_the_device);
  ADD (auto_takes_the_next_device_where_one_cannot_compile);
  ADD (auto_moves_on_while_running);
  ADD (auto_tells_every_failure_when_running_fails_everywhere);
  ADD (auto_without_a_list_never_takes_a_reference_device);
  ADD (auto_leaves_out_what_is_excluded);
  ADD (a_more_important_model_keeps_its_device_to_itself);
  ADD (auto_for_cumulative_throughput_uses_all);
  ADD (dropping_a_model_while_auto_still_searches_is_safe);
  ADD (batches_give_every_request_its_own_result);
  ADD (the_time_of_a_batch_can_be_set_while_it_runs);
  ADD (flush_runs_what_a_batch_holds_back);
  ADD (a_waiting_member_of_a_batch_can_be_cancelled);
  ADD (a_model_that_no_batch_fits_says_which_port);
  ADD (inputs_of_one_shape_run_as_one_batch);
  ADD (frames_of_different_sizes_run_as_one_batch);
  return g_test_run ();
}
