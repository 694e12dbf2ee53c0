/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points by regression. They come as x and y in turn, or as all x and then all y ([1,2,N], and
 * MTCNN, Zhang et al., 2016, which has a box and a score beside them); in 0..1 of the input (PFLD,
 * Guo et al., 2019; OpenVINO's landmarks-regression), in -1..1 (InsightFace's 2d106det: (v + 1) *
 * size / 2), or in pixels. The numbers tell which: points are inside of the picture, but for a few.
 */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

typedef struct {
  const gfloat *x, *y;
  gint64 n, step;
  gdouble score;
} Points;

static gint64
row_or_table (const GstNnDecodeInput *in, guint index, gint64 *rows, gint64 *columns)
{
  gint64 n = gst_nn_count_row (in, index);
  *rows = n / 2;
  *columns = 2;
  if (n > 0)
    return n % 2 == 0 && n >= 4 ? n : 0;
  if (!gst_nn_is_table (gst_nn_shape_at (in, index), rows, columns) ||
      (*columns != 2 && *columns != 3 && *rows != 2))
    return 0;
  return *rows * *columns;
}

/* MTCNN's output network: a box, five points, whether it is a face. */
static gboolean
find_mtcnn (const GstNnDecodeInput *in, Points *p)
{
  gint at[3] = { -1, -1, -1 };
  for (guint i = 0; i < in->tensors->len && in->tensors->len == 3; i++)
    for (guint k = 0; k < 3; k++)
      if (gst_nn_count_row (in, i) == ((const gint64[]){ 4, 10, 2 })[k])
        at[k] = (gint)i;
  if (at[0] < 0 || at[1] < 0 || at[2] < 0)
    return FALSE;
  p->x = axon_tensor_get_data (gst_nn_tensor_at (in, (guint)at[1]));
  p->y = p->x + 5;
  p->n = 5;
  p->step = 1;
  p->score =
      (gdouble)((const gfloat *)axon_tensor_get_data (gst_nn_tensor_at (in, (guint)at[2])))[1];
  return TRUE;
}

static gboolean
find_points (const GstNnDecodeInput *in, Points *p)
{
  gint64 most = 0, rows, columns;
  if (in->width <= 0)
    return FALSE;
  if (find_mtcnn (in, p))
    return TRUE;
  for (guint i = 0; i < in->tensors->len; i++) {
    gint64 n = row_or_table (in, i, &rows, &columns);
    const gfloat *v = axon_tensor_get_data (gst_nn_tensor_at (in, i));
    gboolean is_planar = columns != 2 && columns != 3;
    if (n <= most)
      continue;
    most = n;
    *p = (Points){ .x = v,
                   .y = v + (is_planar ? columns : 1),
                   .n = is_planar ? columns : rows,
                   .step = is_planar ? 1 : columns,
                   .score = 1 };
  }
  return most > 0;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Points points;
  return find_points (in, &points);
}

/* pixel = (v + @offset) * size / @range */
static void
find_unit (const GstNnDecodeInput *in, const Points *p, gdouble *offset, gdouble range[2])
{
  gint64 below = 0, above = 0;
  for (gint64 i = 0; i < 2 * p->n; i++) {
    gdouble v = (gdouble)(i % 2 ? p->y : p->x)[i / 2 * p->step];
    below += v < 0;
    above += v > 2;
  }
  *offset = above == 0 && below > p->n / 2 ? 1 : 0;
  range[0] = above > 0 ? in->width : *offset + 1;
  range[1] = above > 0 ? in->height : *offset + 1;
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  gdouble offset, range[2];
  Points p;
  if (!find_points (in, &p) || !(p.score >= in->threshold))
    return;
  find_unit (in, &p, &offset, range);
  for (gint64 i = 0; i < p.n; i++)
    gst_nn_say_keypoint (in, target, ((gdouble)p.x[i * p.step] + offset) * in->width / range[0],
                         ((gdouble)p.y[i * p.step] + offset) * in->height / range[1], p.score);
}

const GstNnDecoder gst_nn_decoder_landmarks = {
  .name = "landmarks",
  .blurb = N_ ("places of N points [1,2N], [1,N,2] or [1,2,N], as parts of the picture or pixels"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .whole = whole,
};
