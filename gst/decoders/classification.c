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

/* The five best, softmax of logits. */
static void
decode (const GstNnDecodeInput *in, G_GNUC_UNUSED GArray *objects, GArray *classes)
{
  const gfloat *v = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  gint64 n = axon_shape_get_numel (gst_nn_shape_at (in, 0));
  gboolean done = is_distribution (v, n);
  gdouble top = (gdouble)v[gst_nn_best_class (v, n, 1)], sum = 0;
  for (gint64 i = 0; !done && i < n; i++)
    sum += exp ((gdouble)v[i] - top);
  for (guint rank = 0; rank < 5 && rank < (guint)n; rank++) {
    GstNnScore best = { .class_id = -1 };
    for (gint64 i = 0; i < n; i++) {
      gdouble score = done ? (gdouble)v[i] : exp ((gdouble)v[i] - top) / sum;
      gboolean taken = FALSE;
      for (guint k = 0; k < classes->len; k++)
        taken = taken || g_array_index (classes, GstNnScore, k).class_id == i;
      if (!taken && (best.class_id < 0 || score > best.score))
        best = (GstNnScore){ score, (gint)i };
    }
    if (best.class_id < 0 || !(best.score >= in->threshold)) /* NaN, too */
      return;
    g_array_append_val (classes, best);
  }
}

const GstNnDecoder gst_nn_decoder_classification = {
  .name = "classification",
  .blurb = N_ ("one score per class"),
  .fits = fits,
  .decode = decode,
};
