/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What "agrees" means: by type and kind of model, figures always reported. */
#include "run-private.h"

#include <math.h>

/* Quantised graphs: so many elements within so much of the largest magnitude. */
#define QUANTIZED_SHARE 0.99
#define QUANTIZED_ATOL 0.02

typedef struct {
  gdouble largest, worst;
  gsize n, n_bad, n_off, worst_at, top_expected, top_got;
} Figures;

static gboolean
same (gdouble a, gdouble b)
{
  return a == b || (isnan (a) && isnan (b));
}

static Figures
measure (const AxonTensor *expected, const AxonTensor *got, gdouble rtol, gdouble atol,
         gboolean absolute)
{
  Figures f = { .n = axon_tensor_get_numel (expected) };
  gdouble best_e = -INFINITY, best_g = -INFINITY;
  for (gsize i = 0; i < f.n; i++) {
    gdouble e = fabs (axon_tensor_get_value (expected, i));
    f.largest = isfinite (e) ? fmax (f.largest, e) : f.largest;
  }
  for (gsize i = 0; i < f.n; i++) {
    gdouble e = axon_tensor_get_value (expected, i), g = axon_tensor_get_value (got, i);
    gdouble d = same (e, g) ? 0 : fabs (e - g);
    gdouble most = rtol * fabs (e) + atol * (absolute ? 1 : f.largest);
    if (d != 0 && !(isfinite (d) && d <= most)) /* a part of infinity is infinity */
      f.n_bad++;
    if (d != 0 && !(d <= QUANTIZED_ATOL * f.largest))
      f.n_off++;
    if (!(d <= f.worst)) {
      f.worst = d;
      f.worst_at = i;
    }
    if (e > best_e) {
      best_e = e;
      f.top_expected = i;
    }
    if (g > best_g) {
      best_g = g;
      f.top_got = i;
    }
  }
  return f;
}

/* A vector of class scores has a top-1. Equal expected scores make any of them right. */
static gboolean
same_top (const AxonTensor *expected, const Figures *f)
{
  const AxonShape *s = axon_tensor_get_shape (expected);
  gint64 last = s->rank > 0 ? s->dims[s->rank - 1] : 1;
  if (last < 2 || axon_shape_get_numel (s) != last)
    return TRUE;
  return axon_tensor_get_value (expected, f->top_expected) ==
         axon_tensor_get_value (expected, f->top_got);
}

/* Strings are equal or not; tensors in a sequence or an optional agree one by one. */
static gboolean
compare_boxes (const AxonTensor *expected, const AxonTensor *got, const RunTolerance *tolerance,
               GString *report)
{
  for (gsize i = 0; i < axon_tensor_get_numel (expected); i++) {
    gboolean text = axon_tensor_get_dtype (expected) == AXON_DTYPE_STRING;
    if (text ? g_str_equal (axon_tensor_get_string (expected, i), axon_tensor_get_string (got, i))
             : run_compare (axon_tensor_get_item (expected, i), axon_tensor_get_item (got, i),
                            tolerance, report))
      continue;
    g_string_append_printf (report, " (item %" G_GSIZE_FORMAT ")", i);
    if (text)
      g_string_append_printf (report, ": expected \"%s\", got \"%s\"",
                              axon_tensor_get_string (expected, i),
                              axon_tensor_get_string (got, i));
    return FALSE;
  }
  return TRUE;
}

gboolean
run_compare (const AxonTensor *expected, const AxonTensor *got, const RunTolerance *tolerance,
             GString *report)
{
  AxonDType dtype = axon_tensor_get_dtype (expected);
  gboolean half = dtype == AXON_DTYPE_F16 || dtype == AXON_DTYPE_BF16;
  gdouble rtol = tolerance->rtol >= 0 ? tolerance->rtol : half ? 1e-2 : 1e-3;
  gdouble atol = tolerance->atol >= 0 ? tolerance->atol : half ? 1e-3 : 1e-4;
  gboolean ok;
  Figures f;
  if (dtype != axon_tensor_get_dtype (got) ||
      !axon_shape_equal (axon_tensor_get_shape (expected), axon_tensor_get_shape (got))) {
    g_autofree gchar *e = axon_tensor_to_string (expected, 0);
    g_autofree gchar *g = axon_tensor_to_string (got, 0);
    g_string_append_printf (report, "expected %s, got %s", e, g);
    return FALSE;
  }
  if (axon_dtype_is_boxed (dtype))
    return compare_boxes (expected, got, tolerance, report);
  f = measure (expected, got, rtol, atol, tolerance->absolute);
  if (tolerance->quantized && tolerance->rtol < 0 && axon_dtype_is_float (dtype)) {
    gdouble share = f.n ? 1 - (gdouble)f.n_off / (gdouble)f.n : 1;
    ok = share >= QUANTIZED_SHARE && same_top (expected, &f);
    g_string_append_printf (report, "%.3f %% within 2 %% of %.4g, ", share * 100, f.largest);
  } else {
    ok = f.n_bad == 0;
    g_string_append_printf (report, "%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " off, ", f.n_bad,
                            f.n);
  }
  g_string_append_printf (report, "largest difference %.3g of %.4g", f.worst, f.largest);
  if (!ok && f.n > 0)
    g_string_append_printf (report, " at %" G_GSIZE_FORMAT ": expected %.6g, got %.6g", f.worst_at,
                            axon_tensor_get_value (expected, f.worst_at),
                            axon_tensor_get_value (got, f.worst_at));
  return ok;
}
