/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base class of plugins by itself. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#define SAMPLE_NO_ENTRY
#include "../../docs/examples/plugin/sampleplugin.c"

#include "../../lib/plan/axonblob-private.h"
#include "../../lib/runtime/core/axonplugin-private.h"
#include "config.h"

#include <string.h>

/* A plugin of this program: notes what the base class gives it. */
typedef AxonPlugin ProbePlugin;
typedef AxonPluginClass ProbePluginClass;
static GType probe_plugin_get_type (void);
G_DEFINE_TYPE (ProbePlugin, probe_plugin, AXON_TYPE_PLUGIN)

static guint probe_calls;
static gboolean probe_perf_count;
static gint probe_streams;

static AxonCompiledModel *
probe_plugin_compile_model (AxonPlugin *plugin, G_GNUC_UNUSED AxonModel *model,
                            G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                            G_GNUC_UNUSED GCancellable *cancellable,
                            G_GNUC_UNUSED AxonProgressFunc progress,
                            G_GNUC_UNUSED gpointer user_data, GError **error)
{
  probe_calls++;
  probe_perf_count = axon_config_get_bool (config, "PERF_COUNT");
  probe_streams = axon_config_get_int (config, "NUM_STREAMS");
  axon_plugin_log (plugin, config, "LOG_ERROR", "grave");
  axon_plugin_log (plugin, config, "LOG_WARNING", "odd");
  axon_plugin_log (plugin, config, "LOG_DEBUG", "small");
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, "it only looks");
  return NULL;
}

static void
probe_plugin_class_init (ProbePluginClass *klass)
{
  klass->compile_model = probe_plugin_compile_model;
}

static void
probe_plugin_init (ProbePlugin *self)
{
  static const AxonPropertySpec rows[] = {
    { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "NO" },
    { .key = "NUM_STREAMS", .flags = AXON_RW, .default_text = "1" },
    { .key = "LOG_LEVEL", .flags = AXON_RW, .default_text = "LOG_NONE" },
  };
  axon_plugin_set_properties_table (self, rows, G_N_ELEMENTS (rows));
}

static void
try_probe (AxonPlugin *plugin, const gchar *config, const gchar *says)
{
  g_autoptr (AxonModel) model = axon_model_new ("empty");
  g_autoptr (GVariant) values = g_variant_ref_sink (g_variant_new_parsed (config));
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_plugin_compile_model (plugin, model, NULL, values, NULL, NULL, NULL, &error));
  g_assert_nonnull (strstr (error->message, says));
}

/* P14, P18: the base class judges and merges; the plugin's function gets what is in effect. */
static void
a_plugins_compile_gets_checked_and_merged_values (void)
{
  g_autoptr (AxonPlugin) plugin = g_object_new (probe_plugin_get_type (), "name", "PROBE", NULL);
  g_autoptr (GVariant) three = g_variant_ref_sink (g_variant_new_string ("3"));
  try_probe (plugin, "{'PERF_COUNT': <'maybe'>}", "expected YES or NO");
  try_probe (plugin, "{'PERF_COUN': <'YES'>}", "did you mean");
  g_assert_cmpuint (probe_calls, ==, 0);
  g_assert_true (axon_plugin_set_property (plugin, "NUM_STREAMS", three, NULL));
  try_probe (plugin, "{'PERF_COUNT': <'YES'>}", "it only looks");
  g_assert_cmpuint (probe_calls, ==, 1);
  g_assert_true (probe_perf_count);
  g_assert_cmpint (probe_streams, ==, 3);
  try_probe (plugin, "{'NUM_STREAMS': <5>}", "it only looks");
  g_assert_false (probe_perf_count);
  g_assert_cmpint (probe_streams, ==, 5);
}

/* What is shown, where it is collected. */
static GString *shown;

static GLogWriterOutput
collect (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer user_data)
{
  if (shown == NULL || (level & G_LOG_LEVEL_MESSAGE) == 0)
    return g_log_writer_default (level, fields, n_fields, user_data);
  for (gsize i = 0; i < n_fields; i++)
    if (g_str_equal (fields[i].key, "MESSAGE"))
      g_string_append_printf (shown, "%s;", (const gchar *)fields[i].value);
  return G_LOG_WRITER_HANDLED;
}

static void
a_plugin_shows_what_its_log_level_asks_for_and_nothing_less_grave (void)
{
  static const gchar *const cases[][2] = { { "LOG_NONE", "" },
                                           { "LOG_ERROR", "TALKS: grave;" },
                                           { "LOG_WARNING", "TALKS: grave;TALKS: odd;" },
                                           { "LOG_INFO", "TALKS: grave;TALKS: odd;" },
                                           { "LOG_TRACE",
                                             "TALKS: grave;TALKS: odd;TALKS: small;" } };
  g_autoptr (AxonPlugin) plugin = g_object_new (probe_plugin_get_type (), "name", "TALKS", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *config = g_strdup_printf ("{'LOG_LEVEL': <'%s'>}", cases[i][0]);
    shown = g_string_new (NULL);
    try_probe (plugin, config, "it only looks");
    g_assert_cmpstr (shown->str, ==, cases[i][1]);
    g_string_free (g_steal_pointer (&shown), TRUE);
  }
}

/* Marks as the profiler would get them: this replaces its function when linking. */
static GPtrArray *marks;

#ifdef HAVE_SYSPROF
void __wrap_sysprof_collector_mark (gint64 time, gint64 duration, const gchar *group,
                                    const gchar *mark, const gchar *message);
void
__wrap_sysprof_collector_mark (gint64 time, gint64 duration, const gchar *group, const gchar *mark,
                               const gchar *message)
{
  g_assert_cmpint (time, >, 0);
  g_assert_cmpint (duration, >=, 0);
  if (marks != NULL)
    g_ptr_array_add (marks, g_strjoin (" ", group, mark, message, NULL));
}
#endif

/* x f32[2] -> Relu -> y, of name "marked" */
static AxonModel *
marked_model (void)
{
  AxonModel *model = axon_model_new ("marked");
  AxonShape s = AXON_SHAPE (2);
  AxonValue *x = axon_model_add_input (model, "x", AXON_DTYPE_F32, &s);
  AxonValue *y = axon_model_add_value (model, "y");
  axon_model_add_node (model, axon_builtin_op (NULL, "Relu", 13), 13, "relu", &x, 1, &y, 1);
  axon_model_add_output (model, y);
  g_assert_true (axon_model_infer_shapes (model, NULL));
  return model;
}

static void
infer_once (AxonCompiledModel *compiled)
{
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  AxonShape s = AXON_SHAPE (2);
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &s, NULL);
  memset (axon_tensor_get_data (x), 0, axon_tensor_get_n_bytes (x));
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, NULL));
  g_assert_true (axon_infer_request_infer (request, NULL));
}

static void
import_once (AxonPlugin *plugin, AxonCompiledModel *compiled)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AxonOpSet) op_set = axon_op_set_new ();
  g_autoptr (AxonBlob) blob = NULL;
  g_autoptr (AxonCompiledModel) imported = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (axon_compiled_model_export (compiled, stream, NULL, NULL));
  g_output_stream_close (stream, NULL, NULL);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  blob = axon_blob_new (bytes, op_set, &error);
  g_assert_no_error (error);
  imported = axon_plugin_import_model (plugin, blob, NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* F2 */
static void
marks_for_the_profiler_name_what_was_done (void)
{
#ifdef HAVE_SYSPROF
  static const gchar *const expected[] = { "axon compile marked", "axon query marked", "axon infer",
                                           "axon import MARKED" };
  g_autoptr (AxonPlugin) plugin = g_object_new (sample_plugin_get_type (), "name", "MARKED", NULL);
  g_autoptr (AxonModel) model = marked_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonSupportedOps) ops = axon_supported_ops_new ();
  marks = g_ptr_array_new_with_free_func (g_free);
  compiled = axon_plugin_compile_model (plugin, model, NULL, NULL, NULL, NULL, NULL, NULL);
  g_assert_nonnull (compiled);
  g_assert_true (axon_plugin_query_model (plugin, model, NULL, ops, NULL, NULL));
  infer_once (compiled);
  import_once (plugin, compiled);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_true (g_ptr_array_find_with_equal_func (marks, expected[i], g_str_equal, NULL));
  g_clear_pointer (&marks, g_ptr_array_unref);
#else
  g_test_skip ("built without sysprof");
#endif
}

/* The graph as a blob holds it, of an input that is no more than its name. */
static AxonModel *
read_again (AxonModel *model, GError **error)
{
  AxonBlobWriter *writer = axon_blob_writer_new (NULL);
  GVariantDict header;
  g_autoptr (GVariant) graph = NULL;
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AxonOpSet) op_set = axon_op_set_new ();
  g_autoptr (AxonBlob) blob = NULL;
  g_variant_dict_init (&header, NULL);
  graph = g_variant_ref_sink (axon_blob_writer_add_model (writer, model));
  g_assert_true (
      axon_blob_writer_write (writer, g_variant_dict_end (&header), graph, stream, NULL, error));
  axon_blob_writer_free (writer);
  g_output_stream_close (stream, NULL, NULL);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  blob = axon_blob_new (bytes, op_set, error);
  return blob ? axon_blob_read_model (blob, axon_blob_get_payload (blob), error) : NULL;
}

static void
a_stored_value_of_an_unknown_type_or_rank_is_refused (void)
{
  static const struct {
    gint dtype, rank;
    gboolean ok;
  } cases[] = { { AXON_DTYPE_F32, 2, TRUE },
                { AXON_DTYPE_UNDEFINED, -1, TRUE },
                { AXON_N_DTYPES - 1, 2, TRUE },
                { AXON_N_DTYPES, 2, FALSE },
                { 1000, 2, FALSE },
                { -1, 2, FALSE },
                { AXON_DTYPE_F32, -2, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    AxonShape shape = AXON_SHAPE (2, 3);
    g_autoptr (AxonModel) model = axon_model_new ("stored");
    AxonValue *value = axon_model_add_input (model, "x", AXON_DTYPE_F32, &shape);
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonModel) again = NULL;
    value->type.dtype = (AxonDType)cases[i].dtype;
    value->type.shape.rank = cases[i].rank;
    again = read_again (model, &error);
    g_assert_true ((again != NULL) == cases[i].ok);
    if (cases[i].ok) {
      g_assert_no_error (error);
      g_assert_cmpint (axon_model_get_input_dtype (again, 0), ==, cases[i].dtype);
      continue;
    }
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, "a value's type is unknown"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_log_set_writer_func (collect, NULL, NULL);
  g_test_add_func ("/pluginbase/a_plugins_compile_gets_checked_and_merged_values",
                   a_plugins_compile_gets_checked_and_merged_values);
  g_test_add_func ("/pluginbase/a_plugin_shows_what_its_log_level_asks_for_and_nothing_less_grave",
                   a_plugin_shows_what_its_log_level_asks_for_and_nothing_less_grave);
  g_test_add_func ("/pluginbase/marks_for_the_profiler_name_what_was_done",
                   marks_for_the_profiler_name_what_was_done);
  g_test_add_func ("/pluginbase/a_stored_value_of_an_unknown_type_or_rank_is_refused",
                   a_stored_value_of_an_unknown_type_or_rank_is_refused);
  return g_test_run ();
}
