/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who belongs to whom, at the least cost of all: the linear assignment problem, exactly, by
 * shortest augmenting paths (Jonker and Volgenant 1987, as in Crouse 2016). A row may stay alone,
 * which costs the limit, so no pair dearer than that is made. */
#pragma once

#include <glib.h>

typedef struct _GstNnAssignment GstNnAssignment;

GstNnAssignment *gst_nn_assignment_new (void);
void gst_nn_assignment_free (GstNnAssignment *assignment);
/* The @n_rows x @n_columns costs to fill in, row by row; %G_MAXDOUBLE: never. */
gdouble *gst_nn_assignment_begin (GstNnAssignment *assignment, guint n_rows, guint n_columns);
/* The column of each row, -1: none; valid until the next begin. */
const gint *gst_nn_assignment_solve (GstNnAssignment *assignment, gdouble limit);
