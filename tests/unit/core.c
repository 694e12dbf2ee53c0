/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core: expressions, registry, scopes of properties. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <string.h>

#define PLUGIN SUPPORT_DIR "/libaxon-mock.so"

static void
expressions_name_devices_ids_and_lists (void)
{
  static const gchar *const right[] = {
    "CPU",        "TEMPLATE.0",  "HETERO:TEMPLATE.0,CPU", "MULTI:CPU(2),TEMPLATE",
    "AUTO:-MOCK", "BATCH:CPU(4)"
  };
  static const struct {
    const gchar *text, *why;
  } wrong[] = { { "", "name is missing" },           { "CPU(2)", "behind a device of a list" },
                { "HETERO:", "behind the colon" },   { "MULTI:CPU(", "not closed" },
                { "MULTI:CPU(x)", "1 to 4096" },     { "CPU.", "an id has" },
                { "MULTI:,CPU", "name is missing" }, { "CPU:TEMPLATE", "computes itself" } };
  g_autoptr (AxonModel) model = test_relu_model ();
  AxonCore *core = axon_core_get_default ();
  for (guint i = 0; i < G_N_ELEMENTS (right); i++) {
    g_autoptr (GError) error = NULL;
    axon_core_has_device (core, right[i], &error);
    g_assert_no_error (error);
  }
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (
        axon_core_compile_model (core, model, wrong[i].text, NULL, NULL, NULL, NULL, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, wrong[i].why));
  }
}

/* Behind others, too: what is asked before a pipeline is built is what compiling would say. */
static void
a_device_that_a_plugin_lacks_is_not_there (void)
{
  static const gchar *const lacking[] = { "TEMPLATE.9", "HETERO:CPU,TEMPLATE.9",
                                          "MULTI:CPU.1,CPU" };
  AxonCore *core = axon_core_get_default ();
  for (guint i = 0; i < G_N_ELEMENTS (lacking); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (axon_core_has_device (core, lacking[i], &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, "DEVICE_ID"));
  }
}

static void
what_is_said_twice_must_agree (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  AxonCore *core = axon_core_get_default ();
  static const gchar *const configs[][2] = {
    { "TEMPLATE.0", "{'DEVICE_ID': <'1'>}" },
    { "HETERO:CPU", "{'MULTI_DEVICE_PRIORITIES': <'TEMPLATE'>}" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (configs); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (axon_core_compile_model (core, model, configs[i][0],
                                            g_variant_new_parsed (configs[i][1]), NULL, NULL, NULL,
                                            &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, "given twice"));
  }
}

static void
properties_of_an_expression_belong_to_its_devices (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (
      axon_core_get_property (axon_core_get_default (), "HETERO:CPU", "FULL_DEVICE_NAME", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

/* F1: a library under a name of its own; wrong ones fail at first use only. */
static void
plugins_can_be_registered_under_new_names (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GHashTable) versions = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (axon_core_register_plugin (core, PLUGIN, "SECOND", &error));
  g_assert_no_error (error);
  versions = axon_core_get_versions (core, "MULTI:SECOND,CPU", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_hash_table_size (versions), ==, 3);
  g_assert_false (axon_core_register_plugin (core, PLUGIN, "SECOND", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_clear_error (&error);
  g_assert_false (axon_core_register_plugin (core, PLUGIN, "CPU", NULL)); /* there is one */
  g_assert_false (axon_core_register_plugin (core, PLUGIN, "A.B", NULL));
  g_assert_false (axon_core_register_plugin (core, "relative.so", "THIRD", NULL));
  g_assert_true (axon_core_register_plugin (core, "/no/such.so", "THIRD", NULL));
  g_assert_false (
      axon_core_register_plugin (core, PLUGIN, "THIRD", NULL)); /* not loaded, but taken */
  g_assert_false (axon_core_has_device (core, "THIRD", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
}

/* P2, P10: the core goes on without a device whose backend is missing. */
static void
a_device_without_its_driver_is_skipped_and_says_why (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_auto (GStrv) devices = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (axon_core_register_plugin (core, PLUGIN, "DRIVERLESS", NULL));
  devices = axon_core_get_available_devices (core);
  g_assert_true (g_strv_contains ((const gchar *const *)devices, "CPU"));
  g_assert_false (g_strv_contains ((const gchar *const *)devices, "DRIVERLESS"));
  g_assert_false (axon_core_has_device (core, "DRIVERLESS", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "DRIVERLESS cannot be used: no mock driver"));
}

static gboolean
has_thread (const gchar *name)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  const gchar *task;
  while ((task = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename ("/proc/self/task", task, "comm", NULL);
    g_autofree gchar *comm = NULL;
    if (g_file_get_contents (path, &comm, NULL, NULL) && g_str_has_prefix (comm, name))
      return TRUE;
  }
  return FALSE;
}

/* Threads name themselves, and leave, a little later. */
static gboolean
await_thread (const gchar *name, gboolean wanted)
{
  for (guint i = 0; i < 200 && has_thread (name) != wanted; i++)
    g_usleep (10000);
  return has_thread (name) == wanted;
}

/* P5, P12, P13: the named wait executor is there while somebody needs it. */
static void
devices_wait_on_an_executor_of_their_own (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "TEMPLATE", NULL, NULL, NULL, NULL, NULL);
  g_assert_true (await_thread ("TemplateWaitExe", TRUE));
  g_clear_object (&compiled);
  g_assert_true (await_thread ("TemplateWaitExe", FALSE));
}

/* P11 */
static void
a_compiled_model_knows_its_device (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  axon_core_register_plugin (core, PLUGIN, "SECOND", NULL);
  compiled = axon_core_compile_model (core, model, "SECOND", NULL, NULL, NULL, NULL, NULL);
  g_assert_cmpstr (axon_compiled_model_get_device_name (compiled), ==, "SECOND");
}

static void
a_registry_file_names_plugins_with_defaults (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-rëgistry-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "plugins.ini", NULL);
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GVariant) value = NULL;
  g_autoptr (GError) error = NULL;
  g_file_set_contents (path, "[OTHER]\nlibrary=" PLUGIN "\nMOCK_LATENCY=7\n", -1, NULL);
  axon_core_register_plugins (core, path, &error);
  g_assert_no_error (error);
  value = axon_core_get_property (core, "OTHER", "MOCK_LATENCY", &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_variant_get_int32 (value), ==, 7);
  g_file_set_contents (path, "[BAD]\nlibrary=" PLUGIN "\nMOCK_LATENC=7\n", -1, NULL);
  g_assert_true (axon_core_register_plugins (core, path, NULL));
  g_assert_false (axon_core_has_device (core, "BAD", &error));
  g_assert_nonnull (strstr (error->message, "did you mean \"MOCK_LATENCY\""));
  g_clear_error (&error);
  g_file_set_contents (path, "nonsense", -1, NULL);
  g_assert_false (axon_core_register_plugins (core, path, &error));
  g_assert_nonnull (strstr (error->message, path));
  g_unlink (path);
  g_rmdir (folder);
}

static void
a_value_for_all_devices_reaches_those_that_have_the_key (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  static const gchar *const devices[] = { "CPU", "TEMPLATE" };
  g_autoptr (GError) error = NULL;
  axon_core_set_property (core, NULL, "PERF_COUNT", g_variant_new_string ("YES"), &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autoptr (GVariant) value = axon_core_get_property (core, devices[i], "PERF_COUNT", &error);
    g_assert_no_error (error);
    g_assert_true (g_variant_get_boolean (value));
  }
  g_assert_false (
      axon_core_set_property (core, NULL, "PERF_COUN", g_variant_new_string ("YES"), &error));
  g_assert_nonnull (strstr (error->message, "did you mean \"PERF_COUNT\""));
}

static void
the_core_has_properties_of_its_own (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  static const gchar *const keys[] = { "CACHE_DIR", "ENABLE_MMAP", "FORCE_TBB_TERMINATE" };
  g_autoptr (GVariant) device = NULL;
  g_autoptr (GVariant) other = NULL;
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autoptr (GVariant) value = axon_core_get_property (core, NULL, keys[i], &error);
    g_assert_no_error (error);
    g_assert_nonnull (value);
  }
  g_assert_null (axon_core_get_property (core, NULL, "NUM_STREAMS", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  axon_core_set_property (core, "CPU", "CACHE_DIR", g_variant_new_string ("/for/cpu"), NULL);
  device = axon_core_get_property (core, "CPU", "CACHE_DIR", NULL);
  other = axon_core_get_property (core, "TEMPLATE", "CACHE_DIR", NULL);
  g_assert_cmpstr (g_variant_get_string (device, NULL), ==, "/for/cpu");
  g_assert_cmpstr (g_variant_get_string (other, NULL), ==, "");
}

static void
affinities_and_names_can_be_asked_and_set (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_auto (GStrv) names = axon_model_get_node_names (model);
  g_assert_cmpuint (g_strv_length (names), ==, 1);
  g_assert_true (axon_model_set_affinity (model, names[0], "CPU"));
  g_assert_false (axon_model_set_affinity (model, "no such node", "CPU"));
}

static void
a_model_of_very_many_inputs_stays_on_the_stack (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1);
  AxonValue *first = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) x = test_random (&s, 1);
  g_autofree AxonTensor **inputs = g_new (AxonTensor *, 130000);
  g_autoptr (AxonTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  for (guint i = 1; i < 130000; i++) {
    g_autofree gchar *name = g_strdup_printf ("x%u", i);
    test_model_input (&t, name, AXON_DTYPE_F32, &s);
  }
  for (guint i = 0; i < 130000; i++)
    inputs[i] = x;
  model = test_model_finish (&t, test_model_node (&t, "Abs", 1, first)->outputs[0]);
  y = test_try_run_all (model, test_device (), NULL, inputs, 130000, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (axon_tensor_get_value (y, 0), ==, ABS (axon_tensor_get_value (x, 0)));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/core/" #name, name)
  ADD (expressions_name_devices_ids_and_lists);
  ADD (a_device_that_a_plugin_lacks_is_not_there);
  ADD (what_is_said_twice_must_agree);
  ADD (properties_of_an_expression_belong_to_its_devices);
  ADD (plugins_can_be_registered_under_new_names);
  ADD (a_device_without_its_driver_is_skipped_and_says_why);
  ADD (devices_wait_on_an_executor_of_their_own);
  ADD (a_compiled_model_knows_its_device);
  ADD (a_registry_file_names_plugins_with_defaults);
  ADD (a_value_for_all_devices_reaches_those_that_have_the_key);
  ADD (the_core_has_properties_of_its_own);
  ADD (affinities_and_names_can_be_asked_and_set);
  ADD (a_model_of_very_many_inputs_stays_on_the_stack);
  return g_test_run ();
}
