/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnskeletons.h"

/* COCO keypoints 2017: persons (https://cocodataset.org/#keypoints-eval). */
static const gchar *const coco_names[] = {
  "nose",           "left_eye",   "right_eye",   "left_ear",   "right_ear",   "left_shoulder",
  "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hip",
  "right_hip",      "left_knee",  "right_knee",  "left_ankle", "right_ankle", NULL
};
static const guint coco_bones[] = { 15, 13, 13, 11, 16, 14, 14, 12, 11, 12, 5,  11, 6,
                                    12, 5,  6,  5,  7,  6,  8,  7,  9,  8,  10, 1,  2,
                                    0,  1,  0,  2,  1,  3,  2,  4,  3,  5,  4,  6 };

static const struct {
  gint64 n_joints;
  const gchar *const *names;
  const guint *bones;
  guint n_ends;
} skeletons[] = {
  { 17, coco_names, coco_bones, G_N_ELEMENTS (coco_bones) },
};

GstNnSkeleton *
gst_nn_skeleton_of_joints (gint64 n_joints)
{
  static GstNnSkeleton *made[G_N_ELEMENTS (skeletons)];
  for (guint i = 0; i < G_N_ELEMENTS (skeletons); i++) {
    if (skeletons[i].n_joints != n_joints)
      continue;
    if (g_once_init_enter (&made[i]))
      g_once_init_leave (&made[i], gst_nn_skeleton_new (skeletons[i].names, skeletons[i].bones,
                                                        skeletons[i].n_ends));
    return made[i];
  }
  return NULL;
}
