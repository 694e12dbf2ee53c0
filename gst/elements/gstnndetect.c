/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nndetect
 * @title: nndetect
 *
 * Finds objects on frames: nninfer, nndecode and, with `track=true`, nntrack in one element. Its
 * properties are theirs.
 *
 * |[
 * gst-launch-1.0 filesrc location=video.mp4 ! decodebin ! nndetect model=yolox.onnx threshold=0.4
 *     track=true ! nnoverlay ! videoconvert ! autovideosink
 * ]|
 *
 * nntrack follows what is hardly seen by its weak objects: a low threshold is good for it.
 *
 * Threads: those of its children.
 */
#include "gstnnbin.h"

struct _GstNnDetect {
  GstNnBin parent_instance;
};

G_DECLARE_FINAL_TYPE (GstNnDetect, gst_nn_detect, GST, NN_DETECT, GstNnBin)
G_DEFINE_TYPE (GstNnDetect, gst_nn_detect, GST_TYPE_NN_BIN)
GST_NN_ELEMENT_REGISTER_DEFINE (nndetect, gst_nn_detect_get_type ())

static void
gst_nn_detect_class_init (GstNnDetectClass *klass)
{
  gst_nn_bin_class_install (GST_NN_BIN_CLASS (klass), GST_NN_REGION_FULL_FRAME, TRUE);
  gst_element_class_set_static_metadata (
      GST_ELEMENT_CLASS (klass), "Detector of objects", "Filter/Analyzer/Video",
      "Finds objects on frames, in one element", "The Axon developers");
}

static void
gst_nn_detect_init (G_GNUC_UNUSED GstNnDetect *self)
{
}
