/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outputs that are maps: a number, or one for each class or joint, for every place of the picture.
 */
#pragma once

#include "gstnndecoder.h"

typedef struct {
  const gfloat *values;
  gint64 channels, rows, columns;
  gint64 channel_step, row_step, column_step; /* from one number to the next */
} GstNnMap;

/* The cells of a map that show what it is said of, and where those lie in the input. */
typedef struct {
  gint64 column, row, columns, rows;
  gdouble area[4];
} GstNnMapPart;

/* [1,C,H,W], [1,H,W,C], [C,H,W], [1,H,W] or [H,W]; FALSE: output @index is none. Where channels are
 * first or last is told by the number of labels, else by the shape of the input. */
gboolean gst_nn_map_init (GstNnMap *map, const GstNnDecodeInput *in, guint index);
/* The first output that is a map of that many channels, with more cells than one. */
gboolean gst_nn_map_find (GstNnMap *map, const GstNnDecodeInput *in, gint64 least, gint64 most);
/* Of two channels: they are shares of 1 everywhere. */
gboolean gst_nn_map_has_shares (const GstNnMap *map);
/* Without the bars beside the picture. */
GstNnMapPart gst_nn_map_part (const GstNnMap *map, const GstNnDecodeInput *in,
                              const GstNnObject *target);
/* Pixels of the input from one cell to the next. */
gdouble gst_nn_map_cell_width (const GstNnMap *map, const GstNnDecodeInput *in);
gdouble gst_nn_map_cell_height (const GstNnMap *map, const GstNnDecodeInput *in);
/* Says the first channel as numbers; returns the largest. What is no number counts as the least. */
gdouble gst_nn_map_say_values (const GstNnMap *map, const GstNnDecodeInput *in, GstNnObject *target,
                               gdouble *minimum);

static inline gdouble
gst_nn_map_at (const GstNnMap *map, gint64 channel, gint64 row, gint64 column)
{
  return (gdouble)
      map->values[channel * map->channel_step + row * map->row_step + column * map->column_step];
}
