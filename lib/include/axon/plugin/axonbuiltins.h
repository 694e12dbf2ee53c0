/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The built-in operators: the rows of all families of ops/ and eval/. */
#pragma once

#include <axon/plugin/axonopset.h>

G_BEGIN_DECLS

/* All built-in rows (transfer full). */
AXON_API AxonOpSet *axon_op_set_new (void);

/* A built-in row, for passes that make nodes. The tables are immutable and shared. Any thread. */
AXON_API const AxonOp *axon_builtin_op (const gchar *domain, const gchar *name, gint opset);

G_END_DECLS
