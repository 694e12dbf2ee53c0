/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv5 and v7, whose exports decode the anchors. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  gint64 n = 0, c = 0;
  return in->tensors->len == 1 && gst_nn_is_table (gst_nn_shape_at (in, 0), &n, &c) && c > 5 &&
         n == 3 * gst_nn_count_cells (in->width, in->height);
}

/* Rows x, y, w, h (centre, pixels), objectness, classes. */
static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *p = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  gint64 n = 0, c = 0;
  gst_nn_is_table (gst_nn_shape_at (in, 0), &n, &c);
  for (gint64 i = 0; i < n; i++, p += c) {
    gint64 k;
    gdouble score;
    if ((gdouble)p[4] < in->threshold)
      continue;
    k = gst_nn_best_class (p + 5, c - 5, 1);
    score = (gdouble)p[4] * (gdouble)p[5 + k];
    if (score >= in->threshold)
      gst_nn_add_object (objects, (gdouble)(p[0] - p[2] / 2), (gdouble)(p[1] - p[3] / 2),
                         (gdouble)p[2], (gdouble)p[3], score, (gint)k);
  }
}

const GstNnDecoder gst_nn_decoder_yolov5 = {
  .name = "yolov5",
  .blurb = N_ ("three anchors a cell, decoded, [1,N,5+C] (YOLOv5, v7)"),
  .fits = fits,
  .decode = decode,
};
