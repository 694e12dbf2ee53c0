/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DETR: Carion et al., arXiv:2005.12872. A softmax whose last class is none; centre and size as
 * fractions. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>
#include <math.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  GstNnRows logits;
  const gfloat *boxes;
  return gst_nn_rows_init_queries (&logits, in, &boxes);
}

/* Boxes with scores have the same shapes: a class more than labels tells, or COCO's numbers. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  GstNnRows logits;
  const gfloat *boxes;
  return gst_nn_rows_init_queries (&logits, in, &boxes) && logits.n <= 300 &&
         logits.n_classes == 1 + (in->n_labels > 0 ? in->n_labels : 91) &&
         (in->n_labels == 0 || gst_nn_is_called (in, 0, "logits") ||
          gst_nn_is_called (in, 1, "logits"));
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  GstNnRows r;
  const gfloat *b;
  if (!gst_nn_rows_init_queries (&r, in, &b))
    return;
  for (gint64 i = 0; i < r.n; i++, b += 4) {
    const gfloat *logits = r.data + i * r.columns;
    gint64 k = gst_nn_best_class (logits, r.n_classes - 1, 1);
    gdouble top, sum = gst_nn_softmax_sum (logits, r.n_classes, &top);
    gdouble score = exp ((gdouble)logits[k] - top) / sum;
    if (score >= in->threshold)
      gst_nn_add_object (objects, (gdouble)(b[0] - b[2] / 2) * in->width,
                         (gdouble)(b[1] - b[3] / 2) * in->height, (gdouble)b[2] * in->width,
                         (gdouble)b[3] * in->height, score, (gint)k);
  }
}

const GstNnDecoder gst_nn_decoder_detr = {
  .name = "detr",
  .blurb = N_ ("queries: logits [1,N,C+1] and boxes [1,N,4] (DETR)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .is_final = TRUE,
};
