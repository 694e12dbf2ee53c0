/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A dark frame with objects, for tests of nnoverlay. */
#pragma once

#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>

#define WIDTH 160
#define HEIGHT 120
#define GRAY 32
#define CAPS "video/x-raw,format=RGB,width=160,height=120,framerate=30/1"

/* A dark gray frame; @is_striped: every second column is white. */
static inline GstBuffer *
new_frame (gboolean is_striped)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3, NULL);
  GstMapInfo map;
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = is_striped && i / 3 % 2 ? 255 : GRAY;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static inline GstNnObject *
add_object (GstBuffer *buffer, gdouble x, gdouble y, gdouble width, gdouble height, gint class_id,
            const gchar *label)
{
  GstNnObject *o =
      gst_nn_result_meta_add_object (gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT), 0);
  gst_nn_object_set_box (o, x, y, width, height);
  gst_nn_object_set_class (o, class_id, label, 0.5);
  return o;
}

static inline guint32
pixel_of (GstBuffer *buffer, gint x, gint y)
{
  guint8 p[3];
  gst_buffer_extract (buffer, (gsize)(y * WIDTH + x) * 3, p, 3);
  return (guint32)p[0] << 16 | (guint32)p[1] << 8 | p[2];
}

/* Pixels of an area that are not as they were. */
static inline guint
count_drawn (GstBuffer *buffer, gint x, gint y, gint width, gint height)
{
  guint n = 0;
  for (gint v = y; v < y + height; v++)
    for (gint u = x; u < x + width; u++)
      n += pixel_of (buffer, u, v) != (GRAY << 16 | GRAY << 8 | GRAY);
  return n;
}

/* Takes @buffer. */
static inline GstBuffer *
draw (const gchar *launch, GstBuffer *buffer)
{
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (h, CAPS);
  buffer = gst_harness_push_and_pull (h, buffer);
  g_assert_nonnull (buffer);
  gst_harness_teardown (h);
  return buffer;
}
