/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a device stores in an exported model and finds there again. */
#pragma once

#include <gio/gio.h>

#include <axon/axonmodel.h>

G_BEGIN_DECLS

typedef struct _AxonBlob AxonBlob;
typedef struct _AxonBlobWriter AxonBlobWriter;

#define AXON_BLOB_ITEM_ALIGNMENT 64
#define AXON_BLOB_PAGE 4096 /* data, and blobs inside blobs */

/* Writing */
AXON_API guint64 axon_blob_writer_add (AxonBlobWriter *writer, GBytes *bytes, gsize alignment);
AXON_API GVariant *axon_blob_writer_add_model (AxonBlobWriter *writer, AxonModel *model);

/* Reading */
AXON_API GBytes *axon_blob_get_bytes (AxonBlob *blob, guint64 offset, guint64 n_bytes,
                                      GError **error);
AXON_API AxonModel *axon_blob_read_model (AxonBlob *blob, GVariant *model, GError **error);

G_END_DECLS
