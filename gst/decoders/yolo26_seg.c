/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLO26-seg: docs.ultralytics.com/models/yolo26. Corners, score, class, weights of maps. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

static gboolean
find_rows (const GstNnDecodeInput *in, GstNnRows *rows, guint *maps)
{
  gint64 k, h, w;
  if (in->tensors->len != 2)
    return FALSE;
  *maps = gst_nn_shape_at (in, 0)->rank == 4 ? 0 : 1;
  return gst_nn_is_map (gst_nn_shape_at (in, *maps), &k, &h, &w) &&
         gst_nn_rows_init_final (rows, in, 1 - *maps, 6 + k);
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows rows;
  guint maps;
  return find_rows (in, &rows, &maps);
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  GstNnRows rows;
  guint maps;
  if (!find_rows (in, &rows, &maps))
    return;
  while (gst_nn_rows_next_final (&rows, in->threshold))
    gst_nn_rows_add_corners (&rows, objects);
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  GstNnRows rows;
  guint maps;
  if (!find_rows (in, &rows, &maps))
    return;
  rows.i = found->row;
  gst_nn_rows_say_mask (&rows, in, object, found, 6, maps);
}

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
