/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one blob format: exports, entries of the cache, and nothing else that is stored.
 *
 *   0  "AXONBLOB"            8  u32 format, u32 0      16  u64 bytes of meta
 *  24  u64 offset of data   32  u64 bytes of data      40  XXH3-128 of meta and data, canonical
 *  56  0                    64  meta: GVariant (a{sv}v), header and payload, little endian
 *  data begins at a multiple of 4096; its items at multiples of 64, so a mapped file is used as it
 *  is. Nothing follows it. A blob is believed after its sizes, digest and form were checked. */
#pragma once

#include <gio/gio.h>

#include <axon/plugin/axonopset.h>

G_BEGIN_DECLS

typedef struct _AxonBlob AxonBlob;
typedef struct _AxonBlobWriter AxonBlobWriter;

#define AXON_BLOB_ITEM_ALIGNMENT 64
#define AXON_BLOB_PAGE 4096 /* data, and blobs inside blobs */

#ifndef __GI_SCANNER__ /* for plugins, which are C */
/* Writing. @origin (nullable): the model's file; constants that stand in it are not stored again.
 */
AxonBlobWriter *axon_blob_writer_new (GBytes *origin);
void axon_blob_writer_free (AxonBlobWriter *writer);
guint64 axon_blob_writer_add (AxonBlobWriter *writer, GBytes *bytes, gsize alignment);
GVariant *axon_blob_writer_add_model (AxonBlobWriter *writer, AxonModel *model);
gboolean axon_blob_writer_write (AxonBlobWriter *writer, GVariant *header, GVariant *payload,
                                 GOutputStream *stream, GCancellable *cancellable, GError **error);
gchar *axon_blob_writer_digest (AxonBlobWriter *writer, GVariant *payload);

/* Reading */
gboolean axon_blob_has_magic (GBytes *bytes);
AxonBlob *axon_blob_new (GBytes *bytes, AxonOpSet *opset, GError **error);
/* The operators of graphs in it; before axon_blob_read_model(). */
void axon_blob_set_op_set (AxonBlob *blob, AxonOpSet *opset);
void axon_blob_set_origin (AxonBlob *blob, GBytes *origin);
AxonBlob *axon_blob_new_inner (AxonBlob *blob, guint64 offset, guint64 n_bytes, GError **error);
void axon_blob_free (AxonBlob *blob);
GVariant *axon_blob_get_header (AxonBlob *blob);
GVariant *axon_blob_get_payload (AxonBlob *blob);
GBytes *axon_blob_get_bytes (AxonBlob *blob, guint64 offset, guint64 n_bytes, GError **error);
gboolean axon_blob_is_model (GVariant *payload);
AxonModel *axon_blob_read_model (AxonBlob *blob, GVariant *model, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonBlob, axon_blob_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonBlobWriter, axon_blob_writer_free)
#endif

G_END_DECLS
