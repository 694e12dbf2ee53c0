/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UltraFace, SSD with normalised corners, and YOLOv4 as exported from PyTorch, whose boxes are
 * [1,N,1,4] and which has no background.
 * github.com/Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB, github.com/qfgaohao/pytorch-ssd,
 * github.com/Tianxiaomo/pytorch-YOLOv4. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

static gboolean
find_boxes (const AxonShape *s, gint64 *n, gboolean *has_background)
{
  gint64 c;
  *has_background = s->rank != 4;
  if (s->rank == 4 && s->dims[0] == 1 && s->dims[2] == 1 && s->dims[3] == 4) {
    *n = s->dims[1];
    return TRUE;
  }
  return gst_nn_is_table (s, n, &c) && c == 4;
}

/* Where both have four columns, scores stand first. */
static gboolean
find_boxes_scores (const GstNnDecodeInput *in, guint *boxes, gint64 *n, gint64 *c,
                   gboolean *has_background)
{
  gint64 rows;
  if (in->tensors->len != 2)
    return FALSE;
  for (*boxes = 2; (*boxes)-- > 0;)
    if (find_boxes (gst_nn_shape_at (in, *boxes), n, has_background) &&
        gst_nn_is_table (gst_nn_shape_at (in, 1 - *boxes), &rows, c) && rows == *n && *c > 0)
      return TRUE;
  return FALSE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  guint boxes;
  gint64 n, c;
  gboolean has_background;
  return find_boxes_scores (in, &boxes, &n, &c, &has_background);
}

/* A single row of rank 2 is rather a head that refines a crop. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  guint boxes;
  gint64 n, c;
  gboolean has_background;
  return find_boxes_scores (in, &boxes, &n, &c, &has_background) &&
         (n != 1 || gst_nn_shape_at (in, boxes)->rank > 2);
}

/* Corners in 0..1; class 0 is the background where there are several classes, and is not counted
 * where labels do not name it. */
static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *b, *s;
  gint64 n, c;
  guint boxes;
  gboolean has_background;
  gint first;
  if (!find_boxes_scores (in, &boxes, &n, &c, &has_background))
    return;
  first = has_background && c > 1 && in->n_labels + 1 == c;
  b = gst_nn_data_at (in, boxes);
  s = gst_nn_data_at (in, 1 - boxes);
  for (gint64 i = 0; i < n; i++, b += 4, s += c)
    for (gint64 k = c > 1 && has_background ? 1 : 0; k < c; k++)
      if ((gdouble)s[k] >= in->threshold)
        gst_nn_add_object (objects, (gdouble)b[0] * in->width, (gdouble)b[1] * in->height,
                           (gdouble)(b[2] - b[0]) * in->width, (gdouble)(b[3] - b[1]) * in->height,
                           (gdouble)s[k], (gint)k - first);
}

const GstNnDecoder gst_nn_decoder_boxes_scores = {
  .name = "boxes-scores",
  .blurb = N_ ("boxes [1,N,4] and class scores [1,N,C] (UltraFace, SSD, YOLOv4 of PyTorch)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
};
