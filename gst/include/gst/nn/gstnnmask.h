/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>

#include <gst/nn/nn-prelude.h>

G_BEGIN_DECLS

/**
 * GstNnMask:
 *
 * Which pixels belong to an object, the class of each pixel, or a number for each: a grid of bytes
 * over a part of the frame. Never changes; any thread.
 *
 * Since: 1.0
 */
typedef struct _GstNnMask GstNnMask;

/**
 * GstNnMaskKind:
 * @GST_NN_MASK_COVERAGE: how much of a pixel belongs to the object, 0 to 255
 * @GST_NN_MASK_CLASSES: the class of a pixel
 * @GST_NN_MASK_VALUES: a number for a pixel, such as its depth: gst_nn_mask_get_range() says what 0
 *   and 255 stand for
 *
 * What the bytes of a mask are.
 *
 * Since: 1.0
 */
typedef enum { GST_NN_MASK_COVERAGE, GST_NN_MASK_CLASSES, GST_NN_MASK_VALUES } GstNnMaskKind;

#define GST_TYPE_NN_MASK (gst_nn_mask_get_type ())

GST_NN_API GType gst_nn_mask_get_type (void);
GST_NN_API GstNnMask *gst_nn_mask_new (GstNnMaskKind kind, guint columns, guint rows,
                                       GBytes *values, gdouble x, gdouble y, gdouble width,
                                       gdouble height);
GST_NN_API GstNnMask *gst_nn_mask_new_values (guint columns, guint rows, GBytes *values, gdouble x,
                                              gdouble y, gdouble width, gdouble height,
                                              gdouble minimum, gdouble maximum);
GST_NN_API GstNnMask *gst_nn_mask_ref (GstNnMask *mask);
GST_NN_API void gst_nn_mask_unref (GstNnMask *mask);
GST_NN_API GstNnMaskKind gst_nn_mask_get_kind (const GstNnMask *mask);
GST_NN_API guint gst_nn_mask_get_columns (const GstNnMask *mask);
GST_NN_API guint gst_nn_mask_get_rows (const GstNnMask *mask);
GST_NN_API GBytes *gst_nn_mask_get_values (const GstNnMask *mask);
GST_NN_API void gst_nn_mask_get_area (const GstNnMask *mask, gdouble *x, gdouble *y, gdouble *width,
                                      gdouble *height);
GST_NN_API void gst_nn_mask_get_range (const GstNnMask *mask, gdouble *minimum, gdouble *maximum);
GST_NN_API gint gst_nn_mask_get_value_at (const GstNnMask *mask, gdouble x, gdouble y);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnMask, gst_nn_mask_unref)

G_END_DECLS
