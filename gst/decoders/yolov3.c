/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv3: Redmon, Farhadi, arXiv:1804.02767; anchors of COCO, those of the tiny model for two
 * grids. */
#include "gstnnanchors.h"

#include <glib/gi18n-lib.h>

static const gfloat three[] = { 10, 13, 16,  30,  33, 23,  30,  61,  62,
                                45, 59, 119, 116, 90, 156, 198, 373, 326 };
static const gfloat two[] = { 10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319 };
static const gdouble spread[] = { 1, 1, 1 };

static const GstNnAnchorForm form = {
  .anchors = { NULL, two, three, NULL },
  .spreads = { NULL, spread, spread, NULL },
};

GST_NN_DEFINE_ANCHORS_DECODER (form)

const GstNnDecoder gst_nn_decoder_yolov3 = {
  .name = "yolov3",
  .blurb = N_ ("raw grids with three anchors a cell (YOLOv3, v3-tiny, Fastest)"),
  .fits = fits,
  .decode = decode,
  .threshold = 0.25,
};
