/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the keypoints of well-known data sets are called, and which belong together. */
#include "gstnndecoder.h"

#define MAX_POINTS 21
#define MAX_ENDS 48

static const struct {
  const gchar *name;
  const gchar *points[MAX_POINTS + 1];
  guint n_ends;
  guint bones[MAX_ENDS];
} skeletons[] = {
  { "coco-17",
    { "nose", "left eye", "right eye", "left ear", "right ear", "left shoulder", "right shoulder",
      "left elbow", "right elbow", "left wrist", "right wrist", "left hip", "right hip",
      "left knee", "right knee", "left ankle", "right ankle" },
    38,
    { 15, 13, 13, 11, 16, 14, 14, 12, 11, 12, 5, 11, 6, 12, 5, 6, 5, 7, 6,
      8,  7,  9,  8,  10, 1,  2,  0,  1,  0,  2, 1,  3, 2,  4, 3, 5, 4, 6 } },
  { "face-5",
    { "right eye", "left eye", "nose", "right mouth corner", "left mouth corner" },
    0,
    { 0 } },
  { "face-6", { "right eye", "left eye", "nose", "mouth", "right ear", "left ear" }, 0, { 0 } },
  { "palm-7",
    { "wrist", "index base", "middle base", "ring base", "little base", "thumb root",
      "thumb base" },
    14,
    { 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0, 5, 5, 6 } },
};

static gpointer
make_all (G_GNUC_UNUSED gpointer data)
{
  static GstNnSkeleton *made[G_N_ELEMENTS (skeletons)];
  for (guint i = 0; i < G_N_ELEMENTS (skeletons); i++)
    made[i] = gst_nn_skeleton_new (skeletons[i].points, skeletons[i].bones, skeletons[i].n_ends);
  return made;
}

void
gst_nn_say_skeleton (GstNnObject *object, const gchar *name)
{
  static GOnce once = G_ONCE_INIT;
  GstNnSkeleton **made = g_once (&once, make_all, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (skeletons); i++)
    if (g_str_equal (skeletons[i].name, name))
      gst_nn_object_set_skeleton (object, made[i]);
}
