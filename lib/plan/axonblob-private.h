/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one blob format: exports, entries of the cache, and nothing else that is stored.
 *
 *   0  "AXONBLOB"            8  u32 format, u32 0      16  u64 bytes of meta
 *  24  u64 offset of data   32  u64 bytes of data      40  XXH3-128 of meta and data, canonical
 *  56  0                    64  meta: GVariant (a{sv}v), header and payload, little endian;
 *     its graphs are items (axonblobmodel-private.h)
 *  data begins at a multiple of 4096; its items at multiples of 64, so a mapped file is used as it
 *  is. Nothing follows it. A blob is believed after its sizes, digest and form were checked. */
#pragma once

#include <axon/plugin/axonblob.h>

#include "../ops/axonopset-private.h"

/* @origin (nullable): the model's file; constants that stand in it are not stored again. */
AxonBlobWriter *axon_blob_writer_new (GBytes *origin);
void axon_blob_writer_free (AxonBlobWriter *writer);
gboolean axon_blob_writer_write (AxonBlobWriter *writer, GVariant *header, GVariant *payload,
                                 GOutputStream *stream, GCancellable *cancellable, GError **error);
gchar *axon_blob_writer_digest (AxonBlobWriter *writer, GVariant *payload);

AxonBlob *axon_blob_new (GBytes *bytes, AxonOpSet *opset, GError **error);
gboolean axon_blob_has_magic (GBytes *bytes);
/* The operators of graphs in it; before axon_blob_read_model(). */
void axon_blob_set_op_set (AxonBlob *blob, AxonOpSet *opset);
void axon_blob_set_origin (AxonBlob *blob, GBytes *origin);
void axon_blob_free (AxonBlob *blob);
GVariant *axon_blob_get_header (AxonBlob *blob);
GVariant *axon_blob_get_payload (AxonBlob *blob);
gboolean axon_blob_is_model (GVariant *payload);
AxonOpSet *axon_blob_get_op_set (AxonBlob *blob);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonBlob, axon_blob_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonBlobWriter, axon_blob_writer_free)
