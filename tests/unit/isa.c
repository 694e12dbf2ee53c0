/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AXON_CPU_ISA and CPU_ISA of device CPU as programs see them. What is in use stays for a process,
 * so every test that uses the device has its own. */
#include "axontest.h"

#include <axon/axon-cpu.h>
#include <glib/gstdio.h>
#include <string.h>

/* TRUE in the process where the test is to be made; the other one waits for it. */
static gboolean
in_own_process (void)
{
  if (g_test_subprocess ())
    return TRUE;
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  return FALSE;
}

static gchar *
text_of (AxonCore *core, const gchar *key)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) value = axon_core_get_property (core, "CPU", key, &error);
  g_assert_no_error (error);
  return g_variant_dup_string (value, NULL);
}

static void
assert_text (const gchar *key, const gchar *expected)
{
  g_autofree gchar *text = text_of (axon_core_get_default (), key);
  g_assert_cmpstr (text, ==, expected);
}

/* What the processor has, the best last. Asking is no use of the device. */
static gchar **
available (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GVariant) value = axon_core_get_property (core, "CPU", AXON_CPU_ISA_AVAILABLE, NULL);
  return g_variant_dup_strv (value, NULL);
}

static gchar *
best (void)
{
  g_auto (GStrv) names = available ();
  return g_strdup (names[g_strv_length (names) - 1]);
}

static gchar *
listed (void)
{
  g_auto (GStrv) names = available ();
  return g_strjoinv (", ", names);
}

static gboolean
ask (AxonCore *core, const gchar *device, const gchar *level, GError **error)
{
  return axon_core_set_property (core, device, AXON_CPU_ISA, g_variant_new_string (level), error);
}

static AxonModel *
conv_model (void)
{
  TestModel t = test_model_new (13);
  AxonShape x = AXON_SHAPE (1, 8, 9, 9), w = AXON_SHAPE (20, 8, 3, 3);
  AxonNode *conv = test_model_node (&t, "Conv", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &x),
                                    test_model_random (&t, &w, 1));
  AxonNode *y = test_model_node (&t, "Softplus", 1, conv->outputs[0]);
  return test_model_finish (&t, y->outputs[0]);
}

static void
assert_right_results (void)
{
  g_autoptr (AxonModel) model = conv_model ();
  AxonShape s = AXON_SHAPE (1, 8, 9, 9);
  g_autoptr (AxonTensor) x = test_random (&s, 2);
  test_compare_devices (model, x, 1e-5);
}

/* The device is in use at @level alone. */
static void
assert_level (const gchar *level)
{
  assert_right_results ();
  assert_text (AXON_CPU_ISA, level);
  assert_text (AXON_CPU_ISA_IN_USE, level);
#if defined(__x86_64__)
  /* not every oneDNN knows of half precision */
  assert_text (AXON_CPU_ONEDNN_ISA, g_str_equal (level, "AVX512_FP16") ? "AVX512_BF16" : level);
#endif
}

/* Starts a process for every level, with its name in AXON_TEST_ISA; its name in that process. */
static const gchar *
in_a_process_for_every_level (void)
{
  g_auto (GStrv) names = NULL;
  if (g_test_subprocess ())
    return g_getenv ("AXON_TEST_ISA");
  names = available ();
  for (guint i = 0; names[i] != NULL; i++) {
    g_setenv ("AXON_TEST_ISA", names[i], TRUE);
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
  }
  return NULL;
}

static void
the_environment_limits_kernels_and_onednn (void)
{
  const gchar *level = in_a_process_for_every_level ();
  if (level == NULL)
    return;
  g_setenv ("AXON_CPU_ISA", level, TRUE);
  assert_level (level);
}

static void
the_property_limits_kernels_and_onednn (void)
{
  const gchar *level = in_a_process_for_every_level ();
  g_autoptr (GError) error = NULL;
  if (level == NULL)
    return;
  ask (axon_core_get_default (), "CPU", level, &error);
  g_assert_no_error (error);
  assert_level (level);
}

/* Before the device is there at all. */
static void
the_property_can_be_set_for_all_devices (void)
{
  const gchar *level = in_a_process_for_every_level ();
  g_autoptr (GError) error = NULL;
  if (level == NULL)
    return;
  ask (axon_core_get_default (), NULL, level, &error);
  g_assert_no_error (error);
  assert_level (level);
}

static void
the_property_wins_over_the_environment (void)
{
  const gchar *level = in_a_process_for_every_level ();
  g_autofree gchar *other = NULL;
  if (level == NULL)
    return;
  other = best ();
  g_setenv ("AXON_CPU_ISA", other, TRUE);
  g_assert_true (ask (axon_core_get_default (), "CPU", level, NULL));
  assert_level (level);
}

static void
where_nothing_is_asked_for_the_best_level_is_used (void)
{
  static const gchar *const values[] = { NULL, "" };
  g_autofree gchar *level = best ();
  if (!in_own_process ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    if (values[i] != NULL)
      g_setenv ("AXON_CPU_ISA", values[i], TRUE);
    assert_right_results ();
    assert_text (AXON_CPU_ISA, "");
    assert_text (AXON_CPU_ISA_IN_USE, level);
  }
}

static void
a_wrong_name_in_the_environment_is_an_error_and_never_ignored (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_autofree gchar *list = listed ();
  g_autofree gchar *expected = NULL;
  expected =
      g_strdup_printf ("device CPU cannot be used: AXON_CPU_ISA \"NOTHING_LIKE_IT\": expected "
                       "one of %s, or nothing for all the processor has",
                       list);
  g_setenv ("AXON_CPU_ISA", "NOTHING_LIKE_IT", TRUE);
  g_assert_null (axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==, expected);
  g_clear_error (&error);
  g_assert_false (axon_core_has_device (core, "CPU", &error));
  g_assert_cmpstr (error->message, ==, expected);
  g_unsetenv ("AXON_CPU_ISA");
  g_assert_true (axon_core_has_device (core, "CPU", NULL));
}

static void
a_wrong_name_of_the_property_is_an_error_that_lists_the_levels (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  g_autofree gchar *list = listed ();
  g_autofree gchar *before = text_of (core, AXON_CPU_ISA);
  g_autofree gchar *after = NULL;
  g_autofree gchar *expected = NULL;
  expected =
      g_strdup_printf ("device CPU: CPU_ISA \"NOTHING_LIKE_IT\": expected one of %s, or nothing "
                       "for all the processor has",
                       list);
  g_assert_false (ask (core, "CPU", "NOTHING_LIKE_IT", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==, expected);
  after = text_of (core, AXON_CPU_ISA);
  g_assert_cmpstr (after, ==, before);
}

/* The level in use is the best; another one is asked for. */
static void
assert_too_late (AxonCore *core)
{
  g_auto (GStrv) names = available ();
  g_autofree gchar *used = best ();
  g_autoptr (GError) error = NULL;
  g_autofree gchar *expected =
      g_strdup_printf ("device CPU: CPU_ISA \"%s\": too late, this process uses %s already; set it "
                       "before the first compile, import or query, or start with AXON_CPU_ISA",
                       names[0], used);
  g_assert_false (ask (core, "CPU", names[0], &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==, expected);
  g_assert_true (ask (core, "CPU", "", NULL)); /* as it is */
}

static void
after_a_compile_it_is_too_late_for_every_core (void)
{
  g_autoptr (AxonCore) core = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  if (!in_own_process ())
    return;
  core = axon_core_new ();
  model = test_relu_model ();
  compiled = axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, NULL);
  g_assert_nonnull (compiled);
  assert_too_late (core);
  assert_too_late (axon_core_get_default ());
}

static void
after_a_query_it_is_too_late (void)
{
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GHashTable) taken = NULL;
  if (!in_own_process ())
    return;
  model = test_relu_model ();
  taken = axon_core_query_model (axon_core_get_default (), model, "CPU", NULL, NULL, NULL, NULL);
  g_assert_nonnull (taken);
  assert_too_late (axon_core_get_default ());
}

static gchar *
export_path (void)
{
  return g_build_filename (g_getenv ("AXON_TEST_FOLDER"), "relu.axon", NULL);
}

/* Exports in one process, imports in another one. */
static void
export_or_import (void)
{
  AxonCore *core = axon_core_get_default ();
  g_autofree gchar *path = export_path ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  if (g_file_test (path, G_FILE_TEST_EXISTS)) {
    compiled = axon_core_import_model_from_file (core, path, NULL, NULL, NULL, NULL, NULL, &error);
  } else {
    compiled = axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, &error);
    axon_compiled_model_export_to_file (compiled, path, &error);
  }
  g_assert_no_error (error);
  assert_too_late (core);
}

static void
remove_folder (gchar *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
  g_free (folder);
}

static void
after_an_import_it_is_too_late (void)
{
  gchar *folder;
  if (g_test_subprocess ()) {
    export_or_import ();
    return;
  }
  folder = g_dir_make_tmp ("axon-isa-XXXXXX", NULL);
  g_setenv ("AXON_TEST_FOLDER", folder, TRUE);
  for (guint i = 0; i < 2; i++) {
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
  }
  remove_folder (folder);
}

static void
reading_is_no_use_but_asking_onednn_is (void)
{
  g_auto (GStrv) names = NULL;
  g_autofree gchar *level = NULL;
  g_autofree gchar *version = NULL;
  g_autofree gchar *dnn = NULL;
  AxonCore *core = axon_core_get_default ();
  if (!in_own_process ())
    return;
  names = available ();
  level = text_of (core, AXON_CPU_ISA_IN_USE);
  version = text_of (core, AXON_CPU_ONEDNN_VERSION);
  g_assert_true (g_regex_match_simple ("^[0-9]+\\.[0-9]+\\.[0-9]+$", version, 0, 0));
  g_assert_true (ask (core, "CPU", names[0], NULL));
  g_assert_true (ask (core, "CPU", "", NULL));
  dnn = text_of (core, AXON_CPU_ONEDNN_ISA);
  if (g_strv_length (names) > 1)
    assert_too_late (core);
  assert_text (AXON_CPU_ISA_IN_USE, level);
}

static void
a_call_cannot_set_what_holds_for_the_process (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GVariant) config = g_variant_ref_sink (g_variant_new_parsed ("{'CPU_ISA': <''>}"));
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (core, model, "CPU", config, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==,
                   "device CPU: property \"CPU_ISA\" holds for the whole process: set it with "
                   "axon_core_set_property (), not for one call");
}

static void
other_devices_know_nothing_of_it (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_assert_false (ask (core, "TEMPLATE", "", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==, "device TEMPLATE: unknown property \"CPU_ISA\"");
  g_clear_error (&error);
  g_setenv ("AXON_CPU_ISA", "NOTHING_LIKE_IT", TRUE);
  g_assert_true (ask (core, NULL, "NOTHING_LIKE_IT", NULL));
  compiled = axon_core_compile_model (core, model, "TEMPLATE", NULL, NULL, NULL, NULL, &error);
  g_unsetenv ("AXON_CPU_ISA");
  g_assert_no_error (error);
}

/* Compiles with the cache in AXON_TEST_FOLDER, and compares. */
static void
assert_right_with_cache (gboolean is_cached)
{
  g_autofree gchar *text = g_strdup_printf ("{'CACHE_DIR': <'%s'>}", g_getenv ("AXON_TEST_FOLDER"));
  AxonShape s = AXON_SHAPE (1, 8, 9, 9);
  g_autoptr (AxonModel) model = conv_model ();
  g_autoptr (AxonTensor) x = test_random (&s, 2);
  g_autoptr (AxonTensor) expected = test_run (model, "TEMPLATE", NULL, x);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled =
      axon_core_compile_model (axon_core_get_default (), model, "CPU", g_variant_new_parsed (text),
                               NULL, NULL, NULL, &error);
  g_autoptr (GVariant) cached = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (AxonTensor) y = NULL;
  g_assert_no_error (error);
  cached = axon_compiled_model_get_property (compiled, "LOADED_FROM_CACHE", NULL);
  g_assert_cmpint (g_variant_get_boolean (cached), ==, is_cached);
  request = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, NULL));
  g_assert_true (axon_infer_request_infer (request, NULL));
  y = axon_infer_request_get_output_tensor (request, 0);
  g_assert_cmpfloat (test_largest_difference (y, expected), <, 1e-5);
}

/* It holds the graph, not what a level makes of it. */
static void
an_entry_of_the_cache_serves_every_level (void)
{
  gchar *folder;
  g_auto (GStrv) names = NULL;
  if (g_test_subprocess ()) {
    assert_right_with_cache (g_getenv ("AXON_TEST_CACHED") != NULL);
    assert_level (g_getenv ("AXON_CPU_ISA"));
    return;
  }
  names = available ();
  folder = g_dir_make_tmp ("axon-isa-XXXXXX", NULL);
  g_setenv ("AXON_TEST_FOLDER", folder, TRUE);
  for (guint i = 0; names[i] != NULL; i++) {
    g_setenv ("AXON_CPU_ISA", names[i], TRUE);
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
    g_setenv ("AXON_TEST_CACHED", "1", TRUE);
  }
  g_unsetenv ("AXON_CPU_ISA");
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!g_test_subprocess ())
    g_unsetenv ("AXON_CPU_ISA");
#define ADD(name) g_test_add_func ("/isa/" #name, name)
  ADD (the_environment_limits_kernels_and_onednn);
  ADD (the_property_limits_kernels_and_onednn);
  ADD (the_property_can_be_set_for_all_devices);
  ADD (the_property_wins_over_the_environment);
  ADD (where_nothing_is_asked_for_the_best_level_is_used);
  ADD (a_wrong_name_in_the_environment_is_an_error_and_never_ignored);
  ADD (a_wrong_name_of_the_property_is_an_error_that_lists_the_levels);
  ADD (after_a_compile_it_is_too_late_for_every_core);
  ADD (after_a_query_it_is_too_late);
  ADD (after_an_import_it_is_too_late);
  ADD (reading_is_no_use_but_asking_onednn_is);
  ADD (a_call_cannot_set_what_holds_for_the_process);
  ADD (other_devices_know_nothing_of_it);
  ADD (an_entry_of_the_cache_serves_every_level);
  return g_test_run ();
}
