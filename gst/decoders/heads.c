/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoders of the table. Scores are compared with the threshold before anything else is
 * computed. */
#include "gstnndecoder.h"

#include <math.h>
#include <string.h>

static const AxonTensor *
tensor_at (const GstNnDecodeInput *in, guint index)
{
  return g_ptr_array_index (in->tensors, index);
}

static const AxonShape *
shape_at (const GstNnDecodeInput *in, guint index)
{
  return axon_tensor_get_shape (tensor_at (in, index));
}

/* [1,rows,columns], leading ones aside. */
static gboolean
is_table (const AxonShape *s, gint64 *rows, gint64 *columns)
{
  if (s->rank < 2 || axon_shape_get_numel (s) != s->dims[s->rank - 2] * s->dims[s->rank - 1])
    return FALSE;
  *rows = s->dims[s->rank - 2];
  *columns = s->dims[s->rank - 1];
  return TRUE;
}

static gboolean
find_boxes_scores (const GstNnDecodeInput *in, guint *boxes, guint *scores)
{
  gint64 n[2], c[2];
  if (in->tensors->len != 2 || !is_table (shape_at (in, 0), &n[0], &c[0]) ||
      !is_table (shape_at (in, 1), &n[1], &c[1]) || n[0] != n[1] || (c[0] != 4 && c[1] != 4))
    return FALSE;
  *boxes = c[1] == 4 ? 1 : 0;
  *scores = 1 - *boxes;
  return TRUE;
}

gboolean
gst_nn_probe_boxes_scores (const GstNnDecodeInput *in)
{
  guint boxes, scores;
  return find_boxes_scores (in, &boxes, &scores);
}

/* Corners in 0..1; class 0 is the background where there are several classes. */
void
gst_nn_decode_boxes_scores (const GstNnDecodeInput *in, GArray *objects,
                            G_GNUC_UNUSED GArray *classes)
{
  const gfloat *b, *s;
  gint64 n = 0, c = 0;
  guint boxes, scores;
  if (!find_boxes_scores (in, &boxes, &scores))
    return;
  is_table (shape_at (in, scores), &n, &c);
  b = axon_tensor_get_data (tensor_at (in, boxes));
  s = axon_tensor_get_data (tensor_at (in, scores));
  for (gint64 i = 0; i < n; i++, b += 4, s += c)
    for (gint64 k = c > 1 ? 1 : 0; k < c; k++)
      if ((gdouble)s[k] >= in->threshold)
        gst_nn_add_object (objects, (gdouble)b[0] * in->width, (gdouble)b[1] * in->height,
                           (gdouble)(b[2] - b[0]) * in->width, (gdouble)(b[3] - b[1]) * in->height,
                           (gdouble)s[k], (gint)k);
}

static gint64
best_class (const gfloat *scores, gint64 n, gint64 stride)
{
  gint64 best = 0;
  for (gint64 k = 1; k < n; k++)
    if (scores[k * stride] > scores[best * stride])
      best = k;
  return best;
}

gboolean
gst_nn_probe_yolox (const GstNnDecodeInput *in)
{
  gint64 n = 0, c = 0;
  return in->tensors->len == 1 && is_table (shape_at (in, 0), &n, &c) && c > 5 &&
         n == gst_nn_count_cells (in->width, in->height) && !gst_nn_probe_nanodet (in);
}

/* Ge et al., arXiv:2107.08430: centre = (p + cell) * stride, size = exp (p) * stride. */
void
gst_nn_decode_yolox (const GstNnDecodeInput *in, GArray *objects, G_GNUC_UNUSED GArray *classes)
{
  const gfloat *p = axon_tensor_get_data (tensor_at (in, 0));
  gint64 n = 0, c = 0;
  is_table (shape_at (in, 0), &n, &c);
  for (gint s = 8; s <= 32; s *= 2) {
    gint64 columns = (in->width + s - 1) / s, rows = (in->height + s - 1) / s;
    for (gint64 i = 0; i < rows * columns && n > 0; i++, n--, p += c) {
      gint64 k;
      gdouble score, w, h;
      if ((gdouble)p[4] < in->threshold)
        continue;
      k = best_class (p + 5, c - 5, 1);
      score = (gdouble)p[4] * (gdouble)p[5 + k];
      if (score < in->threshold)
        continue;
      w = exp ((gdouble)p[2]) * s;
      h = exp ((gdouble)p[3]) * s;
      gst_nn_add_object (objects, ((gdouble)p[0] + (gdouble)(i % columns)) * s - w / 2,
                         ((gdouble)p[1] + (gdouble)(i / columns)) * s - h / 2, w, h, score,
                         (gint)k);
    }
  }
}

#define NANODET_BINS 8

/* The label list tells classes and distributions apart; without one 80 classes are COCO's. */
gboolean
gst_nn_probe_nanodet (const GstNnDecodeInput *in)
{
  gint64 n, c, classes = 80;
  if (in->description != NULL && in->description->labels != NULL)
    classes = g_strv_length (in->description->labels);
  return in->tensors->len == 1 && is_table (shape_at (in, 0), &n, &c) &&
         c == classes + 4 * NANODET_BINS && n >= gst_nn_count_cells (in->width, in->height);
}

/* Expected value of a softmax over distances, Li et al., arXiv:2006.04388. */
static gdouble
expected_distance (const gfloat *bins)
{
  gdouble top = (gdouble)bins[best_class (bins, NANODET_BINS, 1)], sum = 0, weighted = 0;
  for (gint i = 0; i < NANODET_BINS; i++) {
    gdouble e = exp ((gdouble)bins[i] - top);
    sum += e;
    weighted += e * i;
  }
  return weighted / sum;
}

void
gst_nn_decode_nanodet (const GstNnDecodeInput *in, GArray *objects, G_GNUC_UNUSED GArray *unused)
{
  const gfloat *p = axon_tensor_get_data (tensor_at (in, 0));
  gint64 n = 0, c = 0, classes;
  is_table (shape_at (in, 0), &n, &c);
  classes = c - 4 * NANODET_BINS;
  for (gint s = 8; s <= 64 && n > 0; s *= 2) {
    gint64 columns = (in->width + s - 1) / s, rows = (in->height + s - 1) / s;
    for (gint64 i = 0; i < rows * columns && n > 0; i++, n--, p += c) {
      gint64 k = best_class (p, classes, 1);
      gdouble x = (gdouble)(i % columns) * s, y = (gdouble)(i / columns) * s, d[4];
      if ((gdouble)p[k] < in->threshold)
        continue;
      for (gint e = 0; e < 4; e++)
        d[e] = expected_distance (p + classes + e * NANODET_BINS) * s;
      gst_nn_add_object (objects, x - d[0], y - d[1], d[0] + d[2], d[1] + d[3], (gdouble)p[k],
                         (gint)k);
    }
  }
}

gboolean
gst_nn_probe_yolov5 (const GstNnDecodeInput *in)
{
  gint64 n = 0, c = 0;
  return in->tensors->len == 1 && is_table (shape_at (in, 0), &n, &c) && c > 5 &&
         n == 3 * gst_nn_count_cells (in->width, in->height);
}

/* Rows x, y, w, h (centre, pixels), objectness, classes. */
void
gst_nn_decode_yolov5 (const GstNnDecodeInput *in, GArray *objects, G_GNUC_UNUSED GArray *classes)
{
  const gfloat *p = axon_tensor_get_data (tensor_at (in, 0));
  gint64 n = 0, c = 0;
  is_table (shape_at (in, 0), &n, &c);
  for (gint64 i = 0; i < n; i++, p += c) {
    gint64 k;
    gdouble score;
    if ((gdouble)p[4] < in->threshold)
      continue;
    k = best_class (p + 5, c - 5, 1);
    score = (gdouble)p[4] * (gdouble)p[5 + k];
    if (score >= in->threshold)
      gst_nn_add_object (objects, (gdouble)(p[0] - p[2] / 2), (gdouble)(p[1] - p[3] / 2),
                         (gdouble)p[2], (gdouble)p[3], score, (gint)k);
  }
}

/* [1,4+C,N], or [1,N,4+C]: N is the number of cells. */
static gboolean
yolov8_layout (const GstNnDecodeInput *in, gint64 *n, gint64 *c, gboolean *transposed)
{
  gint64 rows, columns, cells = gst_nn_count_cells (in->width, in->height);
  if (in->tensors->len != 1 || !is_table (shape_at (in, 0), &rows, &columns))
    return FALSE;
  *transposed = columns == cells;
  *n = cells;
  *c = *transposed ? rows : columns;
  return (columns == cells || rows == cells) && *c > 4;
}

gboolean
gst_nn_probe_yolov8 (const GstNnDecodeInput *in)
{
  gint64 n = 0, c = 0;
  gboolean transposed;
  return yolov8_layout (in, &n, &c, &transposed) && transposed;
}

void
gst_nn_decode_yolov8 (const GstNnDecodeInput *in, GArray *objects, G_GNUC_UNUSED GArray *classes)
{
  const gfloat *p = axon_tensor_get_data (tensor_at (in, 0));
  gint64 n, c, row, column;
  gboolean transposed;
  if (!yolov8_layout (in, &n, &c, &transposed))
    return;
  row = transposed ? 1 : c;
  column = transposed ? n : 1;
  for (gint64 i = 0; i < n; i++) {
    const gfloat *q = p + i * row;
    gint64 k = best_class (q + 4 * column, c - 4, column);
    gdouble score = (gdouble)q[(4 + k) * column], w = (gdouble)q[2 * column];
    gdouble h = (gdouble)q[3 * column];
    if (score >= in->threshold)
      gst_nn_add_object (objects, (gdouble)q[0] - w / 2, (gdouble)q[column] - h / 2, w, h, score,
                         (gint)k);
  }
}

gboolean
gst_nn_probe_classification (const GstNnDecodeInput *in)
{
  const AxonShape *s;
  gint64 n, largest = 0;
  if (in->tensors->len != 1)
    return FALSE;
  s = shape_at (in, 0);
  n = axon_shape_get_numel (s);
  for (gint i = 0; i < s->rank; i++)
    largest = MAX (largest, s->dims[i]);
  return n > 1 && largest == n; /* all other dimensions are 1 */
}

static gboolean
is_distribution (const gfloat *v, gint64 n)
{
  gdouble sum = 0;
  for (gint64 i = 0; i < n; i++) {
    if (v[i] < 0 || v[i] > 1)
      return FALSE;
    sum += (gdouble)v[i];
  }
  return fabs (sum - 1) < 0.01;
}

/* The five best, softmax of logits. */
void
gst_nn_decode_classification (const GstNnDecodeInput *in, G_GNUC_UNUSED GArray *objects,
                              GArray *classes)
{
  const gfloat *v = axon_tensor_get_data (tensor_at (in, 0));
  gint64 n = axon_shape_get_numel (shape_at (in, 0));
  gboolean done = is_distribution (v, n);
  gdouble top = (gdouble)v[best_class (v, n, 1)], sum = 0;
  for (gint64 i = 0; !done && i < n; i++)
    sum += exp ((gdouble)v[i] - top);
  for (guint rank = 0; rank < 5 && rank < (guint)n; rank++) {
    GstNnClass best = { .class_id = -1 };
    for (gint64 i = 0; i < n; i++) {
      gdouble score = done ? (gdouble)v[i] : exp ((gdouble)v[i] - top) / sum;
      gboolean taken = FALSE;
      for (guint k = 0; k < classes->len; k++)
        taken = taken || g_array_index (classes, GstNnClass, k).class_id == i;
      if (!taken && (best.class_id < 0 || score > best.score))
        best = (GstNnClass){ score, (gint)i, 0 };
    }
    if (best.class_id < 0 || best.score < in->threshold)
      return;
    g_array_append_val (classes, best);
  }
}
