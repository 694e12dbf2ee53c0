/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLOv5 exported without its last step, and v7 with its anchors in the description:
 * github.com/ultralytics/yolov5. Shapes are YOLOv3's. */
#include "gstnnanchors.h"

#include <glib/gi18n-lib.h>

static const gfloat three[] = { 10, 13, 16,  30,  33, 23,  30,  61,  62,
                                45, 59, 119, 116, 90, 156, 198, 373, 326 };
static const gfloat four[] = { 19,  27,  44,  40,  38,  94,  96,  68,  86,  152, 180, 137,
                               140, 301, 303, 264, 238, 542, 436, 615, 739, 380, 925, 792 };
static const gdouble spread[] = { 2, 2, 2, 2 };

static const GstNnAnchorForm form = {
  .anchors = { NULL, NULL, three, four },
  .spreads = { NULL, spread, spread, spread },
  .is_squared = TRUE,
};

GST_NN_DEFINE_ANCHORS_DECODER (form)

const GstNnDecoder gst_nn_decoder_yolov5_grids = {
  .name = "yolov5-grids",
  .blurb = N_ ("raw grids with three anchors a cell (YOLOv5, v7 without their last step)"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .decode = decode,
  .threshold = 0.25,
};
