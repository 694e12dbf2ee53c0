/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a run measured, and its JSON. */
#include "bench-private.h"

#define MOST_LATENCIES 1001

const BenchFigureRow bench_figures[BENCH_N_FIGURES] = {
  [BENCH_LOAD] = { "load_ms", N_ ("Reading the model"), "ms", 1, -1 },
  [BENCH_COMPILE] = { "compile_ms", N_ ("Compiling"), "ms", 1, -1 },
  [BENCH_FIRST] = { "first_ms", N_ ("First run"), "ms", 2, -1 },
  [BENCH_MEDIAN] = { "median_ms", N_ ("Median"), "ms", 3, -1 },
  [BENCH_P95] = { "p95_ms", N_ ("95 % within"), "ms", 3, -1 },
  [BENCH_P99] = { "p99_ms", N_ ("99 % within"), "ms", 3, -1 },
  [BENCH_MIN] = { "min_ms", N_ ("Fastest run"), "ms", 3, -1 },
  [BENCH_MAX] = { "max_ms", N_ ("Slowest run"), "ms", 3, 0 },
  [BENCH_FPS] = { "fps", N_ ("Throughput"), "/s", 1, 1 },
  [BENCH_RUNS] = { "runs", N_ ("Runs"), "", 0, 0 },
  [BENCH_CPU] = { "cpu_ms", N_ ("Processor time of a run"), "ms", 3, -1 },
  [BENCH_PEAK_MEMORY] = { "max_rss_kb", N_ ("Peak memory"), "kB", 0, -1 },
  [BENCH_BASE_MEMORY] = { "base_rss_kb", N_ ("Memory before the model"), "kB", 0, 0 },
};

BenchRun *
bench_run_new (const gchar *name, const gchar *device)
{
  BenchRun *run = g_new0 (BenchRun, 1);
  run->name = g_strdup (name);
  run->device = g_strdup (device);
  run->latencies = g_array_new (FALSE, FALSE, sizeof (gdouble));
  return run;
}

void
bench_run_free (BenchRun *run)
{
  g_clear_pointer (&run->profile, bench_profile_free);
  g_clear_pointer (&run->inputs, json_array_unref);
  g_array_unref (run->latencies);
  g_free (run->name);
  g_free (run->device);
  g_free (run);
}

static gint
compare_double (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *)a, y = *(const gdouble *)b;
  return x < y ? -1 : x > y;
}

static gdouble
percentile (const BenchRun *run, gdouble p)
{
  guint n = run->latencies->len;
  return n == 0 ? 0 : g_array_index (run->latencies, gdouble, (guint)(p / 100 * (n - 1) + 0.5));
}

void
bench_run_sum_up (BenchRun *run, gdouble seconds)
{
  static const struct {
    BenchFigure figure;
    gdouble percent;
  } rows[] = {
    { BENCH_MIN, 0 },  { BENCH_MEDIAN, 50 }, { BENCH_P95, 95 },
    { BENCH_P99, 99 }, { BENCH_MAX, 100 },
  };
  g_array_sort (run->latencies, compare_double);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    run->figures[rows[i].figure] = percentile (run, rows[i].percent);
  run->figures[BENCH_RUNS] = run->latencies->len;
  run->figures[BENCH_FPS] = seconds > 0 ? run->latencies->len / seconds : 0;
}

void
bench_run_set_inputs (BenchRun *run, AxonCompiledModel *compiled, const BenchInputs *inputs)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  json_builder_begin_array (b);
  for (guint i = 0; i < inputs->inputs->len; i++) {
    const BenchInput *in = &g_array_index (inputs->inputs, BenchInput, i);
    json_builder_begin_object (b);
    tool_json_port (b, axon_compiled_model_get_input_name (compiled, i),
                    axon_tensor_get_dtype (in->tensor), axon_tensor_get_shape (in->tensor));
    tool_json_text (b, "values", in->values);
    json_builder_end_object (b);
  }
  json_builder_end_array (b);
  root = json_builder_get_root (b);
  run->inputs = json_node_dup_array (root);
}

static void
add_profile (JsonBuilder *b, const BenchProfile *profile)
{
  tool_json_number (b, "peak_f32", profile->peaks.f32);
  tool_json_number (b, "peak_int8", profile->peaks.int8);
  tool_json_number (b, "peak_memory", profile->peaks.memory);
  tool_json_whole (b, "threads", profile->peaks.threads);
  json_builder_set_member_name (b, "steps");
  json_builder_begin_array (b);
  for (guint i = 0; i < profile->steps->len; i++) {
    const BenchStep *step = g_ptr_array_index (profile->steps, i);
    json_builder_begin_object (b);
    tool_json_text (b, "name", step->name);
    tool_json_text (b, "type", step->type);
    tool_json_text (b, "implementation", step->impl);
    tool_json_number (b, "us", step->us);
    tool_json_number (b, "share", step->share);
    tool_json_number (b, "operations", step->operations);
    tool_json_number (b, "bytes", step->bytes);
    tool_json_truth (b, "of_bytes", step->of_bytes);
    tool_json_number (b, "fraction", step->fraction);
    tool_json_truth (b, "slow", step->slow);
    json_builder_end_object (b);
  }
  json_builder_end_array (b);
}

/* So many of them, evenly, that their distribution can be drawn. */
static void
add_latencies (JsonBuilder *b, const GArray *latencies)
{
  guint n = MIN (latencies->len, MOST_LATENCIES);
  json_builder_set_member_name (b, "latencies_ms");
  json_builder_begin_array (b);
  for (guint i = 0; i < n; i++) {
    guint at = n > 1 ? (guint)((guint64)i * (latencies->len - 1) / (n - 1)) : 0;
    json_builder_add_double_value (b, g_array_index (latencies, gdouble, at));
  }
  json_builder_end_array (b);
}

void
bench_run_print_json (const BenchRun *run)
{
  g_autoptr (JsonBuilder) b = tool_json_new ();
  tool_json_text (b, "model", run->name);
  tool_json_text (b, "device", run->device);
  for (guint i = 0; i < BENCH_N_FIGURES; i++)
    tool_json_number (b, bench_figures[i].key, run->figures[i]);
  json_builder_set_member_name (b, "inputs");
  json_builder_add_value (b, json_node_init_array (json_node_alloc (), run->inputs));
  add_latencies (b, run->latencies);
  if (run->profile != NULL)
    add_profile (b, run->profile);
  tool_json_finish (b);
}

/* A member that is not there, or is something else, is 0, "" or nothing. */
static gdouble
number_of (JsonObject *object, const gchar *key)
{
  return json_object_get_double_member_with_default (object, key, 0);
}

static const gchar *
text_of (JsonObject *object, const gchar *key)
{
  const gchar *text = json_object_get_string_member_with_default (object, key, "");
  return text ? text : "";
}

static JsonArray *
array_of (JsonObject *object, const gchar *key)
{
  JsonNode *node = json_object_get_member (object, key);
  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

static BenchProfile *
load_profile (JsonObject *object, JsonArray *steps)
{
  BenchProfile *profile = bench_profile_new_empty ();
  profile->peaks = (BenchPeaks){ number_of (object, "peak_f32"), number_of (object, "peak_int8"),
                                 number_of (object, "peak_memory"),
                                 (guint)CLAMP (number_of (object, "threads"), 0, G_MAXINT) };
  for (guint i = 0; i < json_array_get_length (steps); i++) {
    JsonNode *node = json_array_get_element (steps, i);
    JsonObject *row = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
    BenchStep *step;
    if (row == NULL)
      continue;
    step = bench_profile_add_step (profile, text_of (row, "name"), text_of (row, "type"),
                                   text_of (row, "implementation"));
    step->us = MAX (number_of (row, "us"), 0);
    step->operations = MAX (number_of (row, "operations"), 0);
    step->bytes = MAX (number_of (row, "bytes"), 0);
    step->of_bytes = json_object_get_boolean_member_with_default (row, "of_bytes", FALSE);
  }
  bench_profile_finish (profile);
  return profile;
}

static void
load_latencies (BenchRun *run, JsonArray *list)
{
  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++) {
    JsonNode *node = json_array_get_element (list, i);
    gdouble ms = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : 0;
    if (ms > 0)
      g_array_append_val (run->latencies, ms);
  }
  g_array_sort (run->latencies, compare_double);
}

BenchRun *
bench_run_load (const gchar *file, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autofree gchar *base = g_path_get_basename (file);
  JsonNode *root;
  JsonObject *object;
  JsonArray *steps, *inputs;
  BenchRun *run;
  if (!json_parser_load_from_file (parser, file, error)) {
    g_prefix_error (error, "%s: ", file);
    return NULL;
  }
  root = json_parser_get_root (parser);
  object = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  if (object == NULL || number_of (object, bench_figures[BENCH_MEDIAN].key) <= 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("%s: expected a result that axon-bench --json printed, \"%s\" is missing"),
                 file, bench_figures[BENCH_MEDIAN].key);
    return NULL;
  }
  run = bench_run_new (base, text_of (object, "device"));
  for (guint i = 0; i < BENCH_N_FIGURES; i++)
    run->figures[i] = MAX (number_of (object, bench_figures[i].key), 0);
  load_latencies (run, array_of (object, "latencies_ms"));
  inputs = array_of (object, "inputs");
  run->inputs = inputs ? json_array_ref (inputs) : NULL;
  steps = array_of (object, "steps");
  run->profile = steps ? load_profile (object, steps) : NULL;
  return run;
}

static void
describe_input (GString *text, JsonObject *port)
{
  JsonArray *dims = array_of (port, "shape");
  g_string_append_printf (text, "; %s %s[", text_of (port, "name"), text_of (port, "type"));
  for (guint i = 0; dims != NULL && i < json_array_get_length (dims); i++) {
    JsonNode *node = json_array_get_element (dims, i);
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i ? "," : "",
                            JSON_NODE_HOLDS_VALUE (node) ? json_node_get_int (node) : 0);
  }
  g_string_append_printf (text, "] %s", text_of (port, "values"));
}

gchar *
bench_run_describe_inputs (const BenchRun *run)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; run->inputs != NULL && i < json_array_get_length (run->inputs); i++) {
    JsonNode *node = json_array_get_element (run->inputs, i);
    if (JSON_NODE_HOLDS_OBJECT (node))
      describe_input (text, json_node_get_object (node));
  }
  return g_string_free (text, FALSE);
}
