/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device REMOTE before a server that is wrong: every fault is an error that names the server and
 * what it said, soon and in little memory. */
#include "remotesupport.h"

#include <axon/axon-remote.h>
#include <glib/gstdio.h>
#include <string.h>

#define BINARY "\"binary_tensor_data\""
#define MUCH (64u * 1024u * 1024u)

static gchar *
certificate (const gchar *name)
{
  return g_build_filename (TEST_SOURCE_ROOT, "tests", "remote", "certificates", name, NULL);
}

static void
every_fault_is_an_error_that_names_the_server (void)
{
  static const struct {
    Mischief mischief;
    const gchar *says;
  } rows[] = {
    { CUT_ANSWER, "" },
    { TRUNCATE_TENSOR, "bytes" },
    { ANSWER_GARBAGE, "" },
    { ANSWER_NO_JSON, "<html>a" },
    { ANSWER_DEEP_JSON, "JSON" },
    { OTHER_SHAPE, "expected f32[1,4], got [1,5]" },
    { OTHER_TYPE, "expected FP32, got UINT64" },
    { NO_OUTPUTS, "does not have it" },
    { HUGE_LENGTH, "10.0" },
    { HUGE_JSON_LENGTH, "10000000000" },
    { ENDLESS_HEADER, "" },
    { ENDLESS_BODY, "MAX_ANSWER_SIZE" },
    { HANG, "TIMEOUT" },
    { FAIL, "500 Internal Server Error: the accelerator is on fire" },
    { REDIRECT, "307" },
  };
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServerOptions options = { .extensions = BINARY };
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) in = test_random (&shape, 1);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    InferenceServer *server = inference_server_new (model, &options);
    g_autofree gchar *url = inference_server_url (server);
    g_autoptr (AxonCompiledModel) compiled =
        remote_compile (model, "REMOTE", server,
                        rows[i].mischief == HANG ? "'TIMEOUT': <'5000'>,"
                                                 : "'TIMEOUT': <'60000'>, 'RETRIES': <'1'>,");
    g_autoptr (AxonTensor) out = NULL;
    g_autoptr (GError) error = NULL;
    g_test_message ("mischief %d", rows[i].mischief);
    inference_server_set_mischief (server, rows[i].mischief);
    out = remote_run (compiled, in, &error);
    g_assert_null (out);
    g_assert_nonnull (error);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, url));
    g_assert_nonnull (strstr (error->message, rows[i].says));
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
    g_assert_null (strchr (error->message, '\x1b'));
    g_assert_cmpuint (inference_server_get_n_sent (server), <, MUCH);
    g_clear_error (&error);
    inference_server_set_mischief (server, BEHAVE); /* and goes on where the server does */
    out = remote_run (compiled, in, NULL);
    g_assert_nonnull (out);
    inference_server_free (server);
  }
}

static void
a_busy_server_is_asked_again (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, "");
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) in = test_random (&shape, 1);
  g_autoptr (AxonTensor) out = NULL;
  inference_server_set_mischief (server, BUSY_ONCE);
  out = remote_run (compiled, in, NULL);
  g_assert_cmpuint (inference_server_get_n_inferences (server), ==, 2);
  inference_server_free (server);
}

static void
after_some_failures_nothing_is_asked_for_a_while (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServerOptions options = { .port = 0 };
  InferenceServer *server = inference_server_new (model, &options);
  g_autoptr (AxonCompiledModel) compiled =
      remote_compile (model, "REMOTE", server, "'RETRIES': <'0'>,");
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) in = test_random (&shape, 1);
  gboolean refused = FALSE;
  options.port = inference_server_port (server);
  inference_server_free (server);
  for (guint i = 0; i < 12; i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (remote_run (compiled, in, &error));
    g_assert_cmpint (axon_error_get_reason (error), ==, AXON_REASON_UNREACHABLE);
    refused = refused || strstr (error->message, "not asked") != NULL;
  }
  g_assert_true (refused);
  server = inference_server_new (model, &options);
  for (refused = TRUE; refused;) {
    g_autoptr (AxonTensor) out = NULL;
    g_autoptr (GError) error = NULL;
    out = remote_run (compiled, in, &error);
    refused = out == NULL;
    if (refused)
      g_usleep (20000);
  }
  inference_server_free (server);
}

static void
a_request_that_hangs_can_be_cancelled_and_run_again (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, "");
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) in = test_random (&shape, 1);
  g_autoptr (GError) error = NULL;
  axon_infer_request_set_input_tensor (request, 0, in, NULL);
  for (guint i = 0; i < 20; i++) {
    inference_server_set_mischief (server, HANG);
    g_assert_true (axon_infer_request_start_async (request, NULL));
    g_usleep (i * 1000);
    axon_infer_request_cancel (request);
    g_assert_false (axon_infer_request_wait (request, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_CANCELLED);
    g_clear_error (&error);
    inference_server_set_mischief (server, BEHAVE);
    g_assert_true (axon_infer_request_infer (request, &error));
  }
  inference_server_free (server);
}

static void
compiling_is_an_error_that_names_a_server_that_is_not_there (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  g_autofree gchar *url = inference_server_url (server);
  g_autoptr (GVariant) config = g_variant_ref_sink (remote_config (server, "'RETRIES': <'0'>,"));
  g_autoptr (GError) error = NULL;
  inference_server_free (server);
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "REMOTE", config, NULL,
                                          NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, url));
}

static void
compile_fails (AxonModel *model, InferenceServer *server, const gchar *more, const gchar *says)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "REMOTE",
                                          remote_config (server, more), NULL, NULL, NULL, &error));
  g_assert_nonnull (error);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, says));
}

static void
descriptions_that_are_no_descriptions_are_errors (void)
{
  static const struct {
    const gchar *description, *says;
  } rows[] = {
    { "[]", "expected a JSON object" },
    { "{\"inputs\":[1]}", "ports with names" },
    { "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP1\",\"shape\":[1]}]}", "FP1" },
    { "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\"}]}", "shape" },
    { "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1,{}]}]}", "whole numbers" },
    { "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1,2,3,4,5,6,7,8,9]}]}", "8" },
    { "{\"inputs\":[{\"name\":{},\"datatype\":[],\"shape\":3}]}", "ports with names" },
  };
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    inference_server_set_description (server, rows[i].description);
    compile_fails (model, server, "", rows[i].says);
  }
  inference_server_free (server);
}

static void
a_value_that_json_cannot_carry_is_an_error (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, "");
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) in = test_tensor (&shape, (gfloat[]){ 1, 2, 1.f / 0.f, 4 });
  g_autoptr (GError) error = NULL;
  g_assert_null (remote_run (compiled, in, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "not finite"));
  inference_server_free (server);
}

static gchar *
write_token (const gchar *token)
{
  gchar *path = NULL;
  gint fd = g_file_open_tmp ("axon-token-XXXXXX", &path, NULL);
  g_close (fd, NULL);
  g_file_set_contents (path, token, -1, NULL);
  return path;
}

static void
a_token_is_read_again_when_it_is_refused (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServerOptions options = { .token = "first" };
  InferenceServer *server = inference_server_new (model, &options);
  g_autofree gchar *path = write_token ("first\n");
  g_autofree gchar *more = g_strdup_printf ("'TOKEN_FILE': <'%s'>,", path);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, more);
  g_autoptr (GError) error = NULL;
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) in = test_random (&shape, 1);
  compile_fails (model, server, "", "401");
  inference_server_set_token (server, "second");
  g_assert_null (remote_run (compiled, in, &error));
  g_assert_nonnull (strstr (error->message, "401"));
  g_assert_null (strstr (error->message, "first"));
  g_file_set_contents (path, "second\nrest\n", -1, NULL);
  remote_run_many (compiled, 2, 2);
  g_file_set_contents (path, "\n", -1, NULL);
  compile_fails (model, server, more, "no bearer's token");
  g_remove (path);
  inference_server_free (server);
}

static void
a_token_is_not_sent_in_the_clear (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (
      axon_core_get_default (), model, "REMOTE",
      g_variant_new_parsed ("{'URL': <'http://192.0.2.1'>, 'REMOTE_MODEL': <'m'>,"
                            " 'TOKEN_FILE': <'/etc/hostname'>}"),
      NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "https"));
}

static InferenceServer *
secure_server (AxonModel *model, const gchar *name, gboolean wants_certificate)
{
  g_autofree gchar *path = certificate (name);
  g_autoptr (GError) error = NULL;
  g_autoptr (GTlsCertificate) own = g_tls_certificate_new_from_file (path, &error);
  InferenceServerOptions options = { .wants_certificate = wants_certificate };
  g_assert_no_error (error);
  options.certificate = own;
  return inference_server_new (model, &options);
}

static void
a_server_is_believed_by_its_certificate (void)
{
  static const struct {
    const gchar *name, *says;
  } rows[] = { { "expired.pem", "has expired" }, { "other.pem", "for another host" } };
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autofree gchar *ca = certificate ("ca.pem");
  g_autofree gchar *trust =
      g_strdup_printf ("'CA_FILE': <'%s'>, 'RETRIES': <'0'>, 'TIMEOUT': <'120000'>,", ca);
  InferenceServer *server = secure_server (model, "server.pem", FALSE);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, trust);
  remote_run_many (compiled, 4, 2);
  compile_fails (model, server, "'RETRIES': <'0'>, 'TIMEOUT': <'120000'>,",
                 "nobody who is trusted");
  g_clear_object (&compiled);
  inference_server_free (server);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    server = secure_server (model, rows[i].name, FALSE);
    compile_fails (model, server, trust, rows[i].says);
    inference_server_free (server);
  }
}

static void
a_client_shows_its_certificate (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autofree gchar *ca = certificate ("ca.pem");
  g_autofree gchar *client = certificate ("client.pem");
  g_autofree gchar *trust =
      g_strdup_printf ("'CA_FILE': <'%s'>, 'RETRIES': <'0'>, 'TIMEOUT': <'120000'>,", ca);
  g_autofree gchar *more = g_strdup_printf ("%s 'CERTIFICATE_FILE': <'%s'>,", trust, client);
  InferenceServer *server = secure_server (model, "server.pem", TRUE);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "REMOTE", server, more);
  remote_run_many (compiled, 2, 2);
  compile_fails (model, server, trust, "https://127.0.0.1");
  g_clear_object (&compiled);
  inference_server_free (server);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/faults/" #name, name)
  ADD (every_fault_is_an_error_that_names_the_server);
  ADD (a_busy_server_is_asked_again);
  ADD (after_some_failures_nothing_is_asked_for_a_while);
  ADD (a_request_that_hangs_can_be_cancelled_and_run_again);
  ADD (compiling_is_an_error_that_names_a_server_that_is_not_there);
  ADD (descriptions_that_are_no_descriptions_are_errors);
  ADD (a_value_that_json_cannot_carry_is_an_error);
  ADD (a_token_is_read_again_when_it_is_refused);
  ADD (a_token_is_not_sent_in_the_clear);
  if (g_tls_backend_supports_tls (g_tls_backend_get_default ())) {
    ADD (a_server_is_believed_by_its_certificate);
    ADD (a_client_shows_its_certificate);
  }
  return g_test_run ();
}
