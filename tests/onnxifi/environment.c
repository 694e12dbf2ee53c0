/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the environment gives to clients that know ONNXIFI only: devices of a registry file with
 * what they say of themselves (O1), operators of extensions (O10). */
#include "onnxifitest.h"

#include <glib/gstdio.h>
#include <string.h>

static guint64
number_of (onnxBackendID id, onnxBackendInfo info)
{
  guint64 value = 0;
  size_t n = sizeof value;
  g_assert_cmpint (onnxGetBackendInfo (id, info, &value, &n), ==, ONNXIFI_STATUS_SUCCESS);
  return value;
}

static gchar *
name_of (onnxBackendID id)
{
  gchar *name = g_malloc0 (256);
  size_t n = 255;
  g_assert_cmpint (onnxGetBackendInfo (id, ONNXIFI_BACKEND_NAME, name, &n), ==,
                   ONNXIFI_STATUS_SUCCESS);
  return name;
}

static void
a_third_partys_device_says_what_it_is (void)
{
  Client c = client_new ();
  guint found = 0;
  for (size_t i = 0; i < c.n_ids; i++) {
    g_autofree gchar *name = name_of (c.ids[i]);
    if (strstr (name, "FAST") == NULL)
      continue;
    found++;
    g_assert_cmpuint (number_of (c.ids[i], ONNXIFI_BACKEND_DEVICE_TYPE), ==,
                      ONNXIFI_DEVICE_TYPE_FPGA);
    g_assert_cmpuint (number_of (c.ids[i], ONNXIFI_BACKEND_MEMORY_SIZE), ==, 12345678);
    g_assert_cmpuint (number_of (c.ids[i], ONNXIFI_BACKEND_MEMORY_TYPES), ==,
                      ONNXIFI_MEMORY_TYPE_CPU);
  }
  g_assert_cmpuint (found, ==, 2);
  client_clear (&c);
}

/* x f32[1,4] -> com.example.AddConstant (3), as a file */
static GBytes *
extended_bytes (void)
{
  g_autoptr (AxonExtension) extension = axon_extension_open (EXAMPLE_EXTENSION, NULL);
  g_autoptr (AxonCore) core = axon_core_new ();
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1, 4);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
  AxonValue *y = axon_model_add_value (t.model, "y");
  AxonNode *node = axon_model_add_node (t.model, &axon_extension_get_info (extension)->ops[0], 1,
                                        "add", &x, 1, &y, 1);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GError) error = NULL;
  GBytes *bytes;
  axon_node_set_int (node, "add", 3);
  model = test_model_finish (&t, y);
  axon_core_add_extension (core, EXAMPLE_EXTENSION, NULL, &error);
  g_assert_no_error (error);
  bytes = axon_core_write_model_to_bytes (core, model, AXON_WRITE_DEFAULT, &error);
  g_assert_no_error (error);
  return bytes;
}

static void
a_client_runs_operators_of_an_extension (void)
{
  Client c = client_new ();
  g_autoptr (GBytes) bytes = extended_bytes ();
  onnxGraph graph = NULL;
  gsize n;
  gconstpointer data = g_bytes_get_data (bytes, &n);
  gfloat x[4] = { 1, 2, 3, 4 }, y[4] = { 0 };
  const guint64 shape[] = { 1, 4 };
  onnxTensorDescriptorV1 in = tensor_f32 ("x", 2, shape, x), out = tensor_f32 ("y", 2, shape, y);
  g_assert_cmpint (onnxInitGraph (c.backend, NULL, n, data, 0, NULL, &graph), ==,
                   ONNXIFI_STATUS_FALLBACK); /* by the operator's reference kernel */
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  client_run (&c, graph);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (y[i], ==, x[i] + 3);
  g_assert_cmpint (onnxReleaseGraph (graph), ==, ONNXIFI_STATUS_SUCCESS);
  client_clear (&c);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *path = NULL;
  gint fd = g_file_open_tmp ("axon-registry-XXXXXX.ini", &path, NULL), result;
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  g_file_set_contents (path, "[FAST]\nlibrary=" SUPPORT_DIR "/libnexttwo.so\n", -1, NULL);
  g_setenv ("AXON_REGISTRY", path, TRUE);
  g_setenv ("AXON_EXTENSIONS", EXAMPLE_EXTENSION, TRUE);
  g_test_add_func ("/onnxifi-environment/a_third_partys_device_says_what_it_is",
                   a_third_partys_device_says_what_it_is);
  g_test_add_func ("/onnxifi-environment/a_client_runs_operators_of_an_extension",
                   a_client_runs_operators_of_an_extension);
  result = g_test_run ();
  g_unlink (path);
  return result;
}
