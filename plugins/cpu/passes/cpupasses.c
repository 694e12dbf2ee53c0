/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupasses.h"
#include "../kernels/kernels.h"

/* What has an integer kernel: QLinearConv if its weights fit s8, and most operators on bytes. */
static gboolean
has_integer_kernel (const AxonNode *node)
{
  g_auto (AxonQuant) q = { 0 };
  g_autofree gint8 *weights = NULL;
  if (cpu_has_qlinear (node))
    return TRUE;
  if (!axon_node_is (node, "QLinearConv"))
    return FALSE;
  if (axon_node_find_attr (node, "axon.clip") != NULL)
    return TRUE;
  weights = axon_quant_init (&q, node) ? axon_quant_weights (node) : NULL;
  return weights != NULL;
}

static gboolean
expand_quantized (AxonModel *model, GError **error)
{
  return axon_expand_quantized (model, has_integer_kernel, error);
}

const AxonPass cpu_passes[] = {
  { "half-to-float", cpu_pass_half_to_float },
  { "expand-attention", axon_pass_expand_attention },
  { "fuse-quantized-convolutions", axon_pass_fuse_quantized_convolutions },
  { "fuse-quantized-sums", axon_pass_fuse_quantized_sums },
  { "expand-quantized", expand_quantized },
  { "fold-dequantized", axon_pass_fold_dequantized },
  { "fold-batch-norm", axon_pass_fold_batch_norm },
  { "fuse-activation", cpu_pass_fuse_activation },
  { "remove-dead-code", axon_pass_remove_dead_code },
};
const guint cpu_n_passes = G_N_ELEMENTS (cpu_passes);
