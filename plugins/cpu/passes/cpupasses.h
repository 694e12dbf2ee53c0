/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU's own passes, in order after the common ones. */
#pragma once

#include <axon/axon-plugin.h>

extern const AxonPass cpu_passes[];
extern const guint cpu_n_passes;

gboolean cpu_pass_half_to_float (AxonModel *model, GError **error);
gboolean cpu_pass_expand_attention (AxonModel *model, GError **error);
gboolean cpu_pass_fuse_quantized (AxonModel *model, GError **error);
gboolean cpu_pass_expand_quantized (AxonModel *model, GError **error);
gboolean cpu_pass_fold_dequantized (AxonModel *model, GError **error);
gboolean cpu_pass_fuse_activation (AxonModel *model, GError **error);

/* Rows that passes make nodes of. */
const AxonOp *cpu_op (const gchar *domain, const gchar *name, gint opset);
AxonNode *cpu_add_node (AxonModel *model, const AxonNode *like, const gchar *domain,
                        const gchar *name, gint opset, AxonValue *const *in, guint n_in,
                        AxonValue *out);
AxonValue *cpu_add_scalar (AxonModel *model, AxonDType dtype, gdouble value);
