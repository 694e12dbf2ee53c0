/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small pictures, drawn as cairo draws and converted once to the format of the frames. */
#pragma once

#include <gst/video/video.h>

/* CAIRO_FORMAT_RGB24; mapped for reading and writing; NULL: no memory. */
GstVideoFrame *gst_nn_picture_new (guint width, guint height);
/* The same in the format and the colours of @like; NULL where it cannot be converted. */
GstVideoFrame *gst_nn_picture_convert (const GstVideoFrame *picture, const GstVideoInfo *like);
void gst_nn_picture_free (GstVideoFrame *picture);
