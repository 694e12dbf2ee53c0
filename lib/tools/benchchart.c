/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile as a picture: the slowest steps as bars, and all of them below the roofline. The
 * redder, the farther from what the machine could do. */
#include "bench-private.h"

#ifdef HAVE_CAIRO
#include <cairo-svg.h>
#include <math.h>

#define WIDTH 1400
#define BAR 18
#define MOST_BARS 40
#define TOP 56
#define PLOT 520 /* side of the roofline's square */
#define NAMES 330
#define BARS 260

typedef struct {
  cairo_t *cr;
  const BenchProfile *profile;
} Chart;

static void
write_at (cairo_t *cr, gdouble x, gdouble y, const gchar *text)
{
  cairo_set_source_rgb (cr, 0.1, 0.1, 0.1);
  cairo_move_to (cr, x, y);
  cairo_show_text (cr, text);
  cairo_new_path (cr); /* a text leaves a point behind it, from which a line would lead to an arc */
}

/* Red at 1/32 of the roofline, green from the half on; grey: unknown. */
static void
set_colour (cairo_t *cr, gdouble fraction, gdouble alpha)
{
  gdouble good = CLAMP ((log2 (fraction) + 5) / 4, 0, 1);
  if (fraction > 0)
    cairo_set_source_rgba (cr, 0.85 - 0.7 * good, 0.15 + 0.5 * good, 0.15, alpha);
  else
    cairo_set_source_rgba (cr, 0.6, 0.6, 0.6, alpha);
}

static gint
compare_steps (gconstpointer a, gconstpointer b)
{
  gdouble x = (*(const BenchStep *const *)a)->us, y = (*(const BenchStep *const *)b)->us;
  return x > y ? -1 : x < y;
}

static void
draw_bars (const Chart *c, GPtrArray *steps)
{
  gdouble longest = ((const BenchStep *)g_ptr_array_index (steps, 0))->us;
  for (guint i = 0; i < MIN (steps->len, MOST_BARS); i++) {
    const BenchStep *step = g_ptr_array_index (steps, i);
    gdouble y = TOP + i * BAR, length = longest > 0 ? BARS * step->us / longest : 0;
    g_autofree gchar *what = g_strdup_printf ("%s  %s", step->type, step->name);
    g_autofree gchar *figures = g_strdup_printf (
        step->fraction > 0 ? "%.0f us, %.1f %%, %.0f %% of roofline" : "%.0f us, %.1f %%", step->us,
        step->share * 100, step->fraction * 100);
    cairo_save (c->cr);
    cairo_rectangle (c->cr, 0, y, NAMES - 10, BAR);
    cairo_clip (c->cr);
    write_at (c->cr, 10, y + 12, what);
    cairo_restore (c->cr);
    set_colour (c->cr, step->fraction, 1);
    cairo_rectangle (c->cr, NAMES, y + 2, MAX (length, 1), BAR - 4);
    cairo_fill (c->cr);
    write_at (c->cr, NAMES + length + 6, y + 12, figures);
  }
}

/* Both axes are logarithmic: operations a byte from 1/64 to 4096, and GOP/s from 1/64 of 2^k down.
 */
typedef struct {
  gdouble left, top, least_x, least_y, octave;
} Axes;

static gdouble
at_x (const Axes *a, gdouble intensity)
{
  return a->left + CLAMP (log2 (intensity) - a->least_x, 0, 18) * a->octave;
}

static gdouble
at_y (const Axes *a, gdouble speed)
{
  return a->top + PLOT - CLAMP (log2 (speed) - a->least_y, 0, 18) * a->octave;
}

static void
draw_roof (const Chart *c, const Axes *a, gdouble arithmetic, const gchar *name)
{
  gdouble least = exp2 (a->least_x), most = exp2 (a->least_x + 18);
  gdouble memory = c->profile->peaks.memory, knee = arithmetic / memory;
  cairo_move_to (c->cr, at_x (a, least), at_y (a, least * memory));
  cairo_line_to (c->cr, at_x (a, knee), at_y (a, arithmetic));
  cairo_line_to (c->cr, at_x (a, most), at_y (a, arithmetic));
  cairo_set_source_rgb (c->cr, 0.2, 0.2, 0.2);
  cairo_stroke (c->cr);
  write_at (c->cr, at_x (a, most) - 90, at_y (a, arithmetic) - 4, name);
}

static void
draw_axes (const Chart *c, const Axes *a)
{
  cairo_rectangle (c->cr, a->left, a->top, PLOT, PLOT);
  cairo_set_source_rgb (c->cr, 0.7, 0.7, 0.7);
  cairo_stroke (c->cr);
  for (gint i = 0; i <= 18; i += 3) {
    g_autofree gchar *x = g_strdup_printf ("%.4g", exp2 (a->least_x + i));
    g_autofree gchar *y = g_strdup_printf ("%.4g", exp2 (a->least_y + i));
    write_at (c->cr, a->left + i * a->octave - 8, a->top + PLOT + 16, x);
    write_at (c->cr, a->left - 48, a->top + PLOT - i * a->octave + 4, y);
  }
  write_at (c->cr, a->left + PLOT / 2 - 50, a->top + PLOT + 34, _ ("operations a byte"));
  write_at (c->cr, a->left - 48, a->top - 10, "GOP/s");
}

/* A step is a disc, the larger the longer it takes. */
static void
draw_roofline (const Chart *c)
{
  const BenchPeaks *peaks = &c->profile->peaks;
  Axes a = { WIDTH - PLOT - 20, TOP, -6, ceil (log2 (MAX (peaks->f32, peaks->int8))) - 17,
             PLOT / 18. };
  draw_axes (c, &a);
  draw_roof (c, &a, peaks->f32, "f32");
  if (peaks->int8 > peaks->f32)
    draw_roof (c, &a, peaks->int8, "int8");
  for (guint i = 0; i < c->profile->steps->len; i++) {
    const BenchStep *step = g_ptr_array_index (c->profile->steps, i);
    if (step->operations <= 0 || step->bytes <= 0 || step->us <= 0)
      continue;
    set_colour (c->cr, step->fraction, 0.6);
    cairo_arc (c->cr, at_x (&a, step->operations / step->bytes),
               at_y (&a, bench_step_operations (step)), 2 + 30 * sqrt (step->share), 0, 2 * G_PI);
    cairo_fill (c->cr);
  }
}

static void
draw (const Chart *c, const gchar *title, gint height)
{
  g_autoptr (GPtrArray) steps = g_ptr_array_new ();
  g_autofree gchar *line =
      g_strdup_printf (_ ("%s: %u steps, %.0f us"), title, c->profile->steps->len, c->profile->us);
  g_ptr_array_extend (steps, c->profile->steps, NULL, NULL);
  cairo_set_source_rgb (c->cr, 1, 1, 1);
  cairo_rectangle (c->cr, 0, 0, WIDTH, height);
  cairo_fill (c->cr);
  cairo_set_line_width (c->cr, 1);
  cairo_select_font_face (c->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (c->cr, 15);
  write_at (c->cr, 10, 24, line);
  cairo_set_font_size (c->cr, 11);
  g_ptr_array_sort (steps, compare_steps);
  if (steps->len > 0)
    draw_bars (c, steps);
  if (c->profile->peaks.f32 > 0 && c->profile->peaks.memory > 0)
    draw_roofline (c);
}

gboolean
bench_profile_draw_chart (const BenchProfile *profile, const gchar *title, const gchar *file,
                          GError **error)
{
  gboolean svg = g_str_has_suffix (file, ".svg");
  gint bars = (gint)MIN (profile->steps->len, MOST_BARS) * BAR;
  gint height = TOP + MAX (PLOT + 40, bars) + 10;
  cairo_surface_t *surface = svg ? cairo_svg_surface_create (file, WIDTH, height)
                                 : cairo_image_surface_create (CAIRO_FORMAT_RGB24, WIDTH, height);
  Chart c = { cairo_create (surface), profile };
  cairo_status_t status = CAIRO_STATUS_SUCCESS;
  draw (&c, title, height);
  if (!svg)
    status = cairo_surface_write_to_png (surface, file);
  cairo_surface_finish (surface);
  if (svg)
    status = cairo_surface_status (surface);
  cairo_destroy (c.cr);
  cairo_surface_destroy (surface);
  if (status != CAIRO_STATUS_SUCCESS)
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "%s: %s", file,
                 cairo_status_to_string (status));
  return status == CAIRO_STATUS_SUCCESS;
}

#else

gboolean
bench_profile_draw_chart (G_GNUC_UNUSED const BenchProfile *profile,
                          G_GNUC_UNUSED const gchar *title, const gchar *file, GError **error)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
               _ ("%s: built without cairo, which draws charts"), file);
  return FALSE;
}
#endif
