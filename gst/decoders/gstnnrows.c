/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnrows.h"

#include <math.h>

gboolean
gst_nn_rows_init (GstNnRows *r, const GstNnDecodeInput *in, guint index, gint64 n, gint64 least)
{
  gint64 rows, columns;
  gboolean is_turned;
  if (!gst_nn_is_table (gst_nn_shape_at (in, index), &rows, &columns))
    return FALSE;
  is_turned = columns == n && rows != n;
  r->data = gst_nn_data_at (in, index);
  r->n = n;
  r->columns = is_turned ? rows : columns;
  r->row_step = is_turned ? 1 : r->columns;
  r->column_step = is_turned ? n : 1;
  r->first_class = least;
  r->n_classes = r->columns - least;
  r->objectness = -1;
  r->is_logit = r->is_final = FALSE;
  r->detail = r->columns;
  r->i = -1;
  return (rows == n || columns == n) && r->n_classes > 0;
}

gboolean
gst_nn_rows_init_cells (GstNnRows *r, const GstNnDecodeInput *in, guint index, gint64 per_cell,
                        gint64 least)
{
  static const gint strides[][2] = { { 8, 32 }, { 8, 64 }, { 4, 32 } };
  for (guint i = 0; i < G_N_ELEMENTS (strides); i++) {
    gint64 n = 0;
    for (gint s = strides[i][0]; s <= strides[i][1]; s *= 2)
      n += per_cell * gst_nn_grid_cells (in->width, in->height, s);
    if (n > 0 && gst_nn_rows_init (r, in, index, n, least)) {
      r->finest = strides[i][0];
      r->per_cell = per_cell;
      return TRUE;
    }
  }
  return FALSE;
}

/* Which of two outputs is @k maps. */
static gboolean
find_maps (const GstNnDecodeInput *in, guint *maps, gint64 *k)
{
  gint64 h, w;
  if (in->tensors->len != 2)
    return FALSE;
  *maps = gst_nn_shape_at (in, 0)->rank == 4 ? 0 : 1;
  return gst_nn_is_map (gst_nn_shape_at (in, *maps), k, &h, &w);
}

gboolean
gst_nn_rows_init_masks (GstNnRows *r, const GstNnDecodeInput *in, gint64 per_cell, gint64 least)
{
  gint64 k;
  if (!find_maps (in, &r->maps, &k) ||
      !gst_nn_rows_init_cells (r, in, 1 - r->maps, per_cell, least))
    return FALSE;
  r->n_classes -= k;
  r->detail = r->first_class + r->n_classes;
  return r->n_classes > 0;
}

gboolean
gst_nn_rows_init_final (GstNnRows *r, const GstNnDecodeInput *in, guint index, gint64 columns)
{
  gint64 n, c;
  if (!gst_nn_is_table (gst_nn_shape_at (in, index), &n, &c) || c != columns ||
      !gst_nn_rows_init (r, in, index, n, 5))
    return FALSE;
  r->is_final = TRUE;
  r->detail = 6;
  return TRUE;
}

gboolean
gst_nn_rows_init_final_masks (GstNnRows *r, const GstNnDecodeInput *in)
{
  gint64 k;
  return find_maps (in, &r->maps, &k) && gst_nn_rows_init_final (r, in, 1 - r->maps, 6 + k);
}

gboolean
gst_nn_rows_init_queries (GstNnRows *r, const GstNnDecodeInput *in, const gfloat **boxes)
{
  gint64 n, c, m, four;
  for (guint i = 0; in->tensors->len == 2 && i < 2; i++)
    if (gst_nn_is_table (gst_nn_shape_at (in, i), &n, &c) && c > 1 &&
        gst_nn_is_table (gst_nn_shape_at (in, 1 - i), &m, &four) && m == n && four == 4 &&
        gst_nn_rows_init (r, in, i, n, 0)) {
      *boxes = gst_nn_data_at (in, 1 - i);
      return TRUE;
    }
  return FALSE;
}

gint
gst_nn_rows_locate (const GstNnRows *r, const GstNnDecodeInput *in, gint64 *column, gint64 *row)
{
  gint64 i = r->i / r->per_cell, n;
  gint stride = r->finest, columns;
  while (i >= (n = gst_nn_grid_cells (in->width, in->height, stride))) {
    i -= n;
    stride *= 2;
  }
  columns = (in->width + stride - 1) / stride;
  *column = i % columns;
  *row = i / columns;
  return stride;
}

#define N_LANES 16

/* In lanes, which compilers make vectors of; what is no number is never larger. */
static void
raise_to (gfloat *restrict most, const gfloat *restrict v, gint64 n)
{
  gint64 i = 0;
  for (; i + N_LANES <= n; i += N_LANES)
    for (gint lane = 0; lane < N_LANES; lane++)
      most[i + lane] = v[i + lane] > most[i + lane] ? v[i + lane] : most[i + lane];
  for (; i < n; i++)
    most[i] = v[i] > most[i] ? v[i] : most[i];
}

/* Candidates that are columns: one pass over each class, which runs along memory. */
static void
fill_block (GstNnRows *r)
{
  gint64 n = MIN (GST_NN_ROWS_BLOCK, r->n - r->i);
  const gfloat *scores = r->data + r->first_class * r->column_step + r->i;
  for (gint64 i = 0; i < n; i++)
    r->best[i] = -INFINITY;
  for (gint64 k = 0; k < r->n_classes; k++, scores += r->column_step)
    raise_to (r->best, scores, n);
}

/* The best score of a candidate that is a row. */
static gfloat
best_of_row (const GstNnRows *r)
{
  const gfloat *scores = r->data + r->i * r->row_step + r->first_class;
  gfloat most[N_LANES], best = -INFINITY;
  for (gint lane = 0; lane < N_LANES; lane++)
    most[lane] = -INFINITY;
  for (gint64 k = 0; k < r->n_classes; k += N_LANES)
    raise_to (most, scores + k, MIN (N_LANES, r->n_classes - k));
  for (gint lane = 0; lane < N_LANES; lane++)
    best = MAX (best, most[lane]);
  return best;
}

static gdouble
as_score (const GstNnRows *r, gdouble value)
{
  return r->is_logit ? gst_nn_sigmoid (value) : value;
}

/* Whether the candidate reaches the threshold, by its objectness or its best class. */
static gboolean
may_reach (GstNnRows *r, gdouble threshold)
{
  gfloat best;
  if (r->row_step == 1 && r->i % GST_NN_ROWS_BLOCK == 0)
    fill_block (r);
  if (r->objectness >= 0 && !(as_score (r, gst_nn_row_at (r, r->objectness)) >= threshold))
    return FALSE;
  best = r->row_step == 1 ? r->best[r->i % GST_NN_ROWS_BLOCK] : best_of_row (r);
  return as_score (r, (gdouble)best) >= threshold;
}

static gboolean
next_scored (GstNnRows *r, gdouble threshold)
{
  while (++r->i < r->n) {
    gint64 k;
    if (!may_reach (r, threshold))
      continue;
    k = gst_nn_best_class (r->data + r->i * r->row_step + r->first_class * r->column_step,
                           r->n_classes, r->column_step);
    r->class_id = (gint)k;
    r->score = as_score (r, gst_nn_row_at (r, r->first_class + k));
    if (r->objectness >= 0)
      r->score *= as_score (r, gst_nn_row_at (r, r->objectness));
    if (r->score >= threshold)
      return TRUE;
  }
  return FALSE;
}

/* A class is a small whole number. */
static gboolean
next_final (GstNnRows *r, gdouble threshold)
{
  while (++r->i < r->n) {
    gdouble class_id = gst_nn_row_at (r, 5);
    r->score = gst_nn_row_at (r, 4);
    if (!(r->score >= threshold) || !(class_id >= 0) || class_id > G_MAXINT16)
      continue;
    r->class_id = (gint)(class_id + 0.5);
    return TRUE;
  }
  return FALSE;
}

gboolean
gst_nn_rows_next (GstNnRows *r, gdouble threshold)
{
  return r->is_final ? next_final (r, threshold) : next_scored (r, threshold);
}

void
gst_nn_rows_add_box (const GstNnRows *r, GArray *objects)
{
  gdouble x = gst_nn_row_at (r, 0), y = gst_nn_row_at (r, 1);
  gdouble w = gst_nn_row_at (r, 2), h = gst_nn_row_at (r, 3);
  GstNnDetection *found =
      r->is_final ? gst_nn_add_object (objects, x, y, w - x, h - y, r->score, r->class_id)
                  : gst_nn_add_object (objects, x - w / 2, y - h / 2, w, h, r->score, r->class_id);
  if (found != NULL)
    found->row = r->i;
}

void
gst_nn_rows_decode (const GstNnDecodeInput *in, GstNnRowsFind find, GArray *objects)
{
  GstNnRows r;
  if (!find (in, &r))
    return;
  while (gst_nn_rows_next (&r, in->threshold))
    gst_nn_rows_add_box (&r, objects);
}

gboolean
gst_nn_rows_return (GstNnRows *r, const GstNnDecodeInput *in, GstNnRowsFind find,
                    const GstNnDetection *found)
{
  if (!find (in, r))
    return FALSE;
  r->i = found->row;
  return TRUE;
}

void
gst_nn_rows_say_keypoints (const GstNnRows *r, const GstNnDecodeInput *in, GstNnObject *object,
                           gint64 numbers)
{
  for (gint64 k = r->detail; k + numbers <= r->columns; k += numbers)
    gst_nn_say_keypoint (in, object, gst_nn_row_at (r, k), gst_nn_row_at (r, k + 1),
                         numbers > 2 ? gst_nn_row_at (r, k + 2) : 1);
}

/* Weighted sum of the maps along a part of one line, as coverage. */
static void
cover_line (const GstNnRows *r, const gfloat *maps, const gint64 dims[3], const gint64 part[3],
            guint8 *out)
{
  gint64 n = part[1] - part[0], plane = dims[1] * dims[2];
  g_autofree gfloat *sums = g_new0 (gfloat, n);
  for (gint64 k = 0; k < dims[0]; k++) {
    const gfloat *line = maps + k * plane + part[2] * dims[2] + part[0];
    gfloat weight = (gfloat)gst_nn_row_at (r, r->detail + k);
    for (gint64 i = 0; i < n; i++)
      sums[i] += weight * line[i];
  }
  for (gint64 i = 0; i < n; i++) {
    gdouble coverage = gst_nn_sigmoid ((gdouble)sums[i]) * 255 + 0.5;
    out[i] = coverage >= 0 ? (guint8)coverage : 0; /* not a number: none */
  }
}

/* The edge between cells, of @n, that is nearest to @at; the first where that is no number. */
static gint64
nearest_edge (gdouble at, gint64 n)
{
  return at > 0 ? (gint64)round (MIN (at, (gdouble)n)) : 0;
}

/* Bolya et al., arXiv:1904.02689: cells of the maps count whose centre is in the box. */
void
gst_nn_rows_say_mask (const GstNnDecodeInput *in, GstNnRowsFind find, const GstNnDetection *found,
                      GstNnObject *object)
{
  GstNnRows r;
  gint64 dims[3], x0, x1, y0, y1;
  gdouble sx, sy;
  guint8 *values;
  if (!gst_nn_rows_return (&r, in, find, found))
    return;
  gst_nn_is_map (gst_nn_shape_at (in, r.maps), &dims[0], &dims[1], &dims[2]);
  sx = (gdouble)in->width / (gdouble)dims[2];
  sy = (gdouble)in->height / (gdouble)dims[1];
  x0 = nearest_edge (found->x / sx, dims[2]);
  x1 = nearest_edge ((found->x + found->width) / sx, dims[2]);
  y0 = nearest_edge (found->y / sy, dims[1]);
  y1 = nearest_edge ((found->y + found->height) / sy, dims[1]);
  if (x1 <= x0 || y1 <= y0)
    return;
  values = g_malloc ((gsize)(x1 - x0) * (gsize)(y1 - y0));
  for (gint64 y = y0; y < y1; y++)
    cover_line (&r, gst_nn_data_at (in, r.maps), dims, (gint64[]){ x0, x1, y },
                values + (y - y0) * (x1 - x0));
  gst_nn_say_mask (in, object, GST_NN_MASK_COVERAGE, (guint)(x1 - x0), (guint)(y1 - y0), values,
                   (gdouble[]){ (gdouble)x0 * sx, (gdouble)y0 * sy, (gdouble)(x1 - x0) * sx,
                                (gdouble)(y1 - y0) * sy });
}
