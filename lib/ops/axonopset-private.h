/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of operators, as the library fills them and looks into them. */
#pragma once

#include <axon/plugin/axonopset.h>

AxonOpSet *axon_op_set_new_empty (void);
AxonOpSet *axon_op_set_copy (AxonOpSet *set);
void axon_op_set_add (AxonOpSet *set, const AxonOp *ops, guint n_ops);
const AxonOp *axon_op_set_lookup (AxonOpSet *set, const gchar *domain, const gchar *name,
                                  gint opset);
void axon_infos_of (const AxonNode *node, AxonTensor *const *in, AxonTypeInfo *infos);
