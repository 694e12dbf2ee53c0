/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups import-export and cache (I1 to I5). Skipped for devices without EXPORT_IMPORT. */
#include "behaviour.h"

#include <glib/gstdio.h>
#include <string.h>

static GBytes *
export_model (AxonCompiledModel *compiled)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;
  axon_compiled_model_export (compiled, stream, NULL, &error);
  g_assert_no_error (error);
  g_output_stream_close (stream, NULL, NULL);
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
}

static AxonCompiledModel *
import_bytes (GBytes *bytes, GError **error)
{
  return axon_core_import_model (behaviour_core (), bytes, behaviour_device, NULL,
                                 behaviour_config (), NULL, NULL, NULL, error);
}

static void
an_imported_model_is_the_exported_one (void)
{
  if (!behaviour_can_export ())
    return;
  for (guint m = 0; m < BEHAVIOUR_N_MODELS; m++) {
    g_autoptr (AxonModel) model = behaviour_any_model (m);
    g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
    g_autoptr (GBytes) bytes = export_model (compiled);
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) imported = import_bytes (bytes, &error);
    g_autoptr (AxonInferRequest) r = NULL;
    g_autoptr (GVariant) cached = NULL;
    g_assert_no_error (error);
    g_assert_cmpuint (axon_compiled_model_get_n_inputs (imported), ==,
                      axon_compiled_model_get_n_inputs (compiled));
    for (guint i = 0; i < axon_compiled_model_get_n_outputs (compiled); i++) {
      g_assert_cmpstr (axon_compiled_model_get_output_name (imported, i), ==,
                       axon_compiled_model_get_output_name (compiled, i));
      g_assert_true (axon_shape_equal (axon_compiled_model_get_output_shape (imported, i),
                                       axon_compiled_model_get_output_shape (compiled, i)));
    }
    r = behaviour_request (imported, 3);
    g_assert_true (axon_infer_request_infer (r, NULL));
    behaviour_assert_result (r, model, 3);
    cached = axon_compiled_model_get_property (imported, "LOADED_FROM_CACHE", &error);
    g_assert_no_error (error);
    g_assert_false (g_variant_get_boolean (cached)); /* an explicit import is none */
  }
}

/* I2: shapes that the user set are kept. */
static void
a_shape_that_was_set_is_kept (void)
{
  g_autoptr (AxonModel) model = behaviour_dynamic_model ();
  AxonShape shape = AXON_SHAPE (3, 4);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonCompiledModel) imported = NULL;
  g_autoptr (GBytes) bytes = NULL;
  if (!behaviour_can_export ())
    return;
  g_assert_true (axon_model_reshape (model, 0, &shape, NULL));
  compiled = behaviour_compile (model, NULL);
  bytes = export_model (compiled);
  imported = import_bytes (bytes, NULL);
  g_assert_nonnull (imported);
  g_assert_true (axon_shape_equal (axon_compiled_model_get_input_shape (imported, 0), &shape));
}

/* TRUE where @compiled says that it measures every step; -1: it does not say. */
static gint
measures (AxonCompiledModel *compiled)
{
  g_autoptr (GVariant) value = axon_compiled_model_get_property (compiled, "PERF_COUNT", NULL);
  return value ? g_variant_get_boolean (value) : -1;
}

static void
set_perf_count (const gchar *value)
{
  g_autoptr (GError) error = NULL;
  axon_core_set_property (behaviour_core (), behaviour_name, "PERF_COUNT",
                          g_variant_new_string (value), &error);
  g_assert_no_error (error);
}

/* I5: the device's values and over them the call's, whatever the model was exported with. */
static void
an_imported_model_is_configured_by_the_device_and_the_call (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonCompiledModel) by_device = NULL;
  g_autoptr (AxonCompiledModel) by_call = NULL;
  g_autoptr (GBytes) bytes = NULL;
  if (!behaviour_can_export ())
    return;
  compiled = behaviour_compile (model, NULL);
  if (measures (compiled) < 0) {
    g_test_skip ("compiled models do not tell PERF_COUNT");
    return;
  }
  g_assert_cmpint (measures (compiled), ==, FALSE);
  bytes = export_model (compiled);
  set_perf_count ("YES");
  by_device = import_bytes (bytes, NULL);
  by_call = axon_core_import_model (behaviour_core (), bytes, behaviour_device, NULL,
                                    g_variant_new_parsed ("{'PERF_COUNT': <'NO'>}"), NULL, NULL,
                                    NULL, NULL);
  set_perf_count ("NO");
  g_assert_cmpint (measures (by_device), ==, TRUE);
  g_assert_cmpint (measures (by_call), ==, FALSE);
}

/* I3 */
static void
damaged_and_foreign_files_are_refused (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const guint8 *data;
  gsize n;
  if (!behaviour_can_export ())
    return;
  compiled = behaviour_compile (model, NULL);
  bytes = export_model (compiled);
  data = g_bytes_get_data (bytes, &n);
  for (gsize at = 0; at < n; at += at < 256 ? 1 : 97) {
    g_autofree guint8 *copy = g_memdup2 (data, n);
    g_autoptr (GBytes) flipped = NULL;
    g_autoptr (GBytes) cut = g_bytes_new (data, at);
    g_autoptr (AxonCompiledModel) wrong = NULL;
    g_autoptr (GError) error = NULL;
    copy[at] ^= 0x55;
    flipped = g_bytes_new (copy, n);
    g_assert_null (import_bytes (cut, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_clear_error (&error);
    wrong = import_bytes (flipped, &error); /* bytes of the header that mean nothing may differ */
    g_assert_true (wrong == NULL || at < 64);
  }
}

static gboolean
same_architecture (const gchar *a, const gchar *b)
{
  g_autoptr (GVariant) x =
      axon_core_get_property (behaviour_core (), a, "DEVICE_ARCHITECTURE", NULL);
  g_autoptr (GVariant) y =
      axon_core_get_property (behaviour_core (), b, "DEVICE_ARCHITECTURE", NULL);
  return x == NULL || y == NULL || g_variant_equal (x, y);
}

/* I2, I3: each file says which of the plugin's devices it is for, and goes there. */
static void
a_file_for_one_device_of_several_goes_to_that_one (void)
{
  g_auto (GStrv) devices = behaviour_can_export () ? behaviour_ids () : NULL;
  for (guint i = 0; devices != NULL && devices[i] != NULL; i++) {
    g_autoptr (AxonModel) model = behaviour_dense_model ();
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
        behaviour_core (), model, devices[i], NULL, NULL, NULL, NULL, &error);
    g_autoptr (GBytes) bytes = export_model (compiled);
    for (guint k = 0; devices[k] != NULL; k++) {
      g_autoptr (AxonCompiledModel) there = axon_core_import_model (
          behaviour_core (), bytes, devices[k], NULL, NULL, NULL, NULL, NULL, NULL);
      g_assert_true (there != NULL || i != k);
      g_assert_true (there == NULL || same_architecture (devices[i], devices[k]));
    }
    g_autoptr (AxonCompiledModel) unnamed = axon_core_import_model (
        behaviour_core (), bytes, NULL, NULL, NULL, NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    g_autoptr (GVariant) where =
        axon_compiled_model_get_property (unnamed, "EXECUTION_DEVICES", NULL);
    g_autofree const gchar **names = g_variant_get_strv (where, NULL);
    g_assert_true (g_strv_contains (names, devices[i]));
  }
}

static gchar *
make_directory (void)
{
  gchar *directory = g_dir_make_tmp ("axon-behaviour-XXXXXX", NULL);
  g_assert_nonnull (directory);
  return directory;
}

static guint
clean (const gchar *directory, gboolean remove)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  const gchar *name;
  guint n = 0;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (directory, name, NULL);
    n++;
    if (remove)
      g_unlink (path);
  }
  if (remove)
    g_rmdir (directory);
  return n;
}

static gboolean
from_cache (AxonCompiledModel *compiled)
{
  g_autoptr (GVariant) value =
      axon_compiled_model_get_property (compiled, "LOADED_FROM_CACHE", NULL);
  return value != NULL && g_variant_get_boolean (value);
}

static void
the_second_compile_comes_from_the_cache (void)
{
  g_autoptr (AxonModel) model = behaviour_conv_model (2);
  g_autofree gchar *directory = NULL;
  if (!behaviour_can_export ())
    return;
  directory = make_directory ();
  for (guint i = 0; i < 3; i++) {
    g_autoptr (AxonModel) same = behaviour_conv_model (2);
    g_autoptr (AxonCompiledModel) compiled =
        behaviour_compile_with (same, "CACHE_DIR", directory, NULL);
    g_autoptr (AxonInferRequest) r = behaviour_request (compiled, i);
    g_assert_true (axon_infer_request_infer (r, NULL));
    behaviour_assert_result (r, model, i);
    g_assert_true (from_cache (compiled) == (i > 0));
    g_assert_cmpuint (clean (directory, FALSE), ==, 1);
  }
  clean (directory, TRUE);
}

static void
another_model_is_another_entry (void)
{
  g_autoptr (AxonModel) a = behaviour_conv_model (1);
  g_autoptr (AxonModel) b = behaviour_conv_model (2);
  g_autofree gchar *directory = NULL;
  g_autoptr (AxonCompiledModel) ca = NULL;
  g_autoptr (AxonCompiledModel) cb = NULL;
  if (!behaviour_can_export ())
    return;
  directory = make_directory ();
  ca = behaviour_compile_with (a, "CACHE_DIR", directory, NULL);
  cb = behaviour_compile_with (b, "CACHE_DIR", directory, NULL);
  g_assert_false (from_cache (cb));
  g_assert_cmpuint (clean (directory, TRUE), ==, 2);
}

void
behaviour_add_export (void)
{
  BEHAVIOUR_ADD ("import-export", an_imported_model_is_the_exported_one);
  BEHAVIOUR_ADD ("import-export", a_shape_that_was_set_is_kept);
  BEHAVIOUR_ADD ("import-export", an_imported_model_is_configured_by_the_device_and_the_call);
  BEHAVIOUR_ADD ("import-export", damaged_and_foreign_files_are_refused);
  BEHAVIOUR_ADD ("import-export", a_file_for_one_device_of_several_goes_to_that_one);
  BEHAVIOUR_ADD ("cache", the_second_compile_comes_from_the_cache);
  BEHAVIOUR_ADD ("cache", another_model_is_another_entry);
}
