/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interprets a graph with the reference kernels. Allocates as it goes: an oracle, not an engine.
 * Models are only read, so any thread may run one. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

/* Called after each node with its run time in microseconds; FALSE stops the run with @error set. */
typedef gboolean (*AxonEvalHook) (const AxonNode *node, guint index, gdouble microseconds,
                                  gpointer user_data, GError **error);

/**
 * axon_eval_node:
 * @node: a node
 * @in: (array) (nullable elements): one tensor per input; %NULL for an optional one that is left
 *   out
 * @out: (array) (inout): one place per output. What is %NULL is made; what is there is written to,
 *   and must have the inferred type and shape. Outputs without a name may stay %NULL.
 * @error: return location
 *
 * Runs one node by its reference kernel. Fails with %AXON_ERROR_UNSUPPORTED where there is none,
 * %AXON_ERROR_MEMORY, or as the kernel says. After a failure @out may hold tensors: they are the
 * caller's. Any thread.
 *
 * Returns: %TRUE if it ran
 *
 * Since: 1.0
 */
AXON_API gboolean axon_eval_node (const AxonNode *node, AxonTensor *const *in, AxonTensor **out,
                                  GError **error);

/**
 * axon_eval_model:
 * @model: must be indexed: each value's index is its position in the model's values. Not changed,
 *   so several threads may run it.
 * @inputs: (array): one tensor per input
 * @outputs: (array) (out) (transfer full): one place per output
 * @hook: (nullable): called after each node
 * @user_data: for the function
 * @error: return location
 *
 * Runs a graph by the reference kernels, with If, Loop and Scan.
 *
 * Returns: %TRUE if it ran; else @outputs holds nothing
 *
 * Since: 1.0
 */
AXON_API gboolean axon_eval_model (AxonModel *model, AxonTensor *const *inputs,
                                   AxonTensor **outputs, AxonEvalHook hook, gpointer user_data,
                                   GError **error);

/**
 * axon_eval_check:
 * @error: return location
 *
 * For kernels that run long: asks whether the run that they are part of is to stop. In the thread
 * that called the kernel.
 *
 * Returns: %FALSE with @error set if it is
 *
 * Since: 1.0
 */
AXON_API gboolean axon_eval_check (GError **error);

G_END_DECLS
