/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SCRFD: Guo et al., arXiv:2105.04714; github.com/deepinsight/insightface. At each stride scores
 * [N,1], distances [N,4] and, mostly, points [N,10], in strides from the cell's corner. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

/* Outputs of one grid; @points -1: none. */
static gboolean
find_grid (const GstNnDecodeInput *in, gint stride, GstNnRows *scores, guint *distances,
           gint *points)
{
  gint64 n = 2 * gst_nn_grid_cells (in->width, in->height, stride);
  gint s = gst_nn_find_table (in, n, 1), d = gst_nn_find_table (in, n, 4);
  *points = gst_nn_find_table (in, n, 10);
  if (s < 0 || d < 0 || !gst_nn_rows_init (scores, in, (guint)s, n, 0))
    return FALSE;
  *distances = (guint)d;
  scores->finest = stride;
  scores->per_cell = 2;
  return TRUE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows scores;
  guint distances;
  gint points;
  if (in->tensors->len != 6 && in->tensors->len != 9)
    return FALSE;
  for (gint s = 8; s <= 32; s *= 2)
    if (!find_grid (in, s, &scores, &distances, &points) ||
        (points >= 0) != (in->tensors->len == 9))
      return FALSE;
  return TRUE;
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  for (gint s = 8; s <= 32; s *= 2) {
    GstNnRows r;
    guint distances;
    gint points;
    find_grid (in, s, &r, &distances, &points);
    while (gst_nn_rows_next (&r, in->threshold)) {
      const gfloat *d = gst_nn_data_at (in, distances) + 4 * r.i;
      GstNnDetection *found;
      gint64 column, row;
      gst_nn_rows_locate (&r, in, &column, &row);
      found = gst_nn_add_object (objects, (gdouble)((gfloat)column - d[0]) * s,
                                 (gdouble)((gfloat)row - d[1]) * s, (gdouble)(d[0] + d[2]) * s,
                                 (gdouble)(d[1] + d[3]) * s, r.score, 0);
      if (found != NULL)
        found->row = r.i * 64 + s; /* the grid, too */
    }
  }
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  GstNnRows r;
  guint distances;
  gint points, s = (gint)(found->row % 64);
  gint64 column, row;
  const gfloat *p;
  find_grid (in, s, &r, &distances, &points);
  if (points < 0)
    return;
  r.i = found->row / 64;
  gst_nn_rows_locate (&r, in, &column, &row);
  p = gst_nn_data_at (in, (guint)points) + 10 * r.i;
  for (gint k = 0; k < 10; k += 2)
    gst_nn_say_keypoint (in, object, (gdouble)((gfloat)column + p[k]) * s,
                         (gdouble)((gfloat)row + p[k + 1]) * s, 1);
  gst_nn_say_skeleton (object, "face5");
}

const GstNnDecoder gst_nn_decoder_scrfd = {
  .name = "scrfd",
  .blurb = N_ ("faces with five points, nine outputs or six, two anchors a cell (SCRFD)"),
  .fits = fits,
  .decode = decode,
  .detail = detail,
};
