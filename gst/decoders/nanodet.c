/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NanoDet: distances as distributions, Li et al., arXiv:2006.04388. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define N_BINS 8

/* The label list tells classes and distributions apart; without one 80 classes are COCO's. */
static gboolean
fits (const GstNnDecodeInput *in)
{
  gint64 n, c, classes = in->n_labels > 0 ? in->n_labels : 80;
  return in->tensors->len == 1 && gst_nn_is_table (gst_nn_shape_at (in, 0), &n, &c) &&
         c == classes + 4 * N_BINS && n >= gst_nn_count_cells (in->width, in->height);
}

/* Expected value of a softmax over distances. */
static gdouble
expected_distance (const gfloat *bins)
{
  gdouble top = (gdouble)bins[gst_nn_best_class (bins, N_BINS, 1)], sum = 0, weighted = 0;
  for (gint i = 0; i < N_BINS; i++) {
    gdouble e = exp ((gdouble)bins[i] - top);
    sum += e;
    weighted += e * i;
  }
  return weighted / sum;
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *p = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  gint64 n = 0, c = 0, classes;
  gst_nn_is_table (gst_nn_shape_at (in, 0), &n, &c);
  classes = c - 4 * N_BINS;
  for (gint s = 8; s <= 64 && n > 0; s *= 2) {
    gint64 columns = (in->width + s - 1) / s, rows = (in->height + s - 1) / s;
    for (gint64 i = 0; i < rows * columns && n > 0; i++, n--, p += c) {
      gint64 k = gst_nn_best_class (p, classes, 1);
      gdouble x = (gdouble)(i % columns) * s, y = (gdouble)(i / columns) * s, d[4];
      if ((gdouble)p[k] < in->threshold)
        continue;
      for (gint e = 0; e < 4; e++)
        d[e] = expected_distance (p + classes + e * N_BINS) * s;
      gst_nn_add_object (objects, x - d[0], y - d[1], d[0] + d[2], d[1] + d[3], (gdouble)p[k],
                         (gint)k);
    }
  }
}

const GstNnDecoder gst_nn_decoder_nanodet = {
  .name = "nanodet",
  .blurb = N_ ("grid cells with distance distributions [1,N,C+32] (NanoDet)"),
  .fits = fits,
  .decode = decode,
};
