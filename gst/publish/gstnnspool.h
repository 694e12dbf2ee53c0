/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records that wait on disk, in order, within a bound: a file of lines, which stays when the
 * process ends. After a crash some may be sent twice. Threads: one at a time. */
#pragma once

#include <gio/gio.h>

typedef struct _GstNnSpool GstNnSpool;

GstNnSpool *gst_nn_spool_open (const gchar *path, guint64 max_bytes, GError **error);
guint gst_nn_spool_get_length (const GstNnSpool *spool);
/* FALSE with an error: it is full, or the disk is. */
gboolean gst_nn_spool_append (GstNnSpool *spool, GBytes *record, GError **error);
/* The oldest, which is there no more; NULL: none. */
GBytes *gst_nn_spool_next (GstNnSpool *spool);
/* What is older than all of it goes in front. */
gboolean gst_nn_spool_prepend (GstNnSpool *spool, GList *records, GError **error);
void gst_nn_spool_close (GstNnSpool *spool);
