/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonOpSet: operator rows by domain, name and opset. The built-in tables are immutable and shared;
 * lookups need no lock. */
#pragma once

#include <axon/plugin/axonopset.h>

typedef struct _AxonOpSet AxonOpSet;

AxonOpSet *axon_op_set_new (void);
AxonOpSet *axon_op_set_copy (AxonOpSet *set);
void axon_op_set_free (AxonOpSet *set);
void axon_op_set_add (AxonOpSet *set, const AxonOp *ops, guint n_ops);
const AxonOp *axon_op_set_lookup (AxonOpSet *set, const gchar *domain, const gchar *name,
                                  gint opset);
guint axon_op_set_get_n_ops (AxonOpSet *set);
const AxonOp *axon_op_set_get_op (AxonOpSet *set, guint index);
void axon_infos_of (const AxonNode *node, AxonTensor *const *in, AxonTypeInfo *infos);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonOpSet, axon_op_set_free)
