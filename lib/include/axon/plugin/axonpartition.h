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

/**
 * axon_partition:
 * @model: every node must have an affinity; not changed
 * @error: return location
 *
 * Cuts a graph where the affinity of its nodes changes. Constants are copied to where they are
 * used; outputs that no node makes (inputs, constants) belong to no part.
 *
 * Returns: (transfer full) (element-type AxonPart): the parts, in the order in which they run;
 *   %NULL with @error
 *
 * Since: 1.0
 */
AXON_API GPtrArray *axon_partition (AxonModel *model, GError **error);

/**
 * axon_partition_node:
 * @model: the model of @node; not changed
 * @node: the node
 * @error: return location
 *
 * Makes a model of one node, its constant inputs included.
 *
 * Returns: (transfer full): a model; %NULL with @error
 *
 * Since: 1.0
 */
AXON_API AxonModel *axon_partition_node (const AxonModel *model, const AxonNode *node,
                                         GError **error);

G_END_DECLS
