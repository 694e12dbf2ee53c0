/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nodes, and the steps of a runtime model, compute and move. */
#pragma once

#include <axon/plugin/axongraph.h>

typedef struct {
  gdouble operations; /* as axon_model_get_flops () counts them */
  gdouble bytes;      /* read and written at least, weights included */
  gboolean of_bytes;  /* most operations multiply bytes */
} AxonStepCost;

/* 0 where shapes are unknown. */
gdouble axon_value_get_bytes (const AxonValue *value);
gdouble axon_node_get_operations (const AxonNode *node);
gboolean axon_node_multiplies_bytes (const AxonNode *node);

/* One per node, by position. In a runtime model, a node that runs has the cost of what is fused
 * into it, and what does not run has none. */
AxonStepCost *axon_model_get_step_costs (const AxonModel *model);
