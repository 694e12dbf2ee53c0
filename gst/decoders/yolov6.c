/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv6: Li et al., arXiv:2209.02976; and YOLOX exported with its decoding. Shapes are YOLOX's. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  if (in->tensors->len != 1 || !gst_nn_rows_init_cells (rows, in, 0, 1, 5))
    return FALSE;
  rows->objectness = 4;
  return TRUE;
}

GST_NN_DEFINE_ROWS_DECODER (find_rows)

const GstNnDecoder gst_nn_decoder_yolov6 = {
  .name = "yolov6",
  .blurb = N_ ("decoded cells [1,N,5+C] (YOLOv6, YOLOX decoded in the graph)"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .decode = decode,
  .threshold = 0.25,
};
