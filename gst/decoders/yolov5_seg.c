/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv5-seg and v7-seg: github.com/ultralytics/yolov5. Each object has weights
 * of maps that all share. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  if (!gst_nn_rows_init_masks (rows, in, 3, 5))
    return FALSE;
  rows->objectness = 4;
  return TRUE;
}

GST_NN_DEFINE_MASKS_DECODER (find_rows)

const GstNnDecoder gst_nn_decoder_yolov5_seg = {
  .name = "yolov5-seg",
  .blurb = N_ ("as yolov5, and masks as weights of maps [1,K,H,W] (YOLOv5-seg, v7-seg)"),
  .fits = fits,
  .decode = decode,
  .detail = detail,
  .threshold = 0.25,
};
