/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interprets a graph with the reference kernels. Allocates as it goes: an oracle, not an engine. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

/* Called after each node with its run time in microseconds; FALSE stops the run with @error set. */
typedef gboolean (*AxonEvalHook) (const AxonNode *node, guint index, gdouble microseconds,
                                  gpointer user_data, GError **error);

AXON_API gboolean axon_eval_node (const AxonNode *node, AxonTensor *const *in, AxonTensor **out,
                                  GError **error);
AXON_API gboolean axon_eval_model (AxonModel *model, AxonTensor *const *inputs,
                                   AxonTensor **outputs, AxonEvalHook hook, gpointer user_data,
                                   GError **error);

/* For kernels that run long: FALSE with @error set if the run that they are part of is to stop. */
AXON_API gboolean axon_eval_check (GError **error);

G_END_DECLS
