/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What hangs together in a map: its regions, and the smallest rectangle around each. The time is
 * that of reading the map, whatever it shows. */
#pragma once

#include "gstnnmap.h"

typedef struct {
  gdouble x, y; /* of the centre, in cells: the first one's centre lies at 0.5 */
  gdouble width, height,
      angle;    /* between centres of cells; radians, clockwise, -45 to 45 degrees */
  gdouble mean; /* of the numbers inside */
} GstNnRegion;

/* GstNnRegion: where the first channel is above @threshold; cells that touch by a corner hang
 * together. */
GArray *gst_nn_map_find_regions (const GstNnMap *map, gdouble threshold);
