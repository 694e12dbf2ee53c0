/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which parts of a frame are inferred: the whole, tiles, or the objects that earlier models found;
 * as properties of nninfer, and chosen for a frame. The owner locks. */
#pragma once

#include "infer/gstnnwhere.h"

typedef enum { GST_NN_REGION_FULL_FRAME, GST_NN_REGION_ROI_LIST } GstNnRegionMode;

/**
 * GstNnRegionAlign:
 * @GST_NN_REGION_UPRIGHT: the upright box
 * @GST_NN_REGION_BOX: the rotated box of objects that have one
 * @GST_NN_REGION_EYES: turned so that the first two keypoints lie side by side
 *
 * How regions are turned.
 */
typedef enum { GST_NN_REGION_UPRIGHT, GST_NN_REGION_BOX, GST_NN_REGION_EYES } GstNnRegionAlign;

typedef struct {
  gint mode, align; /* GstNnRegionMode, GstNnRegionAlign */
  gchar *object_class, *where;
  gdouble margin, overlap;
  gboolean is_square;
  guint interval; /* frames of a track from one inference to the next; 0: once */
  GValue tiles;   /* of ints */
  /* what they say */
  guint n_columns, n_rows; /* 0: nonsense */
  gchar **classes;         /* or NULL: all */
  GstNnWhere *conditions;  /* or NULL: none, or nonsense */
} GstNnRegionProps;

/* In pixels of the frame, turned clockwise about its middle. */
typedef struct {
  guint object_id;  /* 0: of no object, a tile */
  guint64 track_id; /* of the object; 0: none */
  gdouble x, y, width, height, angle;
} GstNnRegion;

#define GST_NN_REGION_PROP_FIRST 200
void gst_nn_region_props_install (GObjectClass *klass);
void gst_nn_region_props_init (GstNnRegionProps *props);
void gst_nn_region_props_clear (GstNnRegionProps *props);
/* FALSE: @id is none of them. */
gboolean gst_nn_region_props_set (GstNnRegionProps *props, guint id, const GValue *value);
gboolean gst_nn_region_props_get (const GstNnRegionProps *props, guint id, GValue *value);
/* FALSE: @error says which of them means nothing. */
gboolean gst_nn_region_props_check (const GstNnRegionProps *props, GError **error);
/* TRUE if frames are inferred in parts. */
gboolean gst_nn_region_props_cut (const GstNnRegionProps *props);
/* Adds the parts of a frame of @width x @height to @regions, GstNnRegion. @result: or NULL. */
void gst_nn_region_props_choose (const GstNnRegionProps *props, GstNnResultMeta *result, gint width,
                                 gint height, GArray *regions);
