/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conditions on objects, as "score>0.5,width>=64": each compares a number of the object, and all
 * must hold. */
#pragma once

#include <gst/nn/nn.h>

typedef struct _GstNnWhere GstNnWhere;

/* NULL: @error says what of @text is no condition. */
GstNnWhere *gst_nn_where_parse (const gchar *text, GError **error);
void gst_nn_where_free (GstNnWhere *where);
/* Lengths of objects times @sx and @sy are pixels of the frame. */
gboolean gst_nn_where_holds (const GstNnWhere *where, const GstNnObject *object, gdouble sx,
                             gdouble sy);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnWhere, gst_nn_where_free)
