/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which objects may not be seen. */
#pragma once

#include "gstnncanvas.h"

typedef struct {
  GPtrArray *blurred, *pixelated; /* names or numbers of classes, "*": all; NULL: none */
  gboolean fail_closed;           /* all of a frame of which nothing is known */
} GstNnVeil;

/* Names from a list with commas; NULL: there are none. */
GPtrArray *gst_nn_veil_parse (const gchar *text);
/* With references of its own. */
void gst_nn_veil_copy (GstNnVeil *to, const GstNnVeil *from);
void gst_nn_veil_clear (GstNnVeil *veil);
/* Whether it takes anything out of a frame of which @meta is known, which may be NULL. */
gboolean gst_nn_veil_needs_frame (const GstNnVeil *veil, GstNnResultMeta *meta);
void gst_nn_veil_draw (const GstNnVeil *veil, GstVideoFrame *frame, GstNnResultMeta *meta);
