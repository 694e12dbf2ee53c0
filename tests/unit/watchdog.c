/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device that does not return: an error in its time, and the application goes on. */
#include "axontest.h"

#include <string.h>

static AxonCore *
core_with_mock (void)
{
  AxonCore *core = axon_core_new ();
  g_assert_true (axon_core_register_plugin (core, SUPPORT_DIR "/libaxon-mock.so", "HANGS", NULL));
  return core;
}

static AxonCompiledModel *
compile (AxonCore *core, const gchar *device, const gchar *config, GError **error)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  return axon_core_compile_model (core, model, device, g_variant_new_parsed (config), NULL, NULL,
                                  NULL, error);
}

/* A request whose input is memory of the application, which it frees: @memory. */
static AxonInferRequest *
request_of (AxonCompiledModel *compiled, gfloat **memory)
{
  AxonInferRequest *request = axon_compiled_model_create_infer_request (compiled);
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) x = NULL;
  *memory = g_memdup2 ((gfloat[]){ -1, 2, -3, 4 }, 4 * sizeof **memory);
  x = axon_tensor_new_wrapped (AXON_DTYPE_F32, &shape, *memory, 4 * sizeof **memory, NULL, NULL,
                               NULL);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, NULL));
  return request;
}

static void
a_device_that_does_not_return_is_an_error_and_is_not_used_until_it_does (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled =
      compile (core, "HANGS",
               "{'INFERENCE_TIMEOUT': <50>, 'MOCK_HANG_AT': <0>, 'MOCK_HANG_MS': <1000>}", &error);
  gfloat *memory, *more;
  g_autoptr (AxonInferRequest) request = request_of (compiled, &memory);
  g_autoptr (AxonInferRequest) other = request_of (compiled, &more);
  gboolean alive = FALSE;
  g_assert_false (axon_infer_request_infer (request, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "INFERENCE_TIMEOUT"));
  g_clear_error (&error);
  g_free (memory); /* while the device reads its input */
  g_assert_false (axon_infer_request_infer (other, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "is not used"));
  g_clear_error (&error);
  g_assert_null (compile (core, "HANGS", "@a{sv} {}", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  while (!alive) { /* a second later */
    g_usleep (10000);
    alive = axon_infer_request_infer (other, NULL);
  }
  g_free (more);
}

/* What is given up keeps its memory, and lets go of it at last. */
static void
what_a_call_that_was_abandoned_holds_goes_when_it_returns (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (AxonCompiledModel) compiled =
      compile (core, "HANGS",
               "{'INFERENCE_TIMEOUT': <50>, 'MOCK_HANG_AT': <0>, 'MOCK_HANG_MS': <500>}", NULL);
  gfloat *memory;
  gpointer watched = compiled;
  AxonInferRequest *request = request_of (compiled, &memory);
  g_object_add_weak_pointer (G_OBJECT (compiled), &watched);
  g_assert_false (axon_infer_request_infer (request, NULL));
  g_object_unref (request);
  g_clear_object (&compiled);
  g_assert_nonnull (g_atomic_pointer_get (&watched));
  while (g_atomic_pointer_get (&watched) != NULL)
    g_usleep (1000);
  g_free (memory);
}

static void
a_run_that_is_cancelled_ends_though_its_device_hangs (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled =
      compile (core, "HANGS", "{'INFERENCE_TIMEOUT': <600000>, 'MOCK_HANG_AT': <0>}", &error);
  gfloat *memory;
  g_autoptr (AxonInferRequest) request = request_of (compiled, &memory);
  g_assert_true (axon_infer_request_start_async (request, &error));
  g_usleep (20000);
  axon_infer_request_cancel (request);
  g_assert_false (axon_infer_request_wait (request, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_CANCELLED);
  g_free (memory);
}

/* One stream: the second run waits behind the first, and is told, too. */
static void
runs_that_wait_behind_one_that_hangs_end_with_it (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (AxonCompiledModel) compiled = compile (
      core, "HANGS", "{'INFERENCE_TIMEOUT': <50>, 'MOCK_HANG_AT': <0>, 'NUM_STREAMS': <1>}", NULL);
  gfloat *memory[2];
  AxonInferRequest *requests[2];
  for (guint i = 0; i < 2; i++) {
    requests[i] = request_of (compiled, &memory[i]);
    g_assert_true (axon_infer_request_start_async (requests[i], NULL));
  }
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (axon_infer_request_wait (requests[i], &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
    g_object_unref (requests[i]);
    g_free (memory[i]);
  }
}

/* Each run takes a third of the time: all of them together take more, and none is late. */
static void
runs_that_wait_for_their_turn_are_not_late (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (AxonCompiledModel) compiled =
      compile (core, "HANGS",
               "{'INFERENCE_TIMEOUT': <3000>, 'MOCK_LATENCY': <600>, 'NUM_STREAMS': <1>}", NULL);
  gfloat *memory[7];
  AxonInferRequest *requests[7];
  for (guint i = 0; i < G_N_ELEMENTS (requests); i++) {
    requests[i] = request_of (compiled, &memory[i]);
    g_assert_true (axon_infer_request_start_async (requests[i], NULL));
  }
  for (guint i = 0; i < G_N_ELEMENTS (requests); i++) {
    g_autoptr (GError) error = NULL;
    axon_infer_request_wait (requests[i], &error);
    g_assert_no_error (error);
    g_object_unref (requests[i]);
    g_free (memory[i]);
  }
}

static void
auto_goes_on_with_another_device (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = compile (
      core, "AUTO:HANGS,TEMPLATE",
      "{'INFERENCE_TIMEOUT': <50>, 'DEVICE_PROPERTIES': <{'HANGS': <{'MOCK_HANG_AT': <0>}>}>}",
      &error);
  gfloat *memory;
  g_assert_no_error (error);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (AxonInferRequest) request = request_of (compiled, &memory);
    g_autoptr (AxonTensor) y = NULL;
    axon_infer_request_infer (request, &error);
    g_assert_no_error (error);
    y = axon_infer_request_get_output_tensor (request, 0);
    g_assert_cmpfloat (axon_tensor_get_value (y, 1), ==, 2);
    g_assert_cmpfloat (axon_tensor_get_value (y, 0), ==, 0);
    g_free (memory);
  }
}

/* The parts of a model have the time that was given for all of it. */
static void
a_part_of_a_cut_model_that_hangs_is_an_error (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = compile (
      core, "HETERO:HANGS",
      "{'INFERENCE_TIMEOUT': <50>, 'DEVICE_PROPERTIES': <{'HANGS': <{'MOCK_HANG_AT': <0>}>}>}",
      &error);
  gfloat *memory;
  g_autoptr (AxonInferRequest) request = NULL;
  g_assert_no_error (error);
  request = request_of (compiled, &memory);
  g_assert_false (axon_infer_request_infer (request, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_free (memory);
}

static void
a_compile_that_does_not_return_is_an_error (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) later = NULL;
  g_assert_null (compile (core, "HANGS",
                          "{'MAX_COMPILE_TIME': <50>, 'MOCK_COMPILE_MS': <3000>, "
                          "'MOCK_HANG_COMPILE': <true>}",
                          &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "MAX_COMPILE_TIME"));
  g_clear_error (&error);
  g_assert_null (compile (core, "HANGS", "@a{sv} {}", &error));
  g_assert_nonnull (strstr (error->message, "is not used"));
  while ((later = compile (core, "HANGS", "@a{sv} {}", NULL)) == NULL) /* until it returns */
    g_usleep (10000);
}

static void
auto_compiles_on_another_device (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled =
      compile (core, "AUTO:HANGS,TEMPLATE",
               "{'DEVICE_PROPERTIES': <{'HANGS': <{'MAX_COMPILE_TIME': <'50'>, 'MOCK_COMPILE_MS': "
               "<'600000'>, 'MOCK_HANG_COMPILE': <'YES'>}>}>}",
               &error);
  g_assert_no_error (error);
  g_assert_nonnull (compiled);
}

/* Results reach memory of the application, which the device never saw. */
static void
outputs_of_the_application_are_filled_while_a_run_is_watched (void)
{
  g_autoptr (AxonCore) core = core_with_mock ();
  g_autoptr (AxonCompiledModel) compiled =
      compile (core, "TEMPLATE", "{'INFERENCE_TIMEOUT': <60000>}", NULL);
  gfloat *memory, out[4] = { 9, 9, 9, 9 };
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonInferRequest) request = request_of (compiled, &memory);
  g_autoptr (AxonTensor) y =
      axon_tensor_new_wrapped (AXON_DTYPE_F32, &shape, out, sizeof out, NULL, NULL, NULL);
  g_assert_true (axon_infer_request_set_output_tensor (request, 0, y, NULL));
  for (guint i = 0; i < 2; i++) {
    memory[1] = (gfloat)i + 5;
    g_assert_true (axon_infer_request_infer (request, NULL));
    g_assert_cmpfloat (out[0], ==, 0);
    g_assert_cmpfloat (out[1], ==, (gfloat)i + 5);
  }
  g_free (memory);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/watchdog/" #name, name)
  ADD (a_device_that_does_not_return_is_an_error_and_is_not_used_until_it_does);
  ADD (what_a_call_that_was_abandoned_holds_goes_when_it_returns);
  ADD (a_run_that_is_cancelled_ends_though_its_device_hangs);
  ADD (runs_that_wait_behind_one_that_hangs_end_with_it);
  ADD (runs_that_wait_for_their_turn_are_not_late);
  ADD (auto_goes_on_with_another_device);
  ADD (a_part_of_a_cut_model_that_hangs_is_an_error);
  ADD (a_compile_that_does_not_return_is_an_error);
  ADD (auto_compiles_on_another_device);
  ADD (outputs_of_the_application_are_filled_while_a_run_is_watched);
  return g_test_run ();
}
