/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SSD whose graph ends in DetectionOutput, as Open Model Zoo's: Liu et al., arXiv:1512.02325;
 * docs.openvino.ai, DetectionOutput-8. A negative image ends the list. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  const AxonShape *s = in->tensors->len == 1 ? gst_nn_shape_at (in, 0) : NULL;
  return s != NULL && s->rank == 4 && s->dims[0] == 1 && s->dims[1] == 1 && s->dims[3] == 7;
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *p = gst_nn_data_at (in, 0);
  gint64 n = gst_nn_shape_at (in, 0)->dims[2];
  for (gint64 i = 0; i < n && p[0] >= 0; i++, p += 7)
    if ((gdouble)p[2] >= in->threshold && p[1] >= 0 && p[1] <= G_MAXINT16)
      gst_nn_add_object (objects, (gdouble)p[3] * in->width, (gdouble)p[4] * in->height,
                         (gdouble)(p[5] - p[3]) * in->width, (gdouble)(p[6] - p[4]) * in->height,
                         (gdouble)p[2], (gint)(p[1] + 0.5f));
}

const GstNnDecoder gst_nn_decoder_detection_output = {
  .name = "detection-output",
  .blurb = N_ ("objects that the model chose, [1,1,N,7]: image, class, score, corners (SSD of "
               "OpenVINO, Caffe)"),
  .fits = fits,
  .decode = decode,
  .is_final = TRUE,
};
