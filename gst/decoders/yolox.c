/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOX: Ge et al., arXiv:2107.08430. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  gint64 n = 0, c = 0;
  return in->tensors->len == 1 && gst_nn_is_table (gst_nn_shape_at (in, 0), &n, &c) && c > 5 &&
         n == gst_nn_count_cells (in->width, in->height);
}

/* Centre = (p + cell) * stride, size = exp (p) * stride. */
static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *p = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  gint64 n = 0, c = 0;
  gst_nn_is_table (gst_nn_shape_at (in, 0), &n, &c);
  for (gint s = 8; s <= 32; s *= 2) {
    gint64 columns = (in->width + s - 1) / s, rows = (in->height + s - 1) / s;
    for (gint64 i = 0; i < rows * columns && n > 0; i++, n--, p += c) {
      gint64 k;
      gdouble score, w, h;
      if ((gdouble)p[4] < in->threshold)
        continue;
      k = gst_nn_best_class (p + 5, c - 5, 1);
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

const GstNnDecoder gst_nn_decoder_yolox = {
  .name = "yolox",
  .blurb = N_ ("grid cells [1,N,5+C] at strides 8, 16, 32 (YOLOX)"),
  .fits = fits,
  .decode = decode,
};
