/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our own loader of ONNXIFI libraries. */
#include <axon/onnxifi_loader.h>
#include <glib.h>
#include <string.h>

static const struct onnxifi_library zero;

static void
a_library_that_is_loaded_answers (void)
{
  struct onnxifi_library library;
  size_t n = 0;
  g_assert_cmpint (onnxifi_load (ONNXIFI_LOADER_FLAG_VERSION_1_0, OWN_LIBRARY, &library), ==, 1);
  for (guint i = 0; i < ONNXIFI_LOADER_FUNCTION_COUNT; i++)
    g_assert_nonnull (library.functions[i]);
  g_assert_cmpuint (library.onnxGetBackendIDs (NULL, &n), ==, ONNXIFI_STATUS_FALLBACK);
  g_assert_cmpuint (n, >, 0);
  onnxifi_unload (&library);
  g_assert_cmpmem (&library, sizeof library, &zero, sizeof zero);
}

static void
what_is_no_such_library_is_not_loaded (void)
{
  static const gchar *const paths[] = { "/nowhere/libonnxifi-none.so", PLAIN_LIBRARY,
                                        "/etc/passwd" };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    struct onnxifi_library library;
    memset (&library, 1, sizeof library);
    g_assert_cmpint (onnxifi_load (ONNXIFI_LOADER_FLAG_VERSION_1_0, paths[i], &library), ==, 0);
    g_assert_cmpmem (&library, sizeof library, &zero, sizeof zero);
  }
}

static void
another_version_of_the_interface_is_not_loaded (void)
{
  struct onnxifi_library library;
  g_assert_cmpint (onnxifi_load (2, OWN_LIBRARY, &library), ==, 0);
  g_assert_cmpint (onnxifi_load (ONNXIFI_LOADER_FLAG_VERSION_1_0, OWN_LIBRARY, NULL), ==, 0);
  onnxifi_unload (NULL);
  onnxifi_unload (&library);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/onnxifi/loader/" #name, name)
  ADD (a_library_that_is_loaded_answers);
  ADD (what_is_no_such_library_is_not_loaded);
  ADD (another_version_of_the_interface_is_not_loaded);
  return g_test_run ();
}
