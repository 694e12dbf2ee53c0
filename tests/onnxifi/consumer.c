/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device ONNXIFI over libraries of other vendors: a broken one, Debian's dummy, and our own. */
#include "axontest.h"

#include <axon/axon-onnxifi.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static const gfloat four[] = { -1, 2, -3, 4 };

/* A folder with links to libraries, by the names that they are found by; BROKEN as said. */
typedef struct {
  gchar *folder;
  AxonCore *core;
} Place;

static void
place_add (const Place *p, const gchar *library, const gchar *name)
{
  g_autofree gchar *path = g_build_filename (p->folder, name, NULL);
  g_assert_cmpint (symlink (library, path), ==, 0);
}

static Place
place_new (const gchar *broken)
{
  Place p = { g_dir_make_tmp ("axon-XXXXXX", NULL), axon_core_new () };
  g_setenv ("AXON_ONNXIFI_PATH", p.folder, TRUE);
  g_unsetenv ("AXON_ONNXIFI_OWN");
  if (broken != NULL)
    place_add (&p, BROKEN_LIBRARY, "libonnxifi-broken.so");
  g_setenv ("BROKEN", broken ? broken : "", TRUE);
  return p;
}

static Place
place_with_own (void)
{
  Place p = place_new (NULL);
  place_add (&p, OWN_LIBRARY, "libonnxifi-axon.so");
  g_setenv ("AXON_ONNXIFI_OWN", "1", TRUE);
  return p;
}

static void
place_clear (Place *p)
{
  g_autoptr (GDir) dir = g_dir_open (p->folder, 0, NULL);
  const gchar *name;
  g_object_unref (p->core);
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (p->folder, name, NULL);
    g_remove (path);
  }
  g_rmdir (p->folder);
  g_free (p->folder);
  g_unsetenv ("BROKEN");
}

static AxonTensor *
run (const Place *p, AxonModel *model, const gchar *device, GError **error)
{
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) x = test_tensor (&shape, four);
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (AxonCompiledModel) compiled =
      axon_core_compile_model (p->core, model, device, NULL, NULL, NULL, NULL, error);
  if (compiled == NULL)
    return NULL;
  request = axon_compiled_model_create_infer_request (compiled);
  return axon_infer_request_set_input_tensor (request, 0, x, error) &&
                 axon_infer_request_infer (request, error)
             ? axon_infer_request_get_output_tensor (request, 0)
             : NULL;
}

static gchar *
metric (const Place *p, const gchar *device, const gchar *key)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) value = axon_core_get_property (p->core, device, key, &error);
  g_assert_no_error (error);
  return g_variant_dup_string (value, NULL);
}

static void
backends_of_a_library_are_devices_with_metrics (void)
{
  Place p = place_with_own ();
  g_auto (GStrv) devices = axon_core_get_available_devices (p.core);
  g_auto (GStrv) candidates = axon_core_get_candidate_devices (p.core);
  g_autofree gchar *name = metric (&p, "ONNXIFI.0", "FULL_DEVICE_NAME");
  g_autofree gchar *vendor = metric (&p, "ONNXIFI.0", AXON_ONNXIFI_VENDOR);
  g_autofree gchar *library = metric (&p, "ONNXIFI.0", AXON_ONNXIFI_LIBRARY);
  g_assert_true (g_strv_contains ((const gchar *const *)devices, "ONNXIFI.0"));
  g_assert_false (g_strv_contains ((const gchar *const *)candidates, "ONNXIFI.0"));
  g_assert_true (g_str_has_prefix (name, "Axon CPU ("));
  g_assert_true (g_str_has_prefix (vendor, "Axon "));
  g_assert_true (g_str_has_suffix (library, "/libonnxifi-axon.so"));
  place_clear (&p);
}

/* Our own library would lead back to the devices that are here anyway. */
static void
our_own_library_is_not_loaded_unless_asked_for (void)
{
  Place p = place_with_own ();
  g_autoptr (GError) error = NULL;
  g_unsetenv ("AXON_ONNXIFI_OWN");
  g_assert_false (axon_core_has_device (p.core, "ONNXIFI", &error));
  g_assert_nonnull (strstr (error->message, "no ONNXIFI backend of another vendor"));
  g_assert_nonnull (strstr (error->message, p.folder));
  place_clear (&p);
}

static void
a_model_runs_on_a_backend_of_our_own_library (void)
{
  Place p = place_with_own ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) y = run (&p, model, "ONNXIFI.0", &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (axon_tensor_get_value (y, i), ==, MAX (four[i], 0));
  place_clear (&p);
}

/* Sigmoid (Relu (x)): the one there, the other here. */
static void
hetero_gives_a_vendor_what_it_takes (void)
{
  Place p = place_with_own ();
  AxonShape shape = AXON_SHAPE (1, 4);
  TestModel t = test_model_new (13);
  AxonNode *relu =
      test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
  AxonNode *sigmoid = test_model_node (&t, "Sigmoid", 1, relu->outputs[0]);
  g_autoptr (AxonModel) model = test_model_finish (&t, sigmoid->outputs[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) y = NULL;
  g_assert_true (axon_model_set_affinity (model, relu->name, "ONNXIFI.0"));
  g_assert_true (axon_model_set_affinity (model, sigmoid->name, "CPU"));
  y = run (&p, model, "HETERO:ONNXIFI.0,CPU", &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, 0), 0.5, 1e-6);
  g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, 1), 0.880797, 1e-5);
  place_clear (&p);
}

static void
a_vendor_is_asked_about_every_operator (void)
{
  Place p = place_new ("onnxGetBackendCompatibility=0x203");
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GHashTable) taken =
      axon_core_query_model (p.core, model, "ONNXIFI", NULL, &reasons, NULL, &error);
  g_autoptr (GList) why = NULL;
  g_assert_no_error (error);
  g_assert_cmpuint (g_hash_table_size (taken), ==, 0);
  why = g_hash_table_get_values (reasons);
  g_assert_cmpstr (why->data, ==, "Copier answers UNSUPPORTED_OPERATOR");
  place_clear (&p);
}

/* Libraries that are none, lack functions or fail are left out, each with its reason. */
static void
broken_libraries_are_named_and_hide_no_other (void)
{
  Place p = place_with_own (), none = place_new ("onnxGetBackendIDs=0x406");
  g_autofree gchar *text = g_build_filename (none.folder, "libonnxifi-text.so", NULL);
  g_autofree gchar *also = g_build_filename (p.folder, "libonnxifi-also.so", NULL);
  g_autoptr (GError) error = NULL;
  g_file_set_contents (text, "no library", -1, NULL);
  g_file_set_contents (also, "no library", -1, NULL);
  place_add (&none, PLAIN_LIBRARY, "libonnxifi-plain.so");
  g_assert_false (axon_core_has_device (none.core, "ONNXIFI", &error));
  g_assert_nonnull (strstr (error->message, "INTERNAL_ERROR (0x406)"));
  g_assert_nonnull (strstr (error->message, "libonnxifi-plain.so lacks functions"));
  g_assert_nonnull (strstr (error->message, "libonnxifi-text.so"));
  g_setenv ("AXON_ONNXIFI_OWN", "1", TRUE);
  g_setenv ("AXON_ONNXIFI_PATH", p.folder, TRUE);
  g_assert_true (axon_core_has_device (p.core, "ONNXIFI.0", NULL));
  place_clear (&none);
  place_clear (&p);
}

static void
what_a_library_says_of_itself_is_not_believed (void)
{
  static const struct {
    const gchar *word;
    gboolean is_device;
  } rows[] = { { "huge", FALSE }, { "huge text", TRUE }, { "no text", TRUE } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Place p = place_new (rows[i].word);
    g_test_message ("%s", rows[i].word);
    g_assert_cmpint (axon_core_has_device (p.core, "ONNXIFI", NULL), ==, rows[i].is_device);
    if (rows[i].is_device) {
      g_autofree gchar *name = metric (&p, "ONNXIFI.0", "FULL_DEVICE_NAME");
      g_assert_true (g_utf8_validate (name, -1, NULL));
      g_assert_cmpuint (strlen (name), <, 100);
    }
    place_clear (&p);
  }
}

static const struct {
  const gchar *broken, *message;
  gint code;
} failures[] = {
  { "onnxInitBackend=0x402", "onnxInitBackend answered NO_DEVICE_MEMORY", AXON_ERROR_MEMORY },
  { "onnxInitGraph=0x404", "onnxInitGraph answered NO_DEVICE_RESOURCES", AXON_ERROR_MEMORY },
  { "onnxInitGraph=0x203", "onnxInitGraph answered UNSUPPORTED_OPERATOR", AXON_ERROR_UNSUPPORTED },
  { "onnxInitGraph=0x7777", "a status that ONNXIFI does not have (0x7777)", AXON_ERROR_DEVICE },
  { "onnxSetGraphIO=0x302", "onnxSetGraphIO answered MISMATCHING_SHAPE", AXON_ERROR_MODEL },
  { "onnxInitEvent=0x401", "onnxInitEvent answered NO_SYSTEM_MEMORY", AXON_ERROR_MEMORY },
  { "onnxRunGraph=0x405", "onnxRunGraph answered BACKEND_UNAVAILABLE", AXON_ERROR_DEVICE },
  { "onnxSignalEvent=0x109", "onnxSignalEvent answered INVALID_STATE", AXON_ERROR_DEVICE },
  { "onnxWaitEvent=0x406", "onnxWaitEvent answered INTERNAL_ERROR", AXON_ERROR_DEVICE },
};

static void
what_fails_is_an_error_and_the_next_run_works (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  for (guint i = 0; i < G_N_ELEMENTS (failures); i++) {
    Place p = place_new (failures[i].broken);
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonTensor) y = run (&p, model, "ONNXIFI.0", &error);
    g_assert_null (y);
    g_assert_error (error, AXON_ERROR, failures[i].code);
    g_assert_nonnull (strstr (error->message, failures[i].message));
    g_assert_nonnull (strstr (error->message, "libonnxifi-broken.so"));
    g_clear_error (&error);
    g_setenv ("BROKEN", "", TRUE);
    y = run (&p, model, "ONNXIFI.0", &error);
    g_assert_no_error (error);
    g_assert_cmpfloat (axon_tensor_get_value (y, 1), ==, 2);
    place_clear (&p);
  }
}

/* The library aborts where it is called from a second thread. */
static void
a_backend_that_is_not_safe_for_threads_has_one_of_its_own (void)
{
  Place p = place_new ("");
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonTensor) x = test_tensor (&shape, four);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      p.core, model, "ONNXIFI.0", g_variant_new_parsed ("{'NUM_STREAMS': <3>}"), NULL, NULL, NULL,
      &error);
  AxonInferRequest *requests[6];
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (requests); i++) {
    requests[i] = axon_compiled_model_create_infer_request (compiled);
    g_assert_true (axon_infer_request_set_input_tensor (requests[i], 0, x, &error));
    g_assert_true (axon_infer_request_start_async (requests[i], &error));
  }
  for (guint i = 0; i < G_N_ELEMENTS (requests); i++) {
    g_autoptr (AxonTensor) y = NULL;
    g_assert_true (axon_infer_request_wait (requests[i], &error));
    y = axon_infer_request_get_output_tensor (requests[i], 0);
    g_assert_cmpfloat (axon_tensor_get_value (y, 2), ==, -3);
    g_object_unref (requests[i]);
  }
  g_clear_object (&compiled);
  place_clear (&p);
}

static void
what_onnxifi_cannot_say_is_refused_with_its_reason (void)
{
  Place p = place_new ("");
  AxonShape shape = AXON_SHAPE (4), none = AXON_SHAPE (0, 4);
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "StringNormalizer", 1,
                                 test_model_input (&t, "x", AXON_DTYPE_STRING, &shape));
  g_autoptr (AxonModel) text = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonModel) empty = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (p.core, text, "ONNXIFI", NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "\"x\": ONNXIFI has no tensors of string"));
  g_clear_error (&error);
  t = test_model_new (13);
  n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &none));
  empty = test_model_finish (&t, n->outputs[0]);
  g_assert_null (
      axon_core_compile_model (p.core, empty, "ONNXIFI", NULL, NULL, NULL, NULL, &error));
  g_assert_nonnull (strstr (error->message, "\"x\": ONNXIFI has no empty tensors"));
  place_clear (&p);
}

/* It says SUCCESS to everything and does nothing. */
static void
debians_dummy_backend_is_a_device_that_does_nothing (void)
{
  Place p = place_new (NULL);
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) y = NULL;
  if (!g_file_test (DUMMY_LIBRARY, G_FILE_TEST_EXISTS)) {
    g_test_skip (DUMMY_LIBRARY " is not installed (libonnxifi)");
    place_clear (&p);
    return;
  }
  place_add (&p, DUMMY_LIBRARY, "libonnxifi-dummy.so");
  axon_core_has_device (p.core, "ONNXIFI.0", &error);
  g_assert_no_error (error);
  y = run (&p, model, "ONNXIFI.0", &error);
  g_assert_no_error (error);
  g_assert_nonnull (y);
  place_clear (&p);
}

#define ADD(test) g_test_add_func ("/consumer/" #test, test)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (backends_of_a_library_are_devices_with_metrics);
  ADD (our_own_library_is_not_loaded_unless_asked_for);
  ADD (a_model_runs_on_a_backend_of_our_own_library);
  ADD (hetero_gives_a_vendor_what_it_takes);
  ADD (a_vendor_is_asked_about_every_operator);
  ADD (broken_libraries_are_named_and_hide_no_other);
  ADD (what_a_library_says_of_itself_is_not_believed);
  ADD (what_fails_is_an_error_and_the_next_run_works);
  ADD (a_backend_that_is_not_safe_for_threads_has_one_of_its_own);
  ADD (what_onnxifi_cannot_say_is_refused_with_its_reason);
  ADD (debians_dummy_backend_is_a_device_that_does_nothing);
  return g_test_run ();
}
