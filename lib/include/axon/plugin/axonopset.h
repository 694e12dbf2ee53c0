/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonOpSet: operator rows by domain, name and opset. Lookups need no lock. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

typedef struct _AxonOpSet AxonOpSet;

AXON_API void axon_op_set_free (AxonOpSet *set);
AXON_API guint axon_op_set_get_n_ops (AxonOpSet *set);
AXON_API const AxonOp *axon_op_set_get_op (AxonOpSet *set, guint index);

AXON_API gboolean axon_op_has_kernel (const AxonOp *op);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonOpSet, axon_op_set_free)

G_END_DECLS
