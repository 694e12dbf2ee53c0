/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a point is beside zones and lines. Units: the frame's height, both ways. */
#pragma once

#include "gstnnrules.h"

typedef struct {
  gdouble x, y;
} GstNnPoint;

/* Distance to the edge of the polygon, positive inside. @aspect: of the frame, width by height. */
gdouble gst_nn_place_in_zone (const GstNnRule *zone, gdouble aspect, GstNnPoint p);
/* Distance to the line without ends, positive on its right (on a picture, y down). */
gdouble gst_nn_place_by_line (const GstNnRule *line, gdouble aspect, GstNnPoint p);
/* Whether the way between two points goes between the line's ends; they are on both its sides. */
gboolean gst_nn_place_crosses (const GstNnRule *line, gdouble aspect, GstNnPoint from,
                               GstNnPoint to);
