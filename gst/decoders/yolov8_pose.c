/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv8-pose, 11-pose: docs.ultralytics.com/tasks/pose. Behind the classes stand keypoints: x, y
 * and, mostly, a score. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

#define N_COCO 17

/* Classes, unless labels say how many there are: one, a person. */
static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows, gint64 *first, gint64 *numbers)
{
  gint64 n;
  if (in->tensors->len != 1 || !gst_nn_rows_init_cells (rows, in, 0, 1, 4))
    return FALSE;
  rows->n_classes = in->n_labels > 0 ? in->n_labels : 1;
  *first = 4 + rows->n_classes;
  n = rows->columns - *first;
  *numbers = n % 3 == 0 ? 3 : 2;
  return n > 0 && n % *numbers == 0;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  gint64 first, numbers;
  return find_rows (in, &rows, &first, &numbers);
}

/* One class with keypoints; a list of labels may also be shorter than a detector's classes. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  gint64 first, numbers;
  return find_rows (in, &rows, &first, &numbers) && rows.n_classes == 1 &&
         (in->n_labels == 1 || rows.columns == first + 3 * N_COCO);
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  GstNnRows rows;
  gint64 first, numbers;
  find_rows (in, &rows, &first, &numbers);
  while (gst_nn_rows_next (&rows, in->threshold))
    gst_nn_rows_add_box (&rows, objects);
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  GstNnRows rows;
  gint64 first, numbers;
  if (!find_rows (in, &rows, &first, &numbers))
    return;
  rows.i = found->row;
  gst_nn_rows_say_keypoints (&rows, in, object, first, numbers);
  if (rows.columns - first == numbers * N_COCO)
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
