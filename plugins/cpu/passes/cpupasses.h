/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU's own passes, in order after the common ones. */
#pragma once

#include <axon/axon-plugin.h>

/* Runs them all, but for those that AXON_CPU_DISABLE_PASSES in the environment names, separated by
 * commas: to find which of them makes a difference. */
gboolean cpu_passes_run (AxonModel *model, GCancellable *cancellable, GError **error);

/* Of the operators that cpu_pass_apply () adds. */
#define CPU_PASS_OPSET 13

/* The result of an operator of one output; @like: as axon_pass_add_node () takes it. */
AxonValue *cpu_pass_apply (AxonModel *model, const AxonNode *like, const gchar *name,
                           AxonValue *const *in, guint n_in);

/* A constant list. */
AxonValue *cpu_pass_add_ints (AxonModel *model, const gint64 *values, guint n);
AxonValue *cpu_pass_reshape (AxonModel *model, const AxonNode *like, AxonValue *x,
                             const gint64 *dims, gint rank);
/* Dimension @axis of @x, which has @rank of them, in place of the last but one: the numbers of the
 * lines along it side by side, or, which is the same, back; of the last, matrices are turned. */
AxonValue *cpu_pass_exchange (AxonModel *model, const AxonNode *like, AxonValue *x, gint axis,
                              gint rank);
/* What @name makes of @in becomes @node's output 0, whose shape is known; @node goes. */
void cpu_pass_replace (AxonModel *model, AxonNode *node, const gchar *name, AxonValue *const *in,
                       guint n_in);
/* The elements of @y become those of @node's output. */
void cpu_pass_replace_reshaped (AxonModel *model, AxonNode *node, AxonValue *y);

/* TRUE: @node is replaced. FALSE without error: it stays as it is. */
typedef gboolean (*CpuRewrite) (AxonModel *model, AxonNode *node, GError **error);

/* Asks of each node, from the last one on. */
gboolean cpu_pass_rewrite (AxonModel *model, CpuRewrite rewrite, GError **error);

/* Gives @to, which has none yet, what is fused into @from: its inputs are the caller's affair. */
void cpu_pass_copy_posts (AxonNode *to, const AxonNode *from);

/* Input 0 is of f32, its shape and that of output 0 are known, and there is something in both. */
gboolean cpu_pass_is_planned (const AxonNode *node);

gboolean cpu_pass_half_to_float (AxonModel *model, GError **error);
gboolean cpu_pass_expand_einsum (AxonModel *model, GError **error);
gboolean cpu_pass_expand_fourier (AxonModel *model, GError **error);
gboolean cpu_pass_expand_grid (AxonModel *model, GError **error);
gboolean cpu_pass_expand_lines (AxonModel *model, GError **error);
gboolean cpu_pass_fuse_activation (AxonModel *model, GError **error);
gboolean cpu_pass_fuse_elementwise (AxonModel *model, GError **error);
gboolean cpu_pass_fuse_mish (AxonModel *model, GError **error);
gboolean cpu_pass_order_pixel_shuffle (AxonModel *model, GError **error);
gboolean cpu_pass_split_bands (AxonModel *model, GError **error);
gboolean cpu_pass_split_batch_norm (AxonModel *model, GError **error);
gboolean cpu_pass_split_repeated (AxonModel *model, GError **error);
gboolean cpu_pass_split_resize (AxonModel *model, GError **error);
gboolean cpu_pass_split_volume (AxonModel *model, GError **error);
gboolean cpu_pass_turn_products (AxonModel *model, GError **error);
