/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize along one axis: from coordinates of the output to those of the input, and the taps there.
 */
#include "resize-private.h"

#include <math.h>

/* Output coordinate to input coordinate, by coordinate_transformation_mode. The resized length is
 * n_in * scale, which need not be whole: the data of the specification's tests are made so. */
static gdouble
source_coordinate (const ResizeMap *a, gdouble o)
{
  gdouble n_in = (gdouble)a->n_in, length = n_in * a->scale;
  if (g_str_equal (a->coordinates, "asymmetric"))
    return o / a->scale;
  if (g_str_equal (a->coordinates, "align_corners"))
    return length != 1 ? o * (n_in - 1) / (length - 1) : 0;
  if (g_str_equal (a->coordinates, "pytorch_half_pixel"))
    return length > 1 ? (o + 0.5) / a->scale - 0.5 : 0;
  if (g_str_equal (a->coordinates, "tf_half_pixel_for_nn"))
    return (o + 0.5) / a->scale;
  if (g_str_equal (a->coordinates, "tf_crop_and_resize"))
    return a->n_out > 1 ? a->roi_start * (n_in - 1) +
                              o * (a->roi_end - a->roi_start) * (n_in - 1) / (length - 1)
                        : 0.5 * (a->roi_start + a->roi_end) * (n_in - 1);
  if (g_str_equal (a->coordinates, "half_pixel_symmetric"))
    return n_in / 2 * (1 - (gdouble)a->n_out / length) + (o + 0.5) / a->scale - 0.5;
  return (o + 0.5) / a->scale - 0.5; /* half_pixel */
}

static gdouble
nearest (const gchar *mode, gdouble c)
{
  if (g_str_equal (mode, "floor"))
    return floor (c);
  if (g_str_equal (mode, "ceil"))
    return ceil (c);
  if (g_str_equal (mode, "round_prefer_ceil"))
    return floor (c + 0.5);
  return ceil (c - 0.5); /* round_prefer_floor */
}

static gdouble
cubic_weight (gdouble a, gdouble t)
{
  t = fabs (t);
  return t <= 1  ? ((a + 2) * t - (a + 3)) * t * t + 1
         : t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
                 : 0;
}

typedef struct {
  gint64 first; /* tap i reads first + i, clamped */
  gint n;
  gdouble *weight;
} Taps;

/* Antialiasing widens the kernel by the factor that shrinks the axis. */
static gint
tap_count (const ResizeMap *a, gdouble *shrink)
{
  gdouble radius = g_str_equal (a->mode, "cubic") ? 2 : 1;
  *shrink = a->antialias ? fmin (a->scale, 1) : 1;
  return g_str_equal (a->mode, "nearest") ? 1 : 2 * (gint)ceil (radius / fmax (*shrink, 1e-6));
}

static void
make_taps (const ResizeMap *a, gdouble c, Taps *taps)
{
  gboolean cubic = g_str_equal (a->mode, "cubic");
  gdouble shrink, sum = 0;
  taps->n = tap_count (a, &shrink);
  taps->first = (gint64)floor (c) + 1 - taps->n / 2;
  if (taps->n == 1) {
    taps->first = (gint64)nearest (a->nearest_mode, c);
    taps->weight[0] = 1;
    return;
  }
  for (gint i = 0; i < taps->n; i++) {
    gdouble t = ((gdouble)(taps->first + i) - c) * shrink;
    taps->weight[i] = cubic ? cubic_weight (a->cubic_a, t) : fmax (0, 1 - fabs (t));
    if (a->exclude_outside && (taps->first + i < 0 || taps->first + i >= a->n_in))
      taps->weight[i] = 0;
    sum += taps->weight[i];
  }
  for (gint i = 0; i < taps->n; i++)
    taps->weight[i] /= sum;
}

gboolean
axon_resize_tabulate (const ResizeMap *a, gint axis, AxonResizeAxis *r, GError **error)
{
  gdouble shrink;
  AXON_AUTO_SCRATCH gdouble *weight = NULL;
  *r = (AxonResizeAxis){ axis, a->n_in, a->n_out, tap_count (a, &shrink), NULL, NULL };
  weight = axon_scratch_new ((gsize)r->n, sizeof *weight, error);
  r->index = axon_scratch_new ((gsize)r->n * (gsize)a->n_out + 1, sizeof *r->index, error);
  r->weight = axon_scratch_new ((gsize)r->n * (gsize)a->n_out + 1, sizeof *r->weight, error);
  if (weight == NULL || r->index == NULL || r->weight == NULL)
    return FALSE;
  for (gint64 o = 0; o < a->n_out && !axon_work_is_cancelled (); o++) {
    gdouble c = source_coordinate (a, (gdouble)o);
    gboolean outside = g_str_equal (a->coordinates, "tf_crop_and_resize") &&
                       !(c >= 0 && c <= (gdouble)a->n_in - 1);
    Taps taps = { .weight = weight };
    make_taps (a, isfinite (c) ? CLAMP (c, -1e9, 1e9) : 0, &taps);
    for (gint t = 0; t < r->n; t++) {
      r->index[o * r->n + t] =
          outside ? -1 : (gint32)CLAMP (taps.first + t, 0, MAX (a->n_in - 1, 0));
      r->weight[o * r->n + t] = (gfloat)weight[t];
    }
  }
  return TRUE;
}

gboolean
axon_resize_is_needed (const ResizeMap *a)
{
  return a->n_out != a->n_in || a->scale != 1 ||
         (g_str_equal (a->coordinates, "tf_crop_and_resize") &&
          (a->roi_start != 0 || a->roi_end != 1));
}
