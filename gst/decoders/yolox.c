/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOX: Ge et al., arXiv:2107.08430. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>
#include <math.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  if (in->tensors->len != 1 || !gst_nn_rows_init_cells (rows, in, 0, 1, 5) || rows->row_step == 1)
    return FALSE;
  rows->objectness = 4;
  return TRUE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return find_rows (in, &rows);
}

/* YOLOv8's, transposed, has as many rows and no objectness: labels tell, or the 80 of COCO. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return find_rows (in, &rows) && rows.columns != 4 + (in->n_labels > 0 ? in->n_labels : 80);
}

/* Centre = (p + cell) * stride, size = exp (p) * stride. */
static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  GstNnRows r;
  find_rows (in, &r);
  while (gst_nn_rows_next (&r, in->threshold)) {
    gint64 column, row;
    gint s = gst_nn_rows_locate (&r, in, &column, &row);
    gdouble w = exp (gst_nn_row_at (&r, 2)) * s, h = exp (gst_nn_row_at (&r, 3)) * s;
    gst_nn_add_object (objects, (gst_nn_row_at (&r, 0) + (gdouble)column) * s - w / 2,
                       (gst_nn_row_at (&r, 1) + (gdouble)row) * s - h / 2, w, h, r.score,
                       r.class_id);
  }
}

const GstNnDecoder gst_nn_decoder_yolox = {
  .name = "yolox",
  .blurb = N_ ("grid cells [1,N,5+C] at strides 8, 16, 32 (YOLOX)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .threshold = 0.3,
};
