/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon-bench: latency and throughput of a model on random inputs. */
#include "toolcommon.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

static struct {
  gchar *device, *exec_graph, **config, **files, **shapes;
  gint n, nireq, warmup;
  gdouble seconds;
  gboolean json, profile;
} opt = { .warmup = 5, .seconds = 3, .nireq = 1 };

static const GOptionEntry entries[] = {
  { "device", 'd', 0, G_OPTION_ARG_STRING, &opt.device, N_ ("Device (default CPU)"), "NAME" },
  { "config", 'c', 0, G_OPTION_ARG_STRING_ARRAY, &opt.config, N_ ("Property of the device"),
    "KEY=VALUE" },
  { "niter", 'n', 0, G_OPTION_ARG_INT, &opt.n, N_ ("Runs (default: as many as fit the time)"),
    "N" },
  { "time", 't', 0, G_OPTION_ARG_DOUBLE, &opt.seconds, N_ ("Seconds (default 3)"), "S" },
  { "nireq", 0, 0, G_OPTION_ARG_INT, &opt.nireq, N_ ("Requests in flight (default 1)"), "N" },
  { "shape", 's', 0, G_OPTION_ARG_STRING_ARRAY, &opt.shapes,
    N_ ("Shape of the next input, for free dimensions"), "N,C,H,W" },
  { "profile", 'p', 0, G_OPTION_ARG_NONE, &opt.profile, N_ ("Time per step"), NULL },
  { "exec-graph", 0, 0, G_OPTION_ARG_FILENAME, &opt.exec_graph,
    N_ ("Draw what ran, coloured by time, as a Graphviz graph"), "FILE.dot" },
  { "json", 'j', 0, G_OPTION_ARG_NONE, &opt.json, N_ ("Print JSON"), NULL },
  TOOL_EXTENSION_ENTRY,
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &opt.files, NULL, "MODEL.onnx" },
  G_OPTION_ENTRY_NULL
};

typedef struct {
  gdouble load_ms, compile_ms, first_ms, total_s;
  GArray *ms; /* latency of each run */
  glong rss_kb;
} Result;

static gdouble
now_ms (void)
{
  return (gdouble)g_get_monotonic_time () / 1000;
}

static AxonTensor *
random_tensor (AxonDType dtype, const AxonShape *shape, GError **error)
{
  AxonTensor *t = axon_tensor_new (dtype, shape, error);
  for (gsize i = 0; t != NULL && i < axon_tensor_get_numel (t); i++)
    axon_dtype_store (dtype, axon_tensor_get_data (t), i,
                      axon_dtype_is_float (dtype) ? g_random_double_range (-1, 1)
                                                  : g_random_int_range (0, 100));
  return t;
}

static gboolean
bind_random (AxonInferRequest *request, AxonCompiledModel *compiled, GError **error)
{
  for (guint i = 0; i < axon_compiled_model_get_n_inputs (compiled); i++) {
    AxonShape shape = *axon_compiled_model_get_input_shape (compiled, i);
    g_autoptr (AxonTensor) t = NULL;
    if (opt.shapes != NULL && i < g_strv_length (opt.shapes) &&
        !axon_shape_from_string (opt.shapes[i], &shape, error))
      return FALSE;
    for (gint d = 0; d < shape.rank; d++)
      if (shape.dims[d] < 0) {
        g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                     _ ("input \"%s\" has free dimensions: give --shape"),
                     axon_compiled_model_get_input_name (compiled, i));
        return FALSE;
      }
    t = random_tensor (axon_compiled_model_get_input_dtype (compiled, i), &shape, error);
    if (t == NULL || !axon_infer_request_set_input_tensor (request, i, t, error))
      return FALSE;
  }
  return TRUE;
}

/* @nireq requests take turns; each run's latency is from start to end of wait. */
static gboolean
measure (GPtrArray *requests, Result *r, GError **error)
{
  g_autofree gdouble *started = g_new0 (gdouble, requests->len);
  gdouble begin = now_ms ();
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
    started[i % n] = now_ms ();
    if (!axon_infer_request_start_async (request, error))
      return FALSE;
  }
  for (guint i = 0; i < n; i++)
    if (!axon_infer_request_wait (g_ptr_array_index (requests, i), error))
      return FALSE;
  r->total_s = (now_ms () - begin) / 1000;
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
show_profile (AxonInferRequest *request)
{
  for (guint i = 0; i < axon_infer_request_get_n_profiling (request); i++) {
    const AxonProfilingInfo *row = axon_infer_request_get_profiling (request, i);
    if (row->status == AXON_PROFILING_EXECUTED)
      g_print ("%9.0f us  %-18s %-28s %s\n", row->real_time_us, row->node_type, row->exec_type,
               row->node_name);
  }
}

static gboolean
draw_exec_graph (AxonCompiledModel *compiled, GError **error)
{
  g_autoptr (AxonModel) model = axon_compiled_model_get_runtime_model (compiled, error);
  g_autofree gchar *dot = model ? axon_model_to_dot (model) : NULL;
  return dot != NULL && g_file_set_contents (opt.exec_graph, dot, -1, error);
}

static void
show_json (const Result *r)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree gchar *text = NULL;
  const struct {
    const gchar *name;
    gdouble value;
  } fields[] = { { "load_ms", r->load_ms },           { "compile_ms", r->compile_ms },
                 { "first_ms", r->first_ms },         { "median_ms", percentile (r, 50) },
                 { "p95_ms", percentile (r, 95) },    { "p99_ms", percentile (r, 99) },
                 { "min_ms", percentile (r, 0) },     { "max_ms", percentile (r, 100) },
                 { "fps", r->ms->len / r->total_s },  { "runs", r->ms->len },
                 { "max_rss_kb", (gdouble)r->rss_kb } };
  json_builder_begin_object (b);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    json_builder_set_member_name (b, fields[i].name);
    json_builder_add_double_value (b, fields[i].value);
  }
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  text = json_to_string (root, TRUE);
  g_print ("%s\n", text);
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

static gboolean
bench (const gchar *path, GVariant *config, GError **error)
{
  AxonCore *core = axon_core_get_default ();
  const gchar *device = opt.device ? opt.device : "CPU";
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GArray) ms = g_array_new (FALSE, FALSE, sizeof (gdouble));
  Result r = { .ms = ms };
  struct rusage usage;
  gdouble t0;
  if (!axon_core_has_device (core, device, error))
    return FALSE;
  compiled = load (path, device, config, &r, error);
  if (compiled == NULL)
    return FALSE;
  for (gint i = 0; i < MAX (opt.nireq, 1); i++) {
    g_ptr_array_add (requests, axon_compiled_model_create_infer_request (compiled));
    if (!bind_random (g_ptr_array_index (requests, i), compiled, error))
      return FALSE;
  }
  t0 = now_ms ();
  for (gint i = 0; i < opt.warmup; i++) {
    if (!axon_infer_request_infer (g_ptr_array_index (requests, 0), error))
      return FALSE;
    if (i == 0)
      r.first_ms = now_ms () - t0;
  }
  if (!measure (requests, &r, error))
    return FALSE;
  getrusage (RUSAGE_SELF, &usage);
  r.rss_kb = usage.ru_maxrss;
  g_array_sort (r.ms, compare_double);
  if (opt.json)
    show_json (&r);
  else
    show_text (&r);
  if (opt.profile)
    show_profile (g_ptr_array_index (requests, 0));
  return opt.exec_graph == NULL || draw_exec_graph (compiled, error);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GVariant) config = NULL;
  GError *error = NULL;
  tool_init ();
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (context, _ ("Measures an ONNX model on random inputs."));
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return tool_fail (error);
  if (opt.files == NULL) {
    g_autofree gchar *help = g_option_context_get_help (context, TRUE, NULL);
    g_printerr ("%s", help);
    return 1;
  }
  if (opt.profile || opt.exec_graph != NULL) {
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
