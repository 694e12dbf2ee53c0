/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Classes of the whole picture. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  const AxonShape *s;
  gint64 n, largest = 0;
  if (in->tensors->len != 1)
    return FALSE;
  s = gst_nn_shape_at (in, 0);
  n = axon_shape_get_numel (s);
  for (gint i = 0; i < s->rank; i++)
    largest = MAX (largest, s->dims[i]);
  return n > 1 && largest == n; /* all other dimensions are 1 */
}

static gboolean
is_distribution (const gfloat *v, gint64 n)
{
  gdouble sum = 0;
  for (gint64 i = 0; i < n; i++) {
    if (v[i] < 0 || v[i] > 1)
      return FALSE;
    sum += (gdouble)v[i];
  }
  return fabs (sum - 1) < 0.01;
}

/* Softmax of logits; what is a distribution stays. */
static void
as_scores (const gfloat *v, gint64 n, gdouble *scores)
{
  gboolean done = is_distribution (v, n);
  gdouble top = (gdouble)v[gst_nn_best_class (v, n, 1)], sum = 0;
  for (gint64 i = 0; i < n; i++) {
    scores[i] = done ? (gdouble)v[i] : exp ((gdouble)v[i] - top);
    sum += scores[i];
  }
  for (gint64 i = 0; !done && i < n; i++)
    scores[i] /= sum;
}

/* The five best. */
static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  const gfloat *v = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  gint64 n = axon_shape_get_numel (gst_nn_shape_at (in, 0));
  g_autofree gdouble *scores = g_new (gdouble, n);
  as_scores (v, n, scores);
  for (guint rank = 0; rank < MIN (5, n); rank++) {
    gint64 best = 0;
    for (gint64 i = 1; i < n; i++)
      if (scores[i] > scores[best])
        best = i;
    if (!(scores[best] >= in->threshold)) /* NaN, too */
      return;
    gst_nn_say_class (in, target, "classification", (gint)best, NULL, scores[best]);
    scores[best] = -1;
  }
}

const GstNnDecoder gst_nn_decoder_classification = {
  .name = "classification",
  .blurb = N_ ("one score per class"),
  .fits = fits,
  .whole = whole,
};
