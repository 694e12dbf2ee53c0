/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames per second and latency for people to read: means of a second, which stay for the next.
 * Threads: one at a time. */
#pragma once

#include <glib.h>

typedef struct {
  gint64 begin, latency; /* us */
  guint frames, timed;
  gchar text[64]; /* empty until the first second is over */
} GstNnMeter;

/* A frame comes @now; @latency: since it was taken, negative: unknown; both in us. */
void gst_nn_meter_add (GstNnMeter *meter, gint64 now, gint64 latency);
