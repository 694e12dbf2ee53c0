/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>

#include <gst/nn/nn-prelude.h>

G_BEGIN_DECLS

/**
 * GstNnSkeleton:
 *
 * What the keypoints of a model are called, and which of them belong together. Never changes; any
 * thread.
 *
 * Since: 1.0
 */
typedef struct _GstNnSkeleton GstNnSkeleton;

#define GST_TYPE_NN_SKELETON (gst_nn_skeleton_get_type ())

GST_NN_API GType gst_nn_skeleton_get_type (void);
GST_NN_API GstNnSkeleton *gst_nn_skeleton_new (const gchar *const *names, const guint *bones,
                                               guint n_ends);
GST_NN_API GstNnSkeleton *gst_nn_skeleton_ref (GstNnSkeleton *skeleton);
GST_NN_API void gst_nn_skeleton_unref (GstNnSkeleton *skeleton);
GST_NN_API const gchar *gst_nn_skeleton_get_name (const GstNnSkeleton *skeleton, guint index);
GST_NN_API guint gst_nn_skeleton_get_n_bones (const GstNnSkeleton *skeleton);
GST_NN_API void gst_nn_skeleton_get_bone (const GstNnSkeleton *skeleton, guint index, guint *from,
                                          guint *to);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnSkeleton, gst_nn_skeleton_unref)

G_END_DECLS
