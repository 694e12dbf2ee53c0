/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv10, 26 and whatever exports its own suppression so: Wang et al., arXiv:2405.14458. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

/* No model chooses more; a classifier of six classes gives [1,6]. */
#define MOST 1000

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  return in->tensors->len == 1 && gst_nn_rows_init_final (rows, in, 0, 6);
}

GST_NN_DEFINE_ROWS_DECODER (find_rows)

static gboolean
recognises (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return gst_nn_shape_at (in, 0)->rank == 3 && find_rows (in, &rows) && rows.n <= MOST;
}

const GstNnDecoder gst_nn_decoder_yolov10 = {
  .name = "yolov10",
  .blurb = N_ ("objects that the model chose, [1,N,6]: corners, score, class (YOLOv10, 26)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .is_final = TRUE,
  .threshold = 0.25,
};
