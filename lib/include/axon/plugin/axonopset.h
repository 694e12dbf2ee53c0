/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of the built-in operators. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

AXON_API gboolean axon_op_has_kernel (const AxonOp *op);

/* A row of the built-in tables, for passes that make nodes. Any thread. */
AXON_API const AxonOp *axon_builtin_op (const gchar *domain, const gchar *name, gint opset);

G_END_DECLS
