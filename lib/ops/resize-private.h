/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What Resize reads along one axis. */
#pragma once

#include "ops-private.h"

/* One axis: from coordinates of the output to those of the input, and the taps there. */
typedef struct {
  const gchar *coordinates, *mode, *nearest_mode;
  gdouble scale, roi_start, roi_end, cubic_a;
  gint64 n_in, n_out;
  gboolean antialias, exclude_outside;
} ResizeMap;

gboolean axon_resize_is_needed (const ResizeMap *map);

/* Fills @r: of every output its taps, clamped to the input; -1 where the result is a constant.
 * FALSE: there is no memory, and @r may hold some. */
gboolean axon_resize_tabulate (const ResizeMap *map, gint axis, AxonResizeAxis *r, GError **error);
