/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLO26-pose: docs.ultralytics.com/models/yolo26. Corners, score, class, keypoints of three
 * numbers. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

#define N_COCO 17

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  gint64 n, c;
  return in->tensors->len == 1 && gst_nn_is_table (gst_nn_shape_at (in, 0), &n, &c) && c > 6 &&
         c % 3 == 0 && gst_nn_rows_init_final (rows, in, 0, c);
}

GST_NN_DEFINE_ROWS_DECODER (find_rows)

/* COCO's points, and no classifier; others are told by the name. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return gst_nn_shape_at (in, 0)->rank == 3 && find_rows (in, &rows) &&
         rows.columns == 6 + 3 * N_COCO;
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  GstNnRows rows;
  if (!gst_nn_rows_return (&rows, in, find_rows, found))
    return;
  gst_nn_rows_say_keypoints (&rows, in, object, 3);
  if (rows.columns == 6 + 3 * N_COCO)
    gst_nn_say_skeleton (object, "coco17");
}

const GstNnDecoder gst_nn_decoder_yolo26_pose = {
  .name = "yolo26-pose",
  .blurb = N_ ("objects that the model chose with keypoints, [1,N,6+3K] (YOLO26-pose)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .detail = detail,
  .is_final = TRUE,
  .threshold = 0.25,
};
