/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes: functions over a model. A pass keeps meaning; names of original nodes survive in origins.
 */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

typedef struct {
  const gchar *name;
  gboolean (*run) (AxonModel *model, GError **error);
  gpointer padding[2];
} AxonPass;

AXON_API gboolean axon_passes_run (AxonModel *model, const AxonPass *passes, guint n_passes,
                                   GCancellable *cancellable, GError **error);

/* What every device keeps: run on a clone, in order. */
AXON_API gboolean axon_passes_run_common (AxonModel *model, GCancellable *cancellable,
                                          GError **error);

/**
 * axon_passes_apply_common:
 * @model: a model, which is not changed
 * @cancellable: (nullable): looked at before each pass
 * @error: says which pass, and why
 *
 * What every device begins with.
 *
 * Returns: (transfer full): a clone of @model after the passes that every device keeps; %NULL on
 *   error
 * Since: 0.2
 */
AXON_API AxonModel *axon_passes_apply_common (AxonModel *model, GCancellable *cancellable,
                                              GError **error);

AXON_API gboolean axon_pass_expand_contrib (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_fold_constants (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_remove_identity (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_fold_batch_norm (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_remove_dead_code (AxonModel *model, GError **error);

/* What devices choose from. */
AXON_API gboolean axon_pass_expand_attention (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_expand_quantized (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_fold_dequantized (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_fuse_quantized_convolutions (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_fuse_quantized_products (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_fuse_quantized_sums (AxonModel *model, GError **error);
AXON_API gboolean axon_pass_fuse_dynamic_quantization (AxonModel *model, GError **error);
/* As axon_pass_expand_quantized(), without those that @keeps (nullable) is TRUE for. */
AXON_API gboolean axon_expand_quantized (AxonModel *model, gboolean (*keeps) (const AxonNode *node),
                                         GError **error);

/* Shared matchers */
AXON_API gboolean axon_node_is (const AxonNode *node, const gchar *name);
AXON_API gboolean axon_node_is_in (const AxonNode *node, const gchar *domain, const gchar *name);
AXON_API AxonNode *axon_match_input (const AxonNode *node, guint index, const gchar *name);
AXON_API AxonNode *axon_match_only_user (const AxonValue *value, const gchar *name);
AXON_API gboolean axon_match_scalar (const AxonValue *value, gdouble *scalar);
/* Bounds of a Clip of any version; FALSE: they are not known. */
AXON_API gboolean axon_match_clip (const AxonNode *node, gfloat *lo, gfloat *hi);
AXON_API AxonNode *axon_pass_add_node (AxonModel *model, const AxonNode *like, const gchar *domain,
                                       const gchar *name, gint opset, AxonValue *const *in,
                                       guint n_in, AxonValue *out);
AXON_API AxonValue *axon_pass_add_scalar (AxonModel *model, AxonDType dtype, gdouble value);
/* Those attributes of @from that @to's operator has, too. */
AXON_API void axon_pass_copy_attrs (AxonNode *to, const AxonNode *from);
AXON_API void axon_bypass_node (AxonModel *model, AxonNode *node, AxonNode *heir);

G_END_DECLS
