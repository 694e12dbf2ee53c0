/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv4: Bochkovskiy et al., arXiv:2004.10934; anchors of COCO at 512 pixels, those of the tiny
 * model for two grids. Shapes are YOLOv3's. */
#include "gstnnanchors.h"

#include <glib/gi18n-lib.h>

static const gfloat three[] = { 12, 16, 19,  36,  40,  28,  36,  75,  76,
                                55, 72, 146, 142, 110, 192, 243, 459, 401 };
static const gfloat two[] = { 23, 27, 37, 58, 81, 82, 81, 82, 135, 169, 344, 319 };
static const gdouble spread3[] = { 1.2, 1.1, 1.05 };
static const gdouble spread2[] = { 1.05, 1.05 };

static const GstNnAnchorForm form = {
  .anchors = { NULL, two, three, NULL },
  .spreads = { NULL, spread2, spread3, NULL },
};

GST_NN_DEFINE_ANCHORS_DECODER (form)

const GstNnDecoder gst_nn_decoder_yolov4 = {
  .name = "yolov4",
  .blurb = N_ ("raw grids with three anchors a cell (YOLOv4, v4-tiny)"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .decode = decode,
  .threshold = 0.25,
};
