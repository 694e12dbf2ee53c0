/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects of the result tree, inside of libgstnn. An object belongs to one buffer: a copy of the
 * buffer gets copies, which share what never changes. */
#pragma once

#include <gst/nn/gstnnobject.h>

typedef struct {
  gdouble x, y, score;
} GstNnKeypoint;

struct _GstNnObject {
  guint id, parent_id;
  gdouble x, y, width, height;
  gboolean is_rotated;
  gdouble center_x, center_y, rotated_width, rotated_height, angle;
  gdouble score;
  gint class_id;
  gchar *label, *model_name; /* reference-counted strings */
  GstClockTime pts;
  guint64 track_id;
  guint track_age;
  gchar *text; /* a reference-counted string */
  gdouble text_score;
  GArray *keypoints; /* GstNnKeypoint, or NULL */
  GstNnSkeleton *skeleton;
  GstNnMask *mask;
  GBytes *embedding;     /* floats */
  GPtrArray *attributes; /* GstNnAttribute, or NULL */
};

/* A place becomes place * scale + x. */
typedef struct {
  gdouble scale_x, scale_y, x, y;
} GstNnMove;

GstNnObject *gst_nn_object_new (guint id, guint parent_id);
GstNnObject *gst_nn_object_copy_moved (const GstNnObject *object, const GstNnMove *move);
/* What @from says and @object does not yet; attributes of both. @from is used up. */
void gst_nn_object_adopt (GstNnObject *object, GstNnObject *from);
GstNnMask *gst_nn_mask_moved (GstNnMask *mask, const GstNnMove *move);
