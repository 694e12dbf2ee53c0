/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv5 and v7, whose exports decode the anchors: github.com/ultralytics/yolov5, Wang et al.,
 * arXiv:2207.02696. Some exports add the raw grids. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  if ((in->tensors->len != 1 && in->tensors->len != 4) ||
      !gst_nn_rows_init_cells (rows, in, 0, 3, 5))
    return FALSE;
  rows->objectness = 4;
  return TRUE;
}

GST_NN_DEFINE_ROWS_DECODER (find_rows)

const GstNnDecoder gst_nn_decoder_yolov5 = {
  .name = "yolov5",
  .blurb = N_ ("three anchors a cell, decoded, [1,N,5+C] (YOLOv5, v7)"),
  .fits = fits,
  .decode = decode,
  .threshold = 0.25,
};
