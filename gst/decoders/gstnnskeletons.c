/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the keypoints of well-known data sets are called, and which belong together. */
#include "gstnndecoder.h"
#include "elements/gstnnelement.h"

#include <glib/gi18n-lib.h>

#define MAX_POINTS 21
#define MAX_ENDS 48

static const struct {
  const gchar *name, *blurb;
  const gchar *points[MAX_POINTS + 1];
  guint n_ends;
  guint bones[MAX_ENDS];
} skeletons[] = {
  { "coco17",
    N_ ("17 joints of a person, as in COCO"),
    { "nose", "left eye", "right eye", "left ear", "right ear", "left shoulder", "right shoulder",
      "left elbow", "right elbow", "left wrist", "right wrist", "left hip", "right hip",
      "left knee", "right knee", "left ankle", "right ankle" },
    38,
    { 15, 13, 13, 11, 16, 14, 14, 12, 11, 12, 5, 11, 6, 12, 5, 6, 5, 7, 6,
      8,  7,  9,  8,  10, 1,  2,  0,  1,  0,  2, 1,  3, 2,  4, 3, 5, 4, 6 } },
  { "face5",
    N_ ("Five points of a face"),
    { "right eye", "left eye", "nose", "right mouth corner", "left mouth corner" },
    0,
    { 0 } },
  { "face6",
    N_ ("Six points of a face, as of BlazeFace"),
    { "right eye", "left eye", "nose", "mouth", "right ear", "left ear" },
    0,
    { 0 } },
  { "palm7",
    N_ ("Seven points of a palm"),
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

/* G_N_ELEMENTS (skeletons): there is none of that name. */
static guint
find (const gchar *name)
{
  guint i = 0;
  while (i < G_N_ELEMENTS (skeletons) && !g_str_equal (skeletons[i].name, name))
    i++;
  return i;
}

void
gst_nn_say_skeleton (GstNnObject *object, const gchar *name)
{
  static GOnce once = G_ONCE_INIT;
  GstNnSkeleton **made = g_once (&once, make_all, NULL);
  guint i = find (name);
  if (i < G_N_ELEMENTS (skeletons) &&
      g_strv_length ((gchar **)skeletons[i].points) == gst_nn_object_get_n_keypoints (object))
    gst_nn_object_set_skeleton (object, made[i]);
}

GType
gst_nn_skeleton_name_get_type (void)
{
  static GEnumValue values[1 + G_N_ELEMENTS (skeletons) + 1] = {
    { 0, N_ ("As the model's description says, else as the decoder's models have it"), "auto" }
  };
  static gsize type;
  if (g_once_init_enter (&type)) {
    for (guint i = 0; i < G_N_ELEMENTS (skeletons); i++)
      values[1 + i] = (GEnumValue){ (gint)i + 1, skeletons[i].blurb, skeletons[i].name };
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnSkeletonName", values));
  }
  return type;
}
