/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupasses.h"

const AxonPass cpu_passes[] = {
  { "half-to-float", cpu_pass_half_to_float },
  { "expand-attention", cpu_pass_expand_attention },
  { "fuse-quantized", cpu_pass_fuse_quantized },
  { "expand-quantized", cpu_pass_expand_quantized },
  { "fold-dequantized", cpu_pass_fold_dequantized },
  { "fold-batch-norm", axon_pass_fold_batch_norm },
  { "fuse-activation", cpu_pass_fuse_activation },
  { "remove-dead-code", axon_pass_remove_dead_code },
};
const guint cpu_n_passes = G_N_ELEMENTS (cpu_passes);

const AxonOp *
cpu_op (const gchar *domain, const gchar *name, gint opset)
{
  return axon_builtin_op (domain, name, opset);
}

AxonNode *
cpu_add_node (AxonModel *model, const AxonNode *like, const gchar *domain, const gchar *name,
              gint opset, AxonValue *const *in, guint n_in, AxonValue *out)
{
  AxonNode *node = axon_model_add_node (model, cpu_op (domain, name, opset), opset, like->name, in,
                                        n_in, &out, 1);
  axon_node_add_origins (node, (AxonNode *)like);
  return node;
}

AxonValue *
cpu_add_scalar (AxonModel *model, AxonDType dtype, gdouble value)
{
  AxonShape shape = { 0 };
  g_autoptr (AxonTensor) t = axon_tensor_new (dtype, &shape, NULL);
  axon_dtype_store (dtype, axon_tensor_get_data (t), 0, value);
  return axon_model_add_constant (model, NULL, t);
}
