/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties that are members of a structure: strings, boxed values, arrays (a GValue), booleans,
 * enumerations (as int), unsigned numbers and doubles. The owner locks. */
#pragma once

#include <gst/gst.h>

typedef struct {
  guint id; /* of the property */
  gsize offset;
} GstNnField;

/* FALSE: @id is none of the @n fields. */
gboolean gst_nn_fields_set (const GstNnField *fields, guint n, gpointer structure, guint id,
                            const GValue *value);
gboolean gst_nn_fields_get (const GstNnField *fields, guint n, gconstpointer structure, guint id,
                            GValue *value);
