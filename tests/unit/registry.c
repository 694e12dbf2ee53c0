/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registry files, the environment, values for all devices, and what AUTO chooses from. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <string.h>

#define MOCK SUPPORT_DIR "/libaxon-mock.so"
#define NEXT_TWO SUPPORT_DIR "/libnexttwo.so"

/* A file of its own, to be removed by its name. */
static gchar *
write_registry (const gchar *text)
{
  gchar *path = NULL;
  gint fd = g_file_open_tmp ("axon-registry-XXXXXX.ini", &path, NULL);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static AxonCore *
core_of (const gchar *text)
{
  g_autofree gchar *path = write_registry (text);
  g_autoptr (GError) error = NULL;
  AxonCore *core = axon_core_new ();
  axon_core_register_plugins (core, path, &error);
  g_assert_no_error (error);
  g_unlink (path);
  return core;
}

static gchar *
property (AxonCore *core, const gchar *device, const gchar *key)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) value = axon_core_get_property (core, device, key, &error);
  g_assert_no_error (error);
  return g_variant_print (value, FALSE);
}

static gchar *
cpu_library (void)
{
  g_autofree gchar *path = g_build_filename (SUPPORT_DIR, "../../plugins/cpu/libaxon-cpu.so", NULL);
  return g_canonicalize_filename (path, NULL);
}

static void
properties_of_a_group_hold_with_an_extension_in_it (void)
{
  g_autofree gchar *library = cpu_library ();
  g_autofree gchar *text =
      g_strdup_printf ("[MYCPU]\nlibrary=%s\nNUM_STREAMS=3\nextension=%s\nPERF_COUNT=YES\n",
                       library, EXAMPLE_EXTENSION);
  g_autoptr (AxonCore) core = core_of (text);
  g_autofree gchar *streams = property (core, "MYCPU", "NUM_STREAMS");
  g_autofree gchar *perf = property (core, "MYCPU", "PERF_COUNT");
  g_assert_cmpstr (streams, ==, "3");
  g_assert_cmpstr (perf, ==, "true");
}

static void
keys_of_the_core_in_a_group_are_for_its_device (void)
{
  g_autoptr (AxonCore) core = core_of ("[OTHER]\nlibrary=" MOCK "\nCACHE_MAX_SIZE=7\n");
  g_autofree gchar *other = property (core, "OTHER", "CACHE_MAX_SIZE");
  g_autofree gchar *all = property (core, NULL, "CACHE_MAX_SIZE");
  g_assert_cmpstr (other, ==, "7");
  g_assert_cmpstr (all, ==, "1024");
}

static void
the_environment_names_a_registry_and_extensions (void)
{
  g_autofree gchar *path = write_registry ("[OTHER]\nlibrary=" MOCK "\nMOCK_LATENCY=7\n");
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  g_autofree gchar *latency = NULL;
  g_autofree gchar *lines = NULL;
  g_auto (GStrv) operators = NULL;
  g_setenv ("AXON_REGISTRY", path, TRUE);
  g_setenv ("AXON_EXTENSIONS", "libnobody.so:" EXAMPLE_EXTENSION, TRUE); /* relative: not loaded */
  axon_core_load_environment (core, &error);
  g_assert_no_error (error);
  latency = property (core, "OTHER", "MOCK_LATENCY");
  g_assert_cmpstr (latency, ==, "7");
  operators = axon_core_list_operators (core);
  lines = g_strjoinv ("\n", operators);
  g_assert_nonnull (strstr (lines, "AddConstantOnDevice"));
  g_setenv ("AXON_REGISTRY", "/no/such/file.ini", TRUE);
  g_assert_false (axon_core_load_environment (core, &error));
  g_assert_nonnull (strstr (error->message, "/no/such/file.ini"));
  g_unsetenv ("AXON_REGISTRY");
  g_unsetenv ("AXON_EXTENSIONS");
  g_unlink (path);
}

static void
a_value_for_all_devices_that_one_refuses_does_not_reach_those_loaded_later (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  g_autofree gchar *loaded = property (core, "CPU", "DEVICE_ID");
  g_autofree gchar *later = NULL;
  g_assert_cmpstr (loaded, ==, "''"); /* and takes nothing else */
  g_assert_false (
      axon_core_set_property (core, NULL, "DEVICE_ID", g_variant_new_string ("1"), &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  later = property (core, "MOCK", "DEVICE_ID");
  g_assert_cmpstr (later, ==, "'0'");
}

/* The least DEVICE_RANK, of a device that the library never heard of. */
static void
auto_chooses_by_what_devices_say_of_their_rank (void)
{
  g_autoptr (AxonCore) core = core_of ("[FAST]\nlibrary=" NEXT_TWO "\n");
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      core, model, "AUTO", g_variant_new_parsed ("{'ENABLE_STARTUP_FALLBACK': <false>}"), NULL,
      NULL, NULL, &error);
  g_autoptr (GVariant) where = NULL;
  g_autofree gchar *text = NULL;
  g_assert_no_error (error);
  where = axon_compiled_model_get_property (compiled, "EXECUTION_DEVICES", NULL);
  text = g_variant_print (where, FALSE);
  g_assert_cmpstr (text, ==, "['FAST.1']");
}

static void
auto_without_a_device_tells_why_each_cannot_be_used (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
    return;
  }
  g_setenv ("AXON_CPU_ISA", "NONSENSE", TRUE);
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "AUTO", NULL, NULL, NULL,
                                          NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "no device is left to choose from: "));
  g_assert_nonnull (strstr (error->message, "NONSENSE"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/registry/" #name, name)
  ADD (properties_of_a_group_hold_with_an_extension_in_it);
  ADD (keys_of_the_core_in_a_group_are_for_its_device);
  ADD (the_environment_names_a_registry_and_extensions);
  ADD (a_value_for_all_devices_that_one_refuses_does_not_reach_those_loaded_later);
  ADD (auto_chooses_by_what_devices_say_of_their_rank);
  ADD (auto_without_a_device_tells_why_each_cannot_be_used);
  return g_test_run ();
}
