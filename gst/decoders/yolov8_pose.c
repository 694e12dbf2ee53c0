/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv8-pose, 11-pose: docs.ultralytics.com/tasks/pose. Behind the classes stand keypoints: x, y
 * and, mostly, a score. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

#define N_COCO 17

/* x, y, and a score where that comes out even. */
static gint64
count_numbers (const GstNnRows *rows)
{
  return (rows->columns - rows->detail) % 3 == 0 ? 3 : 2;
}

/* Classes, unless labels say how many there are: one, a person. */
static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  gint64 n;
  if (in->tensors->len != 1 || !gst_nn_rows_init_cells (rows, in, 0, 1, 4))
    return FALSE;
  rows->n_classes = in->n_labels > 0 ? in->n_labels : 1;
  rows->detail = 4 + rows->n_classes;
  n = rows->columns - rows->detail;
  return n > 0 && n % count_numbers (rows) == 0;
}

GST_NN_DEFINE_ROWS_DECODER (find_rows)

/* One class with keypoints; a list of labels may also be shorter than a detector's classes. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return find_rows (in, &rows) && rows.n_classes == 1 &&
         (in->n_labels == 1 || rows.columns == rows.detail + 3 * N_COCO);
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  GstNnRows rows;
  if (!gst_nn_rows_return (&rows, in, find_rows, found))
    return;
  gst_nn_rows_say_keypoints (&rows, in, object, count_numbers (&rows));
  if (rows.columns - rows.detail == count_numbers (&rows) * N_COCO)
    gst_nn_say_skeleton (object, "coco17");
}

const GstNnDecoder gst_nn_decoder_yolov8_pose = {
  .name = "yolov8-pose",
  .blurb = N_ ("boxes, scores and keypoints [1,4+C+3K,N] (YOLOv8-pose, 11-pose)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .detail = detail,
  .threshold = 0.25,
};
