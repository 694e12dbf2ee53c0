/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon-bench: latency and throughput of a model, and where its time goes. */
#include "bench-private.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>
#include <time.h>

static struct {
  gchar *device, *exec_graph, *chart, **config, **files, **shapes;
  gint n, nireq, warmup;
  gdouble seconds, interval;
  gboolean json, profile;
} opt = { .warmup = 5, .seconds = 3, .nireq = 1 };

static const GOptionEntry entries[] = {
  { "device", 'd', 0, G_OPTION_ARG_STRING, &opt.device, N_ ("Device (default CPU)"), "NAME" },
  { "config", 'c', 0, G_OPTION_ARG_STRING_ARRAY, &opt.config, N_ ("Property of the device"),
    "KEY=VALUE" },
  { "niter", 'n', 0, G_OPTION_ARG_INT, &opt.n, N_ ("Runs (default: as many as fit the time)"),
    "N" },
  { "time", 't', 0, G_OPTION_ARG_DOUBLE, &opt.seconds, N_ ("Seconds (default 3)"), "S" },
  { "interval", 'i', 0, G_OPTION_ARG_DOUBLE, &opt.interval,
    N_ ("Milliseconds from the start of one run to that of the next (default: none between them)"),
    "MS" },
  { "nireq", 0, 0, G_OPTION_ARG_INT, &opt.nireq, N_ ("Requests in flight (default 1)"), "N" },
  { "shape", 's', 0, G_OPTION_ARG_STRING_ARRAY, &opt.shapes,
    N_ ("Shape of the next input, for free dimensions (default: a usual size that fits)"),
    "N,C,H,W" },
  { "profile", 'p', 0, G_OPTION_ARG_NONE, &opt.profile,
    N_ ("Time per step, beside what the machine can do"), NULL },
  { "exec-graph", 0, 0, G_OPTION_ARG_FILENAME, &opt.exec_graph,
    N_ ("Draw what ran, coloured by time, as a Graphviz graph"), "FILE.dot" },
  { "chart", 0, 0, G_OPTION_ARG_FILENAME, &opt.chart,
    N_ ("Draw the time per step, and the steps below the roofline"), "FILE.svg|FILE.png" },
  { "json", 'j', 0, G_OPTION_ARG_NONE, &opt.json, N_ ("Print JSON"), NULL },
  TOOL_EXTENSION_ENTRY,
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.files, NULL, "MODEL.onnx" },
  G_OPTION_ENTRY_NULL
};

typedef struct {
  gdouble load_ms, compile_ms, first_ms, total_s;
  gdouble cpu_ms;        /* of the processors, for each run */
  GArray *ms;            /* latency of each run */
  glong rss_kb, base_kb; /* at most, and before the model is read */
} Result;

static gboolean
wants_profile (void)
{
  return opt.profile || opt.exec_graph != NULL || opt.chart != NULL;
}

static gdouble
now_ms (void)
{
  return (gdouble)g_get_monotonic_time () / 1000;
}

static gdouble
processor_ms (void)
{
  struct timespec t;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (gdouble)t.tv_sec * 1e3 + (gdouble)t.tv_nsec / 1e6;
}

/* Of this program: what getrusage () tells may be that of the one that started it. */
static glong
memory_kb (const gchar *field)
{
  g_autofree gchar *status = NULL;
  const gchar *at = NULL;
  if (g_file_get_contents ("/proc/self/status", &status, NULL, NULL))
    at = strstr (status, field);
  return at ? strtol (at + strlen (field), NULL, 10) : 0;
}

/* Until run @i is to start, if runs have their times. */
static void
wait_for_turn (gdouble begin, guint i)
{
  gdouble left = begin + i * opt.interval - now_ms ();
  if (opt.interval > 0 && left > 0)
    g_usleep ((gulong)(left * 1000));
}

/* Requests take turns; each run's latency is from start to end of wait. One alone is waited for
 * where it starts, as an application with one would do. */
static gboolean
measure (GPtrArray *requests, Result *r, GError **error)
{
  g_autofree gdouble *started = g_new0 (gdouble, requests->len);
  gdouble begin = now_ms (), cpu = processor_ms ();
  guint n = requests->len;
  for (guint i = 0;
       opt.n > 0 ? (gint)i < opt.n + (gint)n : now_ms () - begin < opt.seconds * 1000 || i < n + 1;
       i++) {
    AxonInferRequest *request = g_ptr_array_index (requests, i % n);
    if (i >= n) {
      gdouble ms;
      if (!axon_infer_request_wait (request, error))
        return FALSE;
      ms = now_ms () - started[i % n];
      g_array_append_val (r->ms, ms);
    }
    wait_for_turn (begin, i);
    started[i % n] = now_ms ();
    if (!(n == 1 ? axon_infer_request_infer : axon_infer_request_start_async) (request, error))
      return FALSE;
  }
  for (guint i = 0; i < n; i++)
    if (!axon_infer_request_wait (g_ptr_array_index (requests, i), error))
      return FALSE;
  r->total_s = (now_ms () - begin) / 1000;
  r->cpu_ms = (processor_ms () - cpu) / (r->ms->len + n);
  return TRUE;
}

static gint
compare_double (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *)a, y = *(const gdouble *)b;
  return x < y ? -1 : x > y;
}

static gdouble
percentile (const Result *r, gdouble p)
{
  return r->ms->len == 0
             ? 0
             : g_array_index (r->ms, gdouble, (guint)(p / 100 * (r->ms->len - 1) + 0.5));
}

static void
add_number (JsonBuilder *b, const gchar *name, gdouble value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_double_value (b, value);
}

static void
add_text (JsonBuilder *b, const gchar *name, const gchar *value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_string_value (b, value);
}

static void
add_inputs (JsonBuilder *b, AxonCompiledModel *compiled, const BenchInputs *inputs)
{
  json_builder_set_member_name (b, "inputs");
  json_builder_begin_array (b);
  for (guint i = 0; i < inputs->inputs->len; i++) {
    const BenchInput *in = &g_array_index (inputs->inputs, BenchInput, i);
    const AxonShape *shape = axon_tensor_get_shape (in->tensor);
    json_builder_begin_object (b);
    add_text (b, "name", axon_compiled_model_get_input_name (compiled, i));
    add_text (b, "type", axon_dtype_get_name (axon_tensor_get_dtype (in->tensor)));
    add_text (b, "values", in->values);
    json_builder_set_member_name (b, "shape");
    json_builder_begin_array (b);
    for (gint d = 0; d < shape->rank; d++)
      json_builder_add_int_value (b, shape->dims[d]);
    json_builder_end_array (b);
    json_builder_end_object (b);
  }
  json_builder_end_array (b);
}

static void
add_profile (JsonBuilder *b, const BenchProfile *profile)
{
  add_number (b, "peak_f32", profile->peaks.f32);
  add_number (b, "peak_int8", profile->peaks.int8);
  add_number (b, "peak_memory", profile->peaks.memory);
  json_builder_set_member_name (b, "steps");
  json_builder_begin_array (b);
  for (guint i = 0; i < profile->steps->len; i++) {
    const BenchStep *step = g_ptr_array_index (profile->steps, i);
    json_builder_begin_object (b);
    add_text (b, "name", step->name);
    add_text (b, "type", step->type);
    add_text (b, "implementation", step->impl);
    add_number (b, "us", step->us);
    add_number (b, "share", step->share);
    add_number (b, "operations", step->operations);
    add_number (b, "bytes", step->bytes);
    add_number (b, "fraction", step->fraction);
    json_builder_set_member_name (b, "slow");
    json_builder_add_boolean_value (b, step->slow);
    json_builder_end_object (b);
  }
  json_builder_end_array (b);
}

/* @profile: nullable */
static void
show_json (const Result *r, AxonCompiledModel *compiled, const BenchInputs *inputs,
           const BenchProfile *profile)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree gchar *text = NULL;
  const struct {
    const gchar *name;
    gdouble value;
  } fields[] = { { "load_ms", r->load_ms },
                 { "compile_ms", r->compile_ms },
                 { "first_ms", r->first_ms },
                 { "median_ms", percentile (r, 50) },
                 { "p95_ms", percentile (r, 95) },
                 { "p99_ms", percentile (r, 99) },
                 { "min_ms", percentile (r, 0) },
                 { "max_ms", percentile (r, 100) },
                 { "fps", r->ms->len / r->total_s },
                 { "runs", r->ms->len },
                 { "cpu_ms", r->cpu_ms },
                 { "max_rss_kb", (gdouble)r->rss_kb },
                 { "base_rss_kb", (gdouble)r->base_kb } };
  json_builder_begin_object (b);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    add_number (b, fields[i].name, fields[i].value);
  add_inputs (b, compiled, inputs);
  if (profile != NULL)
    add_profile (b, profile);
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  text = json_to_string (root, TRUE);
  g_print ("%s\n", text);
}

static void
show_inputs (AxonCompiledModel *compiled, const BenchInputs *inputs)
{
  for (guint i = 0; i < inputs->inputs->len; i++) {
    const BenchInput *in = &g_array_index (inputs->inputs, BenchInput, i);
    g_autofree gchar *shape = axon_shape_to_string (axon_tensor_get_shape (in->tensor));
    g_print (_ ("input \"%s\": %s%s%s, values %s\n"),
             axon_compiled_model_get_input_name (compiled, i),
             axon_dtype_get_name (axon_tensor_get_dtype (in->tensor)), shape,
             in->chosen ? _ (" (chosen: the model leaves dimensions free)") : "", in->values);
  }
}

static void
show_text (const Result *r)
{
  g_print (_ ("load %.1f ms, compile %.1f ms, first run %.2f ms, peak memory %ld kB\n"), r->load_ms,
           r->compile_ms, r->first_ms, r->rss_kb);
  g_print (_ ("%u runs: median %.3f ms, p95 %.3f, p99 %.3f, min %.3f, max %.3f; %.1f per second\n"),
           r->ms->len, percentile (r, 50), percentile (r, 95), percentile (r, 99),
           percentile (r, 0), percentile (r, 100), r->ms->len / r->total_s);
}

/* From a file that is compiled already, from the cache, or read and compiled. */
static AxonCompiledModel *
load (const gchar *path, const gchar *device, GVariant *config, Result *r, GError **error)
{
  AxonCore *core = axon_core_get_default ();
  g_autoptr (AxonModel) model = NULL;
  AxonCompiledModel *compiled;
  gdouble t0 = now_ms ();
  if (g_str_has_suffix (path, ".axon")) {
    compiled = axon_core_import_model_from_file (core, path, opt.device, config, NULL,
                                                 tool_progress, NULL, error);
  } else if (g_variant_lookup (config, "CACHE_DIR", "s", NULL)) {
    compiled = axon_core_compile_model_from_file (core, path, device, config, NULL, tool_progress,
                                                  NULL, error);
  } else {
    model = axon_core_read_model (core, path, NULL, error);
    r->load_ms = now_ms () - t0;
    t0 = now_ms ();
    compiled = model ? axon_core_compile_model (core, model, device, config, NULL, tool_progress,
                                                NULL, error)
                     : NULL;
  }
  r->compile_ms = now_ms () - t0;
  return compiled;
}

/* All requests share the inputs, which nobody writes. */
static gboolean
make_requests (AxonCompiledModel *compiled, AxonInferRequest *first, const BenchInputs *inputs,
               GPtrArray *requests, GError **error)
{
  g_ptr_array_add (requests, g_object_ref (first));
  for (gint k = 1; k < MAX (opt.nireq, 1); k++) {
    AxonInferRequest *request = axon_compiled_model_create_infer_request (compiled);
    g_ptr_array_add (requests, request);
    for (guint i = 0; i < inputs->inputs->len; i++)
      if (!axon_infer_request_set_input_tensor (
              request, i, g_array_index (inputs->inputs, BenchInput, i).tensor, error))
        return FALSE;
  }
  return TRUE;
}

static gboolean
measure_all (AxonCompiledModel *compiled, AxonInferRequest *first, const BenchInputs *inputs,
             Result *r, GError **error)
{
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func (g_object_unref);
  if (!make_requests (compiled, first, inputs, requests, error))
    return FALSE;
  r->first_ms = inputs->first_ms;
  for (gint i = 1; i < opt.warmup; i++)
    if (!axon_infer_request_infer (first, error))
      return FALSE;
  if (!measure (requests, r, error))
    return FALSE;
  r->rss_kb = memory_kb ("VmHWM:");
  g_array_sort (r->ms, compare_double);
  return TRUE;
}

static gboolean
show (const gchar *path, const Result *r, AxonCompiledModel *compiled, const BenchInputs *inputs,
      const BenchProfile *profile, GError **error)
{
  g_autofree gchar *title = g_path_get_basename (path);
  if (opt.json) {
    show_json (r, compiled, inputs, profile);
  } else {
    show_inputs (compiled, inputs);
    show_text (r);
    if (opt.profile)
      bench_profile_print (profile);
  }
  return (opt.exec_graph == NULL ||
          bench_profile_draw_graph (profile, compiled, opt.exec_graph, error)) &&
         (opt.chart == NULL || bench_profile_draw_chart (profile, title, opt.chart, error));
}

static gboolean
bench (const gchar *path, GVariant *config, GError **error)
{
  const gchar *device = opt.device ? opt.device : "CPU";
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (BenchInputs) inputs = NULL;
  g_autoptr (BenchProfile) profile = NULL;
  g_autoptr (GArray) ms = g_array_new (FALSE, FALSE, sizeof (gdouble));
  Result r = { .ms = ms };
  if (!axon_core_has_device (axon_core_get_default (), device, error))
    return FALSE;
  r.base_kb = memory_kb ("VmRSS:");
  compiled = load (path, device, config, &r, error);
  if (compiled == NULL)
    return FALSE;
  request = axon_compiled_model_create_infer_request (compiled);
  inputs = bench_inputs_choose (compiled, request, path, opt.shapes, error);
  if (inputs == NULL || !measure_all (compiled, request, inputs, &r, error))
    return FALSE;
  if (wants_profile ()) {
    profile = bench_profile_new (compiled, request, error);
    if (profile == NULL)
      return FALSE;
  }
  return show (path, &r, compiled, inputs, profile, error);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GVariant) config = NULL;
  GError *error = NULL;
  tool_init ();
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (
      context, _ ("Measures an ONNX model on random inputs, or on test_data_set_0 beside it."));
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return tool_fail (error);
  if (opt.files == NULL) {
    g_autofree gchar *help = g_option_context_get_help (context, TRUE, NULL);
    g_printerr ("%s", help);
    return 1;
  }
  if (wants_profile ()) {
    guint n = opt.config ? g_strv_length (opt.config) : 0;
    opt.config = g_renew (gchar *, opt.config, n + 2);
    opt.config[n] = g_strdup ("PERF_COUNT=YES");
    opt.config[n + 1] = NULL;
  }
  config = tool_parse_config (opt.config, &error);
  if (config == NULL)
    return tool_fail (error);
  g_variant_ref_sink (config);
  return bench (opt.files[0], config, &error) ? 0 : tool_fail (error);
}
