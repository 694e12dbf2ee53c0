/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device REMOTE before what servers that people run have said (recorded/, by interop.sh --record):
 * what is sent today is what they took, and what they say is understood. */
#include "remotesupport.h"

#include <axon/axon-remote.h>
#include <json-glib/json-glib.h>
#include <string.h>

typedef struct {
  gchar *path;
  JsonParser *parser;
  JsonObject *root;
  InferenceServer *server;
} Recording;

static void
open_recording (Recording *r, gconstpointer file)
{
  g_autofree gchar *path =
      g_build_filename (TEST_SOURCE_ROOT, "tests", "remote", "recorded", file, NULL);
  InferenceServerOptions options = { .recording = path };
  g_autoptr (GError) error = NULL;
  r->parser = json_parser_new ();
  json_parser_load_from_file (r->parser, path, &error);
  g_assert_no_error (error);
  r->root = json_node_get_object (json_parser_get_root (r->parser));
  r->server = inference_server_new (NULL, &options);
}

static void
close_recording (Recording *r, G_GNUC_UNUSED gconstpointer file)
{
  inference_server_free (r->server);
  g_object_unref (r->parser);
}

/* Of 32-bit floats, as record.py writes them. */
static AxonTensor *
recorded_tensor (Recording *r, const gchar *member)
{
  JsonObject *object = json_object_get_object_member (r->root, member);
  JsonArray *dims = json_object_get_array_member (object, "shape");
  AxonShape shape = { .rank = (gint)json_array_get_length (dims) };
  AxonTensor *t;
  gsize n;
  g_autofree guint8 *bytes = g_base64_decode (json_object_get_string_member (object, "base64"), &n);
  g_assert_cmpstr (json_object_get_string_member (object, "datatype"), ==, "FP32");
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = json_array_get_int_element (dims, (guint)i);
  t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  g_assert_cmpuint (n, ==, axon_tensor_get_n_bytes (t));
  memcpy (axon_tensor_get_data (t), bytes, n);
  return t;
}

static GVariant *
config_for (Recording *r, const gchar *model)
{
  const gchar *transfer = json_object_get_string_member (r->root, "transfer");
  g_autofree gchar *url = inference_server_url (r->server);
  return g_variant_new_parsed ("{'URL': <%s>, 'REMOTE_MODEL': <%s>, 'BINARY_DATA': <%s>}", url,
                               model, g_str_equal (transfer, "BINARY_DATA") ? "YES" : "NO");
}

/* The model is what the server says it is: no file is needed. */
static AxonCompiledModel *
compile (Recording *r, const gchar *model, GError **error)
{
  g_autoptr (GBytes) nothing = g_bytes_new (NULL, 0);
  return axon_core_import_model (axon_core_get_default (), nothing, "REMOTE", NULL,
                                 config_for (r, model), NULL, NULL, NULL, error);
}

/* What the server said to a request that was refused: @nth of path @path. */
static const gchar *
words_of (Recording *r, const gchar *path)
{
  JsonArray *exchanges = json_object_get_array_member (r->root, "exchanges");
  const gchar *body = NULL;
  for (guint i = 0; i < json_array_get_length (exchanges); i++) {
    JsonObject *exchange = json_array_get_object_element (exchanges, i);
    JsonObject *answer = json_object_get_object_member (exchange, "answer");
    if (g_str_equal (json_object_get_string_member (exchange, "path"), path) &&
        json_object_get_int_member (answer, "status") != 200)
      body = json_object_get_string_member (answer, "body");
  }
  g_assert_nonnull (body);
  return body;
}

static void
assert_words (const GError *error, Recording *r, const gchar *path)
{
  static const gchar member[] = "{\"error\":\"";
  g_autofree gchar *url = inference_server_url (r->server);
  const gchar *words = words_of (r, path);
  g_autofree gchar *beginning = NULL;
  g_test_message ("%s", error->message);
  words += g_str_has_prefix (words, member) ? strlen (member) : 0;
  beginning = g_strndup (words, MIN (strcspn (words, "\"\\"), 40));
  g_assert_nonnull (strstr (error->message, url));
  g_assert_nonnull (strstr (error->message, beginning));
}

static void
what_is_sent_gives_the_models_result (Recording *r, G_GNUC_UNUSED gconstpointer file)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = compile (r, "m", &error);
  g_autoptr (AxonTensor) in = recorded_tensor (r, "input");
  g_autoptr (AxonTensor) expected = recorded_tensor (r, "output");
  g_autoptr (AxonTensor) out = NULL;
  g_autoptr (GVariant) way = NULL;
  g_assert_no_error (error);
  g_test_message ("%s", json_object_get_string_member (r->root, "server"));
  way = axon_compiled_model_get_property (compiled, AXON_REMOTE_TRANSFER, NULL);
  g_assert_cmpstr (g_variant_get_string (way, NULL), ==,
                   json_object_get_string_member (r->root, "transfer"));
  out = remote_run (compiled, in, NULL);
  g_assert_cmpfloat (test_largest_difference (out, expected), <, 1e-3);
}

static void
a_refused_request_is_an_error_with_the_servers_words (Recording *r,
                                                      G_GNUC_UNUSED gconstpointer file)
{
  g_autoptr (AxonCompiledModel) compiled = compile (r, "m", NULL);
  g_autoptr (AxonTensor) in = recorded_tensor (r, "input");
  g_autoptr (GError) error = NULL;
  *(gfloat *)axon_tensor_get_data (in) += 1;
  g_assert_null (remote_run (compiled, in, &error));
  assert_words (error, r, "/v2/models/m/infer");
}

static void
an_unknown_model_is_an_error_with_the_servers_words (Recording *r, G_GNUC_UNUSED gconstpointer file)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (compile (r, "unknown", &error));
  assert_words (error, r, "/v2/models/unknown/ready");
}

static void
add (const gchar *file, const gchar *name, void (*func) (Recording *, gconstpointer))
{
  g_autofree gchar *stem = g_strndup (file, strlen (file) - strlen (".json"));
  g_autofree gchar *path = g_strdup_printf ("/recorded/%s/%s", stem, name);
  g_test_add_vtable (path, sizeof (Recording), file, (GTestFixtureFunc)open_recording,
                     (GTestFixtureFunc)func, (GTestFixtureFunc)close_recording);
}

int
main (int argc, char **argv)
{
  static const gchar *const files[] = { "kserve-binary-data.json", "kserve-json.json",
                                        "mlserver-json.json", "pytriton-binary-data.json",
                                        "pytriton-json.json" };
  g_test_init (&argc, &argv, NULL);
#define ADD(name) add (files[i], #name, name)
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    ADD (what_is_sent_gives_the_models_result);
    ADD (a_refused_request_is_an_error_with_the_servers_words);
    ADD (an_unknown_model_is_an_error_with_the_servers_words);
  }
  return g_test_run ();
}
