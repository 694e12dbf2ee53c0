/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* FastestDet: github.com/dog-qiuqiu/FastestDet. Objectness, centre, size, classes. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define STRIDE 16

static gboolean
fits (const GstNnDecodeInput *in)
{
  gint64 c, h, w;
  return in->tensors->len == 1 && gst_nn_is_map (gst_nn_shape_at (in, 0), &c, &h, &w) && c > 5 &&
         h * STRIDE == in->height && w * STRIDE == in->width;
}

/* Maps of so many classes that labels, or the 80 of COCO, say so. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  return gst_nn_shape_at (in, 0)->dims[1] == 5 + (in->n_labels > 0 ? in->n_labels : 80);
}

/* Objectness and size as they are, the centre lies up to a cell off its own. */
static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *p = gst_nn_data_at (in, 0);
  gint64 c, h, w, n;
  gst_nn_is_map (gst_nn_shape_at (in, 0), &c, &h, &w);
  n = h * w;
  for (gint64 i = 0; i < n; i++, p++) {
    gint64 k = gst_nn_best_class (p + 5 * n, c - 5, n);
    gdouble score = pow ((gdouble)p[0], 0.6) * pow ((gdouble)p[(5 + k) * n], 0.4);
    gdouble x, y, width, height;
    if (!(score >= in->threshold))
      continue;
    x = (tanh ((gdouble)p[n]) + (gdouble)(i % w)) * STRIDE;
    y = (tanh ((gdouble)p[2 * n]) + (gdouble)(i / w)) * STRIDE;
    width = gst_nn_sigmoid ((gdouble)p[3 * n]) * in->width;
    height = gst_nn_sigmoid ((gdouble)p[4 * n]) * in->height;
    gst_nn_add_object (objects, x - width / 2, y - height / 2, width, height, score, (gint)k);
  }
}

const GstNnDecoder gst_nn_decoder_fastestdet = {
  .name = "fastestdet",
  .blurb = N_ ("one grid [1,5+C,H,W] of stride 16 (FastestDet)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
};
