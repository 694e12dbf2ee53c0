/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLO26-obb: docs.ultralytics.com/models/yolo26. Centre, size, score, class, angle. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows)
{
  return in->tensors->len == 1 && gst_nn_shape_at (in, 0)->rank == 3 &&
         gst_nn_rows_init_final (rows, in, 0, 7);
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  return find_rows (in, &rows);
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  GstNnRows r;
  find_rows (in, &r);
  while (gst_nn_rows_next (&r, in->threshold))
    gst_nn_add_rotated (objects, (gdouble[]){ gst_nn_row_at (&r, 0), gst_nn_row_at (&r, 1) },
                        gst_nn_row_at (&r, 2), gst_nn_row_at (&r, 3), gst_nn_row_at (&r, 6),
                        r.score, r.class_id);
}

const GstNnDecoder gst_nn_decoder_yolo26_obb = {
  .name = "yolo26-obb",
  .blurb = N_ ("rotated boxes that the model chose, [1,N,7] (YOLO26-obb)"),
  .fits = fits,
  .decode = decode,
  .is_final = TRUE,
  .threshold = 0.25,
};
