/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv8, v9, v11: no objectness. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

/* [1,4+C,N], or [1,N,4+C]: N is the number of cells. */
static gboolean
find_layout (const GstNnDecodeInput *in, gint64 *n, gint64 *c, gboolean *transposed)
{
  gint64 rows, columns, cells = gst_nn_count_cells (in->width, in->height);
  if (in->tensors->len != 1 || !gst_nn_is_table (gst_nn_shape_at (in, 0), &rows, &columns))
    return FALSE;
  *transposed = columns == cells;
  *n = cells;
  *c = *transposed ? rows : columns;
  return (columns == cells || rows == cells) && *c > 4;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  gint64 n, c;
  gboolean transposed;
  return find_layout (in, &n, &c, &transposed);
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *p = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  gint64 n, c, row, column;
  gboolean transposed;
  if (!find_layout (in, &n, &c, &transposed))
    return;
  row = transposed ? 1 : c;
  column = transposed ? n : 1;
  for (gint64 i = 0; i < n; i++) {
    const gfloat *q = p + i * row;
    gint64 k = gst_nn_best_class (q + 4 * column, c - 4, column);
    gdouble score = (gdouble)q[(4 + k) * column], w = (gdouble)q[2 * column];
    gdouble h = (gdouble)q[3 * column];
    if (score >= in->threshold)
      gst_nn_add_object (objects, (gdouble)q[0] - w / 2, (gdouble)q[column] - h / 2, w, h, score,
                         (gint)k);
  }
}

const GstNnDecoder gst_nn_decoder_yolov8 = {
  .name = "yolov8",
  .blurb = N_ ("boxes and scores [1,4+C,N], or transposed (YOLOv8, v9, v11)"),
  .fits = fits,
  .decode = decode,
};
