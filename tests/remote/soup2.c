/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device REMOTE in a process that has libsoup 2, which libsoup 3 would end. */
#include "remotesupport.h"

#include <dlfcn.h>
#include <string.h>

static gboolean
load_soup2 (void)
{
  return dlopen ("libsoup-2.4.so.1", RTLD_NOW | RTLD_LOCAL) != NULL;
}

static void
a_process_that_has_libsoup_2_is_refused_with_the_reason (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "REMOTE",
                                          remote_config (server, ""), NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "device REMOTE: it needs libsoup 3"));
  g_assert_nonnull (strstr (error->message, "libsoup-2.4.so"));
  g_assert_null (dlopen ("libsoup-3.0.so.0", RTLD_NOW | RTLD_NOLOAD));
  inference_server_free (server);
}

static void
auto_runs_the_model_on_another_device_there (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  InferenceServer *server = inference_server_new (model, NULL);
  g_autoptr (AxonCompiledModel) compiled = remote_compile (model, "AUTO:REMOTE,CPU", server, "");
  remote_run_many (compiled, 2, 2);
  g_assert_cmpuint (inference_server_get_n_inferences (server), ==, 0);
  g_clear_object (&compiled);
  inference_server_free (server);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!load_soup2 ()) {
    g_print ("1..0 # SKIP libsoup 2 is not installed: %s\n", dlerror ());
    return 0;
  }
#define ADD(name) g_test_add_func ("/soup2/" #name, name)
  ADD (a_process_that_has_libsoup_2_is_refused_with_the_reason);
  ADD (auto_runs_the_model_on_another_device_there);
  return g_test_run ();
}
