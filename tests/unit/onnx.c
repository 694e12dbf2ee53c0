/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader under bad bytes: a clear error, never a crash. */
#include "axontest.h"

#include <glib/gstdio.h>

static AxonModel *
read_bytes (gconstpointer data, gsize n, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, n);
  return axon_core_read_model_from_bytes (axon_core_get_default (), bytes, NULL, error);
}

static void
load_ball (gchar **data, gsize *n)
{
  g_autofree gchar *path = test_ball_model ();
  g_assert_true (g_file_get_contents (path, data, n, NULL));
}

static void
the_quickstart_model_reads (void)
{
  g_autofree gchar *data = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  gsize n;
  load_ball (&data, &n);
  model = read_bytes (data, n, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (axon_model_get_n_inputs (model), ==, 1);
  g_assert_cmpstr (axon_model_get_metadata (model, "axon.labels"), ==, "ball");
}

static void
every_truncation_is_an_error_or_a_model (void)
{
  g_autofree gchar *data = NULL;
  gsize n;
  load_ball (&data, &n);
  for (gsize k = 0; k < n; k += k < 600 || k + 600 > n ? 1 : 97) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonModel) model = read_bytes (data, k, &error);
    g_assert_true ((model != NULL) != (error != NULL));
  }
}

static void
bit_flips_are_an_error_or_a_model (void)
{
  g_autofree gchar *data = NULL;
  gsize n;
  load_ball (&data, &n);
  for (gsize k = 0; k < n; k += k < 1500 || k + 3000 > n ? 1 : 211) {
    g_autoptr (GError) error = NULL;
    data[k] ^= (gchar)(1 << (k % 8));
    g_autoptr (AxonModel) model = read_bytes (data, n, &error);
    g_assert_true ((model != NULL) != (error != NULL));
    data[k] ^= (gchar)(1 << (k % 8));
  }
}

/* attribute.g within attribute.g ...: fields 7, 1, 5, 6 */
static GByteArray *
nested_graphs (guint depth)
{
  static const guint8 keys[] = { 0x32, 0x2a, 0x0a }; /* g, attribute, node */
  GByteArray *inner = g_byte_array_new ();
  for (guint i = 0; i < depth * 3; i++) {
    GByteArray *outer = g_byte_array_new ();
    guint8 head[11] = { keys[i % 3] };
    guint n = 1;
    guint len = inner->len;
    for (; len >= 0x80; len >>= 7)
      head[n++] = (guint8)(len | 0x80);
    head[n++] = (guint8)len;
    g_byte_array_append (outer, head, n);
    g_byte_array_append (outer, inner->data, inner->len);
    g_byte_array_unref (inner);
    inner = outer;
  }
  guint8 head[11] = { 0x3a };
  guint n = 1, len = inner->len;
  for (; len >= 0x80; len >>= 7)
    head[n++] = (guint8)(len | 0x80);
  head[n++] = (guint8)len;
  g_byte_array_prepend (inner, head, n);
  return inner;
}

static void
deep_nesting_is_refused_before_it_meets_the_stack (void)
{
  g_autoptr (GByteArray) bytes = nested_graphs (3000);
  g_autoptr (GError) error = NULL;
  g_assert_null (read_bytes (bytes->data, bytes->len, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "nested deeper"));
}

static void
files_that_are_no_model_say_what_they_are (void)
{
  static const struct {
    const gchar *path, *says;
  } cases[] = { { "/nonexistent/model.onnx", "cannot be opened" },
                { "/", "not a regular file" },
                { "/dev/zero", "not a regular file" },
                { "/proc/self/status", "empty" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (axon_core_read_model (axon_core_get_default (), cases[i].path, NULL, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, cases[i].says));
    g_assert_nonnull (strstr (error->message, cases[i].path));
  }
}

/* Hand-written protobuf: opset 13, nodes of unknown types. */
static void
all_unsupported_operators_are_named_at_once (void)
{
  static const guint8 model[] = "\x08\x07"                    /* ir_version 7 */
                                "\x3a\x12"                    /* graph */
                                "\x0a\x07\x12\x01y\x22\x02Qx" /* node y = Qx () */
                                "\x0a\x07\x12\x01z\x22\x02Qy" /* node z = Qy () */
                                "\x42\x02\x10\x0d";           /* opset 13 */
  g_autoptr (GError) error = NULL;
  g_assert_null (read_bytes (model, sizeof model - 1, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "Qx (opset 13), Qy (opset 13)"));
}

/* y = Identity (w), w u8[1] in a file two folders below the model's. */
static void
weights_are_read_from_folders_below_the_models (void)
{
  static const gchar bytes[] = "\x08\x08"                                    /* ir_version 8 */
                               "\x3a\x3b"                                    /* graph */
                               "\x0a\x10\x0a\x01w\x12\x01y\x22\x08Identity"  /* node */
                               "\x2a\x22\x08\x01\x10\x02\x42\x01w"           /* initializer */
                               "\x6a\x17\x0a\x08location\x12\x0binner/low/w" /* external_data */
                               "\x70\x01"                                    /* data_location */
                               "\x62\x03\x0a\x01y"                           /* output */
                               "\x42\x02\x10\x0d";                           /* opset 13 */
  g_autofree gchar *dir = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *inner = g_build_filename (dir, "inner", NULL);
  g_autofree gchar *low = g_build_filename (inner, "low", NULL);
  g_autofree gchar *weights = g_build_filename (low, "w", NULL);
  g_autofree gchar *path = g_build_filename (dir, "model.onnx", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  g_assert_cmpint (g_mkdir_with_parents (low, 0700), ==, 0);
  g_assert_true (g_file_set_contents (weights, "\x2a", 1, NULL));
  g_assert_true (g_file_set_contents (path, bytes, sizeof bytes - 1, NULL));
  model = axon_core_read_model (axon_core_get_default (), path, NULL, &error);
  g_assert_no_error (error);
  y = test_try_run_all (model, "CPU", NULL, NULL, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (axon_tensor_get_value (y, 0), ==, 42);
  g_unlink (path);
  g_unlink (weights);
  g_rmdir (low);
  g_rmdir (inner);
  g_rmdir (dir);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/onnx/" #name, name)
  ADD (the_quickstart_model_reads);
  ADD (every_truncation_is_an_error_or_a_model);
  ADD (bit_flips_are_an_error_or_a_model);
  ADD (deep_nesting_is_refused_before_it_meets_the_stack);
  ADD (files_that_are_no_model_say_what_they_are);
  ADD (all_unsupported_operators_are_named_at_once);
  ADD (weights_are_read_from_folders_below_the_models);
  return g_test_run ();
}
