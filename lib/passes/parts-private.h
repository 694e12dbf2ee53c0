/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes that one node stands for. */
#pragma once

#include <axon/plugin/axonpass.h>

#define AXON_PARTS 12

/* The last one makes the result. */
typedef struct {
  AxonNode *nodes[AXON_PARTS];
  guint n;
} AxonParts;

/* NULL nodes are left out. */
void axon_parts_add (AxonParts *parts, AxonNode *node);

/* Nobody but the parts reads what they make, but for what the last one makes. */
gboolean axon_parts_are_closed (const AxonParts *parts);

/* @name of @opset takes their place and their names. */
AxonNode *axon_parts_replace (AxonParts *parts, AxonModel *model, const gchar *name, gint opset,
                              AxonValue *const *in, guint n_in);

/* @value is @name of two values, one of which is a number that is nearly @number; the other one, or
 * NULL. @node: which. */
AxonValue *axon_match_number (const AxonValue *value, const gchar *name, gdouble number,
                              AxonNode **node);

/* The other input of a node of two. */
AxonValue *axon_node_get_other (const AxonNode *node, const AxonValue *value);
