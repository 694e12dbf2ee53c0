/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a device stores in an exported model and finds there again. A writer and what is read
 * belong to one thread at a time. */
#pragma once

#include <gio/gio.h>

#include <axon/axonmodel.h>

G_BEGIN_DECLS

typedef struct _AxonBlob AxonBlob;
typedef struct _AxonBlobWriter AxonBlobWriter;

#define AXON_BLOB_ITEM_ALIGNMENT 64
#define AXON_BLOB_PAGE 4096 /* data, and blobs inside blobs */

/* Writing */

/**
 * axon_blob_writer_add:
 * @writer: what is written
 * @bytes: what to store; a reference is taken
 * @alignment: of its first byte in the file: %AXON_BLOB_ITEM_ALIGNMENT, or %AXON_BLOB_PAGE
 *
 * Adds an item to what an export stores. Bytes that stand in the model's own file already, and need
 * no more than %AXON_BLOB_ITEM_ALIGNMENT, are not stored again.
 *
 * Returns: what axon_blob_get_bytes() finds the item by; part of the payload
 *
 * Since: 1.0
 */
AXON_API guint64 axon_blob_writer_add (AxonBlobWriter *writer, GBytes *bytes, gsize alignment);

/**
 * axon_blob_writer_add_model:
 * @writer: what is written
 * @model: the graph; not changed
 *
 * Adds a graph: its constants become items.
 *
 * Returns: (transfer floating): a description of the graph, for the payload and
 *   axon_blob_read_model()
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_blob_writer_add_model (AxonBlobWriter *writer, AxonModel *model);

/* Reading */

/**
 * axon_blob_get_bytes:
 * @blob: what is read
 * @offset: as axon_blob_writer_add() returned it
 * @n_bytes: size of the item
 * @error: return location
 *
 * Finds an item. It is a part of the file's mapping where its alignment allows, so it costs no
 * copy. Fails with %AXON_ERROR_ARGUMENT where the item would lie outside, or stands in a model's
 * file that was not given.
 *
 * Returns: (transfer full): the item, aligned to 8 bytes; %NULL with @error
 *
 * Since: 1.0
 */
AXON_API GBytes *axon_blob_get_bytes (AxonBlob *blob, guint64 offset, guint64 n_bytes,
                                      GError **error);

/**
 * axon_blob_read_model:
 * @blob: what is read
 * @model: as axon_blob_writer_add_model() returned it
 * @error: return location
 *
 * Reads a graph. As strict as the reader of ONNX files: what it returns may be compiled. Fails with
 * %AXON_ERROR_ARGUMENT where the description has another form, with %AXON_ERROR_MODEL where the
 * graph is wrong.
 *
 * Returns: (transfer full): the graph, its shapes inferred; %NULL with @error
 *
 * Since: 1.0
 */
AXON_API AxonModel *axon_blob_read_model (AxonBlob *blob, GVariant *model, GError **error);

G_END_DECLS
