/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers and texts as bytes, one behind the other without gaps: numbers little endian on every
 * machine, texts with their NUL. Knows nothing of graphs. */
#pragma once

#include <glib.h>

/* Writing */

void axon_blob_put_byte (GString *out, guint8 value);
void axon_blob_put_int (GString *out, gint32 value);
void axon_blob_put_numbers (GString *out, gconstpointer values, gsize n, gsize size);
/* @text (nullable): none is an empty one */
void axon_blob_put_text (GString *out, const gchar *text);

/* Reads what nobody is believed to have written well. What would lie behind the end, and all that
 * is read after it, is 0, "" or no element: so one look at @broken after several is enough. */
typedef struct {
  const guint8 *at;
  gsize left;
  gboolean broken;
} AxonBlobReader;

guint8 axon_blob_reader_byte (AxonBlobReader *reader);
gboolean axon_blob_reader_flag (AxonBlobReader *reader); /* a byte that is 0 or 1 */
gint32 axon_blob_reader_int (AxonBlobReader *reader);
void axon_blob_reader_numbers (AxonBlobReader *reader, gpointer values, gsize n, gsize size);
/* How many elements follow, which take @size bytes or more each: never more than there can be. */
guint axon_blob_reader_count (AxonBlobReader *reader, gsize size);
/* Stands in the bytes themselves. */
const gchar *axon_blob_reader_text (AxonBlobReader *reader);
