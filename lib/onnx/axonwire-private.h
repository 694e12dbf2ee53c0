/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bounds for protobuf bytes: a scan before unpacking, and a capped allocator for it. */
#pragma once

#include <gio/gio.h>
#include <protobuf-c/protobuf-c.h>

typedef enum {
  AXON_WIRE_MODEL,
  AXON_WIRE_TENSOR,
  AXON_WIRE_SEQUENCE,
  AXON_WIRE_OPTIONAL,
} AxonWireRoot;

/* Checks nesting (at most 64) and the number of fields without recursion, reading no further than
 * @n. */
gboolean axon_wire_scan (const guint8 *data, gsize n, AxonWireRoot root, GError **error);

/* An allocator that gives out at most @cap bytes, then NULL. */
typedef struct {
  ProtobufCAllocator allocator;
  gsize used, cap;
} AxonWireAllocator;

void axon_wire_allocator_init (AxonWireAllocator *self, gsize file_size);

/* Frees memory that the allocator gave out, when its owner is gone already. */
void axon_wire_free (gpointer data);
