/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small pictures of objects. */
#pragma once

#include <gst/video/video.h>

/* The part of the frame in this box, not larger than @edge either way, as JPEG in base64. NULL: the
 * box is outside of the frame, or this build writes no pictures. */
gchar *gst_nn_thumbnail_new (const GstVideoFrame *frame, guint edge, gdouble x, gdouble y,
                             gdouble width, gdouble height);
