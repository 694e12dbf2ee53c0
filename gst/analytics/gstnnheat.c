/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnheat.h"

#include <math.h>

struct _GstNnHeat {
  guint columns, rows;
  gdouble half_life;
  gdouble *cells;
  GstClockTime cooled; /* until when */
  GstNnMask *mask;
  gint width, height; /* of the mask's frame */
};

GstNnHeat *
gst_nn_heat_new (guint columns, guint rows, gdouble half_life)
{
  GstNnHeat *heat = g_new0 (GstNnHeat, 1);
  heat->columns = columns;
  heat->rows = rows;
  heat->half_life = half_life;
  heat->cells = g_new0 (gdouble, columns * rows);
  heat->cooled = GST_CLOCK_TIME_NONE;
  return heat;
}

void
gst_nn_heat_free (GstNnHeat *heat)
{
  g_clear_pointer (&heat->mask, gst_nn_mask_unref);
  g_free (heat->cells);
  g_free (heat);
}

void
gst_nn_heat_add (GstNnHeat *heat, gdouble x, gdouble y)
{
  guint column = (guint)(CLAMP (x, 0, 0.999999) * heat->columns);
  guint row = (guint)(CLAMP (y, 0, 0.999999) * heat->rows);
  heat->cells[row * heat->columns + column] += 1;
}

static void
cool (GstNnHeat *heat, GstClockTime time)
{
  gdouble seconds = (gdouble)(time - heat->cooled) / (gdouble)GST_SECOND;
  gdouble left = heat->half_life > 0 ? exp2 (-seconds / heat->half_life) : 1;
  for (guint i = 0; i < heat->columns * heat->rows; i++)
    heat->cells[i] *= left;
}

static GstNnMask *
make_mask (const GstNnHeat *heat)
{
  guint n = heat->columns * heat->rows;
  guint8 *values = g_new (guint8, n);
  g_autoptr (GBytes) bytes = NULL;
  gdouble most = 0;
  for (guint i = 0; i < n; i++)
    most = MAX (most, heat->cells[i]);
  for (guint i = 0; i < n; i++)
    values[i] = most > 0 ? (guint8)(heat->cells[i] / most * 255) : 0;
  bytes = g_bytes_new_take (values, n);
  return gst_nn_mask_new (GST_NN_MASK_COVERAGE, heat->columns, heat->rows, bytes, 0, 0, heat->width,
                          heat->height);
}

GstNnMask *
gst_nn_heat_get (GstNnHeat *heat, GstClockTime time, gint width, gint height)
{
  gboolean back = !GST_CLOCK_TIME_IS_VALID (heat->cooled) || time < heat->cooled;
  if (heat->mask != NULL && !back && time < heat->cooled + GST_SECOND && width == heat->width &&
      height == heat->height)
    return heat->mask;
  if (!back)
    cool (heat, time);
  heat->cooled = time;
  heat->width = width;
  heat->height = height;
  g_clear_pointer (&heat->mask, gst_nn_mask_unref);
  heat->mask = make_mask (heat);
  return heat->mask;
}
