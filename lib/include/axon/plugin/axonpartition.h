/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cuts a graph into parts by the affinity of its nodes. Parts are in order: values go from earlier
 * parts to later ones only, so no cycle can be. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

typedef struct {
  gchar *device;
  AxonModel *model; /* ports are named after the values of the whole model */
} AxonPart;

/* AxonPart, in order. Every node must have an affinity. Constants are copied to where they are
 * used; outputs that no node makes (inputs, constants) belong to no part. */
AXON_API GPtrArray *axon_partition (AxonModel *model, GError **error);
/* A model of @node alone. */
AXON_API AxonModel *axon_partition_node (const AxonModel *model, const AxonNode *node,
                                         GError **error);

G_END_DECLS
