/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report: one page of HTML with its style and charts in it, and nothing to load or to run. */
#include "bench-private.h"

#include "report-resources.h"
#include <math.h>

static const BenchFigure tiles[] = { BENCH_MEDIAN,  BENCH_P95,   BENCH_P99,        BENCH_FPS,
                                     BENCH_COMPILE, BENCH_FIRST, BENCH_PEAK_MEMORY };

static void
add_escaped (GString *page, const gchar *text)
{
  g_autofree gchar *escaped = g_markup_escape_text (text, -1);
  g_string_append (page, escaped);
}

static void
add_heading (GString *page, const gchar *text, const gchar *explanation)
{
  g_string_append (page, "<h2>");
  add_escaped (page, text);
  g_string_append (page, "</h2>\n<p>");
  add_escaped (page, explanation);
  g_string_append (page, "</p>\n");
}

static gchar *
figure_text (const BenchRun *run, BenchFigure figure)
{
  const BenchFigureRow *row = &bench_figures[figure];
  return g_strdup_printf ("%.*f %s", row->decimals, run->figures[figure], row->unit);
}

/* "model.onnx: CPU; input x f32[1,4], random" */
static void
add_run (GString *page, const BenchRun *run, guint number, guint n)
{
  g_autofree gchar *inputs = bench_run_describe_inputs (run);
  g_string_append (page, "<p>");
  if (n > 1)
    g_string_append_printf (page, "<span class=\"key run%u\"></span>", number);
  add_escaped (page, run->name);
  g_string_append (page, ": ");
  add_escaped (page, run->device);
  add_escaped (page, inputs);
  g_string_append (page, "</p>\n");
}

static void
add_tiles (GString *page, const BenchRun *run)
{
  g_string_append (page, "<div class=\"tiles\">\n");
  for (guint i = 0; i < G_N_ELEMENTS (tiles); i++) {
    g_autofree gchar *text = figure_text (run, tiles[i]);
    g_string_append_printf (page, "<div><b>%s</b><span>", text);
    add_escaped (page, _ (bench_figures[tiles[i]].title));
    g_string_append (page, "</span></div>\n");
  }
  g_string_append (page, "</div>\n");
}

/* Of the second to the first, coloured where it is better or worse by more than a percent. */
static void
add_ratio (GString *page, const BenchFigureRow *row, gdouble first, gdouble second)
{
  gdouble ratio = first > 0 ? second / first : 0;
  gboolean changed = ratio > 0 && fabs (ratio - 1) > 0.01;
  const gchar *class = !changed || row->better == 0       ? ""
                       : (ratio > 1) == (row->better > 0) ? " class=\"good\""
                                                          : " class=\"bad\"";
  if (ratio > 0)
    g_string_append_printf (page, "<td%s>%+.1f %%</td>", class, (ratio - 1) * 100);
  else
    g_string_append (page, "<td>–</td>");
}

static void
add_comparison (GString *page, BenchRun *const *runs)
{
  add_heading (page, _ ("Comparison"), _ ("The last column is the second run beside the first."));
  g_string_append (page, "<div class=\"scroll\"><table>\n<tr><th></th>");
  for (guint i = 0; i < 2; i++) {
    g_string_append_printf (page, "<th><span class=\"key run%u\"></span>", i);
    add_escaped (page, runs[i]->name);
    g_string_append (page, "</th>");
  }
  g_string_append (page, "<th></th></tr>\n");
  for (guint i = 0; i < BENCH_N_FIGURES; i++) {
    g_autofree gchar *first = figure_text (runs[0], (BenchFigure)i);
    g_autofree gchar *second = figure_text (runs[1], (BenchFigure)i);
    g_string_append (page, "<tr><td>");
    add_escaped (page, _ (bench_figures[i].title));
    g_string_append_printf (page, "</td><td>%s</td><td>%s</td>", first, second);
    add_ratio (page, &bench_figures[i], runs[0]->figures[i], runs[1]->figures[i]);
    g_string_append (page, "</tr>\n");
  }
  g_string_append (page, "</table></div>\n");
}

static void
add_cell (GString *page, const gchar *text)
{
  g_string_append (page, "<td class=\"name\">");
  add_escaped (page, text);
  g_string_append (page, "</td>");
}

static void
add_all_steps (GString *page, const BenchRun *run)
{
  const gchar *const titles[] = { _ ("node"), _ ("operator"), _ ("implementation"),
                                  _ ("us"),   _ ("share"),    "GOP/s",
                                  "GB/s",     _ ("roofline") };
  g_autofree gchar *summary =
      g_strdup_printf (_ ("All steps of %s: %u"), run->name, run->profile->steps->len);
  g_string_append (page, "<details><summary>");
  add_escaped (page, summary);
  g_string_append (page, "</summary><div class=\"scroll\"><table>\n<tr>");
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    g_string_append_printf (page, "<th>%s</th>", titles[i]);
  g_string_append (page, "</tr>\n");
  for (guint i = 0; i < run->profile->steps->len; i++) {
    const BenchStep *step = g_ptr_array_index (run->profile->steps, i);
    g_autofree gchar *operations = bench_figure_or_dash (bench_step_operations (step), "%.2f");
    g_autofree gchar *bytes = bench_figure_or_dash (bench_step_bytes (step), "%.2f");
    g_autofree gchar *fraction = bench_figure_or_dash (step->fraction * 100, "%.1f %%");
    g_string_append (page, "<tr>");
    add_cell (page, step->name);
    add_cell (page, step->type);
    add_cell (page, step->impl);
    g_string_append_printf (page, "<td>%.1f</td><td>%.1f %%</td><td>%s</td><td>%s</td>", step->us,
                            step->share * 100, operations, bytes);
    g_string_append_printf (
        page, step->slow ? "<td class=\"bad\">&lt; %s</td></tr>\n" : "<td>%s</td></tr>\n",
        fraction);
  }
  g_string_append (page, "</table></div></details>\n");
}

static void
add_profiles (GString *page, BenchRun *const *runs, guint n)
{
  const BenchPeaks *peaks = &runs[0]->profile->peaks;
  g_autofree gchar *line = bench_peaks_describe (peaks);
  g_autofree gchar *of_first = g_strdup_printf ("%s: %s", runs[0]->name, line ? line : "");
  add_heading (page, _ ("The slowest steps"),
               _ ("The full part of a bar is the time that the machine would need at its best."));
  bench_plot_steps (page, runs, n);
  if (peaks->f32 > 0 && peaks->memory > 0) {
    add_heading (page, _ ("Steps below the roofline"), n > 1 ? of_first : line);
    bench_plot_roofline (page, runs, n);
  }
  for (guint i = 0; i < n; i++)
    add_all_steps (page, runs[i]);
}

/* All runs have the figures of their steps. */
static gboolean
have_profiles (BenchRun *const *runs, guint n)
{
  for (guint i = 0; i < n; i++)
    if (runs[i]->profile == NULL || runs[i]->profile->steps->len == 0)
      return FALSE;
  return TRUE;
}

static void
add_body (GString *page, BenchRun *const *runs, guint n, const gchar *title)
{
  g_string_append (page, "<h1>");
  add_escaped (page, title);
  g_string_append (page, "</h1>\n");
  for (guint i = 0; i < n; i++)
    add_run (page, runs[i], i, n);
  if (n == 1)
    add_tiles (page, runs[0]);
  else
    add_comparison (page, runs);
  add_heading (page, _ ("How many runs took how long"),
               _ ("Up to the slowest hundredth, which is not drawn."));
  bench_plot_latency (page, runs, n);
  if (have_profiles (runs, n))
    add_profiles (page, runs, n);
  else
    add_heading (page, _ ("The slowest steps"),
                 _ ("They are not known: a result has them where --profile was given."));
  add_heading (page, _ ("Memory"), _ ("What of this program lay in memory."));
  bench_plot_memory (page, runs, n);
}

gboolean
bench_report_write (BenchRun *const *runs, guint n, const gchar *file, GError **error)
{
  g_autoptr (GString) page = g_string_new (NULL);
  g_autoptr (GBytes) style = g_resource_lookup_data (
      report_get_resource (), "/org/axon/report/report.css", G_RESOURCE_LOOKUP_FLAGS_NONE, error);
  g_autofree gchar *title =
      n == 1 ? g_strdup_printf (_ ("%s on %s"), runs[0]->name, runs[0]->device)
             : g_strdup_printf (_ ("%s beside %s"), runs[1]->name, runs[0]->name);
  if (style == NULL)
    return FALSE;
  /* Translators: the code of your language, for browsers */
  g_string_append_printf (page, "<!DOCTYPE html>\n<html lang=\"%s\">\n", _ ("en"));
  g_string_append (page,
                   "<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<link rel=\"icon\" href=\"data:,\">\n<title>");
  add_escaped (page, title);
  g_string_append (page, "</title>\n<style>\n");
  g_string_append_len (page, g_bytes_get_data (style, NULL), (gssize)g_bytes_get_size (style));
  g_string_append (page, "</style>\n</head>\n<body>\n");
  add_body (page, runs, n, title);
  g_string_append_printf (page, "<p>axon-bench %s</p>\n</body>\n</html>\n", AXON_VERSION);
  return g_file_set_contents (file, page->str, (gssize)page->len, error);
}
