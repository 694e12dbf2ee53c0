/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where objects are most, cooling with time. Threads: one at a time. */
#pragma once

#include "gstnnplace.h"

typedef struct _GstNnHeat GstNnHeat;

GstNnHeat *gst_nn_heat_new (guint columns, guint rows, gdouble half_life);
void gst_nn_heat_free (GstNnHeat *heat);
/* @x, @y: parts of the frame */
void gst_nn_heat_add (GstNnHeat *heat, gdouble x, gdouble y);
/* As it is at this time, of a frame of that size; made anew once a second. */
GstNnMask *gst_nn_heat_get (GstNnHeat *heat, GstClockTime time, gint width, gint height);
