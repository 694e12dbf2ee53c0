/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Captions as pictures in the frame's format, each drawn once: texts come back on every frame.
 * Threads: one at a time. */
#pragma once

#include <gst/nn/nn.h>
#include <gst/video/video.h>

typedef struct _GstNnCaptions GstNnCaptions;

/* @info: of the frames; @font_size: pixels */
GstNnCaptions *gst_nn_captions_new (const GstVideoInfo *info, gint font_size);
void gst_nn_captions_free (GstNnCaptions *captions);
/* Black on @rgb; NULL where it cannot be drawn. Valid until the next call. */
const GstVideoFrame *gst_nn_captions_get (GstNnCaptions *captions, const gchar *text, guint32 rgb);
