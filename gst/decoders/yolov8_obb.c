/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv8-obb, 11-obb: docs.ultralytics.com/tasks/obb. The last number is the angle, in radians,
 * clockwise. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  if (in->tensors->len != 1 || !gst_nn_rows_init_cells (rows, in, 0, 1, 4))
    return FALSE;
  rows->n_classes--;
  return rows->n_classes > 0;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return find_rows (in, &rows);
}

/* Only labels tell it from a detector of one class more. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return find_rows (in, &rows) && in->n_labels > 0 && rows.n_classes == in->n_labels;
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  GstNnRows r;
  find_rows (in, &r);
  while (gst_nn_rows_next (&r, in->threshold))
    gst_nn_add_rotated (objects, (gdouble[]){ gst_nn_row_at (&r, 0), gst_nn_row_at (&r, 1) },
                        gst_nn_row_at (&r, 2), gst_nn_row_at (&r, 3),
                        gst_nn_row_at (&r, r.columns - 1), r.score, r.class_id);
}

const GstNnDecoder gst_nn_decoder_yolov8_obb = {
  .name = "yolov8-obb",
  .blurb = N_ ("rotated boxes, scores and an angle [1,4+C+1,N] (YOLOv8-obb, 11-obb)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .threshold = 0.25,
};
