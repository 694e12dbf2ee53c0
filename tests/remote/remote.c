/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device REMOTE before a server that behaves. */
#include "remotesupport.h"

#include <axon/axon-remote.h>
#include <string.h>

#define BINARY "\"binary_tensor_data\""
#define SHARED BINARY ",\"system_shared_memory\""

/* Every type that the protocol has goes there and comes back as it is. */
static AxonModel *
identity_model (void)
{
  static const AxonDType dtypes[] = { AXON_DTYPE_F32, AXON_DTYPE_U8,   AXON_DTYPE_I8,
                                      AXON_DTYPE_U16, AXON_DTYPE_I16,  AXON_DTYPE_I32,
                                      AXON_DTYPE_I64, AXON_DTYPE_BOOL, AXON_DTYPE_F16,
                                      AXON_DTYPE_F64, AXON_DTYPE_U32,  AXON_DTYPE_U64,
                                      AXON_DTYPE_BF16 };
  TestModel t = test_model_new (16);
  AxonShape shape = AXON_SHAPE (-1, 3);
  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++) {
    g_autofree gchar *name = g_strdup_printf ("in_%s", axon_dtype_get_name (dtypes[i]));
    AxonValue *x = test_model_input (&t, name, dtypes[i], &shape);
    axon_model_add_output (t.model, test_model_node (&t, "Identity", 1, x)->outputs[0]);
  }
  g_assert_true (axon_model_infer_shapes (t.model, NULL));
  return t.model;
}

static AxonTensor *
numbers (AxonDType dtype, gint64 batch)
{
  AxonShape shape = AXON_SHAPE (batch, 3);
  AxonTensor *t = axon_tensor_new (dtype, &shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    axon_dtype_store (dtype, axon_tensor_get_data (t), i,
                      dtype == AXON_DTYPE_BOOL ? i % 2 : (gdouble)(i * 7 % 100));
  return t;
}

static void
check_all_types (const gchar *extensions, const gchar *transfer, const gchar *more)
{
  g_autoptr (AxonModel) model = identity_model ();
  InferenceServerOptions options = { .extensions = extensions };
  InferenceServer *server = inference_server_new (model, &options);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, more);
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GVariant) way =
      axon_compiled_model_get_property (compiled, AXON_REMOTE_TRANSFER, NULL);
  g_autoptr (GError) error = NULL;
  g_assert_cmpstr (g_variant_get_string (way, NULL), ==, transfer);
  for (gint64 batch = 1; batch < 4; batch++) {
    for (guint i = 0; i < axon_model_get_n_inputs (model); i++) {
      g_autoptr (AxonTensor) t = numbers (axon_model_get_input_dtype (model, i), batch);
      axon_infer_request_set_input_tensor (request, i, t, &error);
      g_assert_no_error (error);
    }
    axon_infer_request_infer (request, &error);
    g_assert_no_error (error);
    for (guint i = 0; i < axon_model_get_n_inputs (model); i++) {
      g_autoptr (AxonTensor) in = axon_infer_request_get_input_tensor (request, i);
      g_autoptr (AxonTensor) out = axon_infer_request_get_output_tensor (request, i);
      g_assert_cmpmem (axon_tensor_get_data (in), axon_tensor_get_n_bytes (in),
                       axon_tensor_get_data (out), axon_tensor_get_n_bytes (out));
    }
  }
  inference_server_free (server);
}

static void
every_type_and_any_batch_travel_as_bytes (void)
{
  check_all_types (BINARY, "BINARY_DATA", "");
}

static void
every_type_and_any_batch_travel_as_json (void)
{
  check_all_types (NULL, "JSON", "");
}

static void
every_type_and_any_batch_travel_compressed (void)
{
  check_all_types (BINARY, "BINARY_DATA", "'COMPRESSION': <'GZIP'>,");
}

static void
strings_travel_as_bytes_and_as_json (void)
{
  static const gchar *const extensions[] = { BINARY, NULL };
  static const gchar *const words[] = { "", "K\xc3\xb6ln", "a much longer text" };
  AxonShape shape = AXON_SHAPE (3);
  TestModel t = test_model_new (16);
  AxonValue *x = test_model_input (&t, "words", AXON_DTYPE_STRING, &shape);
  g_autoptr (AxonModel) model =
      test_model_finish (&t, test_model_node (&t, "Identity", 1, x)->outputs[0]);
  g_autoptr (AxonTensor) in = axon_tensor_new_strings (&shape, words, 3, NULL);
  for (guint k = 0; k < G_N_ELEMENTS (extensions); k++) {
    InferenceServerOptions options = { .extensions = extensions[k] };
    InferenceServer *server = inference_server_new (model, &options);
    g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, "");
    g_autoptr (AxonTensor) out = remote_run (compiled, in, NULL);
    for (guint i = 0; i < G_N_ELEMENTS (words); i++)
      g_assert_cmpstr (axon_tensor_get_string (out, i), ==, words[i]);
    inference_server_free (server);
  }
}

static void
tensors_of_known_size_travel_in_shared_memory (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServerOptions options = { .extensions = SHARED };
  InferenceServer *server = inference_server_new (model, &options);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, "");
  g_autoptr (GVariant) way =
      axon_compiled_model_get_property (compiled, AXON_REMOTE_TRANSFER, NULL);
  g_autofree gchar *headers = NULL;
  g_assert_cmpstr (g_variant_get_string (way, NULL), ==, "SHARED_MEMORY");
  remote_run_many (compiled, 4, 3);
  headers = inference_server_dup_headers (server);
  g_assert_null (strstr (headers, "Inference-Header-Content-Length"));
  inference_server_free (server);
}

static void
a_server_that_forgot_its_regions_gets_bytes (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServerOptions options = { .extensions = SHARED };
  InferenceServer *server = inference_server_new (model, &options);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, "");
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) in = test_random (&shape, 1);
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (GError) error = NULL;
  options.port = inference_server_port (server);
  inference_server_free (server);
  server = inference_server_new (model, &options);
  axon_infer_request_set_input_tensor (request, 0, in, NULL);
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
  g_clear_object (&request);
  g_clear_object (&compiled);
  inference_server_free (server);
}

static void
many_requests_are_on_their_way_over_few_connections (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServerOptions options = { .extensions = BINARY };
  InferenceServer *server = inference_server_new (model, &options);
  g_autoptr (AxonCompiledModel) compiled =
      remote_compile (model, "REMOTE", server, "'CONNECTIONS': <'3'>,");
  remote_run_many (compiled, 16, 8);
  g_assert_cmpuint (inference_server_get_n_connections (server), <=, 3);
  g_assert_cmpuint (inference_server_get_n_inferences (server), ==, 16 * 8);
  inference_server_free (server);
}

static void
another_model_is_refused_with_both_descriptions (void)
{
  static const struct {
    const gchar *description, *here, *there;
  } rows[] = {
    { "{\"inputs\":[{\"name\":\"pictures\",\"datatype\":\"FP32\",\"shape\":[1,4]}],"
      "\"outputs\":[{\"name\":\"o\",\"datatype\":\"FP32\",\"shape\":[1,4]}]}",
      "\"x\" f32[1,4]", "\"pictures\" f32[1,4]" },
    { "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"UINT8\",\"shape\":[1,4]}],\"outputs\":[]}",
      "\"x\" f32[1,4]", "\"x\" u8[1,4]" },
    { "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,5]}],\"outputs\":[]}",
      "\"x\" f32[1,4]", "\"x\" f32[?,5]" },
  };
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  g_autofree gchar *url = inference_server_url (server);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GVariant) config = g_variant_ref_sink (remote_config (server, ""));
    g_autoptr (GError) error = NULL;
    g_autoptr (GHashTable) reasons = NULL;
    g_autoptr (GHashTable) taken = NULL;
    inference_server_set_description (server, rows[i].description);
    g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "REMOTE", config, NULL,
                                            NULL, NULL, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
    g_assert_nonnull (strstr (error->message, url));
    g_assert_nonnull (strstr (error->message, rows[i].here));
    g_assert_nonnull (strstr (error->message, rows[i].there));
    taken = axon_core_query_model (axon_core_get_default (), model, "REMOTE", config, &reasons,
                                   NULL, NULL);
    g_assert_cmpuint (g_hash_table_size (taken), ==, 0);
    g_assert_cmpuint (g_hash_table_size (reasons), ==, axon_model_get_n_nodes (model));
  }
  inference_server_free (server);
}

static void
a_model_that_the_server_has_is_taken_whole (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  g_autoptr (GHashTable) taken = axon_core_query_model (
      axon_core_get_default (), model, "REMOTE", remote_config (server, ""), NULL, NULL, NULL);
  g_assert_cmpuint (g_hash_table_size (taken), ==, axon_model_get_n_nodes (model));
  inference_server_free (server);
}

static void
a_server_that_lists_no_ports_is_believed (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServerOptions options = { .lists_no_ports = TRUE };
  InferenceServer *server = inference_server_new (model, &options);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, "");
  remote_run_many (compiled, 2, 2);
  inference_server_free (server);
}

static void
without_a_file_the_servers_description_is_the_model (void)
{
  g_autoptr (AxonModel) model = identity_model ();
  InferenceServerOptions options = { .extensions = BINARY };
  InferenceServer *server = inference_server_new (model, &options);
  g_autoptr (GBytes) nothing = g_bytes_new (NULL, 0);
  g_autoptr (GBytes) exported = NULL;
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled =
      axon_core_import_model (axon_core_get_default (), nothing, "REMOTE", NULL,
                              remote_config (server, ""), NULL, NULL, NULL, &error);
  g_autoptr (AxonCompiledModel) again = NULL;
  g_assert_no_error (error);
  g_assert_cmpuint (axon_compiled_model_get_n_inputs (compiled), ==, 13);
  g_assert_cmpstr (axon_compiled_model_get_input_name (compiled, 1), ==, "in_u8");
  g_assert_cmpint (axon_compiled_model_get_output_dtype (compiled, 1), ==, AXON_DTYPE_U8);
  axon_compiled_model_export (compiled, stream, NULL, &error);
  g_assert_no_error (error);
  g_output_stream_close (stream, NULL, NULL);
  exported = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  again = axon_core_import_model (axon_core_get_default (), exported, NULL, NULL,
                                  remote_config (server, ""), NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (axon_compiled_model_get_input_name (again, 1), ==, "in_u8");
  inference_server_free (server);
}

static void
frames_become_tensors_here_and_only_those_are_sent (void)
{
  static const gchar *const devices[] = { "REMOTE", "BATCH:REMOTE(2)" };
  AxonShape shape = AXON_SHAPE (1, 3, 8, 8);
  TestModel t = test_model_new (16);
  AxonValue *x = test_model_input (&t, "images", AXON_DTYPE_U8, &shape);
  g_autoptr (AxonModel) model =
      test_model_finish (&t, test_model_node (&t, "Identity", 1, x)->outputs[0]);
  g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
  g_autoptr (AxonModel) frames = axon_preprocess_build (pp, model, 0, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    AxonShape free_batch = AXON_SHAPE (-1, 3, 8, 8);
    TestModel served = test_model_new (16);
    AxonValue *in = test_model_input (&served, "images", AXON_DTYPE_U8, &free_batch);
    g_autoptr (AxonModel) there =
        test_model_finish (&served, test_model_node (&served, "Identity", 1, in)->outputs[0]);
    InferenceServerOptions options = { .extensions = BINARY };
    InferenceServer *server = inference_server_new (there, &options);
    g_autoptr (AxonCompiledModel) compiled = remote_compile (frames, devices[i], server, "");
    g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
    g_autoptr (AxonCompiledModel) local = NULL;
    g_autoptr (AxonInferRequest) expected = NULL;
    g_autoptr (AxonTensor) out = NULL, out_here = NULL;
    g_autoptr (GError) error = NULL;
    local = axon_core_compile_model (axon_core_get_default (), frames, "CPU", NULL, NULL, NULL,
                                     NULL, &error);
    g_assert_no_error (error);
    expected = axon_compiled_model_create_infer_request (local);
    test_bind_frame (request, 20, 12, 7);
    test_bind_frame (expected, 20, 12, 7);
    axon_infer_request_infer (request, &error);
    g_assert_no_error (error);
    axon_infer_request_infer (expected, &error);
    g_assert_no_error (error);
    out = axon_infer_request_get_output_tensor (request, 0);
    out_here = axon_infer_request_get_output_tensor (expected, 0);
    g_assert_cmpfloat (test_largest_difference (out, out_here), ==, 0);
    inference_server_free (server);
  }
}

static void
hetero_is_refused_a_part_of_a_model_with_the_reason (void)
{
  TestModel t = test_model_new (16);
  AxonShape shape = AXON_SHAPE (1, 4);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonNode *a = test_model_node (&t, "Relu", 1, x);
  AxonNode *b = test_model_node (&t, "Neg", 1, a->outputs[0]);
  g_autoptr (AxonModel) model = test_model_finish (&t, b->outputs[0]);
  InferenceServer *server = inference_server_new (model, NULL);
  g_autoptr (GError) error = NULL;
  axon_node_set_affinity (a, "CPU");
  axon_node_set_affinity (b, "REMOTE");
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "HETERO:CPU,REMOTE",
                                          remote_config_behind (server, ""), NULL, NULL, NULL,
                                          &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "whole models only"));
  inference_server_free (server);
}

static void
two_servers_are_named_in_a_settings_file (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *one = inference_server_new (model, NULL),
                  *two = inference_server_new (model, NULL);
  g_autofree gchar *first = inference_server_url (one);
  g_autofree gchar *second = inference_server_url (two);
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  axon_core_set_property (core, "REMOTE", "REMOTE_MODEL", g_variant_new_string ("m"), &error);
  g_assert_no_error (error);
  axon_core_set_property (core, "REMOTE.0", "URL", g_variant_new_string (first), &error);
  g_assert_no_error (error);
  axon_core_set_property (core, "REMOTE.1", "URL", g_variant_new_string (second), &error);
  g_assert_no_error (error);
  compiled = axon_core_compile_model (core, model, "MULTI:REMOTE.0,REMOTE.1,CPU", NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  remote_run_many (compiled, 30, 10);
  g_assert_cmpuint (inference_server_get_n_inferences (one), >, 0);
  g_assert_cmpuint (inference_server_get_n_inferences (two), >, 0);
  g_clear_object (&compiled);
  inference_server_free (one);
  inference_server_free (two);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/remote/" #name, name)
  ADD (every_type_and_any_batch_travel_as_bytes);
  ADD (every_type_and_any_batch_travel_as_json);
  ADD (every_type_and_any_batch_travel_compressed);
  ADD (strings_travel_as_bytes_and_as_json);
  ADD (tensors_of_known_size_travel_in_shared_memory);
  ADD (a_server_that_forgot_its_regions_gets_bytes);
  ADD (many_requests_are_on_their_way_over_few_connections);
  ADD (another_model_is_refused_with_both_descriptions);
  ADD (a_model_that_the_server_has_is_taken_whole);
  ADD (a_server_that_lists_no_ports_is_believed);
  ADD (without_a_file_the_servers_description_is_the_model);
  ADD (frames_become_tensors_here_and_only_those_are_sent);
  ADD (hetero_is_refused_a_part_of_a_model_with_the_reason);
  ADD (two_servers_are_named_in_a_settings_file);
  return g_test_run ();
}
