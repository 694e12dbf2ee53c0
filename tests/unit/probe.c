/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Libraries of others that crash, hang, or lack symbols: the application is told, and goes on. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>
#include <utime.h>

static gchar *folder; /* private; the cache lies in it, too */

static gchar *
library (const gchar *name)
{
  g_autofree gchar *file = g_strdup_printf ("lib%s.so", name);
  return g_build_filename (SUPPORT_DIR, file, NULL);
}

/* Of @name's library, under another name. */
static gchar *
copy_of (const gchar *name, const gchar *to)
{
  g_autofree gchar *from = library (name);
  g_autoptr (GFile) source = g_file_new_for_path (from);
  gchar *path = g_build_filename (folder, to, NULL);
  g_autoptr (GFile) copy = g_file_new_for_path (path);
  g_assert_true (g_file_copy (source, copy, G_FILE_COPY_OVERWRITE, NULL, NULL, NULL, NULL));
  return path;
}

static gsize
count_loads (void)
{
  g_autofree gchar *text = NULL;
  gsize n = 0;
  g_file_get_contents (g_getenv ("PROBE_LOG"), &text, &n, NULL);
  return n;
}

/* Why a device of the library at @path cannot be used (transfer full); asserts that another can. */
static gchar *
refusal (const gchar *path)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (axon_core_register_plugin (core, path, "OTHER", &error));
  g_assert_null (axon_core_compile_model (core, model, "OTHER", NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_test_message ("%s", error->message);
  compiled = axon_core_compile_model (core, model, "TEMPLATE", NULL, NULL, NULL, NULL, NULL);
  g_assert_nonnull (compiled);
  return g_strdup (error->message);
}

static void
assert_refused (const gchar *name, const gchar *why)
{
  g_autofree gchar *path = library (name);
  g_autofree gchar *message = refusal (path);
  g_assert_nonnull (strstr (message, path));
  g_assert_nonnull (strstr (message, why));
}

static void
a_plugin_that_aborts_when_it_is_loaded_is_an_error (void)
{
  assert_refused ("aborts", "crashes");
}

static void
a_plugin_that_ends_the_process_is_an_error (void)
{
  assert_refused ("exits", "ends the process");
}

static void
a_plugin_that_hangs_when_it_is_loaded_is_an_error (void)
{
  g_setenv ("AXON_PROBE_TIMEOUT", "300", TRUE);
  assert_refused ("hangs", "does not end within 300 ms");
  g_unsetenv ("AXON_PROBE_TIMEOUT");
}

/* Nothing of it has run in this process. */
static void
a_plugin_that_lacks_symbols_is_an_error (void)
{
  g_autofree gchar *empty = library ("empty");
  g_autofree gchar *message = NULL;
  gsize before = count_loads ();
  assert_refused ("lacks", "axon_no_such_function");
  g_assert_cmpuint (count_loads (), ==, before);
  message = refusal (empty);
  g_assert_nonnull (strstr (message, "no symbol axon_plugin_entry"));
  g_assert_cmpuint (count_loads (), ==, before + 1);
}

static void
a_crash_is_remembered_until_the_library_changes (void)
{
  g_autofree gchar *path = copy_of ("aborts", "libremembered.so");
  struct utimbuf other = { 1000000000, 1000000000 };
  gsize before = count_loads ();
  for (guint i = 0; i < 3; i++)
    g_free (refusal (path));
  g_assert_cmpuint (count_loads (), ==, before + 1);
  g_assert_cmpint (utime (path, &other), ==, 0);
  g_free (refusal (path));
  g_assert_cmpuint (count_loads (), ==, before + 2);
  g_unlink (path);
}

static void
a_plugin_that_works_is_used (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autofree gchar *path = library ("axon-mock");
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_assert_true (axon_core_register_plugin (core, path, "WORKS", &error));
  compiled = axon_core_compile_model (core, model, "WORKS", NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* Who trusts a library says so, for one device or for all. */
static void
a_device_without_isolation_is_not_probed (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autofree gchar *path = copy_of ("empty", "libtrusted.so");
  g_autoptr (AxonModel) model = test_relu_model ();
  gsize before = count_loads ();
  g_assert_true (axon_core_register_plugin (core, path, "TRUSTED", NULL));
  g_assert_true (
      axon_core_set_property (core, NULL, "ISOLATE_PROBE", g_variant_new_boolean (FALSE), NULL));
  g_assert_null (axon_core_compile_model (core, model, "TRUSTED", NULL, NULL, NULL, NULL, NULL));
  g_assert_cmpuint (count_loads (), ==, before + 1); /* in this process alone */
  g_unlink (path);
}

static void
without_a_helper_plugins_are_loaded_as_they_are (void)
{
  g_autofree gchar *helper = g_strdup (g_getenv ("AXON_PROBE"));
  g_autofree gchar *path = library ("axon-sample"); /* no type twice in one process */
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  g_setenv ("AXON_PROBE", "/no/such/program", TRUE);
  g_assert_true (axon_core_register_plugin (core, path, "UNPROBED", NULL));
  compiled = axon_core_compile_model (core, model, "UNPROBED", NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_setenv ("AXON_PROBE", helper, TRUE);
}

static void
a_vendor_library_that_crashes_is_left_out (void)
{
  g_autofree gchar *path = copy_of ("aborts", "libonnxifi-aborts.so");
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_setenv ("AXON_ONNXIFI_PATH", folder, TRUE);
  g_assert_null (axon_core_compile_model (core, model, "ONNXIFI", NULL, NULL, NULL, NULL, &error));
  g_unsetenv ("AXON_ONNXIFI_PATH");
  if (strstr (error->message, "\"ONNXIFI\" is not available") != NULL)
    return g_test_skip ("device ONNXIFI is not built");
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, path));
  g_assert_nonnull (strstr (error->message, "crashes"));
  g_unlink (path);
}

static void
a_driver_that_crashes_leaves_the_application_without_a_gpu (void)
{
  g_autofree gchar *driver = copy_of ("aborts", "libdriver.so");
  g_autofree gchar *icd = g_build_filename (folder, "crashing.icd", NULL);
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  GModule *loader = g_module_open ("libOpenCL.so.1", G_MODULE_BIND_LAZY);
  if (loader == NULL)
    return g_test_skip ("OpenCL is not installed");
  g_module_close (loader);
  g_assert_true (g_file_set_contents (icd, driver, -1, NULL));
  g_setenv ("OCL_ICD_VENDORS", folder, TRUE);
  g_assert_null (axon_core_compile_model (core, model, "GPU", NULL, NULL, NULL, NULL, &error));
  g_unsetenv ("OCL_ICD_VENDORS");
  if (strstr (error->message, "\"GPU\" is not available") != NULL)
    return g_test_skip ("device GPU is not built");
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "crashing.icd"));
  g_assert_nonnull (strstr (error->message, "crashes"));
  g_unlink (icd);
  g_unlink (driver);
}

/* The application's own loader stays what it was: only the helper gets the one that crashes. */
static void
a_driver_that_crashes_while_it_builds_a_kernel_is_left_out (void)
{
  g_autofree gchar *before = g_strdup (g_getenv ("LD_LIBRARY_PATH"));
  g_autofree gchar *path = g_strconcat (OPENCL_FOLDER ":", before, NULL);
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  if (!g_file_test (OPENCL_FOLDER, G_FILE_TEST_IS_DIR))
    return g_test_skip ("its loader is not built, as with sanitizers");
  g_setenv ("AXON_GPU_ALLOW_CPU", "1", TRUE);
  g_setenv ("LD_LIBRARY_PATH", path, TRUE);
  g_setenv ("FAULT_CRASH", "clBuildProgram", TRUE);
  compiled = axon_core_compile_model (core, model, "GPU", NULL, NULL, NULL, NULL, &error);
  g_unsetenv ("FAULT_CRASH");
  if (before != NULL)
    g_setenv ("LD_LIBRARY_PATH", before, TRUE);
  else
    g_unsetenv ("LD_LIBRARY_PATH");
  g_setenv ("AXON_GPU_ALLOW_CPU", "0", TRUE);
  if (error != NULL && (strstr (error->message, "is not available") != NULL ||
                        g_error_matches (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED)))
    return g_test_skip (error->message);
  g_assert_null (compiled);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "crashes"));
}

static void
remove_tree (const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *child = g_build_filename (path, name, NULL);
    remove_tree (child);
  }
  g_remove (path);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *log = NULL;
  gint status;
  folder = g_dir_make_tmp ("axon-probe-XXXXXX", NULL);
  log = g_build_filename (folder, "loads", NULL);
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_setenv ("PROBE_LOG", log, TRUE);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/probe/" #name, name)
  ADD (a_plugin_that_aborts_when_it_is_loaded_is_an_error);
  ADD (a_plugin_that_ends_the_process_is_an_error);
  ADD (a_plugin_that_hangs_when_it_is_loaded_is_an_error);
  ADD (a_plugin_that_lacks_symbols_is_an_error);
  ADD (a_crash_is_remembered_until_the_library_changes);
  ADD (a_plugin_that_works_is_used);
  ADD (a_device_without_isolation_is_not_probed);
  ADD (without_a_helper_plugins_are_loaded_as_they_are);
  ADD (a_vendor_library_that_crashes_is_left_out);
  ADD (a_driver_that_crashes_leaves_the_application_without_a_gpu);
  ADD (a_driver_that_crashes_while_it_builds_a_kernel_is_left_out);
  status = g_test_run ();
  remove_tree (folder);
  g_free (folder);
  return status;
}
