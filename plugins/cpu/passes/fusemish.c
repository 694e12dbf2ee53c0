/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* x * tanh (softplus (x)), as models before operator set 18 write Mish (Misra 2019), becomes one
 * node, which a convolution may then take. */
#include "cpupasses.h"

#define OPSET 18

/* Tanh (Softplus (x)) that nothing else reads, as input @index of @mul; x is the other input. */
static AxonNode *
match (const AxonNode *mul, guint index)
{
  AxonNode *tanh = axon_match_input (mul, index, "Tanh");
  AxonNode *softplus = tanh != NULL ? axon_match_input (tanh, 0, "Softplus") : NULL;
  if (softplus == NULL || softplus->inputs[0] != mul->inputs[1 - index] ||
      axon_match_only_user (softplus->outputs[0], "Tanh") != tanh ||
      axon_match_only_user (tanh->outputs[0], "Mul") != mul)
    return NULL;
  return tanh;
}

static void
fuse (AxonModel *model, AxonNode *mul, AxonNode *tanh)
{
  AxonNode *softplus = tanh->inputs[0]->producer, *mish;
  AxonValue *x = softplus->inputs[0], *y = mul->outputs[0];
  axon_node_set_output (mul, 0, NULL);
  mish = axon_pass_add_node (model, mul, NULL, "Mish", OPSET, &x, 1, y);
  axon_node_add_origins (mish, tanh);
  axon_node_add_origins (mish, softplus);
  axon_model_remove_node (model, mul);
  axon_model_remove_node (model, tanh);
  axon_model_remove_node (model, softplus);
}

gboolean
cpu_pass_fuse_mish (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = model->nodes->len; i-- > 0;) {
    AxonNode *mul = model->nodes->pdata[i], *tanh;
    if (!axon_node_is (mul, "Mul") || mul->outputs[0]->type.dtype != AXON_DTYPE_F32)
      continue;
    tanh = match (mul, 0);
    if (tanh == NULL)
      tanh = match (mul, 1);
    if (tanh == NULL)
      continue;
    fuse (model, mul, tanh);
    i = MIN (i, model->nodes->len);
    changed = TRUE;
  }
  return !changed || axon_model_sort (model, error);
}
