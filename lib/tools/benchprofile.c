/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps beside what the machine could do: nothing runs faster than its arithmetic at the peak, or
 * than its bytes at the memory's. */
#include "bench-private.h"

#include <string.h>

#define RUNS 21
#define LONGEST (3 * G_USEC_PER_SEC)
#define SHARE_THAT_COUNTS 0.01
#define FRACTION_THAT_IS_SLOW 0.125

static void
step_free (gpointer data)
{
  BenchStep *step = data;
  g_array_unref (step->times);
  g_free (step->name);
  g_free (step->type);
  g_free (step->impl);
  g_free (step);
}

void
bench_profile_free (BenchProfile *profile)
{
  g_ptr_array_unref (profile->steps);
  g_free (profile);
}

gdouble
bench_step_operations (const BenchStep *step)
{
  return step->us > 0 ? step->operations / step->us / 1000 : 0;
}

gdouble
bench_step_bytes (const BenchStep *step)
{
  return step->us > 0 ? step->bytes / step->us / 1000 : 0;
}

BenchProfile *
bench_profile_new_empty (void)
{
  BenchProfile *profile = g_new0 (BenchProfile, 1);
  profile->steps = g_ptr_array_new_with_free_func (step_free);
  return profile;
}

BenchStep *
bench_profile_add_step (BenchProfile *profile, const gchar *name, const gchar *type,
                        const gchar *impl)
{
  BenchStep *step = g_new0 (BenchStep, 1);
  step->name = g_strdup (name);
  step->type = g_strdup (type);
  step->impl = g_strdup (impl);
  step->times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  g_ptr_array_add (profile->steps, step);
  return step;
}

/* Adds one run. Steps of one name, such as a kernel and the change of layout before it, are one. */
static void
add_run (BenchProfile *profile, GHashTable *by_name, AxonInferRequest *request)
{
  for (guint i = 0; i < axon_infer_request_get_n_profiling (request); i++) {
    const AxonProfilingInfo *row = axon_infer_request_get_profiling (request, i);
    BenchStep *step = g_hash_table_lookup (by_name, row->node_name);
    if (row->status != AXON_PROFILING_EXECUTED)
      continue;
    if (step == NULL) {
      step = bench_profile_add_step (profile, row->node_name, row->node_type, row->exec_type);
      g_hash_table_insert (by_name, step->name, step);
    }
    step->us += row->real_time_us;
  }
  for (guint i = 0; i < profile->steps->len; i++) {
    BenchStep *step = g_ptr_array_index (profile->steps, i);
    g_array_append_val (step->times, step->us);
    step->us = 0;
  }
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *)a, y = *(const gdouble *)b;
  return x < y ? -1 : x > y;
}

/* What each step computes and moves, as the runtime model tells: of all nodes of its name, for a
 * pass may make two of one. */
static void
add_costs (AxonCompiledModel *compiled, GHashTable *by_name)
{
  g_autoptr (AxonModel) model = axon_compiled_model_get_runtime_model (compiled, NULL);
  g_autoptr (GVariant) nodes = model ? axon_model_dup_nodes (model) : NULL;
  for (gsize i = 0; nodes != NULL && i < g_variant_n_children (nodes); i++) {
    g_autoptr (GVariant) row = g_variant_get_child_value (nodes, i);
    const gchar *name = "", *impl;
    gdouble operations, bytes;
    BenchStep *step;
    g_variant_lookup (row, "name", "&s", &name);
    step = g_hash_table_lookup (by_name, name);
    if (step == NULL)
      continue;
    if (g_variant_lookup (row, "operations", "d", &operations))
      step->operations += operations;
    if (g_variant_lookup (row, "bytes", "d", &bytes))
      step->bytes += bytes;
    g_variant_lookup (row, "multiplies-bytes", "b", &step->of_bytes);
    if (g_variant_lookup (row, "exec-type", "&s", &impl)) {
      g_free (step->impl);
      step->impl = g_strdup (impl);
    }
  }
}

static guint
threads_of (AxonCompiledModel *compiled)
{
  const gchar *const keys[] = { "INFERENCE_NUM_THREADS", "NUM_STREAMS" };
  gint values[2] = { 0, 0 };
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GVariant) value = axon_compiled_model_get_property (compiled, keys[i], NULL);
    if (value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_INT32))
      values[i] = g_variant_get_int32 (value);
  }
  if (values[0] <= 0)
    values[0] = (gint)g_get_num_processors ();
  return (guint)MAX (values[0] / MAX (values[1], 1), 1);
}

/* "kind:threads=number" of one thread and of all: between them arithmetic grows with the threads,
 * memory until it has what all have. */
static void
measure_peaks (AxonCompiledModel *compiled, BenchPeaks *peaks)
{
  gdouble *const fields[] = { &peaks->f32, &peaks->int8, &peaks->memory };
  static const gchar *const kinds[] = { "f32:", "int8:", "memory:" };
  g_autoptr (GVariant) value = axon_core_get_property (
      axon_core_get_default (), axon_compiled_model_get_device_name (compiled), "CPU_PEAKS", NULL);
  g_autofree const gchar **texts = value ? g_variant_get_strv (value, NULL) : NULL;
  peaks->threads = threads_of (compiled);
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      gchar *at;
      guint threads;
      gdouble speed;
      if (!g_str_has_prefix (texts[i], kinds[k]))
        continue;
      threads = (guint)g_ascii_strtoull (texts[i] + strlen (kinds[k]), &at, 10);
      speed = g_ascii_strtod (at + (*at == '='), NULL);
      *fields[k] = threads == 1 ? speed * peaks->threads
                                : CLAMP (speed, *fields[k] / peaks->threads, *fields[k]);
    }
}

static void
finish_step (BenchProfile *profile, BenchStep *step)
{
  const BenchPeaks *peaks = &profile->peaks;
  gdouble arithmetic = step->of_bytes ? peaks->int8 : peaks->f32;
  step->share = profile->us > 0 ? step->us / profile->us : 0;
  if (step->us > 0 && arithmetic > 0 && peaks->memory > 0)
    step->fraction =
        MAX (bench_step_operations (step) / arithmetic, bench_step_bytes (step) / peaks->memory);
  step->slow = step->share > SHARE_THAT_COUNTS && step->fraction > 0 &&
               step->fraction < FRACTION_THAT_IS_SLOW;
}

void
bench_profile_finish (BenchProfile *profile)
{
  profile->us = 0;
  for (guint i = 0; i < profile->steps->len; i++)
    profile->us += ((const BenchStep *)g_ptr_array_index (profile->steps, i))->us;
  for (guint i = 0; i < profile->steps->len; i++)
    finish_step (profile, g_ptr_array_index (profile->steps, i));
}

BenchProfile *
bench_profile_new (AxonCompiledModel *compiled, AxonInferRequest *request, GError **error)
{
  g_autoptr (BenchProfile) profile = bench_profile_new_empty ();
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  gint64 begin = g_get_monotonic_time ();
  for (guint i = 0; i < RUNS && (i < 2 || g_get_monotonic_time () - begin < LONGEST); i++) {
    tool_progress ((gdouble)i / RUNS, _ ("measuring each step"), NULL);
    if (!axon_infer_request_infer (request, error))
      return NULL;
    add_run (profile, by_name, request);
  }
  add_costs (compiled, by_name);
  measure_peaks (compiled, &profile->peaks);
  for (guint i = 0; i < profile->steps->len; i++) {
    BenchStep *step = g_ptr_array_index (profile->steps, i);
    g_array_sort (step->times, compare_times);
    step->us = g_array_index (step->times, gdouble, step->times->len / 2);
  }
  bench_profile_finish (profile);
  tool_progress_clear ();
  return g_steal_pointer (&profile);
}

gchar *
bench_peaks_describe (const BenchPeaks *peaks)
{
  return peaks->f32 > 0
             ? g_strdup_printf (_ ("peaks (threads: %u): %.0f GFLOP/s, %.0f GOP/s of bytes, "
                                   "%.1f GB/s"),
                                peaks->threads, peaks->f32, peaks->int8, peaks->memory)
             : NULL;
}

gchar *
bench_figure_or_dash (gdouble value, const gchar *form)
{
  return value > 0 ? g_strdup_printf (form, value) : g_strdup ("-");
}

void
bench_profile_print (const BenchProfile *profile)
{
  g_autofree gchar *peaks = bench_peaks_describe (&profile->peaks);
  guint n_slow = 0;
  g_print ("%9s  %6s %8s %8s %9s    %-20s %-28s %s\n", _ ("us"), _ ("share"), "GOP/s", "GB/s",
           _ ("roofline"), _ ("operator"), _ ("implementation"), _ ("node"));
  for (guint i = 0; i < profile->steps->len; i++) {
    const BenchStep *step = g_ptr_array_index (profile->steps, i);
    g_autofree gchar *operations = bench_figure_or_dash (bench_step_operations (step), "%.2f");
    g_autofree gchar *bytes = bench_figure_or_dash (bench_step_bytes (step), "%.2f");
    g_autofree gchar *fraction = bench_figure_or_dash (step->fraction * 100, "%.1f %%");
    n_slow += step->slow;
    g_print ("%9.1f %5.1f %% %8s %8s %9s %s  %-20s %-28s %s\n", step->us, step->share * 100,
             operations, bytes, fraction, step->slow ? "<" : " ", step->type, step->impl,
             step->name);
  }
  if (peaks == NULL)
    return;
  g_print ("%s\n", peaks);
  g_print (_ ("%u steps (<) take more than 1 %% of the time at less than an eighth of the "
              "roofline\n"),
           n_slow);
}

gboolean
bench_profile_draw_graph (const BenchProfile *profile, AxonCompiledModel *compiled,
                          const gchar *file, GError **error)
{
  g_autoptr (AxonModel) model = axon_compiled_model_get_runtime_model (compiled, error);
  g_autofree gchar *peaks = bench_peaks_describe (&profile->peaks);
  g_autofree gchar *dot = NULL;
  g_autofree gchar *labelled = NULL;
  const gchar *body;
  if (model == NULL)
    return FALSE;
  for (guint i = 0; i < profile->steps->len; i++) {
    const BenchStep *step = g_ptr_array_index (profile->steps, i);
    g_autofree gchar *text = g_strdup_printf (
        _ ("%.1f %% of the time, %.2f GOP/s, %.2f GB/s, %.0f %% of the roofline%s"),
        step->share * 100, bench_step_operations (step), bench_step_bytes (step),
        step->fraction * 100, step->slow ? " !" : "");
    axon_model_set_node_info (model, step->name, "axon-bench.speed", text);
  }
  dot = axon_model_to_dot (model);
  body = strchr (dot, '\n'); /* behind "digraph axon {" */
  labelled = peaks && body
                 ? g_strdup_printf ("%.*s\n  label=\"%s\";%s", (int)(body - dot), dot, peaks, body)
                 : g_steal_pointer (&dot);
  return g_file_set_contents (file, labelled, -1, error);
}
