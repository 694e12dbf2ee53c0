/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records on their way: a bounded queue and a thread that hands them to a transport, in order,
 * again and again until it takes them. Whoever pushes never waits: what does not fit is counted,
 * the oldest first. Threads: any. */
#pragma once

#include "gstnntransport.h"

typedef enum { GST_NN_WRITER_FAILS, GST_NN_WRITER_GOES_ON } GstNnWriterNews;

typedef struct {
  const gchar *location, *media_type;
  gboolean append;
  const GstStructure *options; /* of the transport, as the user wrote them; or NULL */
  guint queue_size;            /* records */
  const gchar *spool;          /* a file for what the queue does not hold; or NULL */
  guint64 spool_size;          /* bytes */
  guint max_interval;          /* seconds between two tries */
  /* Once when it fails, once when it goes on; from any thread. */
  void (*tell) (GstNnWriterNews news, const gchar *text, gpointer data);
  gpointer data;
} GstNnWriterSettings;

typedef struct _GstNnWriter GstNnWriter;

GstNnWriter *gst_nn_writer_new (const GstNnWriterSettings *settings, GError **error);
void gst_nn_writer_push (GstNnWriter *writer, GBytes *record, GstClockTime time);
/* Waits until all is sent, at most so many microseconds. */
gboolean gst_nn_writer_drain (GstNnWriter *writer, gint64 timeout);
/* Ends waits, now and from here on. */
void gst_nn_writer_hurry (GstNnWriter *writer);
/* nnpublish-stats: sent, lost, queued, spooled, failing */
GstStructure *gst_nn_writer_get_stats (GstNnWriter *writer);
/* The end of @writer. What is not sent is kept where that was asked for; else lost, and said so.
 * Returns its last stats. */
GstStructure *gst_nn_writer_close (GstNnWriter *writer);
