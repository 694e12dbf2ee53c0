/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UltraFace, SSD with normalised corners. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

static gboolean
find_boxes_scores (const GstNnDecodeInput *in, guint *boxes, guint *scores)
{
  gint64 n[2], c[2];
  if (in->tensors->len != 2 || !gst_nn_is_table (gst_nn_shape_at (in, 0), &n[0], &c[0]) ||
      !gst_nn_is_table (gst_nn_shape_at (in, 1), &n[1], &c[1]) || n[0] != n[1] ||
      (c[0] != 4 && c[1] != 4))
    return FALSE;
  *boxes = c[1] == 4 ? 1 : 0;
  *scores = 1 - *boxes;
  return TRUE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  guint boxes, scores;
  return find_boxes_scores (in, &boxes, &scores);
}

/* Corners in 0..1; class 0 is the background where there are several classes. */
static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *b, *s;
  gint64 n = 0, c = 0;
  guint boxes, scores;
  if (!find_boxes_scores (in, &boxes, &scores))
    return;
  gst_nn_is_table (gst_nn_shape_at (in, scores), &n, &c);
  b = axon_tensor_get_data (gst_nn_tensor_at (in, boxes));
  s = axon_tensor_get_data (gst_nn_tensor_at (in, scores));
  for (gint64 i = 0; i < n; i++, b += 4, s += c)
    for (gint64 k = c > 1 ? 1 : 0; k < c; k++)
      if ((gdouble)s[k] >= in->threshold)
        gst_nn_add_object (objects, (gdouble)b[0] * in->width, (gdouble)b[1] * in->height,
                           (gdouble)(b[2] - b[0]) * in->width, (gdouble)(b[3] - b[1]) * in->height,
                           (gdouble)s[k], (gint)k);
}

const GstNnDecoder gst_nn_decoder_boxes_scores = {
  .name = "boxes-scores",
  .blurb = N_ ("boxes [1,N,4] and class scores [1,N,C] (UltraFace, SSD)"),
  .fits = fits,
  .decode = decode,
};
