/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLO26-seg: docs.ultralytics.com/models/yolo26. Corners, score, class, weights of maps. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  return gst_nn_rows_init_final_masks (rows, in);
}

GST_NN_DEFINE_MASKS_DECODER (find_rows)

const GstNnDecoder gst_nn_decoder_yolo26_seg = {
  .name = "yolo26-seg",
  .blurb = N_ ("objects that the model chose, [1,N,6+K], with masks as weights of maps [1,K,H,W] "
               "(YOLO26-seg)"),
  .fits = fits,
  .decode = decode,
  .detail = detail,
  .is_final = TRUE,
  .threshold = 0.25,
};
