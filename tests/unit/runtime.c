/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Core, properties, requests, on device MOCK. */
#include "axontest.h"

static AxonInferRequest *
mock_request (const gchar *first_key, ...)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  AxonShape s = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) x = test_random (&s, 1);
  GVariantDict dict;
  va_list args;
  AxonInferRequest *request;
  g_variant_dict_init (&dict, NULL);
  va_start (args, first_key);
  for (const gchar *key = first_key; key != NULL; key = va_arg (args, const gchar *))
    g_variant_dict_insert (&dict, key, "s", va_arg (args, const gchar *));
  va_end (args);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "MOCK",
                                      g_variant_dict_end (&dict), NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, &error));
  return request;
}

static void
count_call (G_GNUC_UNUSED AxonInferRequest *request, G_GNUC_UNUSED const GError *error,
            gpointer user_data)
{
  g_atomic_int_inc ((gint *)user_data);
}

static void
the_callback_is_called_once_and_wait_returns_after_it (void)
{
  g_autoptr (AxonInferRequest) r = mock_request ("MOCK_LATENCY", "5", NULL);
  g_autoptr (GError) error = NULL;
  gint calls = 0;
  axon_infer_request_set_callback (r, count_call, &calls, NULL);
  for (gint i = 1; i <= 20; i++) {
    g_assert_true (axon_infer_request_start_async (r, &error));
    g_assert_true (axon_infer_request_wait (r, &error));
    g_assert_cmpint (g_atomic_int_get (&calls), ==, i);
  }
  g_assert_true (axon_infer_request_infer (r, &error)); /* synchronous: no callback */
  g_assert_cmpint (calls, ==, 20);
}

/* Of a megabyte and more: outputs leave, are used somewhere for a while, and go. (TEMPLATE has host
 * memory of its own.) */
static void
memory_of_outputs_that_left_comes_back (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1, 300000);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", NULL, NULL, NULL, NULL, NULL);
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (AxonTensor) x = test_random (&s, 3);
  AxonTensor *left[3];
  gconstpointer first;
  if (compiled == NULL) {
    g_test_skip ("built without device CPU");
    return;
  }
  r = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (r, 0, x, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (left); i++) {
    g_assert_true (axon_infer_request_infer (r, NULL));
    left[i] = axon_infer_request_get_output_tensor (r, 0);
  }
  first = axon_tensor_get_data (left[0]);
  g_assert_true (axon_tensor_get_data (left[1]) != first);
  axon_tensor_unref (left[0]);
  g_assert_true (axon_infer_request_infer (r, NULL));
  left[0] = axon_infer_request_get_output_tensor (r, 0);
  g_assert_true (axon_tensor_get_data (left[0]) == first);
  g_clear_object (&r);
  g_clear_object (&compiled); /* what is in use goes with its tensor */
  for (guint i = 0; i < G_N_ELEMENTS (left); i++) {
    for (gsize k = 0; k < 300000; k += 1000)
      g_assert_cmpfloat (axon_tensor_get_value (left[i], k), ==,
                         MAX (axon_tensor_get_value (x, k), 0));
    axon_tensor_unref (left[i]);
  }
}

static void
a_running_request_says_busy (void)
{
  g_autoptr (AxonInferRequest) r = mock_request ("MOCK_LATENCY", "100", NULL);
  g_autoptr (GError) error = NULL;
  AxonShape s = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) x = test_random (&s, 2);
  gboolean done;
  g_assert_true (axon_infer_request_start_async (r, NULL));
  g_assert_false (axon_infer_request_start_async (r, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_false (axon_infer_request_set_input_tensor (r, 0, x, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_BUSY);
  g_assert_true (axon_infer_request_wait_for (r, 1, &done, NULL));
  g_assert_false (done);
  g_assert_true (axon_infer_request_wait (r, NULL));
}

static void
cancel_ends_a_run_that_never_ends_and_the_request_works_again (void)
{
  g_autoptr (AxonInferRequest) r = mock_request ("MOCK_STALL_AT", "0", NULL);
  g_autoptr (GError) error = NULL;
  axon_infer_request_cancel (r); /* idle: harmless */
  g_assert_cmpuint (test_cancel_until_it_ends (r), >, 0);
  g_assert_true (axon_infer_request_infer (r, &error));
}

static void
a_failed_run_tells_wait_and_the_next_works (void)
{
  g_autoptr (AxonInferRequest) r = mock_request ("MOCK_FAIL_AT", "0", NULL);
  g_autoptr (GError) error = NULL;
  g_assert_false (axon_infer_request_infer (r, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_clear_error (&error);
  g_assert_true (axon_infer_request_infer (r, &error));
}

static void
a_request_outlives_its_owner_while_it_runs (void)
{
  for (guint i = 0; i < 50; i++) {
    AxonInferRequest *r = mock_request ("MOCK_LATENCY", "1", NULL);
    g_assert_true (axon_infer_request_start_async (r, NULL));
    g_object_unref (r); /* the run holds it; its executor ends on its own thread */
  }
}

static void
an_output_that_is_held_is_not_written_again (void)
{
  g_autoptr (AxonInferRequest) r = mock_request (NULL);
  g_autoptr (AxonTensor) first = NULL;
  g_autoptr (AxonTensor) second = NULL;
  gpointer freed;
  axon_infer_request_infer (r, NULL);
  first = axon_infer_request_get_output_tensor (r, 0);
  axon_infer_request_infer (r, NULL);
  second = axon_infer_request_get_output_tensor (r, 0);
  g_assert_true (axon_tensor_get_data (first) != axon_tensor_get_data (second));
  freed = axon_tensor_get_data (second);
  g_clear_pointer (&second, axon_tensor_unref);
  axon_infer_request_infer (r, NULL);
  second = axon_infer_request_get_output_tensor (r, 0);
  g_assert_true (axon_tensor_get_data (second) == freed); /* nobody held it: used again */
}

static void
a_wrong_tensor_says_expected_and_got (void)
{
  g_autoptr (AxonInferRequest) r = mock_request (NULL);
  g_autoptr (GError) error = NULL;
  AxonShape s = AXON_SHAPE (2, 4);
  g_autoptr (AxonTensor) x = test_random (&s, 1);
  g_assert_false (axon_infer_request_set_input_tensor (r, 0, x, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==, "input \"x\": expected f32[1,4], got f32[2,4]");
}

static void
an_unknown_device_lists_what_was_searched (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (axon_core_has_device (axon_core_get_default (), "CPV", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "did you mean \"CPU\""));
  g_assert_nonnull (strstr (error->message, "searched"));
}

static void
all_wrong_properties_are_named_at_once (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  GVariant *config = g_variant_new_parsed (
      "{'NUM_STREAM': <'1'>, 'PERF_COUNT': <'maybe'>, 'FULL_DEVICE_NAME': <'x'>}");
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "CPU", config, NULL,
                                          NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "did you mean \"NUM_STREAMS\""));
  g_assert_nonnull (strstr (error->message, "expected YES or NO, got \"maybe\""));
  g_assert_nonnull (strstr (error->message, "\"FULL_DEVICE_NAME\" is read-only"));
}

/* X2, X3, X7 */
static void
every_property_can_be_read_and_every_writable_one_set_back (void)
{
  AxonCore *core = axon_core_get_default ();
  static const gchar *const devices[] = { "CPU", "TEMPLATE" };
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    guint n;
    const AxonPropertySpec *specs = axon_core_get_property_specs (core, devices[d], &n, NULL);
    for (guint i = 0; i < n; i++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) value = NULL;
      if (specs[i].flags & AXON_PROPERTY_MODEL_ONLY)
        continue;
      value = axon_core_get_property (core, devices[d], specs[i].key, &error);
      g_assert_no_error (error);
      if (specs[i].flags & AXON_PROPERTY_READ_WRITE) {
        g_autofree gchar *text = axon_property_value_to_text (&specs[i], value);
        axon_core_set_property (core, devices[d], specs[i].key, g_variant_new_string (text),
                                &error);
        g_assert_no_error (error);
      }
    }
  }
}

static void
compiling_can_be_cancelled (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_cancellable_cancel (cancellable);
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "MOCK",
                                          g_variant_new_parsed ("{'MOCK_COMPILE_MS': <'60000'>}"),
                                          cancellable, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Eight threads compile and run the same model (core_threading). */
static gpointer
compile_and_run (gpointer data)
{
  AxonShape s = AXON_SHAPE (1, 4);
  for (guint i = 0; i < 10; i++) {
    g_autoptr (AxonTensor) x = test_random (&s, i);
    g_autoptr (AxonTensor) y = test_run (data, i % 2 ? "CPU" : "TEMPLATE", NULL, x);
    for (gsize k = 0; k < 4; k++)
      g_assert_cmpfloat (axon_tensor_get_value (y, k), ==, MAX (axon_tensor_get_value (x, k), 0));
  }
  return NULL;
}

static void
eight_threads_share_a_core_and_a_model (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  GThread *threads[8];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("user", compile_and_run, model);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/runtime/" #name, name)
  ADD (the_callback_is_called_once_and_wait_returns_after_it);
  ADD (a_running_request_says_busy);
  ADD (cancel_ends_a_run_that_never_ends_and_the_request_works_again);
  ADD (a_failed_run_tells_wait_and_the_next_works);
  ADD (a_request_outlives_its_owner_while_it_runs);
  ADD (an_output_that_is_held_is_not_written_again);
  ADD (a_wrong_tensor_says_expected_and_got);
  ADD (an_unknown_device_lists_what_was_searched);
  ADD (memory_of_outputs_that_left_comes_back);
  ADD (all_wrong_properties_are_named_at_once);
  ADD (every_property_can_be_read_and_every_writable_one_set_back);
  ADD (compiling_can_be_cancelled);
  ADD (eight_threads_share_a_core_and_a_model);
  return g_test_run ();
}
