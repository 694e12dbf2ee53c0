/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What runs the steps of the shared models on device CPU: kernels, neither the reference nor the
 * code that oneDNN calls "ref", which knows no processor. What each model ran by is told. */
#include "axontest.h"

#include <string.h>

/* What has none: by model and node. */
static const struct {
  const gchar *model, *node;
} exceptions[] = {
  /* suppression, and what is left of it, of which data say how much there is */
  { "nms-yolov8-graph", "onnx_graphsurgeon_node_48" },
  { "nms-yolov8-graph", "onnx_graphsurgeon_node_53" },
};

/* What oneDNN calls "gemm" is code for x86, or for nothing. */
static gboolean
is_portable (const gchar *implementation)
{
#ifndef __x86_64__
  if (g_str_has_prefix (implementation, "gemm"))
    return TRUE;
#endif
  return strstr (implementation, "ref") != NULL;
}

static gboolean
is_exception (const gchar *model, const gchar *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (exceptions); i++)
    if (g_str_equal (exceptions[i].model, model) && g_str_equal (exceptions[i].node, node))
      return TRUE;
  return FALSE;
}

static AxonInferRequest *
run_on_shared_data (AxonModel *model, const gchar *folder)
{
  GVariant *config = g_variant_new_parsed ("{'PERF_COUNT': <'YES'>}");
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", config, NULL, NULL, NULL, &error);
  AxonInferRequest *request;
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < axon_compiled_model_get_n_inputs (compiled); i++) {
    g_autofree gchar *base = g_strdup_printf ("input_%u.pb", i);
    g_autofree gchar *path = g_build_filename (folder, "test_data_set_0", base, NULL);
    g_autoptr (AxonTensor) tensor = axon_core_read_tensor (
        axon_core_get_default (), path, axon_compiled_model_get_input_dtype (compiled, i), &error);
    g_assert_no_error (error);
    axon_infer_request_set_input_tensor (request, i, tensor, &error);
    g_assert_no_error (error);
  }
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
  return request;
}

/* "conv 12, pool 3": implementations and how many steps of each. */
static gchar *
describe (GHashTable *counts)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (counts), (GCompareFunc)strcmp);
  GString *text = g_string_new (NULL);
  for (const GList *l = names; l != NULL; l = l->next)
    g_string_append_printf (text, "%s%s %u", text->len ? ", " : "", (const gchar *)l->data,
                            GPOINTER_TO_UINT (g_hash_table_lookup (counts, l->data)));
  return g_string_free (text, FALSE);
}

static void
check_model (const gchar *folder)
{
  g_autofree gchar *name = g_path_get_basename (folder), *all = NULL;
  g_autofree gchar *path = g_build_filename (folder, "model.onnx", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (AxonModel) model = axon_core_read_model (axon_core_get_default (), path, NULL, &error);
  g_autoptr (AxonInferRequest) request = NULL;
  g_assert_no_error (error);
  request = run_on_shared_data (model, folder);
  for (guint i = 0; i < axon_infer_request_get_n_profiling (request); i++) {
    const AxonProfilingInfo *row = axon_infer_request_get_profiling (request, i);
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, row->exec_type));
    if (row->status != AXON_PROFILING_EXECUTED)
      continue;
    g_hash_table_insert (counts, (gpointer)row->exec_type, GUINT_TO_POINTER (n + 1));
    if (!is_portable (row->exec_type) || is_exception (name, row->node_name))
      continue;
    g_test_message ("%s \"%s\" runs \"%s\"", row->node_type, row->node_name, row->exec_type);
    g_test_fail ();
  }
  all = describe (counts);
  g_test_message ("%s: %s", name, all);
}

static void
every_step_of_a_shared_model_has_a_kernel (gconstpointer kind)
{
  g_autofree gchar *at = test_data (kind);
  g_autoptr (GDir) listing = at ? g_dir_open (at, 0, NULL) : NULL;
  const gchar *name;
  while (listing != NULL && (name = g_dir_read_name (listing)) != NULL) {
    g_autofree gchar *folder = g_build_filename (at, name, NULL);
    g_autofree gchar *model = g_build_filename (folder, "model.onnx", NULL);
    if (g_file_test (model, G_FILE_TEST_EXISTS))
      check_model (folder);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/implementations/models", "models",
                        every_step_of_a_shared_model_has_a_kernel);
  g_test_add_data_func ("/implementations/families", "families",
                        every_step_of_a_shared_model_has_a_kernel);
  return g_test_run ();
}
