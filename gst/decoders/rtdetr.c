/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RT-DETR: Zhao et al., arXiv:2304.08069; D-FINE and RF-DETR give the same, Ultralytics' export
 * both in one and with the sigmoid. Centre and size as fractions. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

/* Queries of published models. */
#define N_QUERIES 300

typedef struct {
  GstNnRows scores;
  const gfloat *boxes;
  gint64 step; /* from one box to the next */
} Queries;

static gboolean
find_both (const GstNnDecodeInput *in, Queries *q)
{
  gint64 n, c;
  q->step = 4;
  q->scores.is_logit = FALSE;
  if (gst_nn_rows_init_queries (&q->scores, in, &q->boxes)) {
    q->scores.is_logit = g_strcmp0 (in->activation, "none") != 0;
    return q->scores.row_step != 1;
  }
  if (in->tensors->len != 1 || !gst_nn_is_table (gst_nn_shape_at (in, 0), &n, &c) ||
      !gst_nn_rows_init (&q->scores, in, 0, n, 4))
    return FALSE;
  q->boxes = q->scores.data;
  q->step = c;
  return TRUE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Queries q;
  return find_both (in, &q);
}

/* Boxes with scores have the same shapes. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  Queries q;
  return find_both (in, &q) && q.scores.n == N_QUERIES &&
         (in->n_labels > 0 ? q.scores.n_classes == in->n_labels
                           : q.scores.n_classes == 80 || q.scores.n_classes == 91);
}

static void
add_object (const GstNnDecodeInput *in, const Queries *q, gint64 class_id, GArray *objects)
{
  const gfloat *b = q->boxes + q->scores.i * q->step;
  gdouble value = gst_nn_row_at (&q->scores, q->scores.first_class + class_id);
  gdouble score = q->scores.is_logit ? gst_nn_sigmoid (value) : value;
  if (score >= in->threshold)
    gst_nn_add_object (objects, (gdouble)(b[0] - b[2] / 2) * in->width,
                       (gdouble)(b[1] - b[3] / 2) * in->height, (gdouble)b[2] * in->width,
                       (gdouble)b[3] * in->height, score, (gint)class_id);
}

/* The best of all classes of all queries, of which one may have several (PostProcessor of
 * github.com/lyuwenyu/RT-DETR); Ultralytics takes the best class of each. */
static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  Queries q;
  if (!find_both (in, &q))
    return;
  while (gst_nn_rows_next (&q.scores, in->threshold)) {
    if (in->tensors->len == 1)
      add_object (in, &q, q.scores.class_id, objects);
    for (gint64 k = 0; in->tensors->len == 2 && k < q.scores.n_classes; k++)
      add_object (in, &q, k, objects);
  }
}

const GstNnDecoder gst_nn_decoder_rtdetr = {
  .name = "rtdetr",
  .blurb = N_ ("queries: scores [1,N,C] and boxes [1,N,4], or both [1,N,4+C] (RT-DETR, D-FINE, "
               "RF-DETR)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .is_final = TRUE,
};
