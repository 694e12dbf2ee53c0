/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonOpSet: operator rows by domain, name and opset. Lookups need no lock. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

typedef struct _AxonOpSet AxonOpSet;

AxonOpSet *axon_op_set_new_empty (void);
AxonOpSet *axon_op_set_copy (AxonOpSet *set);
void axon_op_set_free (AxonOpSet *set);
void axon_op_set_add (AxonOpSet *set, const AxonOp *ops, guint n_ops);
const AxonOp *axon_op_set_lookup (AxonOpSet *set, const gchar *domain, const gchar *name,
                                  gint opset);
gboolean axon_op_has_kernel (const AxonOp *op);
void axon_infos_of (const AxonNode *node, AxonTensor *const *in, AxonTypeInfo *infos);
guint axon_op_set_get_n_ops (AxonOpSet *set);
const AxonOp *axon_op_set_get_op (AxonOpSet *set, guint index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonOpSet, axon_op_set_free)

G_END_DECLS
