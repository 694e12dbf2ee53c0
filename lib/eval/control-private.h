/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What operators share that run bodies. */
#pragma once

#include <axon/plugin/axoneval.h>
#include "../ops/ops-private.h"

guint axon_body_count_formal (const AxonNode *node);
const AxonAttr *axon_body_of (const AxonNode *node, const gchar *name, guint n_in, guint n_out,
                              GError **error);
gboolean axon_body_infer (const AxonAttr *attr, const AxonTypeInfo *formal,
                          const AxonTypeInfo *around, AxonTypeInfo *out, GError **error);
gboolean axon_body_run (const AxonAttr *attr, AxonTensor *const *formal, AxonTensor *const *around,
                        AxonTensor **out, GError **error);
gboolean axon_body_truth (const AxonTensor *condition, gboolean *value, GError **error);

/* Stacks what a scan output gave in all turns along a new axis, in reverse where asked. */
AxonTensor *axon_body_stack (GPtrArray *items, AxonDType dtype, gint64 axis, gboolean reverse,
                             GError **error);
void axon_unref_all (AxonTensor **tensors, guint n);
