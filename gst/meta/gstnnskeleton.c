/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/nn/gstnnskeleton.h>

struct _GstNnSkeleton {
  gchar **names; /* or NULL */
  guint n_names, n_bones;
  guint *ends; /* two for each bone */
};

G_DEFINE_BOXED_TYPE (GstNnSkeleton, gst_nn_skeleton, gst_nn_skeleton_ref, gst_nn_skeleton_unref)

/**
 * gst_nn_skeleton_new:
 * @names: (nullable) (array zero-terminated=1): what the keypoints are called
 * @bones: (array length=n_ends): indices of keypoints, two for each line between them
 * @n_ends: twice the number of lines
 *
 * Makes a skeleton.
 *
 * Returns: (transfer full): a skeleton
 *
 * Since: 1.0
 */
GstNnSkeleton *
gst_nn_skeleton_new (const gchar *const *names, const guint *bones, guint n_ends)
{
  GstNnSkeleton *s = g_atomic_rc_box_new0 (GstNnSkeleton);
  s->names = g_strdupv ((gchar **)names);
  s->n_names = names ? g_strv_length (s->names) : 0;
  s->n_bones = n_ends / 2;
  s->ends = g_memdup2 (bones, sizeof *bones * s->n_bones * 2);
  return s;
}

/**
 * gst_nn_skeleton_ref:
 * @skeleton: a skeleton
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @skeleton
 *
 * Since: 1.0
 */
GstNnSkeleton *
gst_nn_skeleton_ref (GstNnSkeleton *skeleton)
{
  return g_atomic_rc_box_acquire (skeleton);
}

static void
clear (gpointer data)
{
  GstNnSkeleton *s = data;
  g_strfreev (s->names);
  g_free (s->ends);
}

/**
 * gst_nn_skeleton_unref:
 * @skeleton: (transfer full): a skeleton
 *
 * Drops a reference.
 *
 * Since: 1.0
 */
void
gst_nn_skeleton_unref (GstNnSkeleton *skeleton)
{
  g_atomic_rc_box_release_full (skeleton, clear);
}

/**
 * gst_nn_skeleton_get_name:
 * @skeleton: a skeleton
 * @index: a keypoint
 *
 * Returns: (transfer none) (nullable): what it is called
 *
 * Since: 1.0
 */
const gchar *
gst_nn_skeleton_get_name (const GstNnSkeleton *skeleton, guint index)
{
  return index < skeleton->n_names ? skeleton->names[index] : NULL;
}

/**
 * gst_nn_skeleton_get_n_bones:
 * @skeleton: a skeleton
 *
 * Returns: the number of lines between keypoints
 *
 * Since: 1.0
 */
guint
gst_nn_skeleton_get_n_bones (const GstNnSkeleton *skeleton)
{
  return skeleton->n_bones;
}

/**
 * gst_nn_skeleton_get_bone:
 * @skeleton: a skeleton
 * @index: a line
 * @from: (out): the keypoint that it begins at
 * @to: (out): the keypoint that it ends at
 *
 * Tells what a line joins.
 *
 * Since: 1.0
 */
void
gst_nn_skeleton_get_bone (const GstNnSkeleton *skeleton, guint index, guint *from, guint *to)
{
  g_return_if_fail (index < skeleton->n_bones);
  *from = skeleton->ends[2 * index];
  *to = skeleton->ends[2 * index + 1];
}
