/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts, each drawn once: the words of captions come back on every frame.
 * Threads: one at a time. */
#pragma once

#include "gstnncanvas.h"

typedef struct _GstNnCaptions GstNnCaptions;

/* @font_size: pixels; longer texts than @width end with an ellipsis */
GstNnCaptions *gst_nn_captions_new (gint font_size, gint width);
void gst_nn_captions_free (GstNnCaptions *captions);
/* Forgets texts if there are too many. */
void gst_nn_captions_trim (GstNnCaptions *captions);
/* NULL where it cannot be drawn. Valid until gst_nn_captions_trim(). All have one height. */
const GstNnGlyphs *gst_nn_captions_get (GstNnCaptions *captions, const gchar *text);
