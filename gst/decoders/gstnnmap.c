/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnmap.h"

#include <math.h>

/* How far the proportions are from those of the input. */
static gint64
deviation (const GstNnDecodeInput *in, gint64 rows, gint64 columns)
{
  return ABS (rows * in->width - columns * in->height);
}

static gboolean
has_channels_last (const GstNnDecodeInput *in, const gint64 d[3])
{
  gboolean first = d[0] == in->n_labels, last = d[2] == in->n_labels;
  gint64 off;
  if (d[0] == 1 || d[2] == 1)
    return d[0] != 1;
  if (first != last)
    return last;
  off = deviation (in, d[0], d[1]) - deviation (in, d[1], d[2]);
  return off == 0 ? d[2] < d[0] : off < 0;
}

gboolean
gst_nn_map_init (GstNnMap *map, const GstNnDecodeInput *in, guint index)
{
  const AxonShape *s = gst_nn_shape_at (in, index);
  gint64 d[3] = { 1, 1, 1 };
  if (s->rank < 2 || s->rank > 4 || (s->rank == 4 && s->dims[0] != 1) ||
      axon_shape_get_numel (s) < 1)
    return FALSE;
  for (gint i = 0; i < MIN (s->rank, 3); i++)
    d[2 - i] = s->dims[s->rank - 1 - i];
  map->values = axon_tensor_get_data (gst_nn_tensor_at (in, index));
  if (has_channels_last (in, d)) {
    map->rows = d[0], map->columns = d[1], map->channels = d[2];
    map->row_step = d[1] * d[2], map->column_step = d[2], map->channel_step = 1;
  } else {
    map->channels = d[0], map->rows = d[1], map->columns = d[2];
    map->channel_step = d[1] * d[2], map->row_step = d[2], map->column_step = 1;
  }
  return TRUE;
}

gboolean
gst_nn_map_find (GstNnMap *map, const GstNnDecodeInput *in, gint64 least, gint64 most)
{
  for (guint i = 0; i < in->tensors->len; i++)
    if (gst_nn_map_init (map, in, i) && map->channels >= least && map->channels <= most &&
        map->rows > 1 && map->columns > 1)
      return TRUE;
  return FALSE;
}

gboolean
gst_nn_map_has_shares (const GstNnMap *map)
{
  for (gint64 r = 0; r < map->rows; r++)
    for (gint64 c = 0; c < map->columns; c++) {
      gdouble a = gst_nn_map_at (map, 0, r, c), b = gst_nn_map_at (map, 1, r, c);
      if (a < 0 || b < 0 || fabs (a + b - 1) > 0.01)
        return FALSE;
    }
  return TRUE;
}

gdouble
gst_nn_map_cell_width (const GstNnMap *map, const GstNnDecodeInput *in)
{
  return in->width > 0 ? (gdouble)in->width / (gdouble)map->columns : 1;
}

gdouble
gst_nn_map_cell_height (const GstNnMap *map, const GstNnDecodeInput *in)
{
  return in->height > 0 ? (gdouble)in->height / (gdouble)map->rows : 1;
}

/* Of @n cells those between two places; all where that would be none. */
static void
cut (gdouble from, gdouble to, gint64 n, gint64 *first, gint64 *count)
{
  const gdouble rounding = 1e-6; /* of the way to the frame and back */
  gdouble a = CLAMP (floor (from + rounding), 0, (gdouble)n);
  gdouble b = CLAMP (ceil (to - rounding), 0, (gdouble)n);
  *first = b > a ? (gint64)a : 0;
  *count = b > a ? (gint64)(b - a) : n;
}

GstNnMapPart
gst_nn_map_part (const GstNnMap *map, const GstNnDecodeInput *in, const GstNnObject *target)
{
  gdouble cw = gst_nn_map_cell_width (map, in), ch = gst_nn_map_cell_height (map, in);
  const gdouble *m = in->to_frame;
  GstNnMapPart part = { .columns = map->columns, .rows = map->rows };
  gdouble x, y, width, height;
  gst_nn_object_get_box (target, &x, &y, &width, &height);
  if (m[1] == 0 && m[3] == 0 && m[0] > 0 && m[4] > 0 && width > 0 && height > 0) {
    cut ((x - m[2]) / m[0] / cw, (x + width - m[2]) / m[0] / cw, map->columns, &part.column,
         &part.columns);
    cut ((y - m[5]) / m[4] / ch, (y + height - m[5]) / m[4] / ch, map->rows, &part.row, &part.rows);
  }
  part.area[0] = (gdouble)part.column * cw;
  part.area[1] = (gdouble)part.row * ch;
  part.area[2] = (gdouble)part.columns * cw;
  part.area[3] = (gdouble)part.rows * ch;
  return part;
}

static void
find_range (const GstNnMap *map, const GstNnMapPart *part, gdouble *minimum, gdouble *maximum)
{
  gdouble low = G_MAXDOUBLE, high = -G_MAXDOUBLE;
  for (gint64 r = 0; r < part->rows; r++)
    for (gint64 c = 0; c < part->columns; c++) {
      gdouble v = gst_nn_map_at (map, 0, part->row + r, part->column + c);
      low = isfinite (v) && v < low ? v : low;
      high = isfinite (v) && v > high ? v : high;
    }
  *minimum = low <= high ? low : 0;
  *maximum = low <= high ? high : 0;
}

gdouble
gst_nn_map_say_values (const GstNnMap *map, const GstNnDecodeInput *in, GstNnObject *target,
                       gdouble *minimum)
{
  GstNnMapPart part = gst_nn_map_part (map, in, target);
  guint8 *bytes = g_malloc ((gsize)(part.rows * part.columns)), *to = bytes;
  gdouble low, high, scale;
  find_range (map, &part, &low, &high);
  scale = high > low ? 255 / (high - low) : 0;
  for (gint64 r = 0; r < part.rows; r++)
    for (gint64 c = 0; c < part.columns; c++) {
      gdouble v = (gst_nn_map_at (map, 0, part.row + r, part.column + c) - low) * scale;
      *to++ = v > 0 ? (guint8)(MIN (v, 255) + 0.5) : 0; /* NaN is not above 0 */
    }
  gst_nn_say_values (in, target, (guint)part.columns, (guint)part.rows, bytes, part.area, low,
                     high);
  *minimum = low;
  return high;
}
