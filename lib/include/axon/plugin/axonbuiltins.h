/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The built-in operators: the rows of all families of ops/ and eval/. Any thread. */
#pragma once

#include <axon/plugin/axonopset.h>

G_BEGIN_DECLS

/**
 * axon_op_set_new:
 *
 * Makes a set of all built-in rows.
 *
 * Returns: (transfer full): a set; free it with axon_op_set_free()
 *
 * Since: 1.0
 */
AXON_API AxonOpSet *axon_op_set_new (void);

/**
 * axon_builtin_op:
 * @domain: (nullable): domain; %NULL for ai.onnx
 * @name: name of the operator
 * @opset: version of the domain
 *
 * Finds a built-in row, for passes that make nodes. The tables are immutable and shared. Any
 * thread.
 *
 * Returns: (nullable): the row that is valid in @opset
 *
 * Since: 1.0
 */
AXON_API const AxonOp *axon_builtin_op (const gchar *domain, const gchar *name, gint opset);

G_END_DECLS
