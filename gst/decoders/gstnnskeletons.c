/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the keypoints of well-known data sets are called, and which belong together. */
#include "gstnndecoder.h"

static const gchar *const coco_names[] = {
  "nose",           "left eye",   "right eye",   "left ear",   "right ear",   "left shoulder",
  "right shoulder", "left elbow", "right elbow", "left wrist", "right wrist", "left hip",
  "right hip",      "left knee",  "right knee",  "left ankle", "right ankle", NULL
};
static const guint coco_bones[] = { 15, 13, 13, 11, 16, 14, 14, 12, 11, 12, 5,  11, 6,
                                    12, 5,  6,  5,  7,  6,  8,  7,  9,  8,  10, 1,  2,
                                    0,  1,  0,  2,  1,  3,  2,  4,  3,  5,  4,  6 };

void
gst_nn_say_skeleton (GstNnObject *object, const gchar *name)
{
  static GstNnSkeleton *coco;
  if (!g_str_equal (name, "coco-17"))
    return;
  if (g_once_init_enter (&coco))
    g_once_init_leave (&coco,
                       gst_nn_skeleton_new (coco_names, coco_bones, G_N_ELEMENTS (coco_bones)));
  gst_nn_object_set_skeleton (object, coco);
}
