/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Graphs that end in ONNX's NonMaxSuppression: onnx.ai/onnx/operators/onnx__NonMaxSuppression.
 * YOLOv7's rows are image, corners, class, score; those of simple-onnx-processing-tools image,
 * class, corners, score, and called so; others are YOLOv8's rows; onnx/models' YOLOv3 gives boxes
 * (y before x), scores and indices of image, class and box. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

#define N_COCO 80

typedef struct {
  const gfloat *boxes, *scores, *indices; /* no scores: all in rows of boxes */
  gint64 n, columns, n_boxes, n_classes;
} Chosen;

/* Indices as [N,3] or [1,N,3]. */
static gboolean
find_indices (const GstNnDecodeInput *in, Chosen *c)
{
  gint indices = gst_nn_find_table (in, 0, 3), boxes = gst_nn_find_table (in, 0, 4);
  guint scores;
  gint64 n;
  if (in->tensors->len != 3 || indices < 0 || boxes < 0)
    return FALSE;
  scores = (guint)(3 - indices - boxes);
  c->boxes = gst_nn_data_at (in, (guint)boxes);
  c->scores = gst_nn_data_at (in, scores);
  c->indices = gst_nn_data_at (in, (guint)indices);
  gst_nn_is_table (gst_nn_shape_at (in, (guint)indices), &c->n, &c->columns);
  gst_nn_is_table (gst_nn_shape_at (in, (guint)boxes), &c->n_boxes, &c->columns);
  return gst_nn_is_table (gst_nn_shape_at (in, scores), &c->n_classes, &n) && n == c->n_boxes;
}

static gboolean
find_chosen (const GstNnDecodeInput *in, Chosen *c)
{
  if (find_indices (in, c))
    return TRUE;
  if (in->tensors->len != 1 || !gst_nn_is_table (gst_nn_shape_at (in, 0), &c->n, &c->columns))
    return FALSE;
  c->boxes = gst_nn_data_at (in, 0);
  c->scores = c->indices = NULL;
  return c->columns > 4;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Chosen c;
  return find_chosen (in, &c);
}

/* A single row of rank 2 is rather a classifier's. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  Chosen c;
  if (!find_chosen (in, &c))
    return FALSE;
  return c.indices != NULL || (gst_nn_shape_at (in, 0)->rank == 2
                                   ? c.columns == 7 && c.n != 1
                                   : c.columns == 4 + (in->n_labels > 0 ? in->n_labels : N_COCO));
}

static void
decode_indices (const GstNnDecodeInput *in, const Chosen *c, GArray *objects)
{
  for (gint64 i = 0; i < c->n; i++) {
    const gfloat *index = c->indices + 3 * i, *b;
    gdouble score;
    if (index[0] != 0 || !(index[1] >= 0) || !(index[1] < (gfloat)c->n_classes) ||
        !(index[2] >= 0) || !(index[2] < (gfloat)c->n_boxes))
      continue;
    b = c->boxes + 4 * MIN ((gint64)index[2], c->n_boxes - 1);
    score = (gdouble)c->scores[MIN ((gint64)index[1], c->n_classes - 1) * c->n_boxes +
                               MIN ((gint64)index[2], c->n_boxes - 1)];
    if (score >= in->threshold)
      gst_nn_add_object (objects, (gdouble)b[1], (gdouble)b[0], (gdouble)(b[3] - b[1]),
                         (gdouble)(b[2] - b[0]), score, (gint)index[1]);
  }
}

static void
decode_sevens (const GstNnDecodeInput *in, const Chosen *c, GArray *objects)
{
  gboolean class_first = gst_nn_is_called (in, 0, "classid_x1");
  for (gint64 i = 0; i < c->n; i++) {
    const gfloat *p = c->boxes + 7 * i, *b = p + (class_first ? 2 : 1);
    gfloat class_id = p[class_first ? 1 : 5];
    if (p[0] == 0 && (gdouble)p[6] >= in->threshold && class_id >= 0 && class_id <= G_MAXINT16)
      gst_nn_add_object (objects, (gdouble)b[0], (gdouble)b[1], (gdouble)(b[2] - b[0]),
                         (gdouble)(b[3] - b[1]), (gdouble)p[6], (gint)(class_id + 0.5f));
  }
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  Chosen c;
  GstNnRows rows;
  find_chosen (in, &c);
  if (c.indices != NULL)
    decode_indices (in, &c, objects);
  else if (c.columns == 7 && gst_nn_shape_at (in, 0)->rank == 2)
    decode_sevens (in, &c, objects);
  else if (gst_nn_rows_init (&rows, in, 0, c.n, 4))
    while (gst_nn_rows_next (&rows, in->threshold))
      gst_nn_rows_add_box (&rows, objects);
}

const GstNnDecoder gst_nn_decoder_nms_graph = {
  .name = "nms-graph",
  .blurb = N_ ("what NonMaxSuppression in the graph chose: [N,7], rows [1,N,4+C], or boxes, scores "
               "and indices"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .is_final = TRUE,
  .threshold = 0.25,
};
