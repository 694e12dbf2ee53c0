/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups tensors, batched, remote. */
#include "behaviour.h"

#include <string.h>

static void
wrong_tensors_are_refused_with_what_was_expected (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  AxonShape right = AXON_SHAPE (1, 8), wrong = AXON_SHAPE (1, 9);
  g_autoptr (AxonTensor) shape = behaviour_random (&wrong, 1);
  g_autoptr (AxonTensor) type = axon_tensor_new (AXON_DTYPE_I32, &right, NULL);
  AxonTensor *tensors[] = { shape, type };
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (axon_infer_request_set_input_tensor (r, 0, tensors[i], &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, "\"x\""));
    g_assert_nonnull (strstr (error->message, "f32[1,8]"));
    g_clear_error (&error);
    g_assert_false (axon_infer_request_set_output_tensor (r, 0, tensors[i], &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  }
}

static void
inference_does_not_write_to_its_input (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (2);
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonTensor) x = behaviour_random (axon_model_get_input_shape (model, 0), 9);
  g_autofree gpointer before = g_memdup2 (axon_tensor_get_data (x), axon_tensor_get_n_bytes (x));
  g_assert_true (axon_infer_request_set_input_tensor (r, 0, x, NULL));
  g_assert_true (axon_infer_request_infer (r, NULL));
  g_assert_cmpmem (before, axon_tensor_get_n_bytes (x), axon_tensor_get_data (x),
                   axon_tensor_get_n_bytes (x));
}

static void
results_are_written_to_the_users_memory (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = behaviour_request (compiled, 1);
  gfloat memory[4] = { -1, -1, -1, -1 };
  AxonShape s = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) out =
      axon_tensor_new_wrapped (AXON_DTYPE_F32, &s, memory, sizeof memory, NULL, NULL, NULL);
  g_autoptr (AxonTensor) got = NULL;
  g_assert_true (axon_infer_request_set_output_tensor (r, 0, out, NULL));
  g_assert_true (axon_infer_request_infer (r, NULL));
  behaviour_assert_result (r, model, 1);
  got = axon_infer_request_get_output_tensor (r, 0);
  g_assert_true (got == out);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (memory[i], >=, 0); /* behind a Relu */
}

static void
the_input_that_a_request_hands_out_is_the_one_it_reads (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonTensor) mine = axon_infer_request_get_input_tensor (r, 0);
  g_autoptr (AxonTensor) again = axon_infer_request_get_input_tensor (r, 0);
  g_autoptr (AxonTensor) x = behaviour_random (axon_model_get_input_shape (model, 0), 4);
  g_assert_true (mine == again);
  g_assert_true (axon_tensor_copy_to (x, mine, NULL));
  g_assert_true (axon_infer_request_infer (r, NULL));
  behaviour_assert_result (r, model, 4);
}

static void
values_written_after_binding_are_seen (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonTensor) x = behaviour_random (axon_model_get_input_shape (model, 0), 1);
  g_autoptr (AxonTensor) other = behaviour_random (axon_model_get_input_shape (model, 0), 2);
  g_assert_true (axon_infer_request_set_input_tensor (r, 0, x, NULL));
  g_assert_true (axon_infer_request_infer (r, NULL));
  g_assert_true (axon_tensor_copy_to (other, x, NULL));
  g_assert_true (axon_infer_request_infer (r, NULL));
  behaviour_assert_result (r, model, 2);
}

/* Regions of larger tensors, in and out; the rest of the output's tensor stays as it was. */
static void
regions_serve_as_input_and_output (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (2);
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  AxonShape large = AXON_SHAPE (1, 3, 20, 24), begin = AXON_SHAPE (0, 0, 2, 5);
  AxonShape size = AXON_SHAPE (1, 3, 16, 16);
  g_autoptr (AxonTensor) in = behaviour_random (&large, 1);
  g_autoptr (AxonTensor) out = behaviour_random (&large, 2);
  g_autoptr (AxonTensor) untouched = behaviour_random (&large, 2);
  g_autoptr (AxonTensor) in_region = axon_tensor_new_roi (in, &begin, &size, NULL);
  g_autoptr (AxonTensor) out_region = axon_tensor_new_roi (out, &begin, &size, NULL);
  g_autoptr (AxonTensor) dense = axon_tensor_to_host (in_region, NULL);
  g_autofree AxonTensor **expected = behaviour_reference (model, &dense);
  g_autoptr (GError) error = NULL;
  g_assert_false (axon_tensor_is_contiguous (in_region));
  axon_infer_request_set_input_tensor (r, 0, in_region, &error);
  g_assert_no_error (error);
  axon_infer_request_set_output_tensor (r, 0, out_region, &error);
  g_assert_no_error (error);
  for (guint run = 0; run < 2; run++) {
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
    behaviour_assert_close (out_region, expected[0]);
  }
  for (gsize i = 0; i < 2 * 24; i++) /* the two rows above the region */
    g_assert_cmpfloat (axon_tensor_get_value (out, i), ==, axon_tensor_get_value (untouched, i));
  axon_tensor_unref (expected[0]);
}

static void
parts_of_a_batch_may_come_from_different_tensors (void)
{
  g_autoptr (AxonModel) model = behaviour_batch_model (3);
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, "a batch of 3");
  g_autoptr (AxonInferRequest) r = NULL;
  AxonShape one = AXON_SHAPE (1, 4), all = AXON_SHAPE (3, 4);
  AxonTensor *parts[3];
  g_autoptr (AxonTensor) whole = axon_tensor_new (AXON_DTYPE_F32, &all, NULL);
  g_autofree AxonTensor **expected = NULL;
  g_autoptr (AxonTensor) got = NULL;
  g_autoptr (GError) error = NULL;
  if (compiled == NULL)
    return;
  r = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < 3; i++) {
    parts[i] = behaviour_random (&one, i);
    memcpy ((gfloat *)axon_tensor_get_data (whole) + 4 * i, axon_tensor_get_data (parts[i]), 16);
  }
  expected = behaviour_reference (model, &whole);
  axon_infer_request_set_input_tensors (r, 0, parts, 3, &error);
  g_assert_no_error (error);
  g_assert_null (axon_infer_request_get_input_tensor (r, 0)); /* there is not one tensor */
  for (guint run = 0; run < 2; run++) {
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
    g_clear_pointer (&got, axon_tensor_unref);
    got = axon_infer_request_get_output_tensor (r, 0);
    behaviour_assert_close (got, expected[0]);
  }
  g_assert_true (axon_infer_request_set_input_tensor (r, 0, whole, NULL)); /* replaces them */
  g_assert_true (axon_infer_request_infer (r, NULL));
  for (guint i = 0; i < 3; i++)
    axon_tensor_unref (parts[i]);
  axon_tensor_unref (expected[0]);
}

static void
parts_that_do_not_make_the_batch_are_refused (void)
{
  g_autoptr (AxonModel) model = behaviour_batch_model (3);
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, "a batch of 3");
  g_autoptr (AxonInferRequest) r = NULL;
  AxonShape one = AXON_SHAPE (1, 4), two = AXON_SHAPE (2, 4), wide = AXON_SHAPE (1, 5);
  AxonTensor *right, *many, *wrong, *typed;
  if (compiled == NULL)
    return;
  r = axon_compiled_model_create_infer_request (compiled);
  right = behaviour_random (&one, 1);
  many = behaviour_random (&two, 1);
  wrong = behaviour_random (&wide, 1);
  typed = axon_tensor_new (AXON_DTYPE_I32, &one, NULL);
  AxonTensor *sets[][3] = { { right, right, many },
                            { right, right, wrong },
                            { right, right, typed } };
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (axon_infer_request_set_input_tensors (r, 0, sets[i], 3, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  }
  g_assert_false (axon_infer_request_set_input_tensors (r, 0, sets[0], 2, NULL));
  g_assert_false (axon_infer_request_set_input_tensors (r, 0, sets[0], 0, NULL));
  axon_tensor_unref (right);
  axon_tensor_unref (many);
  axon_tensor_unref (wrong);
  axon_tensor_unref (typed);
}

static AxonRemoteContext *
default_context (void)
{
  g_autoptr (GError) error = NULL;
  AxonRemoteContext *context =
      behaviour_is_virtual
          ? NULL
          : axon_core_get_default_context (behaviour_core (), behaviour_device, &error);
  if (context == NULL)
    g_test_skip_printf ("%s shares no memory", behaviour_device);
  return context;
}

/* I7 */
static void
a_remote_tensor_has_no_address_and_can_be_copied (void)
{
  g_autoptr (AxonRemoteContext) context = default_context ();
  g_autoptr (AxonTensor) remote = NULL;
  g_autoptr (AxonTensor) host = NULL;
  AxonShape s = AXON_SHAPE (2, 6), begin = AXON_SHAPE (1, 2), size = AXON_SHAPE (1, 3);
  g_autoptr (AxonTensor) x = behaviour_random (&s, 1);
  g_autoptr (AxonTensor) region = NULL;
  g_autoptr (GError) error = NULL;
  if (context == NULL)
    return;
  g_assert_true (g_str_has_prefix (axon_remote_context_get_device_name (context), behaviour_name));
  remote = axon_remote_context_create_tensor (context, AXON_DTYPE_F32, &s, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (axon_tensor_get_data (remote));
  g_assert_true (axon_tensor_is_remote (remote));
  g_assert_true (axon_remote_context_of_tensor (remote) == context);
  axon_tensor_copy_to (x, remote, &error);
  g_assert_no_error (error);
  host = axon_tensor_to_host (remote, &error);
  g_assert_no_error (error);
  behaviour_assert_close (host, x);
  region = axon_tensor_new_roi (remote, &begin, &size, NULL);
  g_clear_pointer (&host, axon_tensor_unref);
  host = axon_tensor_to_host (region, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (axon_tensor_get_value (host, i), ==, axon_tensor_get_value (x, 8 + i));
}

/* P19 */
static void
remote_tensors_serve_as_input_and_output (void)
{
  g_autoptr (AxonRemoteContext) context = default_context ();
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonRemoteContext) of_model = NULL;
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (AxonTensor) in = NULL;
  g_autoptr (AxonTensor) out = NULL;
  g_autoptr (AxonTensor) host = NULL;
  g_autoptr (AxonTensor) x = behaviour_random (axon_model_get_input_shape (model, 0), 1);
  g_autofree AxonTensor **expected = behaviour_reference (model, &x);
  g_autoptr (GError) error = NULL;
  if (context != NULL) {
    compiled = axon_core_compile_model_with_context (behaviour_core (), model, context,
                                                     behaviour_config (), NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    of_model = axon_compiled_model_get_context (compiled, &error);
    g_assert_true (of_model == context);
    r = axon_compiled_model_create_infer_request (compiled);
    in = axon_remote_context_create_tensor (context, AXON_DTYPE_F32,
                                            axon_model_get_input_shape (model, 0), NULL, NULL);
    out = axon_remote_context_create_tensor (context, AXON_DTYPE_F32,
                                             axon_model_get_output_shape (model, 0), NULL, NULL);
    g_assert_true (axon_tensor_copy_to (x, in, NULL));
    axon_infer_request_set_input_tensor (r, 0, in, &error);
    g_assert_no_error (error);
    axon_infer_request_set_output_tensor (r, 0, out, &error);
    g_assert_no_error (error);
    axon_infer_request_infer (r, &error);
    g_assert_no_error (error);
    host = axon_tensor_to_host (out, NULL);
    behaviour_assert_close (host, expected[0]);
  }
  axon_tensor_unref (expected[0]);
}

/* I6 */
static void
an_import_may_bring_a_context (void)
{
  g_autoptr (AxonRemoteContext) context = default_context ();
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonCompiledModel) imported = NULL;
  g_autoptr (AxonRemoteContext) of_model = NULL;
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  if (context == NULL || !behaviour_can_export ())
    return;
  compiled = behaviour_compile (model, NULL);
  g_assert_true (axon_compiled_model_export (compiled, stream, NULL, NULL));
  g_output_stream_close (stream, NULL, NULL);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  imported = axon_core_import_model (behaviour_core (), bytes, behaviour_device, context,
                                     behaviour_config (), NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  of_model = axon_compiled_model_get_context (imported, NULL);
  g_assert_true (of_model == context);
}

static void
a_context_echoes_its_parameters (void)
{
  g_autoptr (AxonRemoteContext) known = default_context ();
  g_autoptr (AxonRemoteContext) context = NULL;
  g_autoptr (GVariant) given = NULL;
  g_autoptr (GVariant) params = NULL;
  g_autoptr (GError) error = NULL;
  if (known == NULL)
    return;
  given = axon_remote_context_get_params (known);
  context = axon_core_create_context (behaviour_core (), behaviour_device, given, &error);
  g_assert_no_error (error);
  params = axon_remote_context_get_params (context);
  g_assert_true (g_variant_is_of_type (params, G_VARIANT_TYPE_VARDICT));
}

void
behaviour_add_tensors (void)
{
  BEHAVIOUR_ADD ("tensors", wrong_tensors_are_refused_with_what_was_expected);
  BEHAVIOUR_ADD ("tensors", inference_does_not_write_to_its_input);
  BEHAVIOUR_ADD ("tensors", results_are_written_to_the_users_memory);
  BEHAVIOUR_ADD ("tensors", the_input_that_a_request_hands_out_is_the_one_it_reads);
  BEHAVIOUR_ADD ("tensors", values_written_after_binding_are_seen);
  BEHAVIOUR_ADD ("tensors", regions_serve_as_input_and_output);
  BEHAVIOUR_ADD ("batched", parts_of_a_batch_may_come_from_different_tensors);
  BEHAVIOUR_ADD ("batched", parts_that_do_not_make_the_batch_are_refused);
  BEHAVIOUR_ADD ("remote", a_remote_tensor_has_no_address_and_can_be_copied);
  BEHAVIOUR_ADD ("remote", remote_tensors_serve_as_input_and_output);
  BEHAVIOUR_ADD ("remote", an_import_may_bring_a_context);
  BEHAVIOUR_ADD ("remote", a_context_echoes_its_parameters);
}
