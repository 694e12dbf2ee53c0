/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The charts of a report. Lengths are tenths of a pixel, whole ones: no locale writes them
 * otherwise. */
#include "bench-private.h"

#include <math.h>

#define WIDTH 10000
#define BINS 60
#define PLOT_LEFT 700
#define PLOT_RIGHT 9800
#define LATENCY_TOP 500
#define LATENCY_BOTTOM 3000
#define MOST_STEPS 30
#define STEP_LEFT 3600
#define STEP_RIGHT 7400
#define LETTERS 44 /* of a step's name, so that it ends left of its bar */
#define BAR 140
#define ROOF_TOP 200
#define ROOF_BOTTOM 4200
#define OCTAVES 18

static void
open_chart (GString *page, gint height, const gchar *what)
{
  g_autofree gchar *escaped = g_markup_escape_text (what, -1);
  g_string_append_printf (page,
                          "<div class=\"chart\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
                          "aria-label=\"%s\">\n",
                          WIDTH, height, escaped);
}

static void
close_chart (GString *page)
{
  g_string_append (page, "</svg></div>\n");
}

static void
add_text (GString *page, gdouble x, gdouble y, const gchar *class, const gchar *text)
{
  g_autofree gchar *escaped = g_markup_escape_text (text, -1);
  g_string_append_printf (page, "<text x=\"%ld\" y=\"%ld\" class=\"%s\">%s</text>\n", lround (x),
                          lround (y), class, escaped);
}

static void
add_line (GString *page, gdouble x0, gdouble y0, gdouble x1, gdouble y1, const gchar *class)
{
  g_string_append_printf (page, "<path d=\"M%ld %ldL%ld %ld\" class=\"%s\"/>\n", lround (x0),
                          lround (y0), lround (x1), lround (y1), class);
}

static void
add_bar (GString *page, gdouble x, gdouble y, gdouble width, const gchar *class)
{
  g_string_append_printf (page,
                          "<rect x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"%d\" class=\"%s\"/>\n",
                          lround (x), lround (y), lround (MAX (width, 0)), BAR, class);
}

/* 1, 2 or 5 times a power of ten, so that about six fit into @range. */
static gdouble
tick_step (gdouble range)
{
  gdouble power = pow (10, floor (log10 (range / 6))), times = range / 6 / power;
  return power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

/* Latencies from the least of all runs to their 99 %: a few stragglers would press the rest
 * together. */
typedef struct {
  gdouble least, most;
} Range;

static Range
latency_range (BenchRun *const *runs, guint n)
{
  Range range = { G_MAXDOUBLE, 0 };
  for (guint i = 0; i < n; i++) {
    range.least = MIN (range.least, runs[i]->figures[BENCH_MIN]);
    range.most = MAX (range.most, runs[i]->figures[BENCH_P99]);
  }
  range.most = MAX (range.most, range.least * 1.01);
  range.most += (range.most - range.least) * 0.04;
  return range;
}

static gdouble
latency_x (const Range *range, gdouble ms)
{
  return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * (ms - range->least) / (range->most - range->least);
}

/* Fills @shares; returns the largest. */
static gdouble
count_bins (const BenchRun *run, const Range *range, gdouble *shares)
{
  gdouble most = 0;
  for (guint i = 0; i < run->latencies->len; i++) {
    gdouble at = (g_array_index (run->latencies, gdouble, i) - range->least) /
                 (range->most - range->least) * BINS;
    if (at >= 0 && at < BINS)
      shares[(gint)at] += 1. / run->latencies->len;
  }
  for (guint i = 0; i < BINS; i++)
    most = MAX (most, shares[i]);
  return most;
}

static void
add_latencies (GString *page, guint run, const gdouble *shares, gdouble most)
{
  gdouble step = (gdouble)(PLOT_RIGHT - PLOT_LEFT) / BINS;
  g_string_append_printf (page, "<path class=\"run%u pale\" d=\"M%d %d", run, PLOT_LEFT,
                          LATENCY_BOTTOM);
  for (guint i = 0; i < BINS; i++)
    g_string_append_printf (
        page, "L%ld %ldH%ld", lround (PLOT_LEFT + i * step),
        lround (LATENCY_BOTTOM - (LATENCY_BOTTOM - LATENCY_TOP) * shares[i] / most),
        lround (PLOT_LEFT + (i + 1) * step));
  g_string_append_printf (page, "V%dZ\"/>\n", LATENCY_BOTTOM);
}

static void
add_percentiles (GString *page, guint i, const BenchRun *run, const Range *range)
{
  static const struct {
    BenchFigure figure;
    const gchar *name;
  } marks[] = { { BENCH_MEDIAN, "50 %" }, { BENCH_P95, "95 %" }, { BENCH_P99, "99 %" } };
  g_autofree gchar *line = g_strdup_printf ("mark run%u", i);
  g_autofree gchar *text = g_strdup_printf ("middle run%u", i);
  gdouble last = -WIDTH;
  for (guint k = 0; k < G_N_ELEMENTS (marks); k++) {
    gdouble x = latency_x (range, run->figures[marks[k].figure]);
    add_line (page, x, LATENCY_TOP - 40, x, LATENCY_BOTTOM, line);
    if (x - last > 350) {
      add_text (page, x, 150 + 150 * i, text, marks[k].name);
      last = x;
    }
  }
}

void
bench_plot_latency (GString *page, BenchRun *const *runs, guint n)
{
  Range range = latency_range (runs, n);
  gdouble tick = tick_step (range.most - range.least), shares[2][BINS] = { { 0 } }, most = 0;
  open_chart (page, LATENCY_BOTTOM + 500, _ ("How many runs took how long"));
  for (guint i = 0; i < n; i++)
    most = MAX (most, count_bins (runs[i], &range, shares[i]));
  for (gdouble ms = ceil (range.least / tick) * tick; ms <= range.most; ms += tick) {
    g_autofree gchar *text = g_strdup_printf ("%.4g", ms);
    add_line (page, latency_x (&range, ms), LATENCY_TOP, latency_x (&range, ms), LATENCY_BOTTOM,
              "grid");
    add_text (page, latency_x (&range, ms), LATENCY_BOTTOM + 180, "soft middle", text);
  }
  for (guint i = 0; i < n && most > 0; i++) {
    add_latencies (page, i, shares[i], most);
    add_percentiles (page, i, runs[i], &range);
  }
  add_text (page, (PLOT_LEFT + PLOT_RIGHT) / 2., LATENCY_BOTTOM + 400, "soft middle",
            _ ("milliseconds a run"));
  close_chart (page);
}

static const BenchStep *
find_step (const BenchProfile *profile, const gchar *name)
{
  for (guint i = 0; i < profile->steps->len; i++) {
    const BenchStep *step = g_ptr_array_index (profile->steps, i);
    if (g_str_equal (step->name, name))
      return step;
  }
  return NULL;
}

static gint
compare_steps (gconstpointer a, gconstpointer b)
{
  gdouble x = (*(const BenchStep *const *)a)->us, y = (*(const BenchStep *const *)b)->us;
  return x > y ? -1 : x < y;
}

/* Type and the end of the name, which tells more than its beginning. */
static gchar *
label_of (const BenchStep *step)
{
  glong n = g_utf8_strlen (step->name, -1);
  glong room = MAX (LETTERS - g_utf8_strlen (step->type, -1), 12);
  return n <= room ? g_strdup_printf ("%s  %s", step->type, step->name)
                   : g_strdup_printf ("%s  …%s", step->type,
                                      g_utf8_offset_to_pointer (step->name, n - room + 1));
}

/* The pale bar is the time, the full one in it what the roofline would take. */
static void
add_step (GString *page, gdouble y, guint run, const BenchStep *step, gdouble longest)
{
  gdouble length = (STEP_RIGHT - STEP_LEFT) * step->us / longest;
  g_autofree gchar *pale = g_strdup_printf ("run%u pale", run);
  g_autofree gchar *full = g_strdup_printf ("run%u", run);
  g_autofree gchar *figures =
      step->fraction > 0 ? g_strdup_printf (_ ("%.0f us, %.1f %%, %.0f %% of the roofline"),
                                            step->us, step->share * 100, step->fraction * 100)
                         : g_strdup_printf (_ ("%.0f us, %.1f %%"), step->us, step->share * 100);
  add_bar (page, STEP_LEFT, y, length, pale);
  if (step->fraction > 0)
    add_bar (page, STEP_LEFT, y, length * MIN (step->fraction, 1), full);
  add_text (page, STEP_LEFT + length + 60, y + 110, "soft", figures);
}

void
bench_plot_steps (GString *page, BenchRun *const *runs, guint n)
{
  g_autoptr (GPtrArray) steps = g_ptr_array_new ();
  gint height = (gint)n * (BAR + 20) + 60;
  guint shown;
  gdouble longest = 0, y = 40;
  g_ptr_array_extend (steps, runs[0]->profile->steps, NULL, NULL);
  g_ptr_array_sort (steps, compare_steps);
  shown = MIN (steps->len, MOST_STEPS);
  for (guint i = 0; i < shown; i++)
    for (guint k = 0; k < n; k++) {
      const BenchStep *step = g_ptr_array_index (steps, i);
      step = find_step (runs[k]->profile, step->name);
      longest = MAX (longest, step ? step->us : 0);
    }
  open_chart (page, (gint)shown * height + 80, _ ("The slowest steps"));
  for (guint i = 0; i < shown && longest > 0; i++, y += height) {
    const BenchStep *first = g_ptr_array_index (steps, i);
    g_autofree gchar *label = label_of (first);
    add_text (page, STEP_LEFT - 80, y + height / 2., "end", label);
    for (guint k = 0; k < n; k++) {
      const BenchStep *step = find_step (runs[k]->profile, first->name);
      if (step != NULL)
        add_step (page, y + k * (BAR + 20), k, step, longest);
    }
  }
  close_chart (page);
}

/* Both axes are logarithmic, from 2^@least on. */
typedef struct {
  gdouble least_x, least_y;
} Axes;

static gdouble
roof_x (const Axes *a, gdouble intensity)
{
  return PLOT_LEFT +
         CLAMP (log2 (intensity) - a->least_x, 0, OCTAVES) * (PLOT_RIGHT - PLOT_LEFT) / OCTAVES;
}

static gdouble
roof_y (const Axes *a, gdouble speed)
{
  return ROOF_BOTTOM -
         CLAMP (log2 (speed) - a->least_y, 0, OCTAVES) * (ROOF_BOTTOM - ROOF_TOP) / OCTAVES;
}

static void
add_roof (GString *page, const Axes *a, gdouble memory, gdouble arithmetic, const gchar *name)
{
  gdouble least = exp2 (a->least_x), knee = roof_x (a, arithmetic / memory);
  add_line (page, PLOT_LEFT, roof_y (a, least * memory), knee, roof_y (a, arithmetic), "roof");
  add_line (page, knee, roof_y (a, arithmetic), PLOT_RIGHT, roof_y (a, arithmetic), "roof");
  add_text (page, PLOT_RIGHT, roof_y (a, arithmetic) - 50, "end", name);
}

/* A power of two; below 1 as a fraction. */
static gchar *
octave_text (gdouble power)
{
  return power >= 0 ? g_strdup_printf ("%.0f", exp2 (power))
                    : g_strdup_printf ("1/%.0f", exp2 (-power));
}

static void
add_axes (GString *page, const Axes *a)
{
  for (gint i = 0; i <= OCTAVES; i += 3) {
    gdouble x = PLOT_LEFT + i * (PLOT_RIGHT - PLOT_LEFT) / (gdouble)OCTAVES;
    gdouble y = ROOF_BOTTOM - i * (ROOF_BOTTOM - ROOF_TOP) / (gdouble)OCTAVES;
    g_autofree gchar *x_text = octave_text (a->least_x + i);
    g_autofree gchar *y_text = octave_text (a->least_y + i);
    add_line (page, x, ROOF_TOP, x, ROOF_BOTTOM, "grid");
    add_line (page, PLOT_LEFT, y, PLOT_RIGHT, y, "grid");
    add_text (page, x, ROOF_BOTTOM + 180, "soft middle", x_text);
    add_text (page, PLOT_LEFT - 60, y + 40, "soft end", y_text);
  }
  add_text (page, (PLOT_LEFT + PLOT_RIGHT) / 2., ROOF_BOTTOM + 400, "soft middle",
            _ ("operations a byte"));
  add_text (page, PLOT_LEFT, ROOF_TOP - 70, "soft end", "GOP/s");
}

/* A step is a disc, the larger the longer it takes. */
static void
add_discs (GString *page, const Axes *a, guint run, const BenchProfile *profile)
{
  for (guint i = 0; i < profile->steps->len; i++) {
    const BenchStep *step = g_ptr_array_index (profile->steps, i);
    g_autofree gchar *name = g_markup_escape_text (step->name, -1);
    g_autofree gchar *type = g_markup_escape_text (step->type, -1);
    if (step->operations <= 0 || step->bytes <= 0 || step->us <= 0)
      continue;
    g_string_append_printf (
        page,
        "<circle cx=\"%ld\" cy=\"%ld\" r=\"%ld\" class=\"run%u pale\"><title>%s %s: %.0f us, "
        "%.1f GOP/s, %.1f GB/s</title></circle>\n",
        lround (roof_x (a, step->operations / step->bytes)),
        lround (roof_y (a, bench_step_operations (step))), lround (25 + 300 * sqrt (step->share)),
        run, type, name, step->us, bench_step_operations (step), bench_step_bytes (step));
  }
}

/* Below the peaks of the first run. */
void
bench_plot_roofline (GString *page, BenchRun *const *runs, guint n)
{
  const BenchPeaks *peaks = &runs[0]->profile->peaks;
  Axes a = { -6, ceil (log2 (MAX (peaks->f32, peaks->int8))) - (OCTAVES - 1) };
  open_chart (page, ROOF_BOTTOM + 500, _ ("Steps below the roofline"));
  add_axes (page, &a);
  add_roof (page, &a, peaks->memory, peaks->f32, "f32");
  if (peaks->int8 > peaks->f32)
    add_roof (page, &a, peaks->memory, peaks->int8, "int8");
  for (guint i = 0; i < n; i++)
    add_discs (page, &a, i, runs[i]->profile);
  close_chart (page);
}

void
bench_plot_memory (GString *page, BenchRun *const *runs, guint n)
{
  gdouble most = 1;
  for (guint i = 0; i < n; i++)
    most = MAX (most, runs[i]->figures[BENCH_PEAK_MEMORY]);
  open_chart (page, (gint)n * 2 * (BAR + 60) + 80, _ ("Memory"));
  for (guint i = 0; i < n * 2; i++) {
    const BenchFigureRow *row = &bench_figures[i % 2 ? BENCH_PEAK_MEMORY : BENCH_BASE_MEMORY];
    gdouble kb = runs[i / 2]->figures[i % 2 ? BENCH_PEAK_MEMORY : BENCH_BASE_MEMORY];
    gdouble y = 60 + i * (BAR + 60), length = (STEP_RIGHT - STEP_LEFT) * kb / most;
    g_autofree gchar *class = g_strdup_printf ("run%u%s", i / 2, i % 2 ? "" : " pale");
    g_autofree gchar *text = g_strdup_printf ("%.1f MB", kb / 1000);
    add_text (page, STEP_LEFT - 80, y + 110, "end", _ (row->title));
    add_bar (page, STEP_LEFT, y, length, class);
    add_text (page, STEP_LEFT + length + 60, y + 110, "soft", text);
  }
  close_chart (page);
}
