/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv8-seg, 11-seg: docs.ultralytics.com/tasks/segment. Each object has weights
 * of maps that all share. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  return gst_nn_rows_init_masks (rows, in, 1, 4);
}

GST_NN_DEFINE_MASKS_DECODER (find_rows)

const GstNnDecoder gst_nn_decoder_yolov8_seg = {
  .name = "yolov8-seg",
  .blurb = N_ ("as yolov8, and masks as weights of maps [1,K,H,W] (YOLOv8-seg, 11-seg)"),
  .fits = fits,
  .decode = decode,
  .detail = detail,
  .threshold = 0.25,
};
