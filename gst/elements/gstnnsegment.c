/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnsegment
 * @title: nnsegment
 *
 * Tells what the pixels of frames, or of the objects on them, belong to: nninfer, nndecode and,
 * with `track=true`, nntrack in one element. Its properties are theirs.
 *
 * |[
 * gst-launch-1.0 filesrc location=video.mp4 ! decodebin ! nnsegment model=deeplab.onnx !
 *     nnoverlay ! videoconvert ! autovideosink
 * ]|
 *
 * Threads: those of its children.
 */
#include "gstnnbin.h"

struct _GstNnSegment {
  GstNnBin parent_instance;
};

G_DECLARE_FINAL_TYPE (GstNnSegment, gst_nn_segment, GST, NN_SEGMENT, GstNnBin)
G_DEFINE_TYPE (GstNnSegment, gst_nn_segment, GST_TYPE_NN_BIN)
GST_NN_ELEMENT_REGISTER_DEFINE (nnsegment, gst_nn_segment_get_type ())

static void
gst_nn_segment_class_init (GstNnSegmentClass *klass)
{
  gst_nn_bin_class_install (GST_NN_BIN_CLASS (klass), GST_NN_REGION_FULL_FRAME, TRUE);
  gst_element_class_set_static_metadata (
      GST_ELEMENT_CLASS (klass), "Segmentation of frames", "Filter/Analyzer/Video",
      "Tells what pixels show, in one element", "The Axon developers");
}

static void
gst_nn_segment_init (G_GNUC_UNUSED GstNnSegment *self)
{
}
