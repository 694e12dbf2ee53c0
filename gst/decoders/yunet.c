/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YuNet: Wu et al., doi:10.1007/s11633-023-1423-y; github.com/ShiqiYu/libfacedetection.train. At
 * each stride class and objectness [1,N,1], whose order does not matter, box [1,N,4] and points
 * [1,N,10]. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

typedef struct {
  const gfloat *scores[2], *box, *points;
  gint64 columns, n;
} Grid;

static gboolean
find_grid (const GstNnDecodeInput *in, gint stride, Grid *grid)
{
  gint64 n = gst_nn_grid_cells (in->width, in->height, stride), rows, columns;
  gint box = gst_nn_find_table (in, n, 4), points = gst_nn_find_table (in, n, 10);
  guint found = 0;
  for (guint i = 0; i < in->tensors->len; i++)
    if (gst_nn_is_table (gst_nn_shape_at (in, i), &rows, &columns) && rows == n && columns == 1 &&
        found < 2)
      grid->scores[found++] = gst_nn_data_at (in, i);
  if (found < 2 || box < 0 || points < 0)
    return FALSE;
  grid->box = gst_nn_data_at (in, (guint)box);
  grid->points = gst_nn_data_at (in, (guint)points);
  grid->columns = (in->width + stride - 1) / stride;
  grid->n = n;
  return TRUE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Grid grid;
  if (in->tensors->len != 12)
    return FALSE;
  for (gint s = 8; s <= 32; s *= 2)
    if (!find_grid (in, s, &grid))
      return FALSE;
  return TRUE;
}

static gdouble
as_share (gfloat v)
{
  return CLAMP ((gdouble)v, 0, 1);
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  for (gint s = 8; s <= 32; s *= 2) {
    Grid g;
    find_grid (in, s, &g);
    for (gint64 i = 0; i < g.n; i++) {
      gdouble score = sqrt (as_share (g.scores[0][i]) * as_share (g.scores[1][i])), w, h;
      const gfloat *b = g.box + 4 * i;
      GstNnDetection *found;
      if (!(score >= in->threshold))
        continue;
      w = exp ((gdouble)b[2]) * s;
      h = exp ((gdouble)b[3]) * s;
      found = gst_nn_add_object (objects, ((gdouble)b[0] + (gdouble)(i % g.columns)) * s - w / 2,
                                 ((gdouble)b[1] + (gdouble)(i / g.columns)) * s - h / 2, w, h,
                                 score, 0);
      if (found != NULL)
        found->row = i * 64 + s; /* the grid, too */
    }
  }
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  gint s = (gint)(found->row % 64);
  gint64 i = found->row / 64;
  Grid g;
  find_grid (in, s, &g);
  for (gint k = 0; k < 10; k += 2)
    gst_nn_say_keypoint (in, object, ((gdouble)g.points[10 * i + k] + (gdouble)(i % g.columns)) * s,
                         ((gdouble)g.points[10 * i + k + 1] + (gdouble)(i / g.columns)) * s, 1);
  gst_nn_say_skeleton (object, "face5");
}

const GstNnDecoder gst_nn_decoder_yunet = {
  .name = "yunet",
  .blurb = N_ ("faces with five points, twelve outputs (YuNet)"),
  .fits = fits,
  .decode = decode,
  .detail = detail,
};
