/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv8, v9, 11: no objectness. docs.ultralytics.com; Wang et al., arXiv:2402.13616. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  return in->tensors->len == 1 && gst_nn_rows_init_cells (rows, in, 0, 1, 4);
}

GST_NN_DEFINE_ROWS_DECODER (find_rows)

const GstNnDecoder gst_nn_decoder_yolov8 = {
  .name = "yolov8",
  .blurb = N_ ("boxes and scores [1,4+C,N], or transposed (YOLOv8, v9, 11)"),
  .fits = fits,
  .decode = decode,
  .threshold = 0.25,
};
