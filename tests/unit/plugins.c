/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plugins of others: mistakes of their authors, several devices of one plugin, versions. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <string.h>

#define MISTAKEN SUPPORT_DIR "/libmistaken.so"
#define TWO SUPPORT_DIR "/libaxon-two.so"
#define NEXT_TWO SUPPORT_DIR "/libnexttwo.so"

static AxonCore *
core_with (const gchar *library, const gchar *name)
{
  AxonCore *core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  axon_core_register_plugin (core, library, name, &error);
  g_assert_no_error (error);
  return core;
}

/* P2, P10: the author reads what is missing; other devices are there all the same. */
static void
a_mistake_in_a_plugin_is_an_error_that_says_which (void)
{
  static const struct {
    const gchar *name, *says;
  } mistakes[] = { { "NOTHING", "create() returned neither a device nor an error" },
                   { "NOQUERY", "has no query_model" },
                   { "NOCOMPILE", "has no compile_model" },
                   { "NOMETRIC", "has no get_metric or get_device_metric" },
                   { "NOTABLE", "axon_plugin_set_properties_table() was not called" },
                   { "NOLIST", "no row AVAILABLE_DEVICES" },
                   { "OWNKEY", "\"MY_KEY\" is not a well-known one: its row needs a type" },
                   { "BADDEFAULT", "the default of property \"PERF_COUNT\" is \"maybe\", expected "
                                   "YES or NO" },
                   { "NOKEY", "row 1 of the property table has no key" },
                   { "NOBLURB", "\"MY_KEY\" has no blurb" },
                   { "NOCHOICES", "\"MY_KEY\" has no choices" },
                   { "NOSETTER", "rows with AXON_PROPERTY_PROCESS need set_property" } };
  g_autoptr (AxonModel) model = test_relu_model ();
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    g_autoptr (AxonCore) core = core_with (MISTAKEN, mistakes[i].name);
    g_autoptr (GError) error = NULL;
    g_auto (GStrv) devices = NULL;
    g_auto (GStrv) unusable = NULL;
    g_autofree gchar *all = NULL;
    g_assert_null (
        axon_core_compile_model (core, model, mistakes[i].name, NULL, NULL, NULL, NULL, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
    g_assert_nonnull (strstr (error->message, mistakes[i].name));
    g_assert_nonnull (strstr (error->message, mistakes[i].says));
    devices = axon_core_get_available_devices (core);
    g_assert_true (g_strv_contains ((const gchar *const *)devices, "TEMPLATE"));
    g_assert_false (g_strv_contains ((const gchar *const *)devices, mistakes[i].name));
    unusable = axon_core_list_unusable_devices (core);
    all = g_strjoinv ("\n", unusable);
    g_assert_nonnull (strstr (all, mistakes[i].says));
  }
}

static void
a_library_whose_name_is_no_device_hides_nobody (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-plugins-XXXXXX", NULL);
  g_autofree gchar *library = g_build_filename (folder, "libaxon-my-npu.so", NULL);
  const gchar *before = g_getenv ("AXON_PLUGIN_PATH");
  g_autofree gchar *old = g_strdup (before);
  g_autofree gchar *path = g_strconcat (folder, ":", before, NULL);
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autofree gchar *all = NULL;
  g_auto (GStrv) devices = NULL;
  g_auto (GStrv) unusable = NULL;
  g_assert_true (g_file_set_contents (library, "", 0, NULL));
  g_setenv ("AXON_PLUGIN_PATH", path, TRUE);
  devices = axon_core_list_all_devices (core);
  unusable = axon_core_list_unusable_devices (core);
  g_setenv ("AXON_PLUGIN_PATH", old, TRUE);
  g_unlink (library);
  g_rmdir (folder);
  g_assert_true (g_strv_contains ((const gchar *const *)devices, "TEMPLATE"));
  g_assert_false (g_strv_contains ((const gchar *const *)devices, "MY-NPU"));
  all = g_strjoinv ("\n", unusable);
  g_assert_nonnull (strstr (all, "libaxon-my-npu.so: its name names no device"));
}

static GBytes *
export_bytes (AxonCompiledModel *compiled)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;
  axon_compiled_model_export (compiled, stream, NULL, &error);
  g_assert_no_error (error);
  g_output_stream_close (stream, NULL, NULL);
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
}

static AxonCompiledModel *
compile (AxonCore *core, const gchar *device, const gchar *cache)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  GVariantDict dict;
  AxonCompiledModel *compiled;
  g_variant_dict_init (&dict, NULL);
  if (cache != NULL)
    g_variant_dict_insert (&dict, "CACHE_DIR", "s", cache);
  compiled = axon_core_compile_model (core, model, device, g_variant_dict_end (&dict), NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  return compiled;
}

static gboolean
from_cache (AxonCompiledModel *compiled)
{
  g_autoptr (GVariant) value =
      axon_compiled_model_get_property (compiled, "LOADED_FROM_CACHE", NULL);
  return g_variant_get_boolean (value);
}

static void
remove_folder (const gchar *path, guint expected)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;
  guint n = 0;
  for (; (name = g_dir_read_name (dir)) != NULL; n++) {
    g_autofree gchar *file = g_build_filename (path, name, NULL);
    g_unlink (file);
  }
  g_rmdir (path);
  g_assert_cmpuint (n, ==, expected);
}

/* I2, I3 */
static void
what_one_version_of_a_plugin_stored_the_next_does_not_take (void)
{
  g_autoptr (AxonCore) now = core_with (TWO, "PAIR");
  g_autoptr (AxonCore) next = core_with (NEXT_TWO, "PAIR");
  g_autofree gchar *folder = g_dir_make_tmp ("axon-plugins-XXXXXX", NULL);
  g_autoptr (AxonCompiledModel) first = compile (now, "PAIR.0", folder);
  g_autoptr (AxonCompiledModel) again = compile (now, "PAIR.0", folder);
  g_autoptr (AxonCompiledModel) other = compile (next, "PAIR.0", folder);
  g_autoptr (GBytes) bytes = export_bytes (first);
  g_autoptr (GError) error = NULL;
  g_assert_false (from_cache (first));
  g_assert_true (from_cache (again));
  g_assert_false (from_cache (other));
  remove_folder (folder, 2);
  g_assert_null (
      axon_core_import_model (next, bytes, "PAIR.0", NULL, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "plugin-version"));
  g_assert_nonnull (strstr (error->message, "'2.0'"));
  g_assert_nonnull (strstr (error->message, "'1.0'"));
}

/* I2, I3: entries of one device of a plugin are not those of the other. */
static void
devices_of_one_plugin_have_entries_of_their_own (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autofree gchar *folder = g_dir_make_tmp ("axon-plugins-XXXXXX", NULL);
  g_autoptr (AxonCompiledModel) zero = compile (core, "TWO.0", folder);
  g_autoptr (AxonCompiledModel) one = compile (core, "TWO.1", folder);
  g_autoptr (AxonCompiledModel) again = compile (core, "TWO.1", folder);
  g_assert_false (from_cache (zero));
  g_assert_false (from_cache (one));
  g_assert_true (from_cache (again));
  remove_folder (folder, 2);
}

/* X5: ids that the table's choices allow, but that do not exist */
static void
an_id_of_no_device_changes_nothing (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) ids = NULL;
  g_assert_false (
      axon_core_set_property (core, "TWO", "DEVICE_ID", g_variant_new_string ("7"), &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "there is no device TWO.7: DEVICE_ID is one of 0, 1"));
  g_clear_error (&error);
  ids = axon_core_get_property (core, "TWO", "AVAILABLE_DEVICES", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_variant_n_children (ids), ==, 2);
  g_assert_null (axon_core_get_property (core, "TWO.7", "FULL_DEVICE_NAME", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

/* A plugin that is registered by another name says that one. */
static void
a_device_by_another_name_says_where_it_runs (void)
{
  static const gchar *const libraries[] = { "cpu/libaxon-cpu.so", NULL };
  for (guint i = 0; libraries[i] != NULL; i++) {
    g_autofree gchar *path = g_build_filename (SUPPORT_DIR, "../../plugins", libraries[i], NULL);
    g_autofree gchar *plain = g_canonicalize_filename (path, NULL);
    g_autoptr (AxonCore) core = core_with (plain, "MINE");
    g_autoptr (AxonCompiledModel) compiled = compile (core, "MINE", NULL);
    g_autoptr (GVariant) where =
        axon_compiled_model_get_property (compiled, "EXECUTION_DEVICES", NULL);
    g_autofree gchar *text = g_variant_print (where, FALSE);
    g_assert_cmpstr (text, ==, "['MINE']");
  }
}

/* x f32[1,4] -> Mul 3 -> Add 1 */
static AxonModel *
make_scale_shift (void)
{
  static const gfloat three = 3, one = 1;
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1, 4), scalar = { .rank = 0 };
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
  AxonNode *mul = test_model_node (&t, "Mul", 2, x, test_model_constant (&t, &scalar, &three));
  AxonNode *add =
      test_model_node (&t, "Add", 2, mul->outputs[0], test_model_constant (&t, &scalar, &one));
  return test_model_finish (&t, add->outputs[0]);
}

static gboolean
has_fused_node (AxonModel *model)
{
  g_assert_cmpuint (axon_model_get_n_nodes (model), ==, 1);
  return g_str_equal (((AxonNode *)g_ptr_array_index (model->nodes, 0))->op->name, "ScaleShift");
}

static void
check_scale_shift (AxonCompiledModel *compiled)
{
  g_autoptr (AxonInferRequest) r = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonModel) runs = axon_compiled_model_get_runtime_model (compiled, NULL);
  AxonShape s = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) x = test_random (&s, 5);
  g_autoptr (AxonTensor) y = NULL;
  g_assert_true (has_fused_node (runs));
  g_assert_true (axon_infer_request_set_input_tensor (r, 0, x, NULL));
  g_assert_true (axon_infer_request_infer (r, NULL));
  y = axon_infer_request_get_output_tensor (r, 0);
  for (gsize i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, i),
                                    axon_tensor_get_value (x, i) * 3 + 1, 1e-6);
}

/* P21: in cores that never met the device before, too */
static void
a_fused_operator_of_a_plugin_comes_back_from_a_file (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-plugins-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "fused.axon", NULL);
  g_autoptr (AxonModel) model = make_scale_shift ();
  g_autoptr (AxonModel) stored = NULL;
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < 3; i++) {
    g_autoptr (AxonCore) core = axon_core_new ();
    g_autoptr (AxonCompiledModel) compiled =
        i == 0 ? axon_core_compile_model (core, model, "FUSION", NULL, NULL, NULL, NULL, &error)
               : axon_core_import_model_from_file (core, path, i == 1 ? "FUSION" : NULL, NULL, NULL,
                                                   NULL, NULL, &error);
    g_assert_no_error (error);
    check_scale_shift (compiled);
    if (i == 0)
      axon_compiled_model_export_to_file (compiled, path, &error);
    g_assert_no_error (error);
  }
  g_autoptr (AxonCore) core = axon_core_new ();
  stored = axon_core_read_exported_model (core, path, &error);
  g_assert_no_error (error);
  g_assert_true (has_fused_node (stored));
  remove_folder (folder, 1);
}

/* P21, Q6 */
static void
a_query_knows_the_nodes_that_were_fused (void)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (AxonModel) model = make_scale_shift ();
  g_autoptr (GHashTable) taken =
      axon_core_query_model (core, model, "FUSION", NULL, NULL, NULL, NULL);
  g_assert_cmpuint (g_hash_table_size (taken), ==, 2);
}

/* Only well-known keys may be set for all devices; any error but that it is unknown will do. */
static gboolean
is_well_known (const gchar *key)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  return axon_core_set_property (core, NULL, key, g_variant_new_string (""), &error) ||
         strstr (error->message, "unknown property") == NULL;
}

/* X10: keys of one device only stand in its public header. */
static void
keys_of_one_device_stand_in_its_header (void)
{
  static const gchar *const headers[][2] = { { "CPU", "axon-cpu.h" },
                                             { "TEMPLATE", "axon-template.h" } };
  g_autoptr (AxonCore) core = axon_core_new ();
  guint found = 0;
  for (guint i = 0; i < G_N_ELEMENTS (headers); i++) {
    g_autofree gchar *path =
        g_build_filename (TEST_SOURCE_ROOT, "lib/include/axon", headers[i][1], NULL);
    g_autofree gchar *text = NULL;
    guint n;
    const AxonPropertySpec *specs = axon_core_get_property_specs (core, headers[i][0], &n, NULL);
    g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
    for (guint k = 0; k < n; k++) {
      g_autofree gchar *quoted = g_strdup_printf ("\"%s\"", specs[k].key);
      if (is_well_known (specs[k].key))
        continue;
      found++;
      g_test_message ("%s %s", headers[i][0], specs[k].key);
      g_assert_nonnull (strstr (text, quoted));
    }
  }
  g_assert_cmpuint (found, >, 1);
}

/* I4 */
static void
a_device_may_store_models_in_a_format_of_its_own (void)
{
  g_autoptr (AxonCore) core = core_with (NEXT_TWO, "PAIR");
  g_autofree gchar *folder = g_dir_make_tmp ("axon-plugins-XXXXXX", NULL);
  g_autoptr (AxonCompiledModel) compiled = compile (core, "PAIR.1", folder);
  g_autoptr (AxonCompiledModel) cached = compile (core, "PAIR.1", folder);
  g_autoptr (GBytes) bytes = export_bytes (compiled);
  g_autoptr (GBytes) other = g_bytes_new_static ("something else", 14);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) imported =
      axon_core_import_model (core, bytes, "PAIR.1", NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), 9, "NEXT TWO\n", 9);
  g_assert_cmpuint (axon_compiled_model_get_n_outputs (imported), ==, 1);
  g_assert_true (from_cache (cached));
  remove_folder (folder, 1);
  g_assert_null (
      axon_core_import_model (core, other, "PAIR.1", NULL, NULL, NULL, NULL, NULL, &error));
  g_assert_nonnull (strstr (error->message, "this is no file of device TWO"));
  g_clear_error (&error);
  g_assert_null (axon_core_import_model (core, other, "CPU", NULL, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "device CPU has no format of its own"));
}

/* Texts on nodes and models, on devices that run passes and that do not: fused nodes keep them. */
static void
notes_on_nodes_and_models_survive_passes_and_files (void)
{
  static const gchar *const devices[] = { "TEMPLATE", "CPU", "FUSION" };
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autoptr (AxonCore) core = axon_core_new ();
    g_autoptr (AxonModel) model = make_scale_shift ();
    g_auto (GStrv) names = axon_model_get_node_names (model);
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled = NULL;
    g_autoptr (AxonCompiledModel) imported = NULL;
    g_autoptr (AxonModel) runs = NULL;
    g_autoptr (GBytes) bytes = NULL;
    g_auto (GStrv) keys = NULL;
    g_assert_true (axon_model_set_node_info (model, names[0], "com.example.note", "of Mul"));
    g_assert_true (axon_model_set_node_info (model, names[1], "com.example.note", "öf Add"));
    g_assert_true (axon_model_set_node_info (model, names[1], "com.example.gone", "x"));
    g_assert_true (axon_model_set_node_info (model, names[1], "com.example.gone", NULL));
    g_assert_false (axon_model_set_node_info (model, "nobody", "com.example.note", "x"));
    axon_model_set_metadata (model, "com.example.author", "Ada");
    compiled = axon_core_compile_model (core, model, devices[i], NULL, NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    bytes = export_bytes (compiled);
    imported =
        axon_core_import_model (core, bytes, devices[i], NULL, NULL, NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    runs = axon_compiled_model_get_runtime_model (imported, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (axon_model_get_metadata (runs, "com.example.author"), ==, "Ada");
    keys = axon_model_get_node_info_keys (runs, names[1]);
    g_assert_cmpuint (g_strv_length (keys), ==, 1);
    g_assert_cmpstr (axon_model_get_node_info (runs, names[1], "com.example.note"), ==,
                     axon_model_get_n_nodes (runs) == 1 ? "of Mul" : "öf Add");
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/plugins/" #name, name)
  ADD (a_mistake_in_a_plugin_is_an_error_that_says_which);
  ADD (a_library_whose_name_is_no_device_hides_nobody);
  ADD (what_one_version_of_a_plugin_stored_the_next_does_not_take);
  ADD (devices_of_one_plugin_have_entries_of_their_own);
  ADD (an_id_of_no_device_changes_nothing);
  ADD (a_fused_operator_of_a_plugin_comes_back_from_a_file);
  ADD (a_query_knows_the_nodes_that_were_fused);
  ADD (keys_of_one_device_stand_in_its_header);
  ADD (a_device_may_store_models_in_a_format_of_its_own);
  ADD (notes_on_nodes_and_models_survive_passes_and_files);
  ADD (a_device_by_another_name_says_where_it_runs);
  return g_test_run ();
}
