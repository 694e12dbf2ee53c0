/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NanoDet: distances as distributions, Li et al., arXiv:2006.04388; github.com/RangiLyu/nanodet.
 * NanoDet-Plus has a fourth grid, and its points are the cells' corners, not their centres. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

#define N_NUMBERS (4 * GST_NN_N_BINS)

/* The label list tells classes and distributions apart; without one 80 classes are COCO's. */
static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  if (in->tensors->len != 1 || !gst_nn_rows_init_cells (rows, in, 0, 1, 0))
    return FALSE;
  rows->n_classes -= N_NUMBERS;
  return rows->n_classes == (in->n_labels > 0 ? in->n_labels : 80) && rows->row_step != 1;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return find_rows (in, &rows);
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  GstNnRows r;
  gdouble offset;
  find_rows (in, &r);
  offset = r.n == gst_nn_count_cells (in->width, in->height) ? 0.5 : 0;
  while (gst_nn_rows_next (&r, in->threshold)) {
    gint64 column, row;
    gint s = gst_nn_rows_locate (&r, in, &column, &row);
    gst_nn_add_distances (objects, ((gdouble)column + offset) * s, ((gdouble)row + offset) * s, s,
                          r.data + r.i * r.columns + r.n_classes, r.score, r.class_id);
  }
}

const GstNnDecoder gst_nn_decoder_nanodet = {
  .name = "nanodet",
  .blurb = N_ ("grid cells with distance distributions [1,N,C+32] (NanoDet)"),
  .fits = fits,
  .decode = decode,
  .threshold = 0.35,
};
