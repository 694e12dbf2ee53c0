/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders laid out as ONNX backend tests: DIR/.../model.onnx beside test_data_set_N. */
#include "run-private.h"

#include <stdio.h>
#include <string.h>

typedef enum { PASSED, FAILED, SKIPPED } Outcome;
static const gchar *const totals[] = { "passed", "failed", "skipped" }; /* of JSON */

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

static void
find_cases (const gchar *dir, GPtrArray *cases, guint depth)
{
  g_autofree gchar *model = g_build_filename (dir, "model.onnx", NULL);
  g_autoptr (GDir) listing = g_dir_open (dir, 0, NULL);
  const gchar *name;
  if (g_file_test (model, G_FILE_TEST_EXISTS)) {
    g_ptr_array_add (cases, g_strdup (dir));
    return;
  }
  while (listing != NULL && depth < 8 && (name = g_dir_read_name (listing)) != NULL) {
    g_autofree gchar *path = g_build_filename (dir, name, NULL);
    if (g_file_test (path, G_FILE_TEST_IS_DIR))
      find_cases (path, cases, depth + 1);
  }
}

static Outcome
run_sets (AxonModel *model, const gchar *dir, RunOptions *options, GError **error)
{
  guint n = 0;
  for (;; n++) {
    g_autofree gchar *base = g_strdup_printf ("test_data_set_%u", n);
    g_autofree gchar *set = g_build_filename (dir, base, NULL);
    if (!g_file_test (set, G_FILE_TEST_IS_DIR))
      break;
    if (!run_expect (model, set, options, error))
      return g_error_matches (*error, AXON_ERROR, AXON_ERROR_UNSUPPORTED) ? SKIPPED : FAILED;
  }
  if (n == 0)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("no test_data_set_0"));
  return n == 0 ? SKIPPED : PASSED;
}

static Outcome
run_case (const gchar *dir, const RunOptions *options, GError **error)
{
  g_autofree gchar *path = g_build_filename (dir, "model.onnx", NULL);
  g_autoptr (AxonModel) model = axon_core_read_model (axon_core_get_default (), path, NULL, error);
  RunOptions own = *options;
  if (model == NULL)
    return g_error_matches (*error, AXON_ERROR, AXON_ERROR_UNSUPPORTED) ? SKIPPED : FAILED;
  own.quiet = TRUE;
  own.json = NULL;
  own.tolerance.quantized = axon_model_is_quantized (model);
  return run_sets (model, dir, &own, error);
}

static void
show_case (JsonBuilder *json, const gchar *path, Outcome outcome, const GError *error)
{
  static const gchar *const names[] = { "pass", "FAIL", "skip" };
  if (json == NULL) {
    tool_progress_clear ();
    g_print ("%s %s%s%s\n", names[outcome], path, error ? ": " : "", error ? error->message : "");
    return;
  }
  json_builder_begin_object (json);
  tool_json_text (json, "folder", path);
  tool_json_text (json, "outcome", totals[outcome]);
  tool_json_text (json, "message", error ? error->message : NULL);
  json_builder_end_object (json);
}

int
run_suite (const gchar *dir, const RunOptions *options)
{
  g_autoptr (GPtrArray) cases = g_ptr_array_new_with_free_func (g_free);
  guint counts[G_N_ELEMENTS (totals)] = { 0 };
  find_cases (dir, cases, 0);
  qsort (cases->pdata, cases->len, sizeof (gpointer), compare_names);
  tool_json_begin_list (options->json, "cases");
  for (guint i = 0; i < cases->len; i++) {
    const gchar *path = g_ptr_array_index (cases, i);
    g_autoptr (GError) error = NULL;
    Outcome outcome;
    tool_progress ((gdouble)i / cases->len, path, NULL);
    outcome = run_case (path, options, &error);
    counts[outcome]++;
    show_case (options->json, path, outcome, error);
  }
  tool_progress_clear ();
  tool_json_end_list (options->json);
  for (guint i = 0; options->json != NULL && i < G_N_ELEMENTS (totals); i++)
    tool_json_whole (options->json, totals[i], counts[i]);
  if (options->json == NULL)
    g_print ("%u passed, %u failed, %u skipped\n", counts[PASSED], counts[FAILED], counts[SKIPPED]);
  return counts[FAILED] > 0 || counts[PASSED] == 0 ? TOOL_FAILED : TOOL_DONE;
}
