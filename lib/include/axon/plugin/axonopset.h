/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonOpSet: operator rows by domain, name and opset. Lookups need no lock. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

typedef struct _AxonOpSet AxonOpSet;

/**
 * axon_op_set_free:
 * @set: (transfer full): a set
 *
 * Frees a set; the rows stay where they are.
 *
 * Since: 1.0
 */
AXON_API void axon_op_set_free (AxonOpSet *set);

/**
 * axon_op_set_get_n_ops:
 * @set: a set
 *
 * Counts the rows: an operator has one for each meaning that it had.
 *
 * Returns: the number of rows
 *
 * Since: 1.0
 */
AXON_API guint axon_op_set_get_n_ops (AxonOpSet *set);

/**
 * axon_op_set_get_op:
 * @set: a set
 * @index: less than axon_op_set_get_n_ops()
 *
 * Gives a row.
 *
 * Returns: the row
 *
 * Since: 1.0
 */
AXON_API const AxonOp *axon_op_set_get_op (AxonOpSet *set, guint index);

/**
 * axon_op_has_kernel:
 * @op: a row
 *
 * Tells whether an operator has a reference kernel, of either form: then axon_eval_node() runs its
 * nodes, but for those of control flow, which run with axon_eval_model().
 *
 * Returns: %TRUE if it has one
 *
 * Since: 1.0
 */
AXON_API gboolean axon_op_has_kernel (const AxonOp *op);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonOpSet, axon_op_set_free)

G_END_DECLS
