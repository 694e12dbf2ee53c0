/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PicoDet: Yu et al., arXiv:2111.00902. Eight outputs, without suppression in the graph. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

#define N_NUMBERS (4 * GST_NN_N_BINS)

/* Scores and distances of one grid. */
static gboolean
find_grid (const GstNnDecodeInput *in, gint stride, GstNnRows *scores, guint *distances)
{
  gint64 cells = gst_nn_grid_cells (in->width, in->height, stride), n, c;
  gint d = gst_nn_find_table (in, cells, N_NUMBERS);
  for (guint i = 0; d >= 0 && i < in->tensors->len; i++)
    if (i != (guint)d && gst_nn_is_table (gst_nn_shape_at (in, i), &n, &c) && n == cells &&
        gst_nn_rows_init (scores, in, i, n, 0)) {
      *distances = (guint)d;
      scores->finest = stride;
      scores->per_cell = 1;
      scores->is_logit = g_strcmp0 (in->activation, "sigmoid") == 0;
      return TRUE;
    }
  return FALSE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows scores;
  guint distances;
  gint64 n_classes = 0;
  if (in->tensors->len != 8)
    return FALSE;
  for (gint s = 8; s <= 64; s *= 2) {
    if (!find_grid (in, s, &scores, &distances) || (s > 8 && scores.n_classes != n_classes))
      return FALSE;
    n_classes = scores.n_classes;
  }
  return TRUE;
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  for (gint s = 8; s <= 64; s *= 2) {
    GstNnRows r;
    guint distances;
    find_grid (in, s, &r, &distances);
    while (gst_nn_rows_next (&r, in->threshold)) {
      gint64 column, row;
      gst_nn_rows_locate (&r, in, &column, &row);
      gst_nn_add_distances (objects, ((gdouble)column + 0.5) * s, ((gdouble)row + 0.5) * s, s,
                            gst_nn_data_at (in, distances) + r.i * N_NUMBERS, r.score, r.class_id);
    }
  }
}

const GstNnDecoder gst_nn_decoder_picodet = {
  .name = "picodet",
  .blurb = N_ ("at strides 8 to 64 scores [1,N,C] and distance distributions [1,N,32] (PicoDet)"),
  .fits = fits,
  .decode = decode,
};
