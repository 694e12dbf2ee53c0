/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/nn/gstnnmask.h>

#include "gstnnobject-private.h"

#include <math.h>

struct _GstNnMask {
  GstNnMaskKind kind;
  guint columns, rows;
  GBytes *values;
  gdouble x, y, width, height;
  gdouble minimum, maximum; /* of what the bytes stand for */
};

G_DEFINE_BOXED_TYPE (GstNnMask, gst_nn_mask, gst_nn_mask_ref, gst_nn_mask_unref)

/**
 * gst_nn_mask_new:
 * @kind: what the values are
 * @columns: values in a row
 * @rows: rows
 * @values: @columns x @rows bytes, row by row from the top
 * @x: left edge of what the mask covers, pixels of the frame
 * @y: top edge
 * @width: width of what the mask covers, pixels of the frame
 * @height: height
 *
 * Makes a mask.
 *
 * Returns: (transfer full): a mask
 *
 * Since: 1.0
 */
GstNnMask *
gst_nn_mask_new (GstNnMaskKind kind, guint columns, guint rows, GBytes *values, gdouble x,
                 gdouble y, gdouble width, gdouble height)
{
  GstNnMask *m;
  g_return_val_if_fail (g_bytes_get_size (values) == (gsize)columns * rows, NULL);
  m = g_atomic_rc_box_new0 (GstNnMask);
  *m = (GstNnMask){ kind, columns, rows, g_bytes_ref (values), x, y, width, height, 0, 255 };
  return m;
}

/**
 * gst_nn_mask_new_values:
 * @columns: values in a row
 * @rows: rows
 * @values: @columns x @rows bytes, row by row from the top
 * @x: left edge of what the mask covers, pixels of the frame
 * @y: top edge
 * @width: width of what the mask covers, pixels of the frame
 * @height: height
 * @minimum: the number that byte 0 stands for, in the model's unit
 * @maximum: the number that byte 255 stands for
 *
 * Makes a mask of numbers: how far, how strange.
 *
 * Returns: (transfer full): a mask of kind %GST_NN_MASK_VALUES
 *
 * Since: 1.0
 */
GstNnMask *
gst_nn_mask_new_values (guint columns, guint rows, GBytes *values, gdouble x, gdouble y,
                        gdouble width, gdouble height, gdouble minimum, gdouble maximum)
{
  GstNnMask *m = gst_nn_mask_new (GST_NN_MASK_VALUES, columns, rows, values, x, y, width, height);
  if (m != NULL) {
    m->minimum = minimum;
    m->maximum = maximum;
  }
  return m;
}

/**
 * gst_nn_mask_ref:
 * @mask: a mask
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @mask
 *
 * Since: 1.0
 */
GstNnMask *
gst_nn_mask_ref (GstNnMask *mask)
{
  return g_atomic_rc_box_acquire (mask);
}

static void
clear (gpointer data)
{
  g_bytes_unref (((GstNnMask *)data)->values);
}

/**
 * gst_nn_mask_unref:
 * @mask: (transfer full): a mask
 *
 * Drops a reference.
 *
 * Since: 1.0
 */
void
gst_nn_mask_unref (GstNnMask *mask)
{
  g_atomic_rc_box_release_full (mask, clear);
}

/**
 * gst_nn_mask_get_kind:
 * @mask: a mask
 *
 * Returns: what its values are
 *
 * Since: 1.0
 */
GstNnMaskKind
gst_nn_mask_get_kind (const GstNnMask *mask)
{
  return mask->kind;
}

/**
 * gst_nn_mask_get_columns:
 * @mask: a mask
 *
 * Returns: the number of values in a row
 *
 * Since: 1.0
 */
guint
gst_nn_mask_get_columns (const GstNnMask *mask)
{
  return mask->columns;
}

/**
 * gst_nn_mask_get_rows:
 * @mask: a mask
 *
 * Returns: the number of rows
 *
 * Since: 1.0
 */
guint
gst_nn_mask_get_rows (const GstNnMask *mask)
{
  return mask->rows;
}

/**
 * gst_nn_mask_get_values:
 * @mask: a mask
 *
 * Returns: (transfer none): its values, row by row from the top
 *
 * Since: 1.0
 */
GBytes *
gst_nn_mask_get_values (const GstNnMask *mask)
{
  return mask->values;
}

/**
 * gst_nn_mask_get_area:
 * @mask: a mask
 * @x: (out) (optional): left edge, pixels of the frame
 * @y: (out) (optional): top edge
 * @width: (out) (optional): width
 * @height: (out) (optional): height
 *
 * Tells what part of the frame the mask covers.
 *
 * Since: 1.0
 */
void
gst_nn_mask_get_area (const GstNnMask *mask, gdouble *x, gdouble *y, gdouble *width,
                      gdouble *height)
{
  if (x != NULL)
    *x = mask->x;
  if (y != NULL)
    *y = mask->y;
  if (width != NULL)
    *width = mask->width;
  if (height != NULL)
    *height = mask->height;
}

/**
 * gst_nn_mask_get_range:
 * @mask: a mask
 * @minimum: (out) (optional): the number that byte 0 stands for
 * @maximum: (out) (optional): the number that byte 255 stands for
 *
 * Tells what the bytes of %GST_NN_MASK_VALUES stand for, in the model's unit; 0 to 255 of other
 * kinds.
 *
 * Since: 1.0
 */
void
gst_nn_mask_get_range (const GstNnMask *mask, gdouble *minimum, gdouble *maximum)
{
  if (minimum != NULL)
    *minimum = mask->minimum;
  if (maximum != NULL)
    *maximum = mask->maximum;
}

/**
 * gst_nn_mask_get_value_at:
 * @mask: a mask
 * @x: place on the frame, pixels
 * @y: place on the frame, pixels
 *
 * Returns: the value there, -1 outside of what the mask covers
 *
 * Since: 1.0
 */
gint
gst_nn_mask_get_value_at (const GstNnMask *mask, gdouble x, gdouble y)
{
  gdouble column = floor ((x - mask->x) / mask->width * mask->columns);
  gdouble row = floor ((y - mask->y) / mask->height * mask->rows);
  const guint8 *values = g_bytes_get_data (mask->values, NULL);
  if (!(column >= 0 && column < mask->columns && row >= 0 && row < mask->rows))
    return -1;
  return values[(gsize)row * mask->columns + (gsize)column];
}

GstNnMask *
gst_nn_mask_moved (GstNnMask *mask, const GstNnMove *move)
{
  GstNnMask *moved = gst_nn_mask_new (
      mask->kind, mask->columns, mask->rows, mask->values, mask->x * move->scale_x + move->x,
      mask->y * move->scale_y + move->y, mask->width * move->scale_x, mask->height * move->scale_y);
  moved->minimum = mask->minimum;
  moved->maximum = mask->maximum;
  return moved;
}
