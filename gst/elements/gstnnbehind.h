/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gst/gst.h>

/* A warning, once for each element: behind @pad of @element is one that moves pixels, and GStreamer
 * lets results not follow them. */
void gst_nn_warn_if_moved_behind (GstElement *element, GstPad *pad);
