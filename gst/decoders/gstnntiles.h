/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects that were found on several parts of a frame, which overlap: what is on two of them is one
 * object, and what the border of one cuts belongs to what another shows whole. */
#pragma once

#include <gst/nn/nn.h>

typedef struct {
  gdouble x, y, width, height; /* pixels of the frame */
  guint first_object;          /* of the result meta; the next part's is its end */
} GstNnTile;

/* @tiles: GstNnTile, in the order in which their objects were added. */
void gst_nn_tiles_merge (GstNnResultMeta *result, const GArray *tiles, gdouble iou_threshold);
