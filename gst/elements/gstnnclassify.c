/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnclassify
 * @title: nnclassify
 *
 * Says more of the objects that were found before it: nninfer and nndecode in one element, whose
 * properties are theirs. With `inference-region=full-frame` it says what frames are.
 *
 * |[
 * gst-launch-1.0 filesrc location=video.mp4 ! decodebin ! nndetect model=yolox.onnx track=true !
 *     nnclassify model=mobilenet.onnx object-class=dog,cat reclassify-interval=10 ! nnoverlay !
 *     videoconvert ! autovideosink
 * ]|
 *
 * Threads: those of its children.
 */
#include "gstnnbin.h"

struct _GstNnClassify {
  GstNnBin parent_instance;
};

G_DECLARE_FINAL_TYPE (GstNnClassify, gst_nn_classify, GST, NN_CLASSIFY, GstNnBin)
G_DEFINE_TYPE (GstNnClassify, gst_nn_classify, GST_TYPE_NN_BIN)
GST_NN_ELEMENT_REGISTER_DEFINE (nnclassify, gst_nn_classify_get_type ())

static void
gst_nn_classify_class_init (GstNnClassifyClass *klass)
{
  gst_nn_bin_class_install (GST_NN_BIN_CLASS (klass), GST_NN_REGION_ROI_LIST, FALSE);
  gst_element_class_set_static_metadata (
      GST_ELEMENT_CLASS (klass), "Classifier of objects", "Filter/Analyzer/Video",
      "Says what objects on frames are, in one element", "The Axon developers");
}

static void
gst_nn_classify_init (G_GNUC_UNUSED GstNnClassify *self)
{
}
