/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dropout, which does nothing outside of training. */
#include "kernels.h"

/* Where Dropout does nothing; the mask is TRUE everywhere. */
static gboolean
build_dropout (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonTensor *training = gpu_node_constant (node, 2);
  g_autoptr (AxonTensor) ones = NULL;
  if (axon_node_get_input (node, 2) != NULL && training == NULL) {
    *why = g_strdup ("training_mode is " GPU_NOT_CONSTANT);
    return FALSE;
  }
  if (training != NULL && axon_tensor_get_value (training, 0) != 0) {
    *why = g_strdup ("it trains");
    return FALSE;
  }
  if (node->n_outputs > 1 && node->outputs[1] != NULL) {
    ones = axon_tensor_new (node->outputs[1]->type.dtype, &node->outputs[1]->type.shape, NULL);
    for (gsize i = 0; i < axon_tensor_get_numel (ones); i++)
      axon_dtype_store (axon_tensor_get_dtype (ones), axon_tensor_get_data (ones), i, 1);
    gpu_plan_constant (plan, node, 1, ones);
  }
  gpu_plan_alias (plan, node, 0, gpu_plan_input (plan, node, 0));
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Dropout", .impl = "view", .build = build_dropout },
};

GPU_DEFINE_FAMILY (random, rows)
