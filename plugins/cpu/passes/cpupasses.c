/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupasses.h"
#include "../kernels/kernels.h"

/* What keeps its integers: products, whose sums have to be exact whatever kernel they run, and
 * operators on bytes with a kernel. */
static gboolean
is_kept (const AxonNode *node)
{
  return axon_node_is (node, "QLinearConv") || axon_node_is (node, "QLinearMatMul") ||
         axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, "QGemm") ||
         axon_node_is_in (node, AXON_DOMAIN_AXON, "QLinearConvTranspose") || cpu_has_qlinear (node);
}

static gboolean
expand_quantized (AxonModel *model, GError **error)
{
  return axon_expand_quantized (model, is_kept, error);
}

const AxonPass cpu_passes[] = {
  { "half-to-float", cpu_pass_half_to_float },
  { "expand-attention", axon_pass_expand_attention },
  { "fuse-quantized-convolutions", axon_pass_fuse_quantized_convolutions },
  { "fuse-quantized-products", axon_pass_fuse_quantized_products },
  { "fuse-quantized-sums", axon_pass_fuse_quantized_sums },
  { "expand-quantized", expand_quantized },
  { "fold-dequantized", axon_pass_fold_dequantized },
  { "fold-batch-norm", axon_pass_fold_batch_norm },
  { "fuse-dynamic-quantization", axon_pass_fuse_dynamic_quantization },
  { "expand-einsum", cpu_pass_expand_einsum },
  { "fuse-activation", cpu_pass_fuse_activation },
  { "remove-dead-code", axon_pass_remove_dead_code },
};
const guint cpu_n_passes = G_N_ELEMENTS (cpu_passes);
