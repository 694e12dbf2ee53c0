/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon-bench: latency and throughput of a model, and where its time goes. */
#include "bench-private.h"

#include <string.h>
#include <time.h>

#define WARMUP 5 /* runs at least, the first one among them */

static struct {
  gchar *device, *exec_graph, *chart, *report, **config, **files, **shapes;
  gint n, nireq;
  gdouble seconds, warmup, interval;
  gboolean json, profile;
} opt = { .seconds = 3, .nireq = 1 };

static const GOptionEntry entries[] = {
  { "device", 'd', 0, G_OPTION_ARG_STRING, &opt.device, N_ ("Device (default CPU)"), "NAME" },
  { "config", 'c', 0, G_OPTION_ARG_STRING_ARRAY, &opt.config, N_ ("Property of the device"),
    "KEY=VALUE" },
  { "niter", 'n', 0, G_OPTION_ARG_INT, &opt.n, N_ ("Runs (default: as many as fit the time)"),
    "N" },
  { "time", 't', 0, G_OPTION_ARG_DOUBLE, &opt.seconds, N_ ("Seconds (default 3)"), "S" },
  { "warmup", 'w', 0, G_OPTION_ARG_DOUBLE, &opt.warmup,
    N_ ("Seconds of runs before those that are measured (default: five runs)"), "S" },
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
  { "report", 'r', 0, G_OPTION_ARG_FILENAME, &opt.report,
    N_ ("Write a page with all of it; two results of --json are compared"), "FILE.html" },
  TOOL_JSON_ENTRY (&opt.json),
  TOOL_EXTENSION_ENTRY,
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.files, NULL,
    "MODEL.onnx|RESULT.json..." },
  G_OPTION_ENTRY_NULL
};

static gboolean
wants_profile (void)
{
  return opt.profile || opt.exec_graph != NULL || opt.chart != NULL || opt.report != NULL;
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

/* Now and then, so that it costs the runs nothing. */
static void
show_progress (gdouble begin, guint i, gdouble *shown)
{
  gdouble now = now_ms ();
  if (now - *shown < 250)
    return;
  *shown = now;
  tool_progress (MIN (opt.n > 0 ? (gdouble)i / opt.n : (now - begin) / (opt.seconds * 1000), 0.99),
                 _ ("measuring"), NULL);
}

/* Requests take turns; each run's latency is from start to end of wait. One alone is waited for
 * where it starts, as an application with one would do. */
static gboolean
measure (GPtrArray *requests, BenchRun *run, GError **error)
{
  g_autofree gdouble *started = g_new0 (gdouble, requests->len);
  gdouble begin = now_ms (), cpu = processor_ms (), shown = begin;
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
      g_array_append_val (run->latencies, ms);
    }
    show_progress (begin, i, &shown);
    wait_for_turn (begin, i);
    started[i % n] = now_ms ();
    if (!(n == 1 ? axon_infer_request_infer : axon_infer_request_start_async) (request, error))
      return FALSE;
  }
  for (guint i = 0; i < n; i++)
    if (!axon_infer_request_wait (g_ptr_array_index (requests, i), error))
      return FALSE;
  run->figures[BENCH_CPU] = (processor_ms () - cpu) / (run->latencies->len + n);
  bench_run_sum_up (run, (now_ms () - begin) / 1000);
  tool_progress_clear ();
  return TRUE;
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
show_text (const gdouble *f)
{
  g_print (_ ("load %.1f ms, compile %.1f ms, first run %.2f ms, peak memory %ld kB\n"),
           f[BENCH_LOAD], f[BENCH_COMPILE], f[BENCH_FIRST], (glong)f[BENCH_PEAK_MEMORY]);
  g_print (_ ("%u runs: median %.3f ms, p95 %.3f, p99 %.3f, min %.3f, max %.3f; %.1f per second\n"),
           (guint)f[BENCH_RUNS], f[BENCH_MEDIAN], f[BENCH_P95], f[BENCH_P99], f[BENCH_MIN],
           f[BENCH_MAX], f[BENCH_FPS]);
}

/* From a file that is compiled already, from the cache, or read and compiled. */
static AxonCompiledModel *
load (const gchar *path, const gchar *device, GVariant *config, BenchRun *run, GError **error)
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
    run->figures[BENCH_LOAD] = now_ms () - t0;
    t0 = now_ms ();
    compiled = model ? axon_core_compile_model (core, model, device, config, NULL, tool_progress,
                                                NULL, error)
                     : NULL;
  }
  run->figures[BENCH_COMPILE] = now_ms () - t0;
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
             BenchRun *run, GError **error)
{
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func (g_object_unref);
  gdouble begin = now_ms ();
  if (!make_requests (compiled, first, inputs, requests, error))
    return FALSE;
  run->figures[BENCH_FIRST] = inputs->first_ms;
  for (gint i = 1; i < WARMUP || now_ms () - begin < opt.warmup * 1000; i++)
    if (!axon_infer_request_infer (first, error))
      return FALSE;
  if (!measure (requests, run, error))
    return FALSE;
  run->figures[BENCH_PEAK_MEMORY] = (gdouble)memory_kb ("VmHWM:");
  return TRUE;
}

static gboolean
show (BenchRun *run, AxonCompiledModel *compiled, const BenchInputs *inputs, GError **error)
{
  if (opt.json) {
    bench_run_print_json (run);
  } else {
    show_inputs (compiled, inputs);
    show_text (run->figures);
    if (opt.profile)
      bench_profile_print (run->profile);
  }
  return (opt.exec_graph == NULL ||
          bench_profile_draw_graph (run->profile, compiled, opt.exec_graph, error)) &&
         (opt.chart == NULL ||
          bench_profile_draw_chart (run->profile, run->name, opt.chart, error)) &&
         (opt.report == NULL || bench_report_write (&run, 1, opt.report, error));
}

static gboolean
bench (const gchar *path, GVariant *config, GError **error)
{
  const gchar *device = opt.device ? opt.device : "CPU";
  g_autoptr (BenchRun) run = bench_run_new (path, device);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (BenchInputs) inputs = NULL;
  if (!axon_core_has_device (axon_core_get_default (), device, error))
    return FALSE;
  run->figures[BENCH_BASE_MEMORY] = (gdouble)memory_kb ("VmRSS:");
  compiled = load (path, device, config, run, error);
  if (compiled == NULL)
    return FALSE;
  request = axon_compiled_model_create_infer_request (compiled);
  inputs = bench_inputs_choose (compiled, request, path, opt.shapes, error);
  if (inputs == NULL || !measure_all (compiled, request, inputs, run, error))
    return FALSE;
  bench_run_set_inputs (run, compiled, inputs);
  run->profile = wants_profile () ? bench_profile_new (compiled, request, error) : NULL;
  return (!wants_profile () || run->profile != NULL) && show (run, compiled, inputs, error);
}

/* Of results that were printed earlier: nothing is measured. */
static gboolean
report (gchar **files, guint n, GError **error)
{
  BenchRun *runs[2] = { NULL, NULL };
  gboolean ok = TRUE;
  for (guint i = 0; i < n && ok; i++)
    ok = (runs[i] = bench_run_load (files[i], error)) != NULL;
  ok = ok && bench_report_write (runs, n, opt.report, error);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&runs[i], bench_run_free);
  return ok;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GVariant) config = NULL;
  GError *error = NULL;
  guint n;
  gboolean results;
  tool_init ();
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (
      context, _ ("Measures an ONNX model on random inputs, or on test_data_set_0 beside it."));
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return tool_misused (error);
  n = opt.files ? g_strv_length (opt.files) : 0;
  results = n > 0 && g_str_has_suffix (opt.files[0], ".json");
  if (n < 1 || n > (results ? 2 : 1) || (results && opt.report == NULL))
    return tool_show_usage (context);
  if (results)
    return report (opt.files, n, &error) ? TOOL_DONE : tool_fail (error);
  if (wants_profile ()) {
    guint keys = opt.config ? g_strv_length (opt.config) : 0;
    opt.config = g_renew (gchar *, opt.config, keys + 2);
    opt.config[keys] = g_strdup ("PERF_COUNT=YES");
    opt.config[keys + 1] = NULL;
  }
  config = tool_parse_config (opt.config, &error);
  if (config == NULL)
    return tool_misused (error);
  g_variant_ref_sink (config);
  return bench (opt.files[0], config, &error) ? TOOL_DONE : tool_fail (error);
}
